/**
 * One tool call of a step: approved, sent once, paused while a question of it is open, ended exactly once.
 *
 * Owns its clock (what is left of its time limit), its open questions and the rounds of a modern request for input.
 * Receives what its link reports and what its questions became; its slots send, cancel and settle.
 *
 * - C1 It goes to the server of the runtime its step is pinned to, and once (H1, H6).
 * - C2 Only time in which none of its questions is open counts (EL-9).
 * - C3 It ends with one ending, and no question of it outlives it (H5).
 */
import { assign, setup } from 'xstate';
import type { ActorRefFrom } from 'xstate';
import type { ElicitationKind } from '../domain/elicitation.ts';
import type { CallOutcome } from '../domain/events.ts';
import type { Failure } from '../domain/errors.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { replyOf } from '../domain/question.ts';
import type { Question, Settlement } from '../domain/question.ts';
import { elicitationMachine } from './elicitation.ts';
import type { QuestionSettledEvent } from './elicitation.ts';
import { notProvided } from './not-provided.ts';

export interface CallInput {
  readonly call: string;
  /** Absent for a request made outside a step. */
  readonly step?: string;
  readonly request?: string | number;
  /** The name the model used; for other requests, the method. */
  readonly name: string;
  /** Raw names; `tool` is empty for other requests. */
  readonly server: string;
  readonly tool: string;
  /** The runtime it is pinned to. */
  readonly generation: number;
  /** `tools/call`, or another request to one server: `resources/read`, `prompts/get`, … */
  readonly method: string;
  readonly params: JsonObject;
  readonly timeLimitMs: number;
  readonly maxPauseMs?: number;
  /** The turn was granted when the call was made: no queue. */
  readonly admitted: boolean;
  /** The question to put before the call is sent. */
  readonly approval?: Question;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** One round of a modern request for input: what is asked, what is known, what to echo. */
export interface Round {
  readonly requestState?: Json;
  readonly responses: Readonly<Record<string, JsonObject>>;
  /** Question token → the entry it answers. */
  readonly waiting: Readonly<Record<string, WaitingEntry>>;
}

export interface WaitingEntry {
  readonly key: string;
  readonly kind: ElicitationKind;
  /** Anything but accept ends the call: a request for sampling (ER-4), or a sign-in it cannot do without (EL-5). */
  readonly ends?: 'sampling' | 'authorization';
}

export type CallEnding =
  | { readonly outcome: 'completed'; readonly result: JsonObject }
  | { readonly outcome: Exclude<CallOutcome, 'completed'>; readonly failure: Failure };

export interface CallContext {
  /** What the call is: never changes. */
  readonly input: CallInput;
  /** What is left of the time limit, as of `runningSince`. */
  readonly remainingMs: number;
  /** Set while the clock runs. */
  readonly runningSince: number | null;
  readonly pausedSince: number | null;
  readonly pausedMs: number;
  /** Tokens of the open questions it waits for. */
  readonly questions: readonly string[];
  readonly round: Round | null;
  /** Rounds answered so far. */
  readonly rounds: number;
  /** The sign-in it was once sent away for is done (EL-5). */
  readonly authorized: boolean;
  /** It was sent again after a loss that allowed it (RT-10). */
  readonly resent: boolean;
  readonly ending: CallEnding | null;
}

export interface CallOutput {
  readonly call: string;
  readonly generation: number;
}

/** Most retries of one call for requests of input (ER-2). */
export const maxRounds = 10;

export type CallEvent =
  | { readonly type: 'call.admitted'; readonly at: number }
  | { readonly type: 'call.completed'; readonly result: JsonObject }
  | { readonly type: 'call.failed'; readonly outcome: Exclude<CallOutcome, 'completed'>; readonly failure: Failure }
  | {
      readonly type: 'call.inputRequired';
      readonly questions: readonly Question[];
      readonly responses: Readonly<Record<string, JsonObject>>;
      readonly requestState?: Json;
      readonly at: number;
    }
  | { readonly type: 'call.authorizationRequired'; readonly questions: readonly Question[]; readonly at: number }
  | { readonly type: 'call.resend'; readonly outcome: Exclude<CallOutcome, 'completed'>; readonly failure: Failure }
  | { readonly type: 'call.asked'; readonly question: Question; readonly at: number }
  | { readonly type: 'call.questionOpened'; readonly token: string; readonly at: number }
  | { readonly type: 'call.abort'; readonly reason: string; readonly at: number }
  | { readonly type: 'call.timedOut'; readonly at: number }
  | { readonly type: 'call.pauseEnded'; readonly at: number }
  | QuestionSettledEvent;

const pauseTooLong = { reason: 'the pause took longer than maxPauseMs', expired: true } as const;

const callSetup = setup({
  types: {
    context: {} as CallContext,
    input: {} as CallInput,
    output: {} as CallOutput,
    events: {} as CallEvent,
  },
  actors: { elicitation: elicitationMachine },
  actions: {
    /** Makes the call known to whoever may abort it. */
    noteActor: notProvided,
    /** Asks for a turn; `call.admitted` comes at once or later. */
    requestTurn: notProvided,
    /** Gives the turn back; paused calls count in no limit (RT-9). */
    releaseTurn: notProvided,
    /** Takes a turn again without waiting: the request is already with the server. */
    resumeTurn: notProvided,
    /** Sends the request, or its next round, on the pinned runtime's connection. */
    sendRequest: notProvided,
    /** Tells the server that nobody waits any more (RT-8). */
    cancelRequest: notProvided,
    /** `call.timedOut` at `runningSince + remainingMs`. */
    armTimeLimit: notProvided,
    disarmTimeLimit: notProvided,
    /** `call.pauseEnded` after `maxPauseMs`, if it is set. */
    armPauseLimit: notProvided,
    announceStarted: notProvided,
    announcePaused: notProvided,
    announceResumed: notProvided,
    /** Settles the open questions of a call that goes. */
    cancelQuestions: notProvided as (
      _: unknown,
      params: { readonly reason: string; readonly expired: boolean },
    ) => void,
    /** Answers the caller: the end. */
    settleCall: notProvided,
    startClock: assign(({ context }, params: { readonly at: number }) => ({
      runningSince: params.at,
      pausedMs: context.pausedMs + (context.pausedSince === null ? 0 : params.at - context.pausedSince),
      pausedSince: null,
    })),
    stopClock: assign(({ context }, params: { readonly at: number }) => ({
      remainingMs: context.remainingMs - (context.runningSince === null ? 0 : params.at - context.runningSince),
      runningSince: null,
      pausedSince: context.pausedSince ?? params.at,
    })),
    noteQuestion: assign(({ context }, params: { readonly token: string }) => ({
      questions: [...context.questions, params.token],
    })),
    openRound: assign(
      (
        _,
        params: {
          readonly questions: readonly Question[];
          readonly responses: Round['responses'];
          readonly requestState?: Json;
        },
      ) => ({ round: roundOf(params) }),
    ),
    fillRound: assign(({ context }, params: Settlement) => ({ round: filled(context, params) })),
    countRound: assign(({ context }) => ({ rounds: context.rounds + 1 })),
    noteAuthorization: assign({ authorized: true }),
    noteResent: assign({ resent: true }),
    end: assign((_, params: CallEnding) => ({ ending: params })),
  },
  guards: {
    needsApproval: ({ context }) => context.input.approval !== undefined,
    isAdmitted: ({ context }) => context.input.admitted,
    isAccepted: (_, params: Settlement) => params.outcome === 'accepted',
    isKnown: ({ context }, params: { readonly token: string }) => context.questions.includes(params.token),
    isLast: ({ context }, params: { readonly token: string }) =>
      context.questions.length === 1 && context.questions[0] === params.token,
    roundsAreUsedUp: ({ context }) => context.rounds >= maxRounds,
    asksNothing: (_, params: { readonly count: number }) => params.count === 0,
    endsRound: ({ context }, params: Settlement) =>
      context.round?.waiting[params.token]?.ends !== undefined && params.outcome !== 'accepted',
    isAuthorized: ({ context }) => context.authorized,
    isResent: ({ context }) => context.resent,
  },
});

export const callMachine = callSetup
  .extend({
    actions: {
      putQuestions: callSetup.enqueueActions(({ context, event, enqueue }) => {
        const questions = questionsOf(context, event);
        for (const question of questions) {
          const { token } = question.elicitation;
          enqueue.spawnChild('elicitation', { id: token, systemId: token, input: question });
        }
        const tokens = questions.map((question) => question.elicitation.token);
        enqueue.assign({ questions: [...context.questions, ...tokens] });
      }),
      dropQuestion: callSetup.enqueueActions(({ context, event, enqueue }) => {
        if (event.type !== 'question.settled') return;
        const { token } = event.settlement;
        enqueue.stopChild(token);
        enqueue.assign({ questions: context.questions.filter((open) => open !== token) });
      }),
    },
  })
  .createMachine({
    id: 'call',
    description: 'One tool call, pinned to the runtime of its step.',
    meta: {
      sends: [
        'tools/call and its retries to the pinned connection',
        'notifications/cancelled when it is aborted or times out',
        'call.started, call.paused, call.resumed, call.ended as facts',
      ],
      persisted: ['arguments, time left, open questions, the round with its requestState'],
      invariants: [
        'C1 goes to the runtime its step is pinned to, once (H1, H6)',
        'C2 only time without an open question counts (EL-9)',
        'C3 ends once, and no question outlives it (H5)',
      ],
    },
    context: ({ input }) => contextOf(input),
    output: ({ context }) => ({ call: context.input.call, generation: context.input.generation }),
    initial: 'starting',
    on: {
      'call.abort': {
        target: '.settled',
        actions: [{ type: 'end', params: ({ context, event }) => aborted(context, event.reason) }, 'cancelRequest'],
      },
      'call.failed': {
        target: '.settled',
        actions: { type: 'end', params: ({ event }) => ({ outcome: event.outcome, failure: event.failure }) },
      },
    },
    states: {
      starting: {
        description: 'Decides whether a person has to approve, and whether there is a free turn.',
        always: [
          { guard: 'needsApproval', target: 'awaitingApproval' },
          {
            guard: 'isAdmitted',
            target: 'onWire',
            actions: [{ type: 'startClock', params: ({ context }) => ({ at: context.input.at }) }, 'announceStarted'],
          },
          { target: 'queued' },
        ],
      },
      awaitingApproval: {
        description: 'Not sent: a person is asked whether it may run.',
        entry: ['noteActor', 'putQuestions'],
        on: {
          'question.settled': [
            {
              guard: { type: 'isAccepted', params: ({ event }) => event.settlement },
              target: 'queued',
              actions: 'dropQuestion',
            },
            {
              target: 'settled',
              actions: [
                'dropQuestion',
                { type: 'end', params: ({ context, event }) => notApproved(context, event.settlement) },
              ],
            },
          ],
        },
      },
      queued: {
        description: 'Waiting for its turn at the server.',
        entry: 'requestTurn',
        on: {
          'call.admitted': {
            target: 'onWire',
            actions: [{ type: 'startClock', params: ({ event }) => ({ at: event.at }) }, 'announceStarted'],
          },
        },
      },
      onWire: {
        description: 'The request is with the server.',
        entry: 'sendRequest',
        initial: 'running',
        on: {
          'call.completed': {
            target: 'settled',
            actions: { type: 'end', params: ({ event }) => ({ outcome: 'completed', result: event.result }) },
          },
          'call.inputRequired': [
            {
              guard: 'roundsAreUsedUp',
              target: 'settled',
              actions: { type: 'end', params: ({ context }) => tooManyRounds(context) },
            },
            {
              guard: { type: 'asksNothing', params: ({ event }) => ({ count: event.questions.length }) },
              target: 'onWire',
              reenter: true,
              actions: ['countRound', { type: 'openRound', params: ({ event }) => event }],
            },
            {
              target: 'answering',
              actions: [
                'countRound',
                { type: 'openRound', params: ({ event }) => event },
                { type: 'stopClock', params: ({ event }) => ({ at: event.at }) },
                'putQuestions',
              ],
            },
          ],
          'call.authorizationRequired': [
            {
              guard: 'isAuthorized',
              target: 'settled',
              actions: { type: 'end', params: ({ context }) => stillUnauthorized(context) },
            },
            {
              target: 'answering',
              actions: [
                'noteAuthorization',
                { type: 'openRound', params: ({ event }) => ({ questions: event.questions, responses: {} }) },
                { type: 'stopClock', params: ({ event }) => ({ at: event.at }) },
                'putQuestions',
              ],
            },
          ],
          'call.resend': {
            target: 'settled',
            actions: { type: 'end', params: ({ event }) => ({ outcome: event.outcome, failure: event.failure }) },
          },
        },
        states: {
          running: {
            description: 'The clock runs.',
            entry: 'armTimeLimit',
            exit: 'disarmTimeLimit',
            on: {
              'call.resend': [
                {
                  guard: 'isResent',
                  target: '#call.settled',
                  actions: { type: 'end', params: ({ event }) => ({ outcome: event.outcome, failure: event.failure }) },
                },
                { target: '#call.onWire', reenter: true, actions: 'noteResent' },
              ],
              'call.timedOut': {
                target: '#call.settled',
                actions: [{ type: 'end', params: ({ context }) => timedOut(context) }, 'cancelRequest'],
              },
              'call.asked': {
                target: 'paused',
                actions: [{ type: 'stopClock', params: ({ event }) => ({ at: event.at }) }, 'putQuestions'],
              },
              'call.questionOpened': {
                target: 'paused',
                actions: [
                  { type: 'stopClock', params: ({ event }) => ({ at: event.at }) },
                  { type: 'noteQuestion', params: ({ event }) => ({ token: event.token }) },
                ],
              },
            },
          },
          paused: {
            description: 'A question it may be waiting on is open: the clock stands still.',
            entry: ['releaseTurn', 'armPauseLimit', 'announcePaused'],
            exit: ['disarmTimeLimit', 'resumeTurn'],
            on: {
              'call.asked': { actions: 'putQuestions' },
              'call.questionOpened': {
                actions: { type: 'noteQuestion', params: ({ event }) => ({ token: event.token }) },
              },
              'call.pauseEnded': { actions: { type: 'cancelQuestions', params: pauseTooLong } },
              'question.settled': [
                {
                  guard: { type: 'isLast', params: ({ event }) => event.settlement },
                  target: 'running',
                  actions: [
                    'dropQuestion',
                    { type: 'startClock', params: ({ event }) => ({ at: event.settlement.at }) },
                    'announceResumed',
                  ],
                },
                { guard: { type: 'isKnown', params: ({ event }) => event.settlement }, actions: 'dropQuestion' },
              ],
            },
          },
        },
      },
      answering: {
        description: 'The server asked for input and holds nothing: answered, the request is sent once more.',
        entry: ['releaseTurn', 'armPauseLimit', 'announcePaused'],
        exit: ['disarmTimeLimit', 'resumeTurn'],
        on: {
          'call.pauseEnded': { actions: { type: 'cancelQuestions', params: pauseTooLong } },
          'question.settled': [
            {
              guard: { type: 'endsRound', params: ({ event }) => event.settlement },
              target: 'settled',
              actions: [
                'dropQuestion',
                { type: 'end', params: ({ context, event }) => refused(context, event.settlement) },
              ],
            },
            {
              guard: { type: 'isLast', params: ({ event }) => event.settlement },
              target: 'onWire',
              actions: [
                { type: 'fillRound', params: ({ event }) => event.settlement },
                'dropQuestion',
                { type: 'startClock', params: ({ event }) => ({ at: event.settlement.at }) },
                'announceResumed',
              ],
            },
            {
              guard: { type: 'isKnown', params: ({ event }) => event.settlement },
              actions: [{ type: 'fillRound', params: ({ event }) => event.settlement }, 'dropQuestion'],
            },
          ],
        },
      },
      settled: {
        description: 'Ended: completed, failed, aborted, timed out, unknown or not sent.',
        type: 'final',
        entry: [{ type: 'cancelQuestions', params: ({ context }) => endOfQuestions(context) }, 'settleCall'],
      },
    },
  });

export type CallActorRef = ActorRefFrom<typeof callMachine>;

/** The context of a new call. */
export function contextOf(input: CallInput, runningSince: number | null = null): CallContext {
  return {
    input,
    remainingMs: input.timeLimitMs,
    runningSince,
    pausedSince: null,
    pausedMs: 0,
    questions: [],
    round: null,
    rounds: 0,
    authorized: false,
    resent: false,
    ending: null,
  };
}

/** How the open questions of a call that ended are settled: expired if its server went away (EL-3). */
function endOfQuestions({ ending }: CallContext): { reason: string; expired: boolean } {
  const failure = ending === null || ending.outcome === 'completed' ? undefined : ending.failure;
  const expired = failure?.code === 'connection_lost' || failure?.code === 'session_lost';
  return {
    reason: failure === undefined ? 'its call ended' : expired ? 'its server went away' : failure.message,
    expired,
  };
}

function questionsOf(context: CallContext, event: CallEvent): readonly Question[] {
  if (event.type === 'call.inputRequired' || event.type === 'call.authorizationRequired') return event.questions;
  if (event.type === 'call.asked') return [event.question];
  return context.input.approval === undefined ? [] : [context.input.approval];
}

function roundOf(params: {
  readonly questions: readonly Question[];
  readonly responses: Round['responses'];
  readonly requestState?: Json;
}): Round {
  const waiting: Record<string, WaitingEntry> = {};
  for (const { elicitation, asker } of params.questions) {
    if (asker.kind === 'authorization') waiting[elicitation.token] = { key: '', kind: 'url', ends: 'authorization' };
    if (asker.kind !== 'round') continue;
    const sampling = elicitation.kind === 'sampling' ? ({ ends: 'sampling' } as const) : {};
    waiting[elicitation.token] = { key: asker.key, kind: elicitation.kind, ...sampling };
  }
  return {
    responses: params.responses,
    waiting,
    ...(params.requestState === undefined ? {} : { requestState: params.requestState }),
  };
}

function filled(context: CallContext, settlement: Settlement): Round | null {
  const { round } = context;
  const entry = round?.waiting[settlement.token];
  if (round === null || entry === undefined) return round;
  return { ...round, responses: { ...round.responses, [entry.key]: replyOf(entry.kind, settlement) } };
}

function aborted(context: CallContext, reason: string): CallEnding {
  return {
    outcome: 'aborted',
    failure: {
      code: 'aborted',
      message: `The call of "${context.input.name}" was aborted: ${reason}.`,
      retryable: false,
      outcome: sentOutcome(context),
    },
  };
}

function sentOutcome(context: CallContext): 'not-sent' | 'unknown' {
  return context.runningSince === null && context.pausedSince === null ? 'not-sent' : 'unknown';
}

function timedOut(context: CallContext): CallEnding {
  const message = `Expected "${context.input.name}" on server "${context.input.server}" to end within ${String(context.input.timeLimitMs)} ms, and it did not. Raise callTimeoutMs or timeoutMs if it needs longer.`;
  return { outcome: 'timedOut', failure: { code: 'timeout', message, retryable: true, outcome: 'unknown' } };
}

function tooManyRounds(context: CallContext): CallEnding {
  const message = `Expected server "${context.input.server}" to be done asking after ${String(maxRounds)} rounds, and it asked again for "${context.input.name}". This is a fault of the server.`;
  return { outcome: 'failed', failure: { code: 'limit_exceeded', message, retryable: false, outcome: 'failed' } };
}

function notApproved(context: CallContext, settlement: Settlement): CallEnding {
  const message = `The call of "${context.input.name}" on server "${context.input.server}" was not approved: ${settlement.reason ?? settlement.outcome}. It was not sent.`;
  return { outcome: 'not-sent', failure: { code: 'not_approved', message, retryable: false, outcome: 'not-sent' } };
}

function refused(context: CallContext, settlement: Settlement): CallEnding {
  const why = settlement.reason ?? settlement.outcome;
  if (context.round?.waiting[settlement.token]?.ends === 'authorization') {
    const message = `Server "${context.input.server}" wants a sign-in before "${context.input.name}", and it was not done: ${why}. The call did not run.`;
    return {
      outcome: 'not-sent',
      failure: { code: 'authorization_declined', message, retryable: false, outcome: 'not-sent' },
    };
  }
  const message = `Server "${context.input.server}" asked for sampling during "${context.input.name}", and it was not approved: ${why}.`;
  return { outcome: 'failed', failure: { code: 'not_approved', message, retryable: false, outcome: 'failed' } };
}

function stillUnauthorized(context: CallContext): CallEnding {
  const message = `Expected server "${context.input.server}" to take "${context.input.name}" after the sign-in, and it asked for it again. Check the account that signed in.`;
  return { outcome: 'failed', failure: { code: 'auth_required', message, retryable: false, outcome: 'failed' } };
}

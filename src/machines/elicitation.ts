/**
 * The responder: one question to the person, from the moment it was asked until its asker has heard.
 *
 * Owns the question's record and its outcome. Registers with the router before it is shown (EL-1), is decided by policy,
 * shown, answered once. Tells its parent `question.settled`.
 *
 * - E1 It settles exactly once, and the asker hears (H5).
 * - E2 An answer that does not fit leaves it open (EL-3).
 * - E3 Its systemId is its token: that is how the router finds it, wherever it hangs in the tree.
 */
import { assign, sendParent, setup } from 'xstate';
import type { ActorRefFrom } from 'xstate';
import type { ElicitationAnswer, PendingElicitation, RespondOutcome } from '../domain/elicitation.ts';
import type { Issue } from '../domain/errors.ts';
import { checkAnswer } from '../domain/answer.ts';
import { timeOf } from '../domain/question.ts';
import type { Question, Settlement } from '../domain/question.ts';
import { callbackNotProvided, notProvided, promiseNotProvided } from './not-provided.ts';
import type { DeadlineInput, DeadlinePassedEvent } from './not-provided.ts';

/** What policy and reviewer make of a question: show it, or answer it for the person. */
export type Decision =
  | {
      readonly kind: 'show';
      /** The question as it is shown, where looking things up told more about it. */
      readonly elicitation?: PendingElicitation;
    }
  | { readonly kind: 'answer'; readonly answer: ElicitationAnswer; readonly reason: string };

/** What a responder remembers. */
export interface ElicitationContext extends Question {
  readonly settlement: Settlement | null;
}

/** What happens to a question. */
export type ElicitationEvent =
  | {
      readonly type: 'elicitation.answer';
      readonly answer: ElicitationAnswer;
      readonly at: number;
      readonly ticket: number;
    }
  | {
      readonly type: 'elicitation.withdraw' | 'elicitation.cancel' | 'elicitation.expire';
      readonly reason: string;
      readonly at: number;
    }
  | DeadlinePassedEvent
  | { readonly type: 'xstate.done.actor.decide'; readonly output: { readonly decision: Decision; readonly at: number } }
  | { readonly type: 'xstate.error.actor.decide'; readonly error: unknown };

/** A question has ended: told to its parent. */
export interface QuestionSettledEvent {
  readonly type: 'question.settled';
  readonly settlement: Settlement;
}

export const elicitationMachine = setup({
  types: {
    context: {} as ElicitationContext,
    input: {} as Question,
    output: {} as Settlement,
    events: {} as ElicitationEvent,
  },
  actors: {
    decide: promiseNotProvided<{ readonly decision: Decision; readonly at: number }, Question>(),
    deadline: callbackNotProvided<DeadlinePassedEvent, DeadlineInput>(),
  },
  actions: {
    /** Enters the token at the router. */
    register: notProvided,
    /** Makes the question visible: `elicitation.opened`. */
    show: notProvided,
    /** Gives `respond` its outcome. */
    reply: notProvided as (_: unknown, params: { readonly ticket: number; readonly outcome: RespondOutcome }) => void,
    /** Tells the asker, the router and the world how it ended. */
    settle: notProvided as (_: unknown, params: Settlement) => void,
    tellParent: sendParent((_: unknown, params: Settlement): QuestionSettledEvent => ({
      type: 'question.settled',
      settlement: params,
    })),
  },
  guards: {
    answerFits: ({ context }, params: { readonly answer: ElicitationAnswer }) =>
      issuesOf(context, params.answer).length === 0,
    expires: ({ context }) => context.elicitation.expiresAt !== undefined,
  },
}).createMachine({
  id: 'elicitation',
  description: 'One question to the person, and the one that waits for its answer.',
  meta: {
    sends: [
      'question.settled to its parent',
      'elicitation.opened, elicitation.settled as facts',
      'the answer to its asker',
    ],
    persisted: ['the question, its token, its asker, its deadline as an absolute time'],
    invariants: [
      'E1 settles exactly once, and the asker hears (H5)',
      'E2 an answer that does not fit leaves it open (EL-3)',
      'E3 found by its token alone (H4, H7)',
    ],
  },
  context: ({ input }) => ({ ...input, settlement: null }),
  output: ({ context }) => settlementOf(context),
  initial: 'deciding',
  entry: 'register',
  on: {
    'elicitation.answer': [
      {
        guard: { type: 'answerFits', params: ({ event }) => ({ answer: event.answer }) },
        target: '.settled',
        actions: [
          assign(({ context, event }) => answered(context, event.answer, event.at)),
          { type: 'reply', params: ({ event }) => delivered(event.ticket) },
        ],
      },
      { actions: { type: 'reply', params: ({ context, event }) => invalid(context, event.answer, event.ticket) } },
    ],
    'elicitation.withdraw': {
      target: '.settled',
      actions: assign(({ context, event }) => closed(context, 'cancelled', 'withdrawn', event.at)),
    },
    'elicitation.cancel': {
      target: '.settled',
      actions: assign(({ context, event }) => closed(context, 'cancelled', event.reason, event.at)),
    },
    'elicitation.expire': {
      target: '.settled',
      actions: assign(({ context, event }) => closed(context, 'expired', event.reason, event.at)),
    },
  },
  states: {
    deciding: {
      description: 'Registered, not yet shown: policy and reviewer have the first word.',
      invoke: {
        id: 'decide',
        src: 'decide',
        input: ({ context }) => ({ elicitation: context.elicitation, asker: context.asker }),
        onDone: [
          {
            guard: ({ event }) => event.output.decision.kind === 'answer',
            target: 'settled',
            actions: assign(({ context, event }) => decided(context, event.output)),
          },
          { target: 'open', actions: assign(({ context, event }) => shownAs(context, event.output.decision)) },
        ],
        onError: { target: 'open' },
      },
    },
    open: {
      description: 'Shown to the person, waiting for an answer, the asker to go, or a limit to run out.',
      entry: 'show',
      initial: 'waiting',
      states: {
        waiting: {
          description: 'No limit, or its deadline not armed yet.',
          always: { guard: 'expires', target: 'limited' },
        },
        limited: {
          description: 'Expires at an absolute time.',
          invoke: {
            id: 'deadline',
            src: 'deadline',
            input: ({ context }) => ({ at: timeOf(context.elicitation.expiresAt ?? '') }),
          },
        },
      },
      on: {
        'deadline.passed': {
          target: 'settled',
          actions: assign(({ context, event }) => closed(context, 'expired', 'nobody answered in time', event.at)),
        },
      },
    },
    settled: {
      description: 'Accepted, declined, cancelled, expired or lost; the asker has heard.',
      type: 'final',
      entry: [
        { type: 'settle', params: ({ context }) => settlementOf(context) },
        { type: 'tellParent', params: ({ context }) => settlementOf(context) },
      ],
    },
  },
});

/** A running responder. */
export type ElicitationActorRef = ActorRefFrom<typeof elicitationMachine>;

type Settled = { readonly settlement: Settlement };

function closed(context: ElicitationContext, outcome: 'cancelled' | 'expired', reason: string, at: number): Settled {
  return { settlement: { token: context.elicitation.token, outcome, reason, at } };
}

function answered(context: ElicitationContext, answer: ElicitationAnswer, at: number): Settled {
  const checked = checkAnswer(context.elicitation, answer);
  const given = checked.ok ? checked.answer : answer;
  return { settlement: { token: context.elicitation.token, outcome: outcomeOf(answer), answer: given, at } };
}

function decided(context: ElicitationContext, output: { readonly decision: Decision; readonly at: number }): Settled {
  const { decision, at } = output;
  if (decision.kind === 'show') return closed(context, 'cancelled', 'not decided', at);
  return {
    settlement: {
      token: context.elicitation.token,
      outcome: outcomeOf(decision.answer),
      answer: decision.answer,
      reason: decision.reason,
      at,
    },
  };
}

function shownAs({ elicitation }: ElicitationContext, decision: Decision): Pick<Question, 'elicitation'> {
  return { elicitation: decision.kind === 'show' ? (decision.elicitation ?? elicitation) : elicitation };
}

function outcomeOf(answer: ElicitationAnswer): 'accepted' | 'declined' | 'cancelled' {
  switch (answer.action) {
    case 'accept':
      return 'accepted';
    case 'decline':
      return 'declined';
    case 'cancel':
      return 'cancelled';
  }
}

function issuesOf(context: ElicitationContext, answer: ElicitationAnswer): readonly Issue[] {
  const checked = checkAnswer(context.elicitation, answer);
  return checked.ok ? [] : checked.issues;
}

function delivered(ticket: number): { ticket: number; outcome: RespondOutcome } {
  return { ticket, outcome: { status: 'delivered' } };
}

function invalid(
  context: ElicitationContext,
  answer: ElicitationAnswer,
  ticket: number,
): { ticket: number; outcome: RespondOutcome } {
  return { ticket, outcome: { status: 'invalid', issues: issuesOf(context, answer) } };
}

function settlementOf(context: ElicitationContext): Settlement {
  return (
    context.settlement ?? {
      token: context.elicitation.token,
      outcome: 'cancelled',
      reason: 'ended without an outcome',
      at: timeOf(context.elicitation.openedAt),
    }
  );
}

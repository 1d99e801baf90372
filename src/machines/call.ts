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
import { stopChild } from 'xstate';
import type { ActorRefFrom } from 'xstate';
import { contextOf, settledBy } from './call-context.ts';
import {
  aborted,
  endOfQuestions,
  notApproved,
  refused,
  stillUnauthorized,
  timedOut,
  tooManyRounds,
} from './call-endings.ts';
import { callWords } from './call-setup.ts';

const pauseTooLong = { reason: 'the pause took longer than maxPauseMs', expired: true } as const;

export const callMachine = callWords.createMachine({
  id: 'call',
  description: 'One tool call, pinned to the runtime of its step.',
  meta: {
    sends: [
      'tools/call and its retries to the pinned connection',
      'notifications/cancelled, or tasks/cancel, when it is aborted or times out',
      'call.started, call.paused, call.resumed, call.ended as facts',
    ],
    persisted: ['arguments, time left, open questions, the round with its requestState, its task'],
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
    'xstate.error.actor.*': {
      target: '.settled',
      actions: 'giveUp',
    },
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
        'xstate.done.actor.*': [
          {
            guard: { type: 'isAccepted', params: ({ event }) => settledBy(event) },
            target: 'queued',
            actions: 'dropQuestion',
          },
          {
            target: 'settled',
            actions: [
              'dropQuestion',
              { type: 'end', params: ({ context, event }) => notApproved(context, settledBy(event)) },
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
      description: 'The request is with the server: on its way, or a task the server works on.',
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
        'call.becameTask': {
          actions: [{ type: 'noteTask', params: ({ event }) => event }, 'beginTask'],
        },
        'xstate.done.actor.task': {
          actions: [stopChild('task'), 'forgetTask', { type: 'finishTask', params: ({ event }) => event.output }],
        },
        'call.authorizationRequired': [
          {
            guard: 'isAuthorized',
            target: 'settled',
            actions: { type: 'end', params: ({ context, event }) => stillUnauthorized(context, event.outcome) },
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
        'xstate.done.actor.*': [
          {
            guard: { type: 'endsRound', params: ({ event }) => settledBy(event) },
            target: 'settled',
            actions: [
              'dropQuestion',
              { type: 'end', params: ({ context, event }) => refused(context, settledBy(event)) },
            ],
          },
          {
            guard: { type: 'isLast', params: ({ event }) => settledBy(event) },
            target: 'onWire',
            actions: [
              { type: 'fillRound', params: ({ event }) => settledBy(event) },
              'dropQuestion',
              { type: 'startClock', params: ({ event }) => ({ at: settledBy(event).at }) },
              'announceResumed',
            ],
          },
          {
            guard: { type: 'isKnown', params: ({ event }) => settledBy(event) },
            actions: [{ type: 'fillRound', params: ({ event }) => settledBy(event) }, 'dropQuestion'],
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

/** A running call. */
export type CallActorRef = ActorRefFrom<typeof callMachine>;

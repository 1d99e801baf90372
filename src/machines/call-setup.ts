/** The words of the call's chart: its slots, what it assigns, what it asks before it goes on. */
import { assign, setup } from 'xstate';
import type { Json } from '../domain/json.ts';
import type { Question, Settlement } from '../domain/question.ts';
import type { TaskEnd, TaskRecord } from '../domain/task.ts';
import { filled, maxRounds, questionsOf, roundOf, settledBy, taskOf } from './call-context.ts';
import type { CallContext, CallEnding, CallEvent, CallInput, CallOutput, Round } from './call-context.ts';
import { broken } from './call-endings.ts';
import { elicitationMachine } from './elicitation.ts';
import { machineNotProvided, notProvided } from './not-provided.ts';
import type { taskMachine } from './task.ts';

const callSetup = setup({
  types: {
    context: {} as CallContext,
    input: {} as CallInput,
    output: {} as CallOutput,
    events: {} as CallEvent,
  },
  actors: {
    elicitation: elicitationMachine,
    /** Loaded with the first task (PE-5). */
    task: machineNotProvided<typeof taskMachine>(),
  },
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
    /** Takes what its task brought as what its request would have brought. */
    finishTask: notProvided as (_: unknown, params: TaskEnd) => void,
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
    setQuestions: assign((_, params: { readonly questions: readonly string[] }) => params),
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
    noteTask: assign((_, params: { readonly record: TaskRecord }) => ({ task: params.record.taskId })),
    forgetTask: assign({ task: null }),
    end: assign((_, params: CallEnding) => ({ ending: params })),
    giveUp: assign(({ context }) => ({ ending: broken(context) })),
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

/** The setup of the call's chart, with the actions that put questions and let go of them. */
export const callWords = callSetup.extend({
  actions: {
    putQuestions: callSetup.enqueueActions(({ context, event, enqueue }) => {
      const questions = questionsOf(context, event);
      for (const question of questions) {
        const { token } = question.elicitation;
        enqueue.spawnChild('elicitation', { id: token, systemId: token, input: question });
      }
      const tokens = questions.map((question) => question.elicitation.token);
      enqueue({ type: 'setQuestions', params: { questions: [...context.questions, ...tokens] } });
    }),
    beginTask: callSetup.enqueueActions(({ context, event, enqueue }) => {
      if (event.type === 'call.becameTask') enqueue.spawnChild('task', { id: 'task', input: taskOf(context, event) });
    }),
    dropQuestion: callSetup.enqueueActions(({ context, event, enqueue }) => {
      const isDone = event.type !== 'question.settled' && 'output' in event;
      if (event.type !== 'question.settled' && !isDone) return;
      const settlement = isDone ? settledBy(event) : event.settlement;
      const { token } = settlement;
      enqueue.stopChild(token);
      if (context.task !== null) enqueue.sendTo('task', { type: 'task.answered', settlement });
      const questions = context.questions.filter((open) => open !== token);
      enqueue({ type: 'setQuestions', params: { questions } });
    }),
  },
});

/**
 * A call that its server answers later: asked after until it has ended, its questions put, its answers delivered.
 *
 * Owns what the server last said of the task, which of its questions are open, and the answers it has not been given yet.
 * Receives what its slots hear from the server and what the call's questions became. Its output is how it ended.
 *
 * - J1 The call is never sent again: only the task is asked after, over whatever connection its server has now (H6).
 * - J2 Each entry a server lists is put once, and its answer is delivered until the server has taken it (H4, H5).
 * - J3 It is asked after as often as its server wishes, within bounds, and no longer than the server keeps it.
 */
import { assign, sendParent, setup } from 'xstate';
import type { ActorRefFrom } from 'xstate';
import type { Failure } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Settlement } from '../domain/question.ts';
import type { TaskEnd, TaskStatus } from '../domain/task.ts';
import { callbackNotProvided, notProvided } from './not-provided.ts';
import type { DeadlineInput, DeadlinePassedEvent } from './not-provided.ts';
import {
  answered,
  isOver,
  maxMisses,
  maxTaskQuestions,
  nudgedAt,
  retryAt,
  seen,
  taskContextOf,
  undelivered,
  withdrawnOf,
} from './task-context.ts';
import type { TaskContext, TaskEvent, TaskInput, TaskSeenEvent } from './task-context.ts';
import {
  taskAsksTooMuch,
  taskBroken,
  taskCancelled,
  taskExpired,
  taskForgotten,
  taskRefused,
  taskUnheard,
} from './task-endings.ts';

/** The task a slot works on. */
export interface TaskErrand {
  readonly call: string;
  readonly taskId: string;
}

const taskSetup = setup({
  types: {
    context: {} as TaskContext,
    input: {} as TaskInput,
    output: {} as TaskEnd,
    events: {} as TaskEvent,
  },
  actors: {
    deadline: callbackNotProvided<DeadlinePassedEvent, DeadlineInput>(),
    /** Passes on what the server tells of the task by itself: `task.nudged`. */
    watch: callbackNotProvided<TaskEvent, TaskErrand>(),
    /** `tasks/get`, as soon as the server can be asked. Puts what is new into `task.seen`. */
    look: callbackNotProvided<TaskEvent, TaskErrand & { readonly known: readonly string[] }>(),
    /** `tasks/result`, which a 2025-11-25 server answers when the task has ended. */
    fetch: callbackNotProvided<TaskEvent, TaskErrand & { readonly status: TaskStatus }>(),
    /** `tasks/update`. */
    deliver: callbackNotProvided<
      TaskEvent,
      TaskErrand & { readonly responses: Readonly<Record<string, JsonObject>> }
    >(),
  },
  actions: {
    /** Tells the caller what the server says of the task, if it says something new. */
    tellProgress: notProvided,
    /** Ends questions the server does not ask any more. */
    withdraw: notProvided as (_: unknown, params: { readonly tokens: readonly string[] }) => void,
    /** Tells the server that nobody waits any more: `tasks/cancel`. */
    cancelTask: notProvided,
    noteSeen: assign(({ context }, params: TaskSeenEvent) => seen(context, params)),
    noteAnswer: assign(({ context }, params: Settlement) => answered(context, params)),
    noteDelivered: assign(({ context }, params: { readonly keys: readonly string[]; readonly at: number }) => ({
      responses: undelivered(context, params.keys),
      pollAt: params.at,
      misses: 0,
    })),
    noteMiss: assign(({ context }, params: { readonly counts: boolean; readonly at: number }) => ({
      misses: params.counts ? context.misses + 1 : Math.max(context.misses, 1),
      pollAt: retryAt(context, params.at),
    })),
    noteLook: assign((_, params: { readonly at: number }) => ({ askedAt: params.at, nudged: false })),
    noteNudge: assign(({ context }, params: { readonly statusMessage?: string; readonly at: number }) => ({
      nudged: true,
      statusMessage: params.statusMessage ?? context.statusMessage,
      pollAt: nudgedAt(context, params.at),
    })),
    end: assign((_, params: TaskEnd) => ({ end: params })),
    fail: assign((_, params: { readonly failure: Failure }) => ({ end: { kind: 'failure' as const, ...params } })),
    breakOff: assign(({ context }) => ({ end: { kind: 'failure' as const, failure: taskBroken(context) } })),
  },
  guards: {
    isCancelled: (_, params: TaskSeenEvent) => params.record.status === 'cancelled',
    bringsNoResult: ({ context }, params: TaskSeenEvent) =>
      context.input.style === 'core' && params.record.status !== 'working',
    isOver: ({ context }, params: TaskSeenEvent) => isOver(context, params),
    asksTooMuch: ({ context }, params: TaskSeenEvent) =>
      context.knownKeys.length + params.questions.length + Object.keys(params.responses).length > maxTaskQuestions,
    isUnheard: ({ context }, params: { readonly counts: boolean }) => params.counts && context.misses + 1 >= maxMisses,
    hasAnswers: ({ context }) => context.misses === 0 && Object.keys(context.responses).length > 0,
    isRefusal: ({ context }, params: Settlement) =>
      context.asked[params.token]?.kind === 'sampling' && params.outcome !== 'accepted',
    isAsked: ({ context }, params: Settlement) => context.asked[params.token] !== undefined,
  },
});

export const taskMachine = taskSetup
  .extend({
    actions: {
      askPerson: taskSetup.enqueueActions(({ event, enqueue }) => {
        if (event.type !== 'task.seen') return;
        for (const question of event.questions) enqueue(sendParent({ type: 'call.asked', question, at: event.at }));
      }),
      withdrawGone: taskSetup.enqueueActions(({ context, event, enqueue }) => {
        const tokens = event.type === 'task.seen' ? withdrawnOf(context, event.listed) : [];
        if (tokens.length > 0) enqueue({ type: 'withdraw', params: { tokens } });
      }),
    },
  })
  .createMachine({
    id: 'task',
    description: 'A call that its server answers later.',
    meta: {
      sends: [
        'tasks/get, tasks/result, tasks/update, tasks/cancel to the server of its call',
        'call.asked to its call for each question',
        'call.progressed as facts',
      ],
      persisted: ['the id of the task, when it is asked after next, its open questions and undelivered answers'],
      invariants: [
        'J1 the call is never sent again, only the task is asked after (H6)',
        'J2 each entry is put once, its answer delivered until it is taken (H4, H5)',
        'J3 asked after within bounds, and no longer than the server keeps it',
      ],
    },
    context: ({ input }) => taskContextOf(input),
    output: ({ context }) => context.end ?? { kind: 'failure', failure: taskBroken(context) },
    initial: 'waiting',
    entry: 'tellProgress',
    invoke: { id: 'watch', src: 'watch', input: ({ context }) => errandOf(context) },
    on: {
      'xstate.error.actor.*': { target: '.ended', actions: ['breakOff', 'cancelTask'] },
      'task.ended': { target: '.ended', actions: { type: 'end', params: ({ event }) => event.end } },
      'task.forgotten': {
        target: '.ended',
        actions: { type: 'fail', params: ({ context, event }) => ({ failure: taskForgotten(context, event) }) },
      },
      'task.missed': [
        {
          guard: { type: 'isUnheard', params: ({ event }) => event },
          target: '.ended',
          actions: [
            {
              type: 'fail',
              params: ({ context, event }) => ({ failure: taskUnheard(context, event.failure) }),
            },
            'cancelTask',
          ],
        },
        { target: '.waiting', actions: { type: 'noteMiss', params: ({ event }) => event } },
      ],
      'task.answered': [
        {
          guard: { type: 'isRefusal', params: ({ event }) => event.settlement },
          target: '.ended',
          actions: [
            {
              type: 'fail',
              params: ({ context, event }) => ({ failure: taskRefused(context, event.settlement) }),
            },
            'cancelTask',
          ],
        },
        {
          guard: { type: 'isAsked', params: ({ event }) => event.settlement },
          actions: { type: 'noteAnswer', params: ({ event }) => event.settlement },
        },
      ],
      'task.nudged': { actions: [{ type: 'noteNudge', params: ({ event }) => event }, 'tellProgress'] },
    },
    states: {
      waiting: {
        description: 'The server works, or could not be asked: it is asked again at pollAt.',
        invoke: { id: 'deadline', src: 'deadline', input: ({ context }) => ({ at: context.pollAt }) },
        always: { guard: 'hasAnswers', target: 'delivering' },
        on: {
          'deadline.passed': {
            target: 'looking',
            actions: { type: 'noteLook', params: ({ event }) => ({ at: event.at }) },
          },
          'task.nudged': {
            target: 'waiting',
            reenter: true,
            actions: [{ type: 'noteNudge', params: ({ event }) => event }, 'tellProgress'],
          },
        },
      },
      looking: {
        description: 'Asked how the task is: tasks/get, as soon as the server is there.',
        invoke: {
          id: 'look',
          src: 'look',
          input: ({ context }) => ({ ...errandOf(context), known: context.knownKeys }),
        },
        on: {
          'task.seen': [
            {
              guard: { type: 'isCancelled', params: ({ event }) => event },
              target: 'ended',
              actions: [
                { type: 'noteSeen', params: ({ event }) => event },
                { type: 'fail', params: ({ context }) => ({ failure: taskCancelled(context) }) },
              ],
            },
            {
              guard: { type: 'bringsNoResult', params: ({ event }) => event },
              target: 'fetching',
              actions: [{ type: 'noteSeen', params: ({ event }) => event }, 'tellProgress'],
            },
            {
              guard: { type: 'isOver', params: ({ event }) => event },
              target: 'ended',
              actions: [
                { type: 'noteSeen', params: ({ event }) => event },
                { type: 'fail', params: ({ context }) => ({ failure: taskExpired(context) }) },
                'cancelTask',
              ],
            },
            {
              guard: { type: 'asksTooMuch', params: ({ event }) => event },
              target: 'ended',
              actions: [
                { type: 'fail', params: ({ context }) => ({ failure: taskAsksTooMuch(context) }) },
                'cancelTask',
              ],
            },
            {
              target: 'waiting',
              actions: [
                'withdrawGone',
                { type: 'noteSeen', params: ({ event }) => event },
                'askPerson',
                'tellProgress',
              ],
            },
          ],
        },
      },
      fetching: {
        description: 'A 2025-11-25 server is asked for the result; what the task asks comes meanwhile.',
        invoke: {
          id: 'fetch',
          src: 'fetch',
          input: ({ context }) => ({ ...errandOf(context), status: context.status }),
        },
      },
      delivering: {
        description: 'The answers a person gave are on their way: tasks/update.',
        invoke: {
          id: 'deliver',
          src: 'deliver',
          input: ({ context }) => ({ ...errandOf(context), responses: context.responses }),
        },
        on: {
          'task.delivered': { target: 'waiting', actions: { type: 'noteDelivered', params: ({ event }) => event } },
        },
      },
      ended: {
        description: 'It has a result, or a reason why there is none; the call hears it.',
        type: 'final',
      },
    },
  });

/** A running task. */
export type TaskActorRef = ActorRefFrom<typeof taskMachine>;

function errandOf({ input }: TaskContext): TaskErrand {
  return { call: input.call, taskId: input.record.taskId };
}

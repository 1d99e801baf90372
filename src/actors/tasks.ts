/**
 * The effects of tasks: asking a server after one, fetching its result, delivering answers, hearing what it tells.
 *
 * Loaded with the first task (`task-slot.ts`). Its requests go over the connection the call's server has at the time, and
 * are sent again when they are lost: none of them makes the server begin anything (H6).
 */
import { fromCallback } from 'xstate';
import type { CallbackActorLogic } from 'xstate';
import type { Failure } from '../domain/errors.ts';
import { isJsonObject } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Link, RequestFailure, WireRequest } from '../domain/link.ts';
import { isTerminal } from '../domain/task.ts';
import type { TaskStatus, TaskStyle } from '../domain/task.ts';
import { taskMachine } from '../machines/task.ts';
import type { TaskErrand } from '../machines/task.ts';
import type { TaskEvent } from '../machines/task-context.ts';
import { unavailable } from './call-failures.ts';
import type { CallRecord } from './call-record.ts';
import { deadlineLogic } from './deadline.ts';
import { effectsOf } from './effects.ts';
import type { Effects } from './effects.ts';
import { LiveTask, cancelTask, deaf, tellsOfTasks } from './live-task.ts';
import { endOf, readEnd, readTask, refusedBy, unreadable } from './read-task.ts';
import { whenUsable } from './when-usable.ts';

type Tell = (event: TaskEvent) => void;

/** JSON-RPC error codes a server answers with when it has no such task, or no tasks. */
const rpcCodes = { invalidParams: -32_602, methodNotFound: -32_601 } as const;

/** A server made a task of a call; one nobody waits for any more is cancelled. */
export function begin(
  effects: Effects,
  record: CallRecord,
  { task, style }: { readonly task: JsonObject; readonly style: TaskStyle },
): void {
  const { calls, clock } = effects;
  const { server, call } = record.input;
  const read = readTask(task);
  if (calls.record(call) !== record) {
    if (typeof read !== 'string' && record.link !== undefined) cancelTask(record.link, read.taskId, style);
    return;
  }
  if (typeof read === 'string') {
    calls.fail(record, unreadable(server, 'a task', `one without ${read}`));
    return;
  }
  const live = new LiveTask(effects, record, { id: read.taskId, style });
  calls.becameTask(record, live);
  record.ref?.send({ type: 'call.becameTask', style, record: read, at: clock.now() });
}

/** One errand of a task, with what it works with. */
interface Errand {
  readonly effects: Effects;
  readonly record: CallRecord;
  readonly live: LiveTask;
  readonly tell: Tell;
}

/** Makes the logic of a slot; without its call, or once the call is another task, it does nothing. */
function errand<TInput extends TaskErrand>(
  run: (errand: Errand, input: TInput) => () => void,
): CallbackActorLogic<TaskEvent, TInput> {
  return fromCallback<TaskEvent, TInput>(({ input, sendBack, system }) => {
    const effects = effectsOf(system);
    const record = effects.calls.record(input.call);
    const live = record?.task;
    if (record === undefined || !(live instanceof LiveTask) || live.id !== input.taskId) return undefined;
    return run({ effects, record, live, tell: sendBack }, input);
  });
}

const look = errand<TaskErrand & { readonly known: readonly string[] }>((work, { taskId, known }) =>
  ask(work, { method: 'tasks/get', params: { taskId } }, (result) => {
    const { effects, record, live, tell } = work;
    const { server } = record.input;
    const read = readTask(result, taskId);
    if (typeof read === 'string') {
      const failure = unreadable(server, `the state of task "${taskId}"`, `one without ${read}`);
      tell({ type: 'task.ended', end: { kind: 'failure', failure } });
      return;
    }
    const end = live.style === 'extension' ? readEnd(server, result) : undefined;
    if (end !== undefined) {
      live.tell(read.statusMessage ?? null);
      tell({ type: 'task.ended', end });
      return;
    }
    const requests = read.status === 'input_required' ? result['inputRequests'] : undefined;
    const entries = Object.entries(isJsonObject(requests) ? requests : {});
    const isKnown = new Set(known);
    const fresh = live.style === 'extension' ? entries.filter(([key]) => !isKnown.has(key)) : [];
    const asked = effects.questions.readRequests(record, fresh, (key) => ({ kind: 'task', key }));
    if (asked.kind === 'failed') {
      live.cancel();
      tell({ type: 'task.ended', end: { kind: 'failure', failure: asked.failure } });
      return;
    }
    const { questions, responses } = asked;
    const listed = entries.map(([key]) => key);
    tell({ type: 'task.seen', record: read, questions, responses, listed, at: effects.clock.now() });
  }),
);

const fetchResult = errand<TaskErrand & { readonly status: TaskStatus }>((work, { taskId, status }) => {
  const { record, tell } = work;
  const { server } = record.input;
  return ask(
    work,
    { method: 'tasks/result', params: { taskId } },
    (result) => {
      tell({ type: 'task.ended', end: endOf(server, result) });
    },
    (rpc) => {
      // A server that does not wait for the end of its task says so; one whose task has ended says why.
      if (!isTerminal(status)) return false;
      const end = refusedBy(server, rpc, undefined);
      const ran = status === 'completed' && end.kind === 'failure';
      tell({
        type: 'task.ended',
        end: ran ? { ...end, failure: { ...end.failure, outcome: 'unknown' as const } } : end,
      });
      return true;
    },
  );
});

const deliver = errand<TaskErrand & { readonly responses: Readonly<Record<string, JsonObject>> }>(
  (work, { taskId, responses }) => {
    const params = { taskId, inputResponses: responses };
    return ask(work, { method: 'tasks/update', params }, () => {
      work.tell({ type: 'task.delivered', keys: Object.keys(responses), at: work.effects.clock.now() });
    });
  },
);

/** Hears of changes by itself: pushed by 2025-11-25 servers, to be asked for of those of 2026-07-28. */
const watch = errand<TaskErrand>(({ effects, record, live, tell }, { taskId }) => {
  live.listener = (task) => {
    const read = readTask(task, taskId);
    if (typeof read === 'string') return;
    const { statusMessage } = read;
    const at = effects.clock.now();
    tell({ type: 'task.nudged', at, ...(statusMessage === undefined ? {} : { statusMessage }) });
  };
  const { link } = record;
  if (link === undefined || !tellsOfTasks(link)) return nothing;
  const key = link.send({ method: 'subscriptions/listen', params: { notifications: { taskIds: [taskId] } } }, deaf);
  return () => {
    link.cancel(key);
  };
});

/** The chart of tasks with its slots filled. */
export const taskLogic: typeof taskMachine = taskMachine.provide({
  actors: {
    deadline: deadlineLogic((system) => effectsOf(system).clock),
    watch,
    look,
    fetch: fetchResult,
    deliver,
  },
  actions: {
    tellProgress: ({ context, system }) => {
      const task = effectsOf(system).calls.record(context.input.call)?.task;
      if (task instanceof LiveTask) task.tell(context.statusMessage);
    },
    withdraw: ({ system }, { tokens }) => {
      for (const token of tokens) effectsOf(system).questions.takeBack(token);
    },
    cancelTask: ({ context, system }) => {
      effectsOf(system).calls.record(context.input.call)?.task?.cancel();
    },
  },
});

/**
 * Sends a request about a task as soon as its server is there. What becomes of it is told once; the returned function ends
 * the wait. `refused` takes a JSON-RPC error, or leaves it to what is usual.
 */
function ask(
  { effects, record, live, tell }: Errand,
  request: WireRequest,
  answered: (result: JsonObject) => void,
  refused: (rpc: NonNullable<RequestFailure['rpc']>) => boolean = () => false,
): () => void {
  const { calls, clock, servers } = effects;
  const { generation, server } = record.input;
  const connection = servers.resolve(generation, server)?.connection;
  let cancel = nothing;
  const send = (link: Link): void => {
    const settle = (): void => {
      cancel = nothing;
      calls.ofTask(record, link, undefined);
    };
    const key = link.send(request, {
      onResult: (result) => {
        settle();
        answered(result);
      },
      onFailure: (failed) => {
        settle();
        if (failed.failure.code === 'session_lost' && connection?.link === link) calls.loseSession(connection);
        if (failed.rpc === undefined || !refused(failed.rpc)) tell(missed(failed, live.madeOn !== link, clock.now()));
      },
    });
    calls.ofTask(record, link, key);
    cancel = () => {
      settle();
      link.cancel(key);
    };
  };
  const away = (): void => {
    tell({ type: 'task.ended', end: { kind: 'failure', failure: unavailable(record, connection) } });
  };
  if (connection === undefined) {
    away();
    return nothing;
  }
  const stop = whenUsable(connection, { clock, usable: send, gone: away });
  return () => {
    stop();
    cancel();
  };
}

/** What a failed request says of a task: the server does not know it, could not be asked, or will not be. */
function missed({ failure, rpc }: RequestFailure, moved: boolean, at: number): TaskEvent {
  if (rpc?.code === rpcCodes.invalidParams) return { type: 'task.forgotten', moved, why: rpc.message, at };
  const isLasting = rpc?.code === rpcCodes.methodNotFound || failure.code === 'auth_required';
  if (isLasting) return { type: 'task.ended', end: { kind: 'failure', failure: unknownOf(failure) } };
  return { type: 'task.missed', failure, counts: rpc !== undefined || !failure.retryable, at };
}

/** The call was sent: whatever became of asking after it, it may have run. */
function unknownOf(failure: Failure): Failure {
  return { ...failure, outcome: 'unknown' };
}

function nothing(): void {}

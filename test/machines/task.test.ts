import { fromCallback } from 'xstate';
import { describe, expect, test } from 'vitest';
import { taskMachine } from '../../src/machines/index.ts';
import type { TaskEvent, TaskInput } from '../../src/machines/index.ts';
import { call } from './call-support.ts';
import {
  ada,
  deadlineOn,
  failure,
  logged,
  question,
  SlotLog,
  start,
  startChild,
  throughJson,
  withActors,
} from './support.ts';
import { SimulatedClock } from '../../src/testing/index.ts';

const record = { taskId: 'task-1', status: 'working', pollIntervalMs: 200 } as const;
const input: TaskInput = {
  call: 'call-1',
  name: 'mcp__docs__search',
  server: 'docs',
  style: 'extension',
  record,
  at: start,
};
const entry = (token: string, key = token) => question(token, { kind: 'task', key });
const seen = (more: Partial<Extract<TaskEvent, { type: 'task.seen' }>> = {}): TaskEvent => ({
  type: 'task.seen',
  record,
  questions: [],
  responses: {},
  listed: [],
  at: start + 200,
  ...more,
});
const settled = (token: string, outcome: 'accepted' | 'declined'): TaskEvent => ({
  type: 'task.answered',
  settlement: { token, outcome, answer: outcome === 'accepted' ? ada : { action: 'decline' }, at: start },
});

/** A task whose errands are only written down, on a clock of its own. */
function task(more: Partial<TaskInput> = {}, snapshot?: unknown) {
  const log = new SlotLog();
  const errands: { readonly slot: string; readonly input: unknown }[] = [];
  const clock = new SimulatedClock();
  const errand = (slot: string) =>
    fromCallback(({ input: given }) => {
      errands.push({ slot, input: given });
    });
  const machine = withActors(logged(taskMachine, log), {
    deadline: deadlineOn(clock),
    watch: errand('watch'),
    look: errand('look'),
    fetch: errand('fetch'),
    deliver: errand('deliver'),
  });
  const at = clock.now();
  const child = startChild(machine, {
    input: { ...input, at, ...more },
    clock,
    ...(snapshot === undefined ? {} : { snapshot }),
  });
  return {
    ...child,
    log,
    errands,
    value: () => child.actor.getSnapshot().value,
    get context() {
      return child.actor.getSnapshot().context;
    },
    at: (ms: number) => at + ms,
  };
}

describe('asking after it', () => {
  test('ER-3 J3 it is asked after when its server wishes, and again after that', () => {
    const own = task();
    own.clock.increment(199);
    expect(own.value()).toBe('waiting');
    own.clock.increment(1);
    expect(own.value()).toBe('looking');
    own.actor.send(seen({ at: own.at(200) }));
    expect(own.value()).toBe('waiting');
    own.clock.increment(200);
    expect(own.errands.filter(({ slot }) => slot === 'look')).toHaveLength(2);
  });

  test('ER-3 J3 a task that is made with something to say is asked after at once', () => {
    const own = task({ record: { ...record, status: 'input_required' } });
    own.clock.increment(0);
    expect(own.value()).toBe('looking');
  });

  test('ER-3 J3 the server is not waited for beyond the time it keeps the task', () => {
    const own = task({ record: { ...record, pollIntervalMs: 60_000, ttlMs: 500 } });
    own.clock.increment(500);
    expect(own.value()).toBe('looking');
  });

  test('ER-3 J3 RT-7 what could not be asked is asked again later and later, and does not count while the server is away', () => {
    const own = task();
    for (let count = 0; count < 8; count++) {
      own.clock.increment(60_000);
      own.actor.send({
        type: 'task.missed',
        failure: failure('connection_lost', true),
        counts: false,
        at: own.clock.now(),
      });
    }
    expect(own.value()).toBe('waiting');
    own.clock.increment(60_000);
    own.actor.send(seen({ at: own.clock.now() }));
    expect(own.context.misses).toBe(0);
  });
});

describe('asking the person', () => {
  test('ER-3 J2 each new entry is put to the call, and its answer delivered under its key', () => {
    const own = task();
    own.clock.increment(200);
    own.actor.send(seen({ questions: [entry('elc_a', 'who'), entry('elc_b', 'why')], listed: ['who', 'why'] }));
    expect(own.heard).toMatchObject([{ type: 'call.asked' }, { type: 'call.asked' }]);
    own.actor.send(settled('elc_a', 'accepted'));
    expect(own.value()).toBe('delivering');
    expect(own.errands.at(-1)).toMatchObject({ slot: 'deliver', input: { responses: { who: ada } } });
    own.actor.send(settled('elc_b', 'declined'));
    own.actor.send({ type: 'task.delivered', keys: ['who'], at: own.clock.now() });
    expect(own.errands.at(-1)).toMatchObject({ slot: 'deliver', input: { responses: { why: { action: 'decline' } } } });
    own.actor.send({ type: 'task.delivered', keys: ['why'], at: own.clock.now() });
    expect(own.value()).toBe('waiting');
    expect(own.context).toMatchObject({ asked: {}, responses: {}, knownKeys: ['who', 'why'] });
  });

  test('ER-3 J2 an answer that did not get through is delivered once the server was heard again', () => {
    const own = task();
    own.clock.increment(200);
    own.actor.send(seen({ questions: [entry('elc_a')], listed: ['elc_a'] }));
    own.actor.send(settled('elc_a', 'accepted'));
    own.actor.send({
      type: 'task.missed',
      failure: failure('connection_lost', true),
      counts: false,
      at: own.clock.now(),
    });
    expect(own.value()).toBe('waiting');
    own.clock.increment(1_000);
    expect(own.value()).toBe('looking');
    own.actor.send(seen({ listed: ['elc_a'], at: own.clock.now() }));
    expect(own.value()).toBe('delivering');
    expect(own.errands.filter(({ slot }) => slot === 'deliver')).toHaveLength(2);
  });

  test('ER-3 J2 an entry that is gone is withdrawn, and asked again if it comes back', () => {
    const own = task();
    own.clock.increment(200);
    own.actor.send(seen({ questions: [entry('elc_a', 'who')], listed: ['who'] }));
    own.clock.increment(200);
    own.actor.send(seen({ at: own.clock.now() }));
    expect(own.log.paramsOf('withdraw')).toEqual([{ tokens: ['elc_a'] }]);
    own.actor.send(settled('elc_a', 'declined'));
    expect(own.context).toMatchObject({ asked: {}, responses: {}, knownKeys: [] });
  });

  test('ER-3 settlements of questions that are none of its own change nothing', () => {
    const own = task();
    own.actor.send(settled('elc_z', 'accepted'));
    expect(own.context.responses).toEqual({});
  });
});

describe('its end', () => {
  test.each(['completed', 'failed', 'input_required'] as const)(
    'ER-3 a 2025-11-25 task that is %s is asked for its result, and for what it asks',
    (status) => {
      const own = task({ style: 'core' });
      own.clock.increment(200);
      own.actor.send(seen({ record: { ...record, status } }));
      expect(own.value()).toBe('fetching');
      expect(own.errands.at(-1)).toMatchObject({ slot: 'fetch', input: { taskId: 'task-1', status } });
      own.actor.send({ type: 'task.ended', end: { kind: 'result', result: { content: [] } } });
      expect(own.actor.getSnapshot()).toMatchObject({ status: 'done', output: { kind: 'result' } });
    },
  );

  test('ER-3 RT-10 what is not known of it is said: forgotten with its process, in its time, or without a reason', () => {
    const forgotten = { type: 'task.forgotten', why: 'not found', at: start } as const;
    const codeOf = (more: Partial<TaskInput>, event: TaskEvent): unknown => {
      const own = task(more);
      own.actor.send(event);
      return own.actor.getSnapshot().output;
    };
    expect(codeOf({}, { ...forgotten, moved: true })).toMatchObject({
      failure: { code: 'connection_lost', outcome: 'unknown' },
    });
    expect(codeOf({}, { ...forgotten, moved: false })).toMatchObject({
      failure: { code: 'protocol_error', outcome: 'unknown' },
    });
    const ttl = { record: { ...record, ttlMs: 10 }, at: start } as const;
    expect(codeOf(ttl, { ...forgotten, moved: true, at: start + 10 })).toMatchObject({
      failure: { code: 'timeout', outcome: 'unknown' },
    });
  });
});

describe('the call of it', () => {
  const becameTask = { type: 'call.becameTask', style: 'extension', record, at: start } as const;

  test('ER-3 C1 the request is not sent again; what the task brings is finished as its result', () => {
    const called = call();
    called.actor.send(becameTask);
    expect(called.context.task).toBe('task-1');
    expect(called.value()).toEqual({ onWire: 'running' });
    const end = { kind: 'result', result: { content: [] } } as const;
    (called.actor.getSnapshot().children['task'] as { send(event: TaskEvent): void }).send({ type: 'task.ended', end });
    expect(called.log.paramsOf('finishTask')).toEqual([end]);
    expect(called.context.task).toBeNull();
    expect(called.slots().filter((slot) => slot === 'sendRequest')).toHaveLength(1);
    expect(called.actor.getSnapshot().children).toEqual({});
  });

  test('ER-3 EL-9 C2 a question of the task pauses the call, and the task hears the answer', () => {
    const called = call();
    called.actor.send(becameTask);
    called.actor.send({ type: 'call.asked', question: entry('elc_a'), at: start + 300 });
    expect(called.value()).toEqual({ onWire: 'paused' });
    expect(called.context.remainingMs).toBe(700);
    called.accept('elc_a', start + 9_000);
    expect(called.value()).toEqual({ onWire: 'running' });
    expect(called.context).toMatchObject({ remainingMs: 700, questions: [] });
  });

  test('ER-3 H9 a call saved while its task waits goes on asking after it when it is restored', () => {
    const own = task();
    own.clock.increment(200);
    expect(own.value()).toBe('looking');
    const saved = throughJson(own.actor.getPersistedSnapshot());
    expect(JSON.parse(JSON.stringify(saved))).toEqual(saved);
    const again = task({}, saved);
    expect(again.value()).toBe('looking');
    expect(again.errands).toMatchObject([
      { slot: 'watch', input: { call: 'call-1', taskId: 'task-1' } },
      { slot: 'look', input: { call: 'call-1', taskId: 'task-1' } },
    ]);
  });
});

/** What servers say of tasks that no server should say: each is the end of its call at worst, in bounded time. */
import { beforeAll, describe, expect, test } from 'vitest';
import { loadTasks } from '../../../src/actors/task-slot.ts';
import type { ServerConfig } from '../../../src/index.ts';
import { createThread } from '../../../src/index.ts';
import { rawServer, SimulatedClock } from '../../../src/testing/index.ts';
import { errorOf, eventually, textOf, turns, Watch } from '../runtimes/support.ts';
import { refused, said, TaskPeer } from './support.ts';
import type { TaskEra, TaskScript } from './support.ts';

const eras = ['legacy', 'modern'] as const;
const done = (era: TaskEra, text: string) =>
  era === 'modern' ? { status: 'completed', result: said(text) } : { status: 'completed' };

// Loaded with the first task: under a clock that a test moves, it must not be waited for.
beforeAll(async () => {
  await loadTasks();
});

/** A call of the one tool, under a clock that a test moves. */
async function call(era: TaskEra, script: TaskScript, settings: Partial<ServerConfig> = {}) {
  const peer = new TaskPeer(era, { result: said('done'), ...script });
  const clock = new SimulatedClock();
  const thread = createThread({ servers: { docs: { ...peer.config, ...settings } as ServerConfig }, clock });
  const watch = new Watch(thread);
  const step = await thread.beginStep();
  const result = step.callTool('mcp__docs__work', {});
  result.catch(() => undefined);
  await peer.server.waitFor('tools/call');
  await turns(2);
  const looks = (): number => peer.heard.filter((method) => method === 'tasks/get').length;
  return {
    peer,
    clock,
    thread,
    watch,
    result,
    looks,
    /** Moves time until the server was asked after the task once more. */
    async look(ms = 100): Promise<void> {
      const before = looks();
      for (let tries = 0; looks() === before; tries++) {
        await turns(3);
        if (tries > 500) expect.fail('Expected the server to be asked after its task once more.');
        if (looks() === before) clock.increment(ms);
      }
    },
    [Symbol.asyncDispose]: async () => {
      await thread.close();
      await peer[Symbol.asyncDispose]();
    },
  };
}

describe.each(eras)('a %s server', (era) => {
  test.each([
    ['no id', { taskId: undefined }],
    ['an id that is no text', { taskId: 7 }],
    ['an id without end', { taskId: 'x'.repeat(2_000) }],
    ['no status', { status: undefined }],
    ['a status nobody knows', { status: 'sleeping' }],
    ['a time to live that is no time', { ttl: 'soon', ttlMs: 'soon' }],
    ['a poll interval below nothing', { pollInterval: -1, pollIntervalMs: -1 }],
  ])('ER-3 a task made with %s is a fault of the server, and the call may have run', async (_, made) => {
    await using own = await call(era, { made });
    expect(await errorOf(own.result)).toMatchObject({ code: 'protocol_error', outcome: 'unknown', retryable: false });
  });

  test.each([
    ['another task', { taskId: 'task-2' }],
    ['no status', { status: null }],
    ['a status nobody knows', { status: 'done' }],
  ])('ER-3 %s in place of its state is a fault of the server', async (_, look) => {
    await using own = await call(era, { looks: [look] });
    await own.look();
    expect(await errorOf(own.result)).toMatchObject({ code: 'protocol_error', outcome: 'unknown' });
  });

  test('ER-3 a poll interval of 0 ms asks ten times a second at most, one of 10 years once a minute', async () => {
    const interval = (ms: number) => (era === 'modern' ? { pollIntervalMs: ms } : { pollInterval: ms });
    await using quick = await call(era, { made: interval(0), looks: [{ status: 'working', ...interval(0) }] });
    await turns(5);
    expect(quick.looks()).toBe(0);
    quick.clock.increment(99);
    await turns(5);
    expect(quick.looks()).toBe(0);
    quick.clock.increment(1);
    await eventually(() => quick.looks() === 1);
    const years = 10 * 365 * 24 * 3_600_000;
    await using slow = await call(era, { made: interval(years), looks: [done(era, 'slow')] });
    await turns(5);
    slow.clock.increment(59_999);
    await turns(5);
    expect(slow.looks()).toBe(0);
    slow.clock.increment(1);
    expect(textOf(await slow.result)).toBe(era === 'modern' ? 'slow' : 'done');
  });

  test('ER-3 without a wish of the server it is asked after every second', async () => {
    const none = { pollInterval: undefined, pollIntervalMs: undefined };
    await using own = await call(era, { made: none, looks: [{ status: 'working', ...none }] });
    await turns(5);
    own.clock.increment(999);
    await turns(5);
    expect(own.looks()).toBe(0);
    own.clock.increment(1);
    await eventually(() => own.looks() === 1);
  });

  test('ER-3 a task that outlives the time its server keeps it ends with a timeout, and may have run', async () => {
    const ttl = { ttl: 250, ttlMs: 250 };
    await using own = await call(era, { made: ttl, looks: [{ status: 'working', ...ttl }] });
    for (let count = 0; count < 3; count++) await own.look(50);
    const error = await errorOf(own.result);
    expect(error).toMatchObject({ code: 'timeout', outcome: 'unknown' });
    expect(error.message).toContain('250 ms');
    await eventually(() => own.peer.heard.at(-1) === 'tasks/cancel');
  });

  test('ER-3 a server that has let go of a task in its time says the same by not knowing it', async () => {
    const ttl = { ttl: 100, ttlMs: 100 };
    await using own = await call(era, { made: ttl, looks: [refused(-32_602, 'Task has expired')] });
    await own.look();
    expect(await errorOf(own.result)).toMatchObject({ code: 'timeout', outcome: 'unknown' });
  });

  test('ER-3 a server that answers five times with an error instead of the state is given up', async () => {
    await using own = await call(era, { looks: [refused(-32_603, 'Ask later.')] });
    for (let count = 0; count < 5; count++) await own.look(1_000);
    const error = await errorOf(own.result);
    expect(error).toMatchObject({ code: 'protocol_error', outcome: 'unknown' });
    expect(error.message).toContain('Ask later.');
    expect(own.looks()).toBe(5);
  });

  test('ER-3 one bad answer in between is asked for again', async () => {
    await using own = await call(era, { looks: [refused(-32_603, 'Busy.'), done(era, 'well')] });
    await own.look();
    await own.look(1_000);
    expect(textOf(await own.result)).toBe(era === 'modern' ? 'well' : 'done');
  });

  test('ER-3 a server that makes tasks and knows no requests about them is at fault', async () => {
    await using own = await call(era, { looks: [refused(-32_601, 'Method not found')] });
    await own.look();
    expect(await errorOf(own.result)).toMatchObject({ code: 'protocol_error', outcome: 'unknown' });
    expect(own.looks()).toBe(1);
  });

  test.each([
    ['a task in the place of its result', { resultType: 'task', taskId: 'task-2', status: 'working' }],
    ['a request for input in the place of its result', { resultType: 'input_required', inputRequests: {} }],
    ['a result that is none', { content: 'no list' }],
  ])('ER-3 H6 %s ends the call, which is not sent again', async (_, result) => {
    const look = era === 'modern' ? { status: 'completed', result } : { status: 'completed' };
    await using own = await call(era, { looks: [look], result });
    await own.look();
    expect(await errorOf(own.result)).toMatchObject({ code: 'protocol_error' });
    expect(own.peer.server.received.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });

  test('ER-3 EL-9 a call that became a task has its time limit, and the server hears that nobody waits', async () => {
    await using own = await call(era, { looks: [{ status: 'working' }] }, { callTimeoutMs: 1_000 });
    await own.look();
    own.clock.increment(1_000);
    expect(await errorOf(own.result)).toMatchObject({ code: 'timeout', outcome: 'unknown' });
    await eventually(() => own.peer.heard.at(-1) === 'tasks/cancel');
    expect(own.clock.pendingCount).toBe(0);
  });

  test('ER-3 a server that tells of its task is asked at once, but not all the time', async () => {
    const slow = { pollInterval: 50_000, pollIntervalMs: 50_000 };
    await using own = await call(era, { made: slow, looks: [{ status: 'working', ...slow }, done(era, 'told')] });
    await turns(5);
    own.clock.increment(200);
    own.peer.tell({ statusMessage: 'half done' });
    await turns(5);
    own.clock.increment(0);
    await eventually(() => own.looks() === 1);
    await turns(5);
    for (let count = 0; count < 20; count++) own.peer.tell({ status: 'completed' });
    await turns(5);
    expect(own.looks()).toBe(1);
    own.clock.increment(100);
    expect(textOf(await own.result)).toBe(era === 'modern' ? 'told' : 'done');
    expect(own.watch.of('call.progressed').map(({ message }) => message)).toEqual(['half done']);
  });
});

describe('what modern tasks ask', () => {
  const form = {
    method: 'elicitation/create',
    params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
  } as const;
  const asks = (keys: readonly string[]) => ({
    status: 'input_required',
    inputRequests: Object.fromEntries(keys.map((key) => [key, form])),
  });

  test('ER-3 H4 an entry the server lists again is not put again, and not answered again', async () => {
    const looks = [
      asks(['a']),
      asks(['a']),
      asks(['a', 'b']),
      asks(['b']),
      { status: 'completed', result: said('ok') },
    ];
    await using own = await call('modern', { looks });
    const { thread, peer } = own;
    await own.look();
    await own.look();
    await eventually(() => thread.snapshot().elicitations.length === 1);
    await thread.respond(thread.snapshot().elicitations[0]?.token ?? '', { action: 'decline' });
    await eventually(() => peer.heard.includes('tasks/update'));
    await own.look(0);
    await eventually(() => thread.snapshot().elicitations.length === 1);
    await thread.respond(thread.snapshot().elicitations[0]?.token ?? '', { action: 'accept', content: {} });
    await own.look(0);
    await own.look();
    expect(textOf(await own.result)).toBe('ok');
    const updates = peer.server.received.filter(({ method }) => method === 'tasks/update');
    expect(updates.map(({ params }) => params)).toMatchObject([
      { inputResponses: { a: { action: 'decline' } } },
      { inputResponses: { b: { action: 'accept', content: {} } } },
    ]);
    expect(own.watch.of('elicitation.opened')).toHaveLength(2);
  });

  test('ER-3 EL-3 a question the server does not list any more is withdrawn, and the clock goes on', async () => {
    const looks = [asks(['a']), { status: 'working' }];
    await using own = await call('modern', { looks });
    await own.look();
    await eventually(() => own.thread.snapshot().elicitations.length === 1);
    await own.look();
    const settled = await own.watch.until(({ type }) => type === 'elicitation.settled');
    expect(settled).toMatchObject({ outcome: 'cancelled', reason: 'withdrawn' });
    expect(own.thread.snapshot().steps[0]?.calls).toMatchObject([{ state: 'running' }]);
    expect(own.peer.heard).not.toContain('tasks/update');
  });

  test('ER-3 EL-9 while a question of the task is open its call’s clock stands still', async () => {
    const looks = [asks(['a']), asks(['a']), { status: 'working' }];
    await using own = await call('modern', { looks }, { callTimeoutMs: 1_000 });
    await own.look();
    await eventually(() => own.thread.snapshot().elicitations.length === 1);
    own.clock.increment(60_000);
    expect(own.thread.snapshot().steps[0]?.calls).toMatchObject([{ state: 'paused', pausedMs: 60_000 }]);
    await turns(5);
    await own.thread.respond(own.thread.snapshot().elicitations[0]?.token ?? '', { action: 'decline' });
    expect(own.thread.snapshot().steps[0]?.calls).toMatchObject([{ state: 'running' }]);
    own.clock.increment(899);
    expect(own.thread.snapshot().steps[0]?.calls).toMatchObject([{ state: 'running' }]);
    own.clock.increment(1);
    expect(await errorOf(own.result)).toMatchObject({ code: 'timeout' });
  });

  test('ER-3 a task that asks without end is given up', async () => {
    const many = asks(Array.from({ length: 1_025 }, (_, index) => `q${String(index)}`));
    await using own = await call('modern', { looks: [many] });
    await own.look();
    expect(await errorOf(own.result)).toMatchObject({ code: 'limit_exceeded', outcome: 'failed' });
    await eventually(() => own.peer.heard.at(-1) === 'tasks/cancel');
    expect(own.watch.of('elicitation.opened')).toEqual([]);
  });

  test('ER-3 ER-4 a task that wants a model nobody offered fails, and its server hears of it', async () => {
    const sampling = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } };
    await using own = await call('modern', { looks: [{ status: 'input_required', inputRequests: { a: sampling } }] });
    await own.look();
    expect(await errorOf(own.result)).toMatchObject({ code: 'not_approved', outcome: 'failed' });
    await eventually(() => own.peer.heard.at(-1) === 'tasks/cancel');
  });

  test('ER-3 answers a server refuses because it forgot the task end the call', async () => {
    await using own = await call('modern', { looks: [asks(['a'])], update: refused(-32_602, 'Task not found') });
    await own.look();
    await eventually(() => own.thread.snapshot().elicitations.length === 1);
    await own.thread.respond(own.thread.snapshot().elicitations[0]?.token ?? '', { action: 'decline' });
    expect(await errorOf(own.result)).toMatchObject({ code: 'protocol_error', outcome: 'unknown' });
  });

  test('ER-3 a server that tells of tasks is asked to, by id, until the task has ended', async () => {
    await using own = await call('modern', { tells: true, looks: [{ status: 'completed', result: said('ok') }] });
    const listen = await own.peer.server.waitFor('subscriptions/listen');
    expect(listen['params']).toMatchObject({ notifications: { taskIds: ['task-1'] } });
    await own.look();
    await own.result;
    const cancelled = await own.peer.server.waitFor('notifications/cancelled');
    expect(cancelled['params']).toMatchObject({ requestId: listen['id'] });
  });
});

describe('2025-11-25 tasks', () => {
  test('ER-3 the progress of the call that became the task is heard until it has ended', async () => {
    await using own = await call('legacy', { looks: [{ status: 'completed' }] });
    const sent = await own.peer.server.waitFor('tools/call');
    // The token of a request is its id.
    const progress = { progressToken: sent['id'], progress: 3, total: 10, message: 'three' };
    own.peer.server.send({ jsonrpc: '2.0', method: 'notifications/progress', params: progress });
    await own.watch.until(({ type }) => type === 'call.progressed');
    own.peer.tell({ statusMessage: 'working on it' });
    await turns(5);
    await own.look();
    await own.result;
    expect(own.watch.of('call.progressed')).toMatchObject([
      { progress: 3, total: 10, message: 'three' },
      { progress: 3, total: 10, message: 'working on it' },
    ]);
  });

  test('ER-3 EL-11 a question that names its task is of that call, and its answer names it too', async () => {
    await using own = await call('legacy', { looks: [{ status: 'working' }] });
    const other = own.thread.beginStep().then((step) => step.callTool('mcp__docs__work', {}));
    other.catch(() => undefined);
    await eventually(() => own.peer.server.received.filter(({ method }) => method === 'tools/call').length === 2);
    await own.look();
    const _meta = { 'io.modelcontextprotocol/related-task': { taskId: 'task-1' } };
    const params = { message: 'Who?', requestedSchema: { type: 'object', properties: {} }, _meta };
    own.peer.server.send({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params });
    await eventually(() => own.thread.snapshot().elicitations.length === 1);
    const [question] = own.thread.snapshot().elicitations;
    expect(question).toMatchObject({ attribution: 'call', call: 'call-1' });
    await own.thread.respond(question?.token ?? '', { action: 'accept', content: {} });
    const answer = await own.peer.server.waitFor(({ id }) => id === 'q');
    expect(answer['result']).toEqual({ action: 'accept', content: {}, _meta });
  });

  test('ER-3 EL-5 a task refused until a person signs in is tried once more after that', async () => {
    const url = { mode: 'url', message: 'Sign in.', url: 'https://example.com/in', elicitationId: 'in' };
    const wall = refused(-32_042, 'Sign in first.', { elicitations: [url] });
    await using own = await call('legacy', { looks: [{ status: 'failed' }], result: wall });
    await own.look();
    await eventually(() => own.thread.snapshot().elicitations.length === 1);
    const [question] = own.thread.snapshot().elicitations;
    expect(question).toMatchObject({ kind: 'url', host: 'example.com' });
    await own.thread.respond(question?.token ?? '', { action: 'accept' });
    await eventually(() => own.peer.server.received.filter(({ method }) => method === 'tools/call').length === 2);
    await own.look();
    expect(await errorOf(own.result)).toMatchObject({ code: 'auth_required' });
  });

  test('ER-3 a server that takes no tasks is not asked for one, whatever its tool says', async () => {
    const tools = [{ name: 'work', inputSchema: { type: 'object' }, execution: { taskSupport: 'optional' } }];
    await using peer = rawServer(
      (message, self) => {
        if (message['method'] !== 'tools/call') return false;
        self.reply(message, said('plain'));
        return true;
      },
      { tools },
    );
    const thread = createThread({ servers: { docs: peer.config } });
    const step = await thread.beginStep();
    expect(textOf(await step.callTool('mcp__docs__work', {}))).toBe('plain');
    const sent = await peer.waitFor('tools/call');
    expect(sent['params']).not.toHaveProperty('task');
    await thread.close();
  });
});

import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import { SimulatedClock, deferred, scriptedServer, serveHttp, stdioServerConfig } from '../../../src/testing/index.ts';
import { Watch, errorOf, eventually, serverOf, shown, textOf, turns } from './support.ts';

describe('a settled candidate', () => {
  test('RT-3 a failed required server keeps the current runtime and rejects with every reason and stderr', async () => {
    await using good = scriptedServer({ tools: ['echo'] });
    await using thread = createThread({ servers: { good: good.config } });
    const watch = new Watch(thread);
    const step = await thread.beginStep();

    const error = await errorOf(
      thread.replaceRuntime({
        servers: {
          good: good.config,
          bad: {
            ...stdioServerConfig({ exitOnStart: { code: 3, stderr: 'first line\nno such database\n' } }),
            required: true,
          },
          alsoBad: { command: 'holdfast-has-no-such-command', required: true },
        },
      }),
    );

    expect(error.code).toBe('runtime_failed');
    expect(error.message).toContain('bad');
    expect(error.message).toContain('alsoBad');
    expect(error.retryable).toBe(true);
    expect(thread.snapshot()).toMatchObject({ generation: 1, state: 'active' });
    expect(textOf(await step.callTool('mcp__good__echo', { text: 'kept' }))).toBe('kept');
    expect(watch.of('runtime.discarded').map(({ generation }) => generation)).toEqual([2]);
    expect(watch.of('runtime.retired')).toEqual([]);
  });

  test('RT-3 the rejection names every server that failed by then, and the last lines of its stderr', async () => {
    const gate = deferred();
    await using held = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
    await using thread = createThread({ servers: {} });
    await thread.ready();
    const watch = new Watch(thread);
    const replaced = errorOf(
      thread.replaceRuntime({
        servers: {
          optional: stdioServerConfig({ exitOnStart: { code: 3, stderr: 'optional says why\n' } }),
          held: { ...held.config, required: true },
        },
      }),
    );
    await watch.untilServer('optional', 'failed');
    gate.reject(new Error('never'));
    const error = await replaced;
    expect(error.message).toContain('optional says why');
    expect(error.message).toContain('held (required)');
    expect(error.issues?.map(({ path }) => path)).toEqual(['/servers/optional', '/servers/held']);
    await eventually(() => thread.snapshot().servers.length === 0);
  });

  test('RT-3 it waits for the successor of a ready server, and not for a new optional one beyond its grace', async () => {
    const clock = new SimulatedClock();
    const successorGate = deferred();
    const newGate = deferred();
    await using first = scriptedServer({ tools: ['echo'] });
    await using successor = scriptedServer({ tools: ['readOnly'] }, { gate: successorGate.promise });
    await using added = scriptedServer({ tools: ['count'] }, { gate: newGate.promise });
    await using thread = createThread({ servers: { a: first.config }, clock });
    await thread.ready();
    const published = watchSettled(thread.replaceRuntime({ servers: { a: successor.config, b: added.config } }));

    await added.until('started');
    clock.increment(60_000);
    await turns(3);
    expect(published.settled).toBe(false);
    expect(shown(await thread.beginStep(), 'a')).toEqual(['echo']);

    successorGate.resolve();
    await published.promise;
    const step = await thread.beginStep();
    expect(shown(step, 'a')).toEqual(['readOnly']);
    expect(shown(step, 'b')).toEqual([]);
    expect(serverOf(thread, 'b').state).toBe('starting');
    newGate.resolve();
    await eventually(() => serverOf(thread, 'b').state === 'ready');
    expect(shown(await thread.beginStep(), 'b')).toEqual(['count']);
  });

  test('RT-3 a new optional server has one second', async () => {
    const clock = new SimulatedClock();
    const gate = deferred();
    await using first = scriptedServer({ tools: ['echo'] });
    await using added = scriptedServer({ tools: ['count'] }, { gate: gate.promise });
    await using thread = createThread({ servers: { a: first.config }, clock });
    await thread.ready();
    const published = watchSettled(thread.replaceRuntime({ servers: { a: first.config, b: added.config } }));
    await added.until('started');
    clock.increment(999);
    await turns(3);
    expect(published.settled).toBe(false);
    clock.increment(1);
    expect(await published.promise).toEqual({ status: 'published', generation: 2, replaced: 1 });
    gate.resolve();
  });

  test('RT-3 a new optional server that is ready within its grace is part of what is published', async () => {
    const clock = new SimulatedClock();
    await using first = scriptedServer({ tools: ['echo'] });
    await using added = scriptedServer({ era: 'modern', tools: ['count'] });
    await using thread = createThread({ servers: { a: first.config }, clock });
    await thread.ready();
    await thread.replaceRuntime({ servers: { a: first.config, b: added.config } });
    expect(shown(await thread.beginStep(), 'b')).toEqual(['count']);
  });

  test('RT-3 a required server is waited for beyond the grace', async () => {
    const clock = new SimulatedClock();
    const gate = deferred();
    await using added = scriptedServer({ tools: ['count'] }, { gate: gate.promise });
    await using thread = createThread({ servers: {}, clock });
    await thread.ready();
    const published = watchSettled(thread.replaceRuntime({ servers: { b: { ...added.config, required: true } } }));
    await added.until('started');
    clock.increment(20_000);
    await turns(3);
    expect(published.settled).toBe(false);
    gate.resolve();
    await published.promise;
    expect(shown(await thread.beginStep(), 'b')).toEqual(['count']);
  });

  test('RT-3 a question asked during the start of a candidate is routed', async () => {
    await using thread = createThread({ servers: {} });
    await thread.ready();
    const watch = new Watch(thread);
    const gate = deferred();
    await using held = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
    await using asking = scriptedServer({ tools: ['echo'], askOnStart: true });
    const published = watchSettled(
      thread.replaceRuntime({
        servers: { asking: asking.config, held: { ...held.config, required: true } },
      }),
    );
    await watch.until((fact) => fact.type === 'elicitation.opened');
    const [question] = thread.snapshot().elicitations;
    expect(question).toMatchObject({ attribution: 'server', generation: 2, server: 'asking' });
    expect(published.settled).toBe(false);
    expect(await thread.respond(question?.token ?? '', { action: 'accept', content: { name: 'Ada' } })).toEqual({
      status: 'delivered',
    });
    const { value } = await asking.until('answered');
    expect(value).toMatchObject({ action: 'accept', content: { name: 'Ada' } });
    gate.resolve();
    await published.promise;
  });
});

test('RT-3 the successor of a ready server is waited for up to its own start limit', async () => {
  await using first = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({ servers: { a: first.config } });
  await thread.ready();
  const watch = new Watch(thread);
  const publication = await thread.replaceRuntime({
    servers: { a: { ...stdioServerConfig({ hangOnStart: true }), startTimeoutMs: 300 } },
  });
  expect(publication).toMatchObject({ status: 'published', generation: 2 });
  expect(serverOf(thread, 'a')).toMatchObject({ state: 'failed' });
  expect(watch.of('server.changed').map(({ state }) => state)).toContain('failed');
});

describe('an immediate publication', () => {
  test('RT-3 is current at once, and a required server that fails later leaves it current and is told', async () => {
    const gate = deferred();
    await using late = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
    await using thread = createThread({ servers: {} });
    await thread.ready();
    const watch = new Watch(thread);
    const publication = await thread.replaceRuntime(
      { servers: { late: { ...late.config, required: true } } },
      { publish: 'immediate' },
    );
    expect(publication).toEqual({ status: 'published', generation: 2, replaced: 1 });
    await late.until('started');
    await turns();
    gate.reject(new Error('never'));
    const fact = await watch.untilServer('late', 'failed');
    expect(fact).toMatchObject({ generations: [2], error: { code: 'server_unavailable' } });
    expect(thread.snapshot()).toMatchObject({ generation: 2, state: 'active' });
    expect(serverOf(thread, 'late').state).toBe('failed');
  });

  test('RT-3 shows the tools of a server to the first step after it is ready', async () => {
    const gate = deferred();
    await using late = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
    await using thread = createThread({ servers: {} });
    await thread.ready();
    const watch = new Watch(thread);
    await thread.replaceRuntime({ servers: { late: late.config } }, { publish: 'immediate' });
    expect((await thread.beginStep()).tools).toEqual([]);
    gate.resolve();
    await watch.untilServer('late', 'ready');
    expect(shown(await thread.beginStep(), 'late')).toEqual(['echo']);
  });
});

describe('latest wins', () => {
  test('RT-4 of a burst only the last replacement starts processes', async () => {
    await using servers = fleet(20);
    await using thread = createThread({ servers: {} });
    await thread.ready();
    const publications = await Promise.all(
      servers.all.map((server) => thread.replaceRuntime({ servers: { a: server.config } })),
    );
    expect(publications.slice(0, -1).every(({ status }) => status === 'superseded')).toBe(true);
    expect(publications.at(-1)).toEqual({ status: 'published', generation: 21, replaced: 1 });
    expect(servers.all.map((server) => server.journal.filter(({ kind }) => kind === 'started').length)).toEqual([
      ...Array.from({ length: 19 }, () => 0),
      1,
    ]);
  });

  test('RT-4 a replacement in the same turn as the first runtime takes its place before it starts anything', async () => {
    await using first = scriptedServer({ tools: ['echo'] });
    await using second = scriptedServer({ tools: ['echo'] });
    await using thread = createThread({ servers: { a: first.config } });
    const publication = await thread.replaceRuntime({ servers: { a: second.config } });
    expect(publication).toEqual({ status: 'published', generation: 2 });
    expect(first.journal).toEqual([]);
  });

  test('RT-4 a starting candidate is dropped at once, and what the newer one names of it is kept', async () => {
    const gate = deferred();
    await using common = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
    await using dropped = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
    await using thread = createThread({ servers: {} });
    await thread.ready();
    const watch = new Watch(thread);
    const older = thread.replaceRuntime({
      servers: { common: { ...common.config, required: true }, dropped: dropped.config },
    });
    await Promise.all([common.until('started'), dropped.until('started')]);
    const connection = serverOf(thread, 'common').connection;

    const newer = thread.replaceRuntime({ servers: { common: { ...common.config, required: true } } });
    expect(await older).toEqual({ status: 'superseded', generation: 1 });
    await watch.untilServer('dropped', 'closed');
    gate.resolve();

    expect(await newer).toEqual({ status: 'published', generation: 3, replaced: 1 });
    expect(serverOf(thread, 'common')).toMatchObject({ connection, generations: [3] });
    expect(common.journal.filter(({ kind }) => kind === 'started')).toHaveLength(1);
    expect(watch.of('runtime.discarded')).toMatchObject([
      { generation: 2, reason: 'superseded by a newer replacement' },
    ]);
  });

  test('RT-4 what a dropped candidate was starting is kept also while other connections are being let go', async () => {
    const gate = deferred();
    await using common = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
    await using other = scriptedServer({ tools: ['echo'] });
    await using thread = createThread({ servers: { other: other.config } });
    const step = await thread.beginStep();
    await thread.replaceRuntime({ servers: {} });
    const older = thread.replaceRuntime({ servers: { common: { ...common.config, required: true } } });
    await common.until('started');
    await step.end();
    await turns();
    const newer = thread.replaceRuntime({ servers: { common: { ...common.config, required: true, parallel: true } } });
    await older;
    await turns(4);
    gate.resolve();
    await newer;
    expect(common.journal.filter(({ kind }) => kind === 'started')).toHaveLength(1);
  });

  test('RT-4 numbers are never reused, neither of a superseded nor of a failed candidate', async () => {
    await using good = scriptedServer({ tools: ['echo'] });
    await using thread = createThread({ servers: {} });
    await thread.ready();
    const results = await Promise.allSettled([
      thread.replaceRuntime({ servers: { good: good.config } }),
      thread.replaceRuntime({ servers: { bad: { command: 'holdfast-has-no-such-command', required: true } } }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(await thread.replaceRuntime({ servers: { good: good.config } })).toMatchObject({ generation: 4 });
  });

  test('RT-4 a failed start is not remembered: the same servers start anew', async () => {
    await using flaky = await serveHttp({ tools: ['echo'] });
    flaky.setStatus(403, { times: 1 });
    await using thread = createThread({ servers: {} });
    await thread.ready();
    const servers = { flaky: { ...flaky.config, required: true } };
    expect((await errorOf(thread.replaceRuntime({ servers }))).code).toBe('runtime_failed');
    expect(await thread.replaceRuntime({ servers })).toMatchObject({ status: 'published' });
    expect(shown(await thread.beginStep(), 'flaky')).toEqual(['echo']);
  });

  test('RT-4 an aborted replacement rejects, starts nothing more, and is not remembered', async () => {
    const gate = deferred();
    await using held = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
    await using thread = createThread({ servers: {} });
    await thread.ready();
    const watch = new Watch(thread);
    const controller = new AbortController();
    const servers = { held: { ...held.config, required: true } };
    const replaced = errorOf(thread.replaceRuntime({ servers }, { signal: controller.signal }));
    await held.until('started');
    controller.abort();
    expect((await replaced).code).toBe('aborted');
    await watch.untilServer('held', 'closed');
    expect(thread.snapshot()).toMatchObject({ generation: 1, servers: [] });
    gate.resolve();
    expect(await thread.replaceRuntime({ servers })).toMatchObject({ status: 'published', generation: 3 });
  });

  test('RT-4 a server that is named again while its old connection is still closing gets a new one', async () => {
    await using other = scriptedServer({ tools: ['echo'] });
    const stubborn = stdioServerConfig({ tools: ['pid'], stubborn: 'stdin' });
    await using thread = createThread({ servers: { a: stubborn } });
    const first = await thread.beginStep();
    const pid = textOf(await first.callTool('mcp__a__pid'));
    await first.end();
    await thread.replaceRuntime({ servers: { other: other.config } });
    await turns(6);
    await thread.replaceRuntime({ servers: { a: stubborn } });
    const again = await thread.beginStep();
    const newPid = textOf(await again.callTool('mcp__a__pid'));
    expect(newPid).not.toBe(pid);
  });
});

interface Watched<TValue> {
  readonly promise: Promise<TValue>;
  readonly settled: boolean;
}

function watchSettled<TValue>(promise: Promise<TValue>): Watched<TValue> {
  const state = { promise, settled: false };
  const note = (): void => {
    state.settled = true;
  };
  promise.then(note, note);
  return state;
}

function fleet(count: number) {
  const all = Array.from({ length: count }, () => scriptedServer({ tools: ['echo'] }));
  return {
    all,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await Promise.all(all.map((server) => server.close()));
    },
  };
}

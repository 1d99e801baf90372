import { expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import { SimulatedClock, deferred, scriptedServer, stdioServerConfig } from '../../../src/testing/index.ts';
import { Watch, errorOf, shown, turns } from './support.ts';

test('RT-6 ready and the first steps wait for the first runtime', async () => {
  const gate = deferred();
  await using peer = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
  await using thread = createThread({ servers: { a: peer.config } });
  const seen: string[] = [];
  const ready = thread.ready().then(() => seen.push('ready'));
  const steps = [thread.beginStep(), thread.beginStep()];
  await peer.until('started');
  await turns(3);
  expect(thread.snapshot()).toMatchObject({ state: 'starting', generation: 0 });
  expect(seen).toEqual([]);
  gate.resolve();
  await ready;
  expect((await Promise.all(steps)).map((step) => shown(step, 'a'))).toEqual([['echo'], ['echo']]);
});

test('RT-6 a wait for the first runtime ends after its time limit, and the thread lives on', async () => {
  const clock = new SimulatedClock();
  const gate = deferred();
  await using peer = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
  await using thread = createThread({ servers: { a: peer.config }, clock });
  const byDefault = errorOf(thread.ready());
  const own = errorOf(thread.beginStep({ timeoutMs: 500 }));
  await peer.until('started');
  clock.increment(500);
  expect(await own).toMatchObject({ code: 'ready_timeout', retryable: true });
  clock.increment(59_499);
  await turns(1);
  clock.increment(1);
  const error = await byDefault;
  expect(error.code).toBe('ready_timeout');
  expect(error.message).toContain('"a" is starting');
  gate.resolve();
  await thread.ready();
});

test('RT-6 a wait for the first runtime can be aborted', async () => {
  const gate = deferred();
  await using peer = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
  await using thread = createThread({ servers: { a: peer.config } });
  const controller = new AbortController();
  const waiting = errorOf(thread.beginStep({ signal: controller.signal }));
  controller.abort();
  expect((await waiting).code).toBe('aborted');
  expect((await errorOf(thread.ready({ signal: controller.signal }))).code).toBe('aborted');
  gate.resolve();
});

test('RT-6 a failed first runtime rejects who waits, and a later replacement heals the thread', async () => {
  await using good = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({
    servers: { bad: { ...stdioServerConfig({ exitOnStart: { code: 9, stderr: 'no licence\n' } }), required: true } },
  });
  const [ready, step] = await Promise.all([errorOf(thread.ready()), errorOf(thread.beginStep())]);
  expect([ready.code, step.code]).toEqual(['runtime_failed', 'runtime_failed']);
  expect(ready.message).toContain('no licence');
  expect((await errorOf(thread.beginStep())).code).toBe('runtime_failed');
  expect(thread.snapshot().state).toBe('starting');

  expect(await thread.replaceRuntime({ servers: { good: good.config } })).toEqual({
    status: 'published',
    generation: 2,
  });
  await thread.ready();
  expect(shown(await thread.beginStep(), 'good')).toEqual(['echo']);
});

test('RT-6 who waits while a healing replacement is under way gets its runtime', async () => {
  const gate = deferred();
  await using good = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
  await using thread = createThread({ servers: { bad: { command: 'holdfast-has-no-such-command', required: true } } });
  expect((await errorOf(thread.ready())).code).toBe('runtime_failed');
  const healed = thread.replaceRuntime({ servers: { good: good.config } });
  const step = thread.beginStep();
  await good.until('started');
  gate.resolve();
  await healed;
  expect((await step).generation).toBe(2);
});

test('RT-6 later steps never wait for a swap', async () => {
  const gate = deferred();
  await using first = scriptedServer({ tools: ['echo'] });
  await using second = scriptedServer({ tools: ['count'] }, { gate: gate.promise });
  await using thread = createThread({ servers: { a: first.config } });
  await thread.ready();
  const replaced = thread.replaceRuntime({ servers: { a: second.config } });
  await second.until('started');
  const step = await thread.beginStep();
  expect([step.generation, shown(step, 'a')]).toEqual([1, ['echo']]);
  gate.resolve();
  await replaced;
});

test('RT-6 a server that fails and is not required does not fail the first runtime', async () => {
  await using good = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({
    servers: { bad: { command: 'holdfast-has-no-such-command' }, good: good.config },
  });
  const watch = new Watch(thread);
  await thread.ready();
  expect(watch.of('runtime.published').map(({ generation }) => generation)).toEqual([1]);
  expect(thread.snapshot().servers.map(({ name, state }) => `${name} ${state}`)).toEqual(['bad failed', 'good ready']);
});

test('RT-6 a closed thread says so to who waits and who comes', async () => {
  const gate = deferred();
  await using peer = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
  const thread = createThread({ servers: { a: peer.config } });
  const waiting = Promise.all([errorOf(thread.ready()), errorOf(thread.beginStep())]);
  await peer.until('started');
  await thread.close();
  expect((await waiting).map(({ code }) => code)).toEqual(['thread_closed', 'thread_closed']);
  expect((await errorOf(thread.ready())).code).toBe('thread_closed');
  expect((await errorOf(thread.replaceRuntime({ servers: {} }))).code).toBe('thread_closed');
  expect(thread.snapshot()).toMatchObject({ state: 'closed', servers: [], steps: [], elicitations: [] });
});

test('RT-6 RT-4 a healing replacement that is aborted leaves the reason of the failed first runtime', async () => {
  const gate = deferred();
  await using held = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
  await using thread = createThread({ servers: { bad: { command: 'holdfast-has-no-such-command', required: true } } });
  expect((await errorOf(thread.ready())).code).toBe('runtime_failed');
  const controller = new AbortController();
  const servers = { held: { ...held.config, required: true } };
  const replaced = errorOf(thread.replaceRuntime({ servers }, { signal: controller.signal }));
  const waiting = errorOf(thread.beginStep());
  await held.until('started');
  controller.abort();
  expect((await replaced).code).toBe('aborted');
  expect((await waiting).code).toBe('runtime_failed');
  expect((await errorOf(thread.ready())).code).toBe('runtime_failed');
  gate.resolve();
});

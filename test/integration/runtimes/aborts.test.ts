import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import type { Step, Thread } from '../../../src/index.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { SimulatedClock, rawServer, scriptedServer, serveHttp } from '../../../src/testing/index.ts';
import { Watch, errorOf, peerKinds, startPeer, textOf, turns } from './support.ts';

interface Ending {
  readonly title: string;
  readonly code: string;
  readonly end: (parts: { thread: Thread; step: Step; controller: AbortController; clock: SimulatedClock }) => unknown;
}

const endings: readonly Ending[] = [
  { title: 'its signal', code: 'aborted', end: ({ controller }) => controller.abort() },
  { title: 'the end of its step', code: 'aborted', end: ({ step }) => step.end() },
  { title: 'the close of its thread', code: 'aborted', end: ({ thread }) => thread.close() },
  { title: 'its time limit', code: 'timeout', end: ({ clock }) => clock.increment(5_000) },
];

describe.each(endings)('a call that is ended by $title', ({ code, end }) => {
  test('RT-8 is cancelled at a legacy server under its own id, with the neutral reason', async () => {
    const clock = new SimulatedClock();
    await using peer = rawServer((message) => message['method'] === 'tools/call');
    await using thread = createThread({
      servers: { a: { ...peer.config, parallel: true, protocol: 'legacy' } },
      clock,
    });
    const controller = new AbortController();
    const step = await thread.beginStep();
    const call = errorOf(step.callTool('mcp__a__echo', { mine: 1 }, { signal: controller.signal, timeoutMs: 5_000 }));
    const request = await peer.waitFor((message) => argumentsOf(message)?.['mine'] === 1);

    await end({ thread, step, controller, clock });

    expect(await call).toMatchObject({ code, outcome: 'unknown' });
    const cancelled = await peer.waitFor('notifications/cancelled');
    expect(cancelled['params']).toEqual({ requestId: request['id'], reason: 'cancelled' });
  });

  test.each(peerKinds)('RT-8 is heard of by a %s server, %s', async (era, kind) => {
    const clock = new SimulatedClock();
    await using peer = await startPeer(kind, { era, tools: ['hang'] });
    await using thread = createThread({ servers: { a: peer.config }, clock });
    const controller = new AbortController();
    const step = await thread.beginStep();
    const call = errorOf(step.callTool('mcp__a__hang', {}, { signal: controller.signal, timeoutMs: 5_000 }));
    await peer.until('called');

    await end({ thread, step, controller, clock });

    expect(await call).toMatchObject({ code, outcome: 'unknown' });
    expect(await peer.until('cancelled')).toMatchObject({ tool: 'hang' });
    expect(peer.calls('hang')).toBe(1);
  });
});

test('RT-8 an abort ends only the call it is for', async () => {
  await using peer = scriptedServer({ tools: ['park'] });
  await using thread = createThread({ servers: { a: { ...peer.config, parallel: true } } });
  const step = await thread.beginStep();
  const controller = new AbortController();
  const aborted = errorOf(step.callTool('mcp__a__park', { key: 'one' }, { signal: controller.signal }));
  const kept = step.callTool('mcp__a__park', { key: 'two' });
  await Promise.all([peer.untilParked('one'), peer.untilParked('two')]);
  controller.abort();
  expect((await aborted).code).toBe('aborted');
  peer.release('two', 'kept');
  expect(textOf(await kept)).toBe('kept');
});

test('RT-8 a call with an aborted signal, or that waits for its turn, is never sent', async () => {
  await using peer = scriptedServer({ tools: ['park', 'destructive'] });
  await using thread = createThread({ servers: { a: peer.config } });
  const step = await thread.beginStep();
  expect(await errorOf(step.callTool('mcp__a__destructive', {}, { signal: AbortSignal.abort() }))).toMatchObject({
    code: 'aborted',
    outcome: 'not-sent',
  });
  const first = step.callTool('mcp__a__park', { key: 'key' });
  await peer.untilParked('key');
  const controller = new AbortController();
  const queued = errorOf(step.callTool('mcp__a__destructive', {}, { signal: controller.signal }));
  controller.abort();
  expect(await queued).toMatchObject({ code: 'aborted', outcome: 'not-sent' });
  peer.release('key');
  await first;
  expect(peer.calls('destructive')).toBe(0);
});

test('RT-8 a late result is dropped and disturbs nothing', async () => {
  await using peer = rawServer((message, raw) => {
    if (message['method'] !== 'tools/call') return false;
    if (argumentsOf(message)?.['answer'] === true)
      raw.reply(message, { content: [{ type: 'text', text: 'answered' }] });
    return true;
  });
  await using thread = createThread({ servers: { a: { ...peer.config, parallel: true, protocol: 'legacy' } } });
  const watch = new Watch(thread);
  const step = await thread.beginStep();
  const controller = new AbortController();
  const call = errorOf(step.callTool('mcp__a__echo', { late: true }, { signal: controller.signal }));
  const request = await peer.waitFor((message) => argumentsOf(message)?.['late'] === true);
  controller.abort();
  expect((await call).code).toBe('aborted');
  peer.reply(request, { content: [{ type: 'text', text: 'late' }] });
  peer.reply(request, { content: [{ type: 'text', text: 'later' }] });
  await turns(3);
  expect(textOf(await step.callTool('mcp__a__echo', { answer: true }))).toBe('answered');
  expect(watch.of('call.ended').map(({ outcome }) => outcome)).toEqual(['aborted', 'completed']);
});

describe.each(['legacy', 'modern'] as const)('a %s stream over HTTP', (era) => {
  test.each(['end', 'break'] as const)('RT-8 that is cut (%s) before the result fails its call', async (how) => {
    await using peer = await serveHttp({ era, tools: ['echo', 'progress'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const step = await thread.beginStep();
    peer.cutStream({ how });
    const error = await errorOf(step.callTool('mcp__a__progress', {}, { onProgress: () => undefined }));
    expect(error).toMatchObject({ code: 'connection_lost', outcome: 'unknown', retryable: true });
    expect(textOf(await step.callTool('mcp__a__echo', { text: 'still there' }))).toBe('still there');
    expect(peer.calls('progress')).toBe(1);
  });
});

test.each([
  ['a list', []],
  ['a text', 'text'],
  ['a number', 7],
  ['null', null],
  ['a function', () => 1],
])('RT-8 arguments that are %s are refused before anything is sent', async (_, args) => {
  await using peer = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({ servers: { a: peer.config } });
  const step = await thread.beginStep();
  const error = await errorOf(step.callTool('mcp__a__echo', args as unknown as JsonObject));
  expect(error).toMatchObject({ code: 'invalid_arguments', outcome: 'not-sent', retryable: false });
  expect(textOf(await step.callTool('mcp__a__echo'))).toBe('');
  expect(peer.calls()).toBe(1);
});

test.each([0, -1, 1.5, 2 ** 31, Number.NaN])('RT-8 a time limit of %d ms is refused', async (timeoutMs) => {
  await using peer = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({ servers: { a: peer.config } });
  const step = await thread.beginStep();
  expect((await errorOf(step.callTool('mcp__a__echo', {}, { timeoutMs }))).code).toBe('invalid_argument');
});

test('RT-8 what is asked of an ended step is refused, and ending it again does nothing', async () => {
  await using peer = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({ servers: { a: peer.config } });
  const watch = new Watch(thread);
  const step = await thread.beginStep();
  await Promise.all([step.end(), step.end()]);
  await step.end();
  for (const error of [
    await errorOf(step.callTool('mcp__a__echo')),
    await errorOf(step.readResource('a', 'test://static')),
    await errorOf(step.listTools('a')),
  ])
    expect(error).toMatchObject({ code: 'step_ended', outcome: 'not-sent' });
  await thread.close();
  expect(watch.of('step.ended')).toHaveLength(1);
  expect(await errorOf(step.callTool('mcp__a__echo'))).toMatchObject({ code: 'thread_closed', outcome: 'not-sent' });
});

test('RT-8 step.end resolves when the calls of the step are answered', async () => {
  await using peer = scriptedServer({ tools: ['hang'] });
  await using thread = createThread({ servers: { a: { ...peer.config, parallel: true } } });
  const step = await thread.beginStep();
  const seen: string[] = [];
  for (let call = 0; call < 3; call++) void step.callTool('mcp__a__hang').catch(() => seen.push('aborted'));
  await peer.until('called');
  await step.end();
  expect(seen).toEqual(['aborted', 'aborted', 'aborted']);
});

function argumentsOf(message: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined {
  const { params } = message as { readonly params?: { readonly arguments?: Readonly<Record<string, unknown>> } };
  return params?.arguments;
}

test('H10 no listener is left on the signals that were given', async () => {
  await using peer = scriptedServer({ tools: ['echo', 'hang'] });
  const thread = createThread({ servers: { a: { ...peer.config, parallel: true } } });
  const { signal } = new AbortController();
  await thread.ready({ signal });
  const step = await thread.beginStep({ signal });
  const calls = Array.from({ length: 20 }, () => step.callTool('mcp__a__echo', {}, { signal }));
  await Promise.all([...calls, step.readResource('a', 'test://static', { signal })]);
  await thread.replaceRuntime({ servers: { a: peer.config } }, { signal });
  await turns(2);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  const hanging = errorOf(step.callTool('mcp__a__hang', {}, { signal }));
  await thread.close();
  expect((await hanging).code).toBe('aborted');
  await turns(2);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

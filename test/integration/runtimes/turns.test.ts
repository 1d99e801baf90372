import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import { rawServer, scriptedServer } from '../../../src/testing/index.ts';
import { Watch, errorOf, peerKinds, startPeer, textOf, turns } from './support.ts';

describe.each(peerKinds)('a %s server, %s', (era, kind) => {
  test('RT-9 gets the calls of one step one at a time, in order', async () => {
    await using peer = await startPeer(kind, { era, tools: ['park'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const step = await thread.beginStep();
    const calls = ['one', 'two', 'three'].map((key) => step.callTool('mcp__a__park', { key }));
    await peer.untilParked('one');
    await turns(5);
    expect(peer.parked).toEqual(['one']);
    expect(thread.snapshot().steps[0]?.calls.map(({ state }) => state)).toEqual(['running', 'queued', 'queued']);
    peer.release('one');
    await peer.untilParked('two');
    expect(peer.parked).toEqual(['two']);
    peer.release('two');
    await peer.untilParked('three');
    peer.release('three');
    await Promise.all(calls);
  });

  test('RT-9 gets them at once if it is parallel', async () => {
    await using peer = await startPeer(kind, { era, tools: ['park'] });
    await using thread = createThread({ servers: { a: { ...peer.config, parallel: true } } });
    const step = await thread.beginStep();
    const calls = ['one', 'two'].map((key) => step.callTool('mcp__a__park', { key }));
    await Promise.all([peer.untilParked('one'), peer.untilParked('two')]);
    expect(peer.parked).toHaveLength(2);
    peer.release('one');
    peer.release('two');
    await Promise.all(calls);
  });

  test('RT-9 a read-only tool need not wait', async () => {
    await using peer = await startPeer(kind, { era, tools: ['park', 'readOnly'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const step = await thread.beginStep();
    const parked = step.callTool('mcp__a__park', { key: 'key' });
    await peer.untilParked('key');
    expect(textOf(await step.callTool('mcp__a__readOnly', { text: 'read' }))).toBe('read');
    peer.release('key');
    await parked;
  });

  test('RT-9 calls of different steps do not wait for each other', async () => {
    await using peer = await startPeer(kind, { era, tools: ['park'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const [one, two] = [await thread.beginStep(), await thread.beginStep()];
    const calls = [one.callTool('mcp__a__park', { key: 'one' }), two.callTool('mcp__a__park', { key: 'two' })];
    await Promise.all([peer.untilParked('one'), peer.untilParked('two')]);
    expect(peer.parked).toHaveLength(2);
    peer.release('one');
    peer.release('two');
    await Promise.all(calls);
  });

  test('RT-9 a call that waits for an answer does not hold its turn, and counts in no limit', async () => {
    await using peer = await startPeer(kind, { era, tools: ['ask', 'destructive'] });
    await using thread = createThread({
      servers: { a: peer.config },
      limits: { callsPerThread: 1, callsPerServer: 1 },
    });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    const asking = step.callTool('mcp__a__ask');
    await watch.until((fact) => fact.type === 'call.paused');
    expect(thread.snapshot().steps[0]?.calls[0]).toMatchObject({ state: 'paused' });
    expect(textOf(await step.callTool('mcp__a__destructive', { text: 'meanwhile' }))).toBe('meanwhile');
    const [question] = thread.snapshot().elicitations;
    await thread.respond(question?.token ?? '', { action: 'accept', content: { name: 'Ada' } });
    expect(JSON.parse(textOf(await asking))).toMatchObject({ action: 'accept' });
  });
});

test('RT-9 the limit of a server holds back no other server', async () => {
  await using busy = scriptedServer({ tools: ['park'] });
  await using free = scriptedServer({ tools: ['park'] });
  await using thread = createThread({
    servers: { busy: { ...busy.config, parallel: true }, free: { ...free.config, parallel: true } },
    limits: { callsPerServer: 2 },
  });
  const step = await thread.beginStep();
  const calls = Array.from({ length: 5 }, (_, index) => step.callTool('mcp__busy__park', { key: String(index) }));
  await Promise.all([busy.untilParked('0'), busy.untilParked('1')]);
  const other = step.callTool('mcp__free__park', { key: 'free' });
  await free.untilParked('free');
  expect(busy.parked).toEqual(['0', '1']);
  free.release('free');
  await other;
  for (let index = 0; index < 5; index++) {
    await busy.untilParked(String(index));
    expect(busy.parked.length).toBeLessThanOrEqual(2);
    busy.release(String(index));
  }
  await Promise.all(calls);
});

test('RT-9 the limit of a thread holds over all its servers and steps', async () => {
  await using one = scriptedServer({ tools: ['park'] });
  await using two = scriptedServer({ tools: ['park'] });
  await using thread = createThread({
    servers: { one: { ...one.config, parallel: true }, two: { ...two.config, parallel: true } },
    limits: { callsPerThread: 2 },
  });
  const [a, b] = [await thread.beginStep(), await thread.beginStep()];
  const calls = [
    a.callTool('mcp__one__park', { key: 'key' }),
    b.callTool('mcp__two__park', { key: 'key' }),
    a.callTool('mcp__two__park', { key: 'late' }),
  ];
  await Promise.all([one.untilParked('key'), two.untilParked('key')]);
  await turns(3);
  expect(two.parked).toEqual(['key']);
  one.release('key');
  await two.untilParked('late');
  two.release('key');
  two.release('late');
  await Promise.all(calls);
});

test('RT-9 a failed, an aborted and a timed out call give their turn back', async () => {
  await using peer = scriptedServer({ tools: ['fail', 'throwError', 'hang', 'destructive'] });
  await using thread = createThread({ servers: { a: peer.config }, limits: { callsPerThread: 1, callsPerServer: 1 } });
  const step = await thread.beginStep();
  expect((await step.callTool('mcp__a__fail')).isError).toBe(true);
  expect((await errorOf(step.callTool('mcp__a__throwError'))).outcome).toBe('failed');
  expect((await errorOf(step.callTool('mcp__a__hang', {}, { timeoutMs: 20 }))).code).toBe('timeout');
  const controller = new AbortController();
  const aborted = errorOf(step.callTool('mcp__a__hang', {}, { signal: controller.signal }));
  controller.abort();
  expect((await aborted).code).toBe('aborted');
  expect(textOf(await step.callTool('mcp__a__destructive', { text: 'free' }))).toBe('free');
});

test('RT-9 a call that comes back from its question need not queue again', async () => {
  await using peer = scriptedServer({ tools: ['ask', 'park'] });
  await using thread = createThread({ servers: { a: peer.config }, limits: { callsPerServer: 1 } });
  const watch = new Watch(thread);
  const step = await thread.beginStep();
  const asking = step.callTool('mcp__a__ask');
  await watch.until((fact) => fact.type === 'call.paused');
  const parked = step.callTool('mcp__a__park', { key: 'key' });
  await peer.untilParked('key');
  const [question] = thread.snapshot().elicitations;
  await thread.respond(question?.token ?? '', { action: 'decline' });
  expect(JSON.parse(textOf(await asking))).toMatchObject({ action: 'decline' });
  peer.release('key');
  await parked;
});

test('RT-9 a thousand calls of one step all come back', async () => {
  await using peer = rawServer((message, raw) => {
    if (message['method'] !== 'tools/call') return false;
    raw.reply(message, { content: [{ type: 'text', text: JSON.stringify(message['params']) }] });
    return true;
  });
  await using thread = createThread({ servers: { a: { ...peer.config, protocol: 'legacy' } } });
  const step = await thread.beginStep();
  const results = await Promise.all(
    Array.from({ length: 1_000 }, (_, index) => step.callTool('mcp__a__echo', { index })),
  );
  expect(results.map((result) => JSON.parse(textOf(result)) as unknown)).toEqual(
    Array.from({ length: 1_000 }, (_, index) => expect.objectContaining({ arguments: { index } }) as unknown),
  );
});

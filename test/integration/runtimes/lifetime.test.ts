import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import type { Step, Thread } from '../../../src/index.ts';
import { rawServer, stdioServerConfig } from '../../../src/testing/index.ts';
import { Watch, eventually, peerKinds, startPeer, textOf, turns } from './support.ts';
import type { Peer } from './support.ts';

/** One way of holding a runtime: begun on the current one, it lets go when the peer releases `key`. */
interface Holder {
  readonly title: string;
  readonly hold: (thread: Thread, step: Step) => Promise<unknown>;
  readonly inStep: boolean;
}

const holders: readonly Holder[] = [
  { title: 'a resource read', inStep: false, hold: (thread) => thread.readResource('a', 'test://park/key') },
  { title: 'a prompt', inStep: false, hold: (thread) => thread.getPrompt('a', 'park', { key: 'key' }) },
  {
    title: 'a completion',
    inStep: false,
    hold: (thread) =>
      thread.complete('a', {
        ref: { type: 'ref/prompt', name: 'greet' },
        argument: { name: 'name', value: 'park:key' },
      }),
  },
  { title: 'a tool call', inStep: true, hold: (_, step) => step.callTool('mcp__a__park', { key: 'key' }) },
  { title: 'a resource read of a step', inStep: true, hold: (_, step) => step.readResource('a', 'test://park/key') },
  { title: 'a prompt of a step', inStep: true, hold: (_, step) => step.getPrompt('a', 'park', { key: 'key' }) },
];

describe.each(peerKinds)('a %s server, %s', (era, kind) => {
  test.each(holders)('H3 RT-2 $title keeps its runtime until it ends, and not longer', async ({ hold, inStep }) => {
    await using peer = await startPeer(kind, { era, tools: ['park'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    if (!inStep) await step.end();
    const held = hold(thread, step);
    await peer.untilParked('key');

    await thread.replaceRuntime({ servers: {} });
    await turns(5);
    expect(watch.hasStopped(1)).toBe(false);
    expect(thread.snapshot().runtimes.map(({ generation, state }) => `${String(generation)} ${state}`)).toEqual([
      '1 retired',
      '2 current',
    ]);
    expect(openConnections(peer)).toBe(1);

    peer.release('key', 'late');
    await held;
    if (inStep) {
      await turns(2);
      // The step itself still holds it.
      expect(watch.hasStopped(1)).toBe(false);
      await step.end();
    }
    await turns(1);
    expect(watch.hasStopped(1)).toBe(true);
    await watch.untilServer('a', 'closed');
    expect(thread.snapshot().servers).toEqual([]);
  });

  test('H3 of several holders the last one decides', async () => {
    await using peer = await startPeer(kind, { era, tools: ['park', 'echo'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const watch = new Watch(thread);
    const [first, second] = [await thread.beginStep(), await thread.beginStep()];
    const read = thread.readResource('a', 'test://park/read');
    await peer.untilParked('read');
    await thread.replaceRuntime({ servers: {} });
    await first.end();
    await turns(2);
    expect(
      thread
        .snapshot()
        .runtimes[0]?.holders.map(({ kind: held }) => held)
        .toSorted(),
    ).toEqual(['request', 'step']);
    await second.end();
    await turns(2);
    expect(watch.hasStopped(1)).toBe(false);
    peer.release('read');
    await read;
    await turns(1);
    expect(watch.hasStopped(1)).toBe(true);
  });
});

test('RT-2 a request outside a step goes to the runtime that is current when it is made', async () => {
  await using first = await startPeer('in memory', { name: 'first' });
  await using second = await startPeer('in memory', { name: 'second' });
  await using thread = createThread({ servers: { a: first.config } });
  await thread.ready();
  const old = thread.readResource('a', 'test://park/key');
  await first.untilParked('key');
  await thread.replaceRuntime({ servers: { a: second.config } });
  const young = thread.readResource('a', 'test://park/key');
  await second.untilParked('key');
  second.release('key', 'young');
  first.release('key', 'old');
  expect([await old, await young]).toMatchObject([{ contents: [{ text: 'old' }] }, { contents: [{ text: 'young' }] }]);
});

test('RT-1 a question asked on a runtime that was replaced comes back to its call, and only then the runtime stops', async () => {
  const asking = stdioServerConfig({ tools: ['ask', 'pid'] });
  await using late = await startPeer('http', { era: 'modern', tools: ['echo'] });
  await using thread = createThread({ servers: { asking } });
  const watch = new Watch(thread);
  const step = await thread.beginStep();
  const call = step.callTool('mcp__asking__ask', {}, { callId: 'mine' });
  await watch.until((fact) => fact.type === 'elicitation.opened');
  const [question] = thread.snapshot().elicitations;
  expect(question).toMatchObject({ request: 'mine', step: step.id, generation: 1 });

  await thread.replaceRuntime({ servers: { late: late.config } });
  const young = await thread.beginStep();
  expect(textOf(await young.callTool('mcp__late__echo', { text: 'works' }))).toBe('works');
  await turns(3);
  expect(watch.hasStopped(1)).toBe(false);

  expect(await thread.respond(question?.token ?? '', { action: 'accept', content: { name: 'Ada' } })).toEqual({
    status: 'delivered',
  });
  expect(JSON.parse(textOf(await call))).toMatchObject({ action: 'accept', content: { name: 'Ada' } });
  expect(watch.hasStopped(1)).toBe(false);
  await step.end();
  await turns(1);
  expect(watch.hasStopped(1)).toBe(true);
});

test('H3 RT-2 a call whose approval is open keeps its runtime', async () => {
  await using peer = await startPeer('in memory', { tools: ['echo'] });
  await using thread = createThread({ servers: { a: { ...peer.config, approval: 'prompt' } } });
  const watch = new Watch(thread);
  const step = await thread.beginStep();
  const call = step.callTool('mcp__a__echo', { text: 'approved' });
  await watch.until((fact) => fact.type === 'elicitation.opened');
  await thread.replaceRuntime({ servers: {} });
  await turns(3);
  expect(watch.hasStopped(1)).toBe(false);
  const [question] = thread.snapshot().elicitations;
  await thread.respond(question?.token ?? '', { action: 'accept' });
  expect(textOf(await call)).toBe('approved');
  await step.end();
  await turns(1);
  expect(watch.hasStopped(1)).toBe(true);
});

/** Open connections of a peer, where it has such a thing. */
function openConnections(peer: Peer): number {
  return 'connections' in peer ? peer.connections : 1;
}

test('H3 RT-11 a retired runtime that was let go closes its in-memory server', async () => {
  await using peer = await startPeer('in memory', { tools: ['echo'] });
  await using thread = createThread({ servers: { a: peer.config } });
  await thread.ready();
  await thread.replaceRuntime({ servers: {} });
  await eventually(() => openConnections(peer) === 0);
  expect(thread.snapshot().runtimes).toHaveLength(1);
});

test('RT-2 all pages of one listing come from the runtime it began on', async () => {
  const held: (() => void)[] = [];
  await using old = rawServer(
    (message, peer) => {
      if (message['method'] !== 'prompts/list') return false;
      const isFirst = message['params'] === undefined || !('cursor' in (message['params'] as object));
      held.push(() =>
        peer.reply(message, {
          prompts: [{ name: `old-${String(held.length)}` }],
          ...(isFirst ? { nextCursor: 'two' } : {}),
        }),
      );
      if (!isFirst) held.at(-1)?.();
      return true;
    },
    { tools: [], capabilities: { tools: {}, prompts: {} } },
  );
  await using young = await startPeer('in memory', { era: 'legacy' });
  await using thread = createThread({ servers: { a: { ...old.config, protocol: 'legacy' } } });
  const watch = new Watch(thread);
  await thread.ready();
  const listed = thread.listPrompts('a', { all: true });
  await eventually(() => held.length === 1);
  await thread.replaceRuntime({ servers: { a: young.config } });
  held[0]?.();
  expect(await listed).toEqual({ prompts: [{ name: 'old-1' }, { name: 'old-2' }] });
  await turns(1);
  expect(watch.hasStopped(1)).toBe(true);
});

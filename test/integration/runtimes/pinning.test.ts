import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import { scriptedServer } from '../../../src/testing/index.ts';
import { Watch, errorOf, eventually, peerKinds, shown, startPeer, textOf } from './support.ts';
import type { Peer } from './support.ts';

describe.each(peerKinds)('a %s server, %s', (era, kind) => {
  test('H1 RT-2 a step keeps its server and its tools after a replacement removed the server', async () => {
    await using peer = await startPeer(kind, { era, tools: ['echo', 'park'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const step = await thread.beginStep();
    const before = step.tools;

    await thread.replaceRuntime({ servers: {} });
    const next = await thread.beginStep();

    expect(next.tools).toEqual([]);
    expect(step.tools).toBe(before);
    expect(shown(step, 'a')).toEqual(['echo', 'park']);
    expect(textOf(await step.callTool('mcp__a__echo', { text: 'still here' }))).toBe('still here');
    expect((await errorOf(next.callTool('mcp__a__echo'))).code).toBe('unknown_tool');
  });

  test('H1 RT-2 two steps call two servers of one name, each the one it was shown', async () => {
    await using first = await startPeer(kind, { era, name: 'first', tools: ['count', 'echo'] });
    await using second = await startPeer(kind, { era, name: 'second', tools: ['echo'] });
    await using thread = createThread({ servers: { a: first.config } });
    const old = await thread.beginStep();
    await thread.replaceRuntime({ servers: { a: second.config } });
    const young = await thread.beginStep();

    await old.callTool('mcp__a__echo', { text: 'old' });
    await young.callTool('mcp__a__echo', { text: 'young' });

    expect([old.generation, young.generation]).toEqual([1, 2]);
    expect([first.calls('echo'), second.calls('echo')]).toEqual([1, 1]);
    expect((await errorOf(young.callTool('mcp__a__count'))).code).toBe('unknown_tool');
    expect(textOf(await old.callTool('mcp__a__count', { tool: 'echo' }))).toBe('1');
  });

  test('H1 CN-5 a changed list changes the next step and never this one', async () => {
    await using peer = await startPeer(kind, { era, tools: ['echo', 'readOnly'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const watch = new Watch(thread);
    const step = await thread.beginStep();

    await untilListening(peer);
    await peer.addTool('extra');
    await peer.removeTool('readOnly');
    const next = await nextStepWith(thread, watch, 'extra');

    expect(shown(step, 'a')).toEqual(['echo', 'readOnly']);
    expect(shown(next, 'a')).toEqual(['echo', 'extra']);
    expect(Object.isFrozen(step.tools)).toBe(true);
    // Advertised is dispatchable: the call goes out, and the server is the one that refuses it.
    expect((await errorOf(step.callTool('mcp__a__readOnly'))).code).not.toBe('unknown_tool');
  });
});

test('H1 the tools of a step are frozen through and through', async () => {
  await using peer = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({ servers: { a: peer.config } });
  const step = await thread.beginStep();
  expect(Object.isFrozen(step.tools)).toBe(true);
  expect(step.tools.every((tool) => Object.isFrozen(tool))).toBe(true);
});

/** A legacy server over HTTP can say that its list changed only once its client has opened the stream for that. */
async function untilListening(peer: Peer): Promise<void> {
  if ('requests' in peer && peer.script.era === 'legacy')
    await eventually(() => peer.requests.some(({ method }) => method === 'GET'));
}

/** Two changes may come as two listings: steps are begun until one shows the tool. */
async function nextStepWith(thread: ReturnType<typeof createThread>, watch: Watch, tool: string) {
  for (;;) {
    const step = await thread.beginStep();
    if (shown(step, 'a').includes(tool) && !shown(step, 'a').includes('readOnly')) return step;
    const { length } = watch.facts;
    await step.end();
    await watch.until((fact) => fact.type === 'tools.changed', length);
  }
}

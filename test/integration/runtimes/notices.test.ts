import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import type { Progress } from '../../../src/domain/tool.ts';
import { rawServer, scriptedServer } from '../../../src/testing/index.ts';
import { Watch, eventually, peerKinds, serverOf, shown, startPeer, textOf, turns } from './support.ts';

describe.each(peerKinds)('a %s server, %s', (era, kind) => {
  test('CN-5 tells the progress of each call to that call alone', async () => {
    await using peer = await startPeer(kind, { era, tools: ['progress'] });
    await using thread = createThread({ servers: { a: { ...peer.config, parallel: true } } });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    const seen = [[], [], []] as Progress[][];
    await Promise.all(
      seen.map((mine, index) =>
        step.callTool(
          'mcp__a__progress',
          { steps: index + 2 },
          { callId: `mine-${String(index)}`, onProgress: (progress) => mine.push(progress) },
        ),
      ),
    );
    for (const [index, mine] of seen.entries())
      expect(mine.map(({ progress, total }) => `${String(progress)}/${String(total)}`)).toEqual(
        Array.from({ length: index + 2 }, (_, at) => `${String(at + 1)}/${String(index + 2)}`),
      );
    const told = watch.of('call.progressed');
    for (const [index, mine] of seen.entries())
      expect(told.filter(({ request }) => request === `mine-${String(index)}`)).toHaveLength(mine.length);
    // Told in order: the start, the progress, the end.
    const first = watch.facts.filter((fact) => 'request' in fact && fact.request === 'mine-0').map(({ type }) => type);
    expect(first).toEqual(['call.started', 'call.progressed', 'call.progressed', 'call.ended']);
  });

  test('CN-5 tells its log messages', async () => {
    await using peer = await startPeer(kind, { era, tools: ['log'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    await step.callTool('mcp__a__log', { data: { nested: [1, 2] }, logger: 'mine' });
    const fact = await watch.until(({ type }) => type === 'server.logged');
    expect(fact).toMatchObject({ server: 'a', level: 'info', logger: 'mine', data: { nested: [1, 2] } });
  });
});

test('CN-5 changes that come at once are listed together', async () => {
  await using peer = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({ servers: { a: peer.config } });
  const watch = new Watch(thread);
  await thread.ready();
  const before = peer.journal.filter(({ kind }) => kind === 'listed').length;
  await Promise.all(Array.from({ length: 100 }, (_, index) => peer.addTool(`extra-${String(index)}`)));
  await eventually(() => serverOf(thread, 'a').toolCount === 101);
  await turns(10);
  const listings = peer.journal.filter(({ kind }) => kind === 'listed').length - before;
  expect(listings).toBeLessThanOrEqual(5);
  expect(watch.of('tools.changed').length).toBeLessThanOrEqual(listings);
  expect(shown(await thread.beginStep(), 'a')).toHaveLength(101);
});

test('CN-5 a change during a listing makes one more listing', async () => {
  let listings = 0;
  await using peer = rawServer((message, raw) => {
    if (message['method'] !== 'tools/list') return false;
    listings += 1;
    if (listings === 1) return false;
    held.push(() => raw.reply(message, { tools: [tool(`at-${String(listings)}`)] }));
    return true;
  });
  const held: (() => void)[] = [];
  await using thread = createThread({ servers: { a: { ...peer.config, protocol: 'legacy' } } });
  const watch = new Watch(thread);
  await thread.ready();
  const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
  peer.send(changed);
  await eventually(() => held.length === 1);
  for (let times = 0; times < 10; times++) peer.send(changed);
  await turns(10);
  held.shift()?.();
  await eventually(() => held.length === 1);
  held.shift()?.();
  await watch.until(() => watch.of('tools.changed').length === 2);
  await turns(10);
  expect(listings).toBe(3);
  expect(shown(await thread.beginStep(), 'a')).toEqual(['at-3']);
});

test('CN-5 lists of prompts and resources that change list no tools', async () => {
  await using peer = rawServer();
  await using thread = createThread({ servers: { a: { ...peer.config, protocol: 'legacy' } } });
  await thread.ready();
  for (const what of ['prompts', 'resources'])
    peer.send({ jsonrpc: '2.0', method: `notifications/${what}/list_changed` });
  await turns(10);
  expect(peer.received.filter(({ method }) => method === 'tools/list')).toHaveLength(1);
});

test('CN-5 progress for a call that is over, or that never was, reaches nobody', async () => {
  await using peer = rawServer((message, raw) => {
    if (message['method'] !== 'tools/call') return false;
    raw.reply(message, { content: [] });
    return true;
  });
  await using thread = createThread({ servers: { a: { ...peer.config, protocol: 'legacy' } } });
  const watch = new Watch(thread);
  const step = await thread.beginStep();
  const seen: Progress[] = [];
  await step.callTool('mcp__a__echo', {}, { onProgress: (progress) => seen.push(progress) });
  const request = await peer.waitFor('tools/call');
  const { _meta } = request['params'] as { readonly _meta: { readonly progressToken: unknown } };
  for (const progressToken of [_meta.progressToken, 'unknown', 99, null])
    peer.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1 } });
  await turns(3);
  expect(seen).toEqual([]);
  expect(watch.of('call.progressed')).toEqual([]);
  expect(textOf(await step.callTool('mcp__a__echo'))).toBe('');
});

function tool(name: string): { readonly name: string; readonly inputSchema: { readonly type: 'object' } } {
  return { name, inputSchema: { type: 'object' } };
}

import { expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import { rawServer, scriptedServer, serveHttp } from '../../../src/testing/index.ts';
import { Watch, errorOf, serverOf, shown, textOf, turns } from './support.ts';

test('RT-10 a call that runs on a session another call finds gone still gets its result', async () => {
  await using peer = await serveHttp({ tools: ['park', 'destructive'] });
  await using thread = createThread({ servers: { a: { ...peer.config, parallel: true } } });
  const step = await thread.beginStep();
  const running = step.callTool('mcp__a__park', { key: 'key' });
  await peer.untilParked('key');
  peer.setStatus(404, { times: 1, rpcMethod: 'tools/call' });
  expect(textOf(await step.callTool('mcp__a__destructive', { text: 'sent once more' }))).toBe('sent once more');
  expect(serverOf(thread, 'a').state).toBe('ready');
  peer.release('key', 'and this one');
  expect(textOf(await running)).toBe('and this one');
  expect([peer.calls('park'), peer.calls('destructive')]).toEqual([1, 1]);
});

test('RT-10 RT-11 closing ends at once what still runs on a session that is gone', async () => {
  await using peer = await serveHttp({ tools: ['park', 'destructive'] });
  const thread = createThread({ servers: { a: { ...peer.config, parallel: true } } });
  const step = await thread.beginStep();
  const running = errorOf(step.callTool('mcp__a__park', { key: 'key' }));
  await peer.untilParked('key');
  peer.setStatus(404, { times: 1, rpcMethod: 'tools/call' });
  await step.callTool('mcp__a__destructive');
  await thread.close();
  expect((await running).code).toBe('aborted');
  expect(await peer.until('cancelled')).toMatchObject({ tool: 'park' });
});

test('RT-7 restarts that come at once are one restart, and all of them end', async () => {
  await using peer = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({ servers: { a: peer.config } });
  await thread.ready();
  await Promise.all(Array.from({ length: 5 }, () => thread.restartServer('a')));
  expect(serverOf(thread, 'a').state).toBe('ready');
  expect(peer.connections).toBe(1);
  expect(peer.journal.filter(({ kind }) => kind === 'started').length).toBeLessThanOrEqual(3);
  const step = await thread.beginStep();
  expect(textOf(await step.callTool('mcp__a__echo', { text: 'works' }))).toBe('works');
});

test('RT-5 RT-7 a transport the caller gave is kept across replacements, and not opened again once it is lost', async () => {
  await using peer = rawServer((message, raw) => {
    if (message['method'] !== 'tools/call') return false;
    raw.reply(message, { content: [{ type: 'text', text: 'given' }] });
    return true;
  });
  const config = { ...peer.config, protocol: 'legacy' as const };
  await using thread = createThread({ servers: { a: config } });
  const watch = new Watch(thread);
  await thread.ready();
  await thread.replaceRuntime({ servers: { a: { ...config, callTimeoutMs: 5_000 } } });
  const step = await thread.beginStep();
  expect(textOf(await step.callTool('mcp__a__echo'))).toBe('given');
  await peer.close();
  await watch.untilServer('a', 'failed');
  expect(serverOf(thread, 'a').retryAt).toBeUndefined();
  expect(await errorOf(step.callTool('mcp__a__echo'))).toMatchObject({
    code: 'server_unavailable',
    outcome: 'not-sent',
  });
  await thread.replaceRuntime({ servers: { a: config } });
  expect(serverOf(thread, 'a')).toMatchObject({ state: 'failed', error: { code: 'connection_lost' } });
  const refused = await errorOf(thread.restartServer('a'));
  expect(refused.code).toBe('unsupported');
  expect(refused.message).toContain('new transport');
});

test('RT-4 a replacement that only takes a server away lets its connection go, and naming it again starts anew', async () => {
  await using peer = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({ servers: { a: peer.config } });
  const watch = new Watch(thread);
  await thread.ready();
  for (let round = 0; round < 3; round++) {
    const from = watch.facts.length;
    await thread.replaceRuntime({ servers: {} });
    await watch.untilServer('a', 'closed', from);
    await thread.replaceRuntime({ servers: { a: peer.config } });
    await using step = await thread.beginStep();
    expect(shown(step, 'a')).toEqual(['echo']);
  }
  await turns(5);
  const closed = watch.of('server.changed').filter(({ state }) => state === 'closed');
  expect(new Set(closed.map(({ connection }) => connection)).size).toBe(3);
});

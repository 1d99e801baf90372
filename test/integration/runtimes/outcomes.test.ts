import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import type { ListedTool } from '../../../src/domain/tool.ts';
import { rawServer, readJournal, serveHttp, stdioServerConfig } from '../../../src/testing/index.ts';
import { Watch, errorOf, peerKinds, serverOf, startPeer, textOf, turns } from './support.ts';
import type { Peer } from './support.ts';

/** Loses what is on the wire of a peer, however it is reached. */
async function lose(peer: Peer): Promise<void> {
  if ('dropConnections' in peer) peer.dropConnections();
  else await peer.crash();
}

describe.each(peerKinds)('a %s server, %s, that is lost during a call', (era, kind) => {
  test('H6 RT-10 is not sent the call again, though the tool is idempotent, without the opt-in', async () => {
    await using peer = await startPeer(kind, { era, tools: ['idempotent'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const step = await thread.beginStep();
    const call = errorOf(step.callTool('mcp__a__idempotent', { key: 'key' }));
    await peer.untilParked('key');
    await lose(peer);
    expect(await call).toMatchObject({ code: 'connection_lost', outcome: 'unknown', retryable: true });
    expect(peer.calls('idempotent')).toBe(1);
  });

  test('H6 RT-10 is not sent the call again with the opt-in, if the tool does not say that it may', async () => {
    await using peer = await startPeer(kind, { era, tools: ['park'] });
    await using thread = createThread({ servers: { a: { ...peer.config, retry: 'idempotent' } } });
    const step = await thread.beginStep();
    const call = errorOf(step.callTool('mcp__a__park', { key: 'key' }));
    await peer.untilParked('key');
    await lose(peer);
    expect(await call).toMatchObject({ code: 'connection_lost', outcome: 'unknown' });
    expect(peer.calls('park')).toBe(1);
  });

  test('RT-10 is sent an idempotent call once more with the opt-in', async () => {
    await using peer = await startPeer(kind, { era, tools: ['idempotent'] });
    await using thread = createThread({ servers: { a: { ...peer.config, retry: 'idempotent' } } });
    const step = await thread.beginStep();
    const call = step.callTool('mcp__a__idempotent', { key: 'key', text: 'twice' });
    await peer.untilParked('key');
    const { length } = peer.journal;
    await lose(peer);
    await peer.until((entry) => entry.kind === 'parked', length);
    peer.release('key');
    expect(textOf(await call)).toBe('twice');
    expect(peer.calls('idempotent')).toBe(2);
  });

  test('RT-10 is sent it once more only once', async () => {
    await using peer = await startPeer(kind, { era, tools: ['idempotent'] });
    await using thread = createThread({ servers: { a: { ...peer.config, retry: 'idempotent' } } });
    const step = await thread.beginStep();
    const call = errorOf(step.callTool('mcp__a__idempotent', { key: 'key' }));
    await peer.untilParked('key');
    const { length } = peer.journal;
    await lose(peer);
    await peer.until((entry) => entry.kind === 'parked', length);
    await lose(peer);
    expect(await call).toMatchObject({ code: 'connection_lost', outcome: 'unknown' });
    expect(peer.calls('idempotent')).toBe(2);
  });

  test('RT-10 answers with an error: the outcome is failed, and nothing is sent again', async () => {
    await using peer = await startPeer(kind, { era, tools: ['throwError', 'badResult', 'fail'] });
    await using thread = createThread({ servers: { a: { ...peer.config, retry: 'idempotent' } } });
    const step = await thread.beginStep();
    expect(await errorOf(step.callTool('mcp__a__throwError', { message: 'No.' }))).toMatchObject({
      code: 'protocol_error',
      outcome: 'failed',
    });
    expect(await errorOf(step.callTool('mcp__a__badResult'))).toMatchObject({ outcome: 'failed' });
    expect((await step.callTool('mcp__a__fail', { text: 'It broke.' })).isError).toBe(true);
    expect(peer.calls()).toBe(3);
  });
});

test('H6 RT-10 a killed process ran each call once, and a call marked idempotent twice', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-'));
  try {
    const journalFile = join(folder, 'journal');
    const config = stdioServerConfig({ tools: ['park', 'idempotent', 'awaitParked', 'release'], journalFile });
    await using thread = createThread({ servers: { a: { ...config, parallel: true, retry: 'idempotent' } } });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    const lost = errorOf(step.callTool('mcp__a__park', { key: 'lost' }));
    const again = step.callTool('mcp__a__idempotent', { key: 'again', text: 'done' });
    await step.callTool('mcp__a__awaitParked', { key: 'lost' });
    await step.callTool('mcp__a__awaitParked', { key: 'again' });
    const from = watch.facts.length;
    process.kill(serverOf(thread, 'a').pid ?? 0, 'SIGKILL');
    expect(await lost).toMatchObject({ code: 'connection_lost', outcome: 'unknown' });
    await watch.untilServer('a', 'ready', from);
    await step.callTool('mcp__a__awaitParked', { key: 'again' });
    await step.callTool('mcp__a__release', { key: 'again' });
    expect(textOf(await again)).toBe('done');
    const ran = readJournal(journalFile).filter(({ kind }) => kind === 'called');
    expect(ran.filter(({ tool }) => tool === 'park')).toHaveLength(1);
    expect(ran.filter(({ tool }) => tool === 'idempotent')).toHaveLength(2);
  } finally {
    await rm(folder, { recursive: true });
  }
});

describe('a legacy session that is forgotten', () => {
  test('RT-10 CN-2 is opened again, and the call is sent once more, for any tool', async () => {
    await using peer = await serveHttp({ tools: ['destructive'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const step = await thread.beginStep();
    const { connection } = serverOf(thread, 'a');
    await peer.forgetSessions();
    expect(textOf(await step.callTool('mcp__a__destructive', { text: 'once' }))).toBe('once');
    expect(peer.calls('destructive')).toBe(1);
    expect(serverOf(thread, 'a')).toMatchObject({ connection, state: 'ready' });
  });

  test('RT-10 is opened once for all calls that find it gone', async () => {
    await using peer = await serveHttp({ tools: ['destructive'] });
    await using thread = createThread({ servers: { a: { ...peer.config, parallel: true } } });
    const step = await thread.beginStep();
    await peer.forgetSessions();
    const calls = Array.from({ length: 8 }, (_, index) =>
      step.callTool('mcp__a__destructive', { text: String(index) }),
    );
    expect((await Promise.all(calls)).map(textOf)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
    expect(peer.calls('destructive')).toBe(8);
    const opened = peer.requests.filter(({ rpcMethods }) => rpcMethods.includes('initialize'));
    expect(opened).toHaveLength(2);
  });

  test('RT-10 that is lost again fails the call as not sent', async () => {
    await using peer = await serveHttp({ tools: ['destructive'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const step = await thread.beginStep();
    peer.setStatus(404, { times: 2, rpcMethod: 'tools/call' });
    expect(await errorOf(step.callTool('mcp__a__destructive'))).toMatchObject({
      code: 'session_lost',
      outcome: 'not-sent',
      retryable: true,
    });
    expect(peer.calls('destructive')).toBe(0);
  });

  test('RT-10 other requests are repeated too', async () => {
    await using peer = await serveHttp({ tools: ['echo'] });
    await using thread = createThread({ servers: { a: peer.config } });
    await thread.ready();
    await peer.forgetSessions();
    expect(await thread.readResource('a', 'test://static')).toMatchObject({ contents: [{ text: 'static' }] });
  });
});

describe.each(['legacy', 'modern'] as const)('a %s server over HTTP that refuses a call', (era) => {
  test.each([
    [401, 'auth_required', 'not-sent'],
    [403, 'server_unavailable', undefined],
    [500, undefined, undefined],
    [503, undefined, undefined],
    [429, undefined, undefined],
  ])('H6 with %i sends it once', async (status, code, outcome) => {
    await using peer = await serveHttp({ era, tools: ['destructive'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const step = await thread.beginStep();
    peer.setStatus(status, { times: 1, rpcMethod: 'tools/call', headers: { 'www-authenticate': 'Bearer' } });
    const error = await errorOf(step.callTool('mcp__a__destructive'));
    if (code !== undefined) expect(error.code).toBe(code);
    if (outcome !== undefined) expect(error.outcome).toBe(outcome);
    expect(error.outcome).toBeDefined();
    expect(peer.calls('destructive')).toBe(0);
    expect(peer.requests.filter(({ rpcMethods }) => rpcMethods.includes('tools/call'))).toHaveLength(1);
    expect(textOf(await step.callTool('mcp__a__destructive', { text: 'now' }))).toBe('now');
  });
});

test('H6 RT-10 the hints a step was shown decide, not those of a later listing', async () => {
  const tool = (idempotent: boolean): ListedTool => ({
    name: 'mine',
    inputSchema: { type: 'object' },
    annotations: { idempotentHint: idempotent },
  });
  let listed = tool(false);
  const factory = (): ReturnType<typeof rawServer> =>
    rawServer((message, peer) => {
      if (message['method'] === 'tools/list') peer.reply(message, { tools: [listed] });
      return message['method'] === 'tools/list' || message['method'] === 'tools/call';
    });
  await using peer = factory();
  await using thread = createThread({ servers: { a: { ...peer.config, protocol: 'legacy', retry: 'idempotent' } } });
  const watch = new Watch(thread);
  const step = await thread.beginStep();
  listed = tool(true);
  peer.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  await watch.until((fact) => fact.type === 'tools.changed');
  const call = errorOf(step.callTool('mcp__a__mine'));
  await peer.waitFor('tools/call');
  await peer.close();
  expect(await call).toMatchObject({ code: 'connection_lost', outcome: 'unknown' });
});

describe.each(['legacy', 'modern'] as const)('a %s server over HTTP that is down', (era) => {
  test('RT-7 RT-10 fails a call as not sent, and serves the step again once it is up', async () => {
    const peer = await serveHttp({ era, tools: ['destructive'] });
    const { port } = peer;
    await using thread = createThread({ servers: { a: peer.config } });
    const step = await thread.beginStep();
    await peer.close();
    await turns(20);
    const refused = await errorOf(step.callTool('mcp__a__destructive', {}, { timeoutMs: 100 }));
    expect(refused).toMatchObject({ code: 'server_unavailable', outcome: 'not-sent', retryable: true });
    await using again = await serveHttp({ era, tools: ['destructive'] }, { port });
    expect(textOf(await step.callTool('mcp__a__destructive', { text: 'up' }))).toBe('up');
    expect(again.calls('destructive')).toBe(1);
  });

  test('RT-7 is still shown to new steps with its tools', async () => {
    const peer = await serveHttp({ era, tools: ['destructive'] });
    await using thread = createThread({ servers: { a: peer.config } });
    await thread.ready();
    await peer.close();
    await turns(20);
    expect((await thread.beginStep()).tools.map(({ tool }) => tool)).toEqual(['destructive']);
  });
});

import { connect as connectSocket } from 'node:net';
import { once } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { deferred, serveHttp } from '../../src/testing/index.ts';
import { ada, connectHttp } from './peers.ts';

for (const era of ['legacy', 'modern'] as const) {
  const mode = era === 'legacy' ? 'legacy' : 'auto';

  describe(`TK-1 a ${era} scripted HTTP server`, () => {
    test('logs every request with its headers', async () => {
      await using server = await serveHttp({ era });
      await using peer = await connectHttp(server.url, { mode });
      await peer.call('echo', { text: 'a' });
      const call = server.requests.find(({ rpcMethods }) => rpcMethods.includes('tools/call'));
      expect(call).toMatchObject({ method: 'POST', path: '/mcp', body: { params: { name: 'echo' } } });
      expect(call?.headers['mcp-protocol-version']).toBe(era === 'legacy' ? '2025-11-25' : '2026-07-28');
      expect(server.sessions).toHaveLength(era === 'legacy' ? 1 : 0);
      expect(call?.headers['mcp-session-id']).toBe(server.sessions[0]);
      expect(server.config).toEqual({ url: server.url });
    });

    test('answers with the status it is told, as often as it is told', async () => {
      await using server = await serveHttp({ era });
      await using peer = await connectHttp(server.url, { mode });
      server.setStatus(503, { times: 2, headers: { 'retry-after': '1' }, rpcMethod: 'tools/call' });
      await expect(peer.call('echo')).rejects.toThrow('503');
      await expect(peer.call('echo')).rejects.toThrow('503');
      expect(await peer.call('echo', { text: 'back' })).toBe('back');
      expect(server.calls('echo')).toBe(1);
      server.setStatus(401, { headers: { 'www-authenticate': 'Bearer' } });
      const response = await fetch(server.url, { method: 'POST', body: '{}' });
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    });

    for (const how of ['end', 'break'] as const) {
      test(`loses a result by a stream that ${how}s before it`, async () => {
        await using server = await serveHttp({ era });
        await using peer = await connectHttp(server.url, { mode });
        server.cutStream({ how });
        const abort = new AbortController();
        const lost = peer.client.callTool({ name: 'echo', arguments: { text: 'lost' } }, { signal: abort.signal });
        await server.until((entry) => entry.kind === 'ended' && entry.tool === 'echo');
        // The SDK's client waits for ever for such a result.
        abort.abort('given up');
        await expect(lost).rejects.toBeInstanceOf(Error);
        expect(await peer.call('echo', { text: 'next' })).toBe('next');
        expect(server.calls('echo')).toBe(2);
      });
    }

    test('keeps what came before the result in a stream it cuts', async () => {
      await using server = await serveHttp({ era });
      await using peer = await connectHttp(server.url, { mode });
      server.cutStream();
      const last = deferred();
      const abort = new AbortController();
      const onprogress = ({ progress }: { progress: number }): void => {
        if (progress === 3) last.resolve();
      };
      const lost = peer.client.callTool(
        { name: 'progress', arguments: { steps: 3 } },
        { signal: abort.signal, onprogress },
      );
      await last.promise;
      abort.abort('given up');
      await expect(lost).rejects.toBeInstanceOf(Error);
    });

    test('drops its connections and goes on', async () => {
      await using server = await serveHttp({ era });
      await using peer = await connectHttp(server.url, { mode });
      const abort = new AbortController();
      const open = peer.client.callTool({ name: 'park', arguments: { key: 'a' } }, { signal: abort.signal });
      await server.untilParked('a');
      server.dropConnections();
      abort.abort('given up');
      await expect(open).rejects.toBeInstanceOf(Error);
      // The client may find its idle sockets gone only when it uses one.
      await peer.call('echo').catch(() => undefined);
      expect(await peer.call('echo', { text: 'back' })).toBe('back');
    });

    test('tells its clients when the tools change', async () => {
      await using server = await serveHttp({ era });
      await using peer = await connectHttp(server.url, { mode });
      const changed = deferred();
      peer.client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve());
      if (era === 'modern') await peer.client.listen({ toolsListChanged: true });
      else await untilGet(server);
      await server.addTool('extra');
      await changed.promise;
      expect(changed.settled).toBe(true);
    });

    test('ends with nothing left: its port refuses', async () => {
      const server = await serveHttp({ era });
      const peer = await connectHttp(server.url, { mode });
      const open = peer.client.callTool({ name: 'hang', arguments: {} });
      open.catch(() => undefined);
      await server.until('called');
      await server.close();
      await server.close();
      const socket = connectSocket({ host: '127.0.0.1', port: server.port });
      expect(await once(socket, 'error')).toMatchObject([{ code: 'ECONNREFUSED' }]);
      await peer.client.close();
    });

    test('answers 500 at the start when told', async () => {
      await using server = await serveHttp({ era, exitOnStart: {} });
      await expect(connectHttp(server.url, { mode })).rejects.toBeInstanceOf(Error);
    });
  });
}

/** Resolves when the legacy client's optional GET stream is open: only then can the server speak first. */
async function untilGet(server: Awaited<ReturnType<typeof serveHttp>>): Promise<void> {
  await vi.waitFor(() => expect(server.requests.map(({ method }) => method)).toContain('GET'));
}

describe('TK-1 a legacy scripted HTTP server', () => {
  test('knows a session no more once it was forgotten', async () => {
    await using server = await serveHttp();
    await using peer = await connectHttp(server.url, { mode: 'legacy' });
    await server.forgetSessions();
    expect(server.sessions).toEqual([]);
    await expect(peer.call('echo')).rejects.toThrow('Session not found');
    expect(server.calls()).toBe(0);
  });

  test('loses sockets and sessions when it crashes, and serves new ones', async () => {
    await using server = await serveHttp();
    const old = await connectHttp(server.url, { mode: 'legacy' });
    const abort = new AbortController();
    const crashing = old.client.callTool({ name: 'crash', arguments: {} }, { signal: abort.signal });
    await server.until('crashed');
    abort.abort('given up');
    await expect(crashing).rejects.toBeInstanceOf(Error);
    await using peer = await connectHttp(server.url, { mode: 'legacy' });
    expect(await peer.call('echo', { text: 'new' })).toBe('new');
    expect(server.sessions).toHaveLength(1);
    await old.client.close();
  });

  test('asks on the stream of the call, or outside it', async () => {
    await using server = await serveHttp();
    await using peer = await connectHttp(server.url, { mode: 'legacy' });
    expect(JSON.parse(await peer.call('ask'))).toEqual(ada);
    await untilGet(server);
    expect(JSON.parse(await peer.call('ask', { standalone: true }))).toEqual(ada);
  });

  test('answers the optional GET as told', async () => {
    for (const getStatus of [200, 404, 405, 406]) {
      const server = await serveHttp({}, { getStatus });
      expect((await fetch(server.url)).status).toBe(getStatus);
      await server.close();
    }
  });

  test('refuses what comes without a session or without JSON', async () => {
    await using server = await serveHttp();
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const post = (body: string) => fetch(server.url, { method: 'POST', headers, body });
    expect((await post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')).status).toBe(400);
    expect((await post('no JSON')).status).toBe(400);
  });
});

test('TK-1 a scripted HTTP server of both eras speaks the one its client chooses', async () => {
  await using server = await serveHttp({ era: 'both' });
  await using legacy = await connectHttp(server.url, { mode: 'legacy' });
  await using modern = await connectHttp(server.url);
  expect([legacy.client.getProtocolEra(), modern.client.getProtocolEra()]).toEqual(['legacy', 'modern']);
  expect(await Promise.all([legacy.call('echo', { text: 'a' }), modern.call('echo', { text: 'b' })])).toEqual([
    'a',
    'b',
  ]);
});

test('TK-1 a scripted HTTP server that hangs at the start still closes', async () => {
  const server = await serveHttp({ hangOnStart: true });
  const connecting = connectHttp(server.url, { mode: 'legacy' });
  connecting.catch(() => undefined);
  await vi.waitFor(() => expect(server.requests).toHaveLength(1));
  await server.close();
  await expect(connecting).rejects.toBeInstanceOf(Error);
});

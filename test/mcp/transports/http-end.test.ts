import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createHttpTransport } from '../../../src/mcp/transports/http.ts';
import { atEnd, initialize, notification, open, raw, request, result } from './http-fixture.ts';
import { eventStream, json } from './raw-http.ts';
import { Recorder } from './recorder.ts';

describe('credentials and the end', () => {
  test('SE-2 sends headers nowhere but to the origin of the url', async () => {
    const elsewhere = await raw((_request, response) => response.writeHead(200, json).end('{}'));
    const server = await raw(({ path, rpc }, response) => {
      if (path === '/mcp') return response.writeHead(307, { location: '/moved' }).end();
      if (rpc['id'] === 1) return response.writeHead(200, json).end(JSON.stringify(result(1)));
      return response.writeHead(307, { location: elsewhere.url }).end();
    });
    const { transport, recorder } = await open(server.url, { headers: { authorization: 'Bearer secret' } });
    await transport.send(request(1));
    await recorder.result(1);
    expect(server.received.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/mcp', 'Bearer secret'],
      ['/moved', 'Bearer secret'],
    ]);
    await expect(transport.send(request(2))).rejects.toThrow('not followed');
    expect(elsewhere.received).toEqual([]);
  });

  test('H10 leaves no socket open after the last close, and waits for notices to be sent', async () => {
    const server = await raw(({ method, rpc }, response) => {
      if (method === 'GET' || rpc['id'] === 9) return response.writeHead(200, eventStream).flushHeaders();
      if (rpc['id'] === undefined) return response.writeHead(202).end();
      return response.writeHead(200, json).end(JSON.stringify(result(rpc['id'])));
    });
    const first = await open(server.url);
    const second = await open(server.url);
    await Promise.all([
      first.transport.send(request(1)),
      second.transport.send(request(1)),
      first.transport.send(request(9)),
    ]);
    await first.transport.send(notification('notifications/initialized'));
    const cancelled = first.transport.send(notification('notifications/cancelled'));
    await Promise.all([first.transport.close(), cancelled]);
    await second.transport.send(request(2));
    await second.recorder.result(2);
    await second.transport.close();
    await Promise.all([...server.sockets].map(async (socket) => once(socket, 'close')));
    expect(server.received.filter(({ rpc }) => rpc['method'] === 'notifications/cancelled')).toHaveLength(1);
    expect(first.recorder.heard).toMatchObject({ failed: [], warnings: [], closed: [] });
    await expect(first.transport.send(request(3))).rejects.toMatchObject({
      code: 'connection_lost',
      outcome: 'not-sent',
    });
  });

  test('RT-11 closes in bounded time though the server answers nothing', async () => {
    const server = await raw(({ rpc }, response) => {
      if (rpc['method'] === 'initialize')
        response.writeHead(200, { ...json, 'mcp-session-id': 's' }).end(JSON.stringify(result(0)));
    });
    const { transport, recorder } = await open(server.url, { farewellMs: 20 });
    await transport.send(initialize);
    await recorder.result(0);
    const sent = transport.send(request(1));
    await Promise.all([
      transport.close(),
      transport.close(),
      expect(sent).rejects.toMatchObject({ code: 'connection_lost' }),
    ]);
  });

  test('CN-7 goes through the proxy the environment names, except to loopback', async () => {
    const proxy = await raw((_request, response) => response.writeHead(502).end());
    const server = await raw(({ rpc }, response) =>
      response.writeHead(200, json).end(JSON.stringify(result(rpc['id']))),
    );
    const direct = await open(server.url, { env: { HTTP_PROXY: proxy.origin } });
    await direct.transport.send(request(1));
    await direct.recorder.result(1);
    expect(proxy.sockets.size).toBe(0);
    const proxied = await open('http://holdfast.invalid/mcp', { env: { HTTP_PROXY: proxy.origin } });
    await expect(proxied.transport.send(request(1))).rejects.toMatchObject({ data: { status: 502 } });
    expect(proxy.received[0]?.headers.host).toBe('holdfast.invalid');
    const excepted = await open('http://holdfast.invalid/mcp', {
      env: { HTTP_PROXY: proxy.origin, NO_PROXY: 'holdfast.invalid' },
    });
    await expect(excepted.transport.send(request(1))).rejects.toMatchObject({ code: 'server_unavailable' });
  });

  test('CN-7 says that nothing was sent when the proxy breaks off the tunnel', async () => {
    let tunnels = 0;
    const proxy = createServer().on('connect', (_request, socket) => {
      tunnels += 1;
      socket.destroy();
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    atEnd(async () => {
      proxy.close();
      await once(proxy, 'close');
    });
    const address = proxy.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const { transport } = await open('https://holdfast.invalid/mcp', {
      env: { HTTPS_PROXY: `http://127.0.0.1:${port}` },
    });
    await expect(transport.send(request(1))).rejects.toMatchObject({ code: 'server_unavailable', outcome: 'not-sent' });
    expect(tunnels).toBe(1);
  });

  test('CN-7 keeps a connection for the requests that follow, and opens one for each that runs beside', async () => {
    let ports = new Set<number | undefined>();
    const server = await raw(({ rpc }, response) => {
      ports.add(response.socket?.remotePort);
      response.writeHead(200, json).end(JSON.stringify(result(rpc['id'])));
    });
    const { transport, recorder } = await open(server.url);
    for (let id = 0; id < 20; id += 1) {
      await transport.send(request(id));
      await recorder.result(id);
    }
    // The next request may come a moment before the one before it is over.
    expect(ports.size).toBeLessThanOrEqual(2);
    ports = new Set();
    const ids = Array.from({ length: 20 }, (_, index) => 100 + index);
    await Promise.all(ids.map((id) => transport.send(request(id))));
    await Promise.all(ids.map((id) => recorder.result(id)));
    expect(ports.size).toBeLessThanOrEqual(20);
  });

  test('CN-1 refuses a url that is not http', () => {
    expect(() => createHttpTransport({ url: 'ftp://example.org', listener: new Recorder() })).toThrow(
      'ftp://example.org',
    );
  });
});

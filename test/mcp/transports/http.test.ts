import { once } from 'node:events';
import { Client } from '@modelcontextprotocol/client';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, test } from 'vitest';
import { createHttpTransport } from '../../../src/mcp/transports/http.ts';
import type { HttpTransportOptions } from '../../../src/mcp/transports/http.ts';
import { refusalOf } from '../../../src/mcp/transports/refusal.ts';
import type { WireTransport } from '../../../src/mcp/transports/transport.ts';
import { deferred } from '../../../src/testing/deferred.ts';
import { serveHttp } from '../../../src/testing/servers/http-server.ts';
import { event, eventStream, json, serveRaw } from './raw-http.ts';
import type { RawHttp } from './raw-http.ts';
import { Recorder } from './recorder.ts';

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function open(
  url: string,
  options: Partial<HttpTransportOptions> = {},
): Promise<{ transport: WireTransport; recorder: Recorder }> {
  const recorder = new Recorder();
  const transport = createHttpTransport({ url, listener: recorder, env: {}, ...options });
  ends.push(async () => transport.close());
  await transport.start();
  return { transport, recorder };
}

async function raw(handle: Parameters<typeof serveRaw>[0]): Promise<RawHttp> {
  const server = await serveRaw(handle);
  ends.push(async () => server.close());
  return server;
}

const request = (id: number | string, method = 'tools/call', params: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0' as const,
  id,
  method,
  params,
});
const notification = (method: string) => ({ jsonrpc: '2.0' as const, method });
const result = (id: unknown, value: Record<string, unknown> = {}) => ({ jsonrpc: '2.0', id, result: value });
const initialize = request(0, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});

/** Lets the SDK's own client speak over a wire transport. */
async function connectClient(
  url: string,
  mode: 'auto' | 'legacy',
): Promise<{ client: Client; transport: WireTransport; recorder: Recorder }> {
  const sdk: Transport = {
    hasPerRequestStream: true,
    start: async () => transport.start(),
    send: async (message, options) => transport.send(message, options),
    close: async () => transport.close(),
    setProtocolVersion: (version) => {
      transport.setProtocolVersion(version);
    },
  };
  class Relay extends Recorder {
    override onMessage(message: JSONRPCMessage, requestId?: string | number): void {
      super.onMessage(message, requestId);
      sdk.onmessage?.(message);
    }
  }
  const recorder = new Relay();
  const transport = createHttpTransport({ url, listener: recorder, env: {} });
  ends.push(async () => transport.close());
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(sdk);
  return { client, transport, recorder };
}

describe('real servers', () => {
  test.each(['legacy', 'modern'] as const)(
    'CN-1 speaks to a %s server, and names the request of each message',
    async (era) => {
      const server = await serveHttp({ era, tools: ['echo', 'progress'] });
      ends.push(async () => server.close());
      const { client, transport, recorder } = await connectClient(server.url, era === 'legacy' ? 'legacy' : 'auto');
      const answers = await Promise.all(
        Array.from({ length: 150 }, async (_, index) =>
          client.callTool({ name: 'echo', arguments: { text: `n${String(index)}` } }),
        ),
      );
      expect(answers.map((answer) => JSON.stringify(answer.content))).toEqual(
        Array.from({ length: 150 }, (_, index) => expect.stringContaining(`n${String(index)}"`) as string),
      );
      const responses = recorder.heard.messages.filter(({ message }) => 'result' in message);
      expect(responses.every(({ message, requestId }) => 'id' in message && message.id === requestId)).toBe(true);
      expect(transport.sessionId === undefined).toBe(era === 'modern');
      await client.close();
      expect(server.sessions).toEqual([]);
    },
  );

  test('CN-1 delivers progress on the stream of its call', async () => {
    const server = await serveHttp({ tools: ['progress'] });
    ends.push(async () => server.close());
    const { client, recorder } = await connectClient(server.url, 'legacy');
    await client.callTool({ name: 'progress', arguments: { steps: 3 } }, { onprogress: () => undefined });
    const told = recorder.heard.messages.filter(
      ({ message }) => 'method' in message && message.method === 'notifications/progress',
    );
    expect(told).toHaveLength(3);
    expect(new Set(told.map(({ requestId }) => requestId)).size).toBe(1);
    expect(told[0]?.requestId).toBeDefined();
  });

  test('CN-1 hears the server on its own stream', async () => {
    const server = await serveHttp({ tools: ['addTool'] });
    ends.push(async () => server.close());
    const { client, recorder } = await connectClient(server.url, 'legacy');
    const changed = recorder.params('notifications/tools/list_changed');
    let isHeard = false;
    void changed.then(() => (isHeard = true));
    // The stream is opened in its own time; what is said before is lost.
    for (let tool = 0; !isHeard; tool += 1)
      await client.callTool({ name: 'addTool', arguments: { name: `t${String(tool)}` } });
    expect(await changed).toBeDefined();
  });

  test('SE-2 answers a request whose session is unknown with the 404 of the server', async () => {
    const server = await serveHttp({ tools: ['echo'] });
    ends.push(async () => server.close());
    const { client, transport } = await connectClient(server.url, 'legacy');
    await client.callTool({ name: 'echo', arguments: { text: 'x' } });
    await server.forgetSessions();
    const error: unknown = await transport.send(request('late', 'tools/list')).catch((reason: unknown) => reason);
    expect(refusalOf(error)).toMatchObject({ status: 404 });
  });
});

describe('responses', () => {
  test('CN-1 reads a JSON response, and a batch of them', async () => {
    const server = await raw(({ rpc }, response) => {
      const answer = result(rpc['id'], { text: 'žluť' });
      response
        .writeHead(200, json)
        .end(JSON.stringify(rpc['id'] === 1 ? answer : [notification('notifications/message'), answer]));
    });
    const { transport, recorder } = await open(server.url);
    await transport.send(request(1));
    await transport.send(request(2));
    expect(await recorder.result(1)).toEqual({ text: 'žluť' });
    expect(await recorder.result(2)).toEqual({ text: 'žluť' });
    expect(recorder.heard.messages.map(({ requestId }) => requestId)).toEqual([1, 2, 2]);
  });

  test('CN-1 reads events cut anywhere, between the bytes of a character too', async () => {
    const server = await raw(async ({ rpc }, response) => {
      response.writeHead(200, eventStream);
      response.socket?.setNoDelay(true);
      for (const byte of Buffer.from(event(result(rpc['id'], { text: '🐎' })))) {
        response.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
      response.end();
    });
    const { transport, recorder } = await open(server.url);
    await transport.send(request(1));
    expect(await recorder.result(1)).toEqual({ text: '🐎' });
  });

  test('CN-1 keeps the session of the handshake, though its answer comes in one packet', async () => {
    const server = await raw(({ rpc, method }, response) => {
      if (method !== 'POST') return response.writeHead(405).end();
      if (rpc['method'] === 'initialize')
        return response.writeHead(200, { ...json, 'mcp-session-id': 's1' }).end(JSON.stringify(result(0)));
      return rpc['id'] === undefined
        ? response.writeHead(202).end()
        : response.writeHead(200, json).end(JSON.stringify(result(rpc['id'])));
    });
    const { transport, recorder } = await open(server.url);
    await transport.send(initialize);
    await recorder.result(0);
    expect(transport.sessionId).toBe('s1');
    await transport.send(request(1));
    expect(server.received[1]?.headers['mcp-session-id']).toBe('s1');
    expect(server.received[1]?.headers).not.toHaveProperty('x-holdfast-outgoing');
    await transport.close();
    expect(server.received.at(-1)).toMatchObject({ method: 'DELETE', headers: { 'mcp-session-id': 's1' } });
  });

  test.each([
    ['text', 200, { 'content-type': 'text/html' }, '<html></html>'],
    ['an empty acceptance', 202, {}, ''],
  ])('RT-8 refuses %s in answer to a request', async (_what, status, headers, body) => {
    const server = await raw((_request, response) => response.writeHead(status, headers).end(body));
    const { transport } = await open(server.url);
    await expect(transport.send(request(1))).rejects.toMatchObject({ code: 'protocol_error' });
  });

  test('RT-8 fails a request whose JSON is none', async () => {
    const server = await raw((_request, response) => response.writeHead(200, json).end('{"jsonrpc":'));
    const { transport, recorder } = await open(server.url);
    await transport.send(request(1));
    expect(await recorder.until((heard) => heard.failed[0])).toMatchObject({
      id: 1,
      error: { code: 'protocol_error' },
    });
  });

  test("CN-1 takes an error without an id on the request's own stream for its answer", async () => {
    const server = await raw((_request, response) =>
      response.writeHead(200, json).end('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}'),
    );
    const { transport, recorder } = await open(server.url);
    await transport.send(request(1));
    const { message } = await recorder.until((heard) => heard.messages[0]);
    expect(message).toMatchObject({ id: 1, error: { code: -32_700 } });
    expect(recorder.heard.failed).toEqual([]);
  });

  test.each(['json', 'event'])('SE-2 fails a request whose %s is too large, and reads no further', async (form) => {
    const server = await raw((_request, response) => {
      response.writeHead(200, form === 'json' ? json : eventStream);
      response.write('data: ');
      const piece = Buffer.alloc(1_024 * 1_024, 'x');
      response.on('error', () => undefined);
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    });
    const { transport, recorder } = await open(server.url);
    await transport.send(request(1));
    expect(await recorder.until((heard) => heard.failed[0])).toMatchObject({
      id: 1,
      error: { code: 'limit_exceeded', retryable: false },
    });
  });

  test('CN-2 tells what a refusal said, with when to try again', async () => {
    const server = await raw((_request, response) =>
      response.writeHead(503, { 'retry-after': '7', 'www-authenticate': 'Bearer scope="a"' }).end('busy'),
    );
    const { transport, recorder } = await open(server.url);
    const error: unknown = await transport.send(request(1)).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ data: { status: 503, text: 'busy' } });
    expect(refusalOf(error)).toEqual({ status: 503, retryAfterMs: 7_000, challenge: 'Bearer scope="a"' });
    expect(recorder.heard).toMatchObject({ failed: [], warnings: [] });
  });

  test('CN-2 says that nothing was sent when nobody listens', async () => {
    const server = await raw(() => undefined);
    await server.close();
    const { transport } = await open(server.url);
    await expect(transport.send(request(1))).rejects.toMatchObject({ code: 'server_unavailable', outcome: 'not-sent' });
  });

  test('RT-8 leaves the outcome open when the connection breaks before an answer', async () => {
    const server = await raw((_request, response) => response.destroy());
    const { transport } = await open(server.url);
    await expect(transport.send(request(1))).rejects.toMatchObject({ code: 'connection_lost', outcome: 'unknown' });
  });
});

describe('streams that end early', () => {
  test.each(['end', 'destroy'] as const)(
    'RT-8 fails the request whose stream comes to its %s before the result',
    async (how) => {
      const server = await raw((_request, response) => {
        response.writeHead(200, eventStream);
        response.write(event(notification('notifications/message')), () => response[how]());
      });
      const { transport, recorder } = await open(server.url);
      let ended = 0;
      await transport.send(request(1), { onRequestStreamEnd: () => (ended += 1) });
      expect(await recorder.until((heard) => heard.failed[0])).toMatchObject({
        id: 1,
        error: { code: 'connection_lost', outcome: 'unknown' },
      });
      expect(ended).toBe(1);
    },
  );

  test('RT-8 resumes a stream that numbered its events, and gives the answer to its request', async () => {
    const server = await raw(({ method, headers }, response) => {
      response.writeHead(200, eventStream);
      if (method === 'POST') response.end(`retry: 1\n${event('', 'e1')}`);
      else if (headers['last-event-id'] === 'e1') response.end(event(notification('notifications/message'), 'e2'));
      else response.end(event(result(1, { from: headers['last-event-id'] }), 'e3'));
    });
    const { transport, recorder } = await open(server.url);
    await transport.send(request(1));
    expect(await recorder.result(1)).toEqual({ from: 'e2' });
    expect(recorder.heard.messages.map(({ requestId }) => requestId)).toEqual([1, 1]);
    expect(recorder.heard.failed).toEqual([]);
  });

  test('RT-8 gives up after three resumptions that bring nothing', async () => {
    const server = await raw(({ method }, response) => {
      if (method === 'POST') response.writeHead(200, eventStream).end(`retry: 1\n${event('', 'e1')}`);
      else response.writeHead(500).end();
    });
    const { transport, recorder } = await open(server.url);
    await transport.send(request(1));
    expect(await recorder.until((heard) => heard.failed[0])).toMatchObject({
      id: 1,
      error: { code: 'connection_lost' },
    });
    expect(server.received.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'GET']);
  });

  test('RT-8 aborts the exchange of one request and reports nothing of it', async () => {
    const cut = deferred();
    const server = await raw(({ rpc }, response) => {
      if (rpc['id'] === 2) return response.writeHead(200, json).end(JSON.stringify(result(2)));
      response.once('close', () => {
        cut.resolve();
      });
      response.writeHead(200, eventStream).flushHeaders();
      return undefined;
    });
    const { transport, recorder } = await open(server.url);
    const abort = new AbortController();
    await transport.send(request(1), { requestSignal: abort.signal });
    abort.abort();
    await cut.promise;
    await transport.send(request(2));
    await recorder.result(2);
    expect(recorder.heard.failed).toEqual([]);
  });

  test('RT-8 rejects the send that was aborted before the answer, or before it began', async () => {
    const arrived = deferred();
    const server = await raw(() => {
      arrived.resolve();
    });
    const { transport } = await open(server.url);
    const abort = new AbortController();
    const sent = transport.send(request(1), { requestSignal: abort.signal });
    await arrived.promise;
    abort.abort();
    await expect(sent).rejects.toMatchObject({ code: 'aborted' });
    await expect(transport.send(request(2), { requestSignal: abort.signal })).rejects.toMatchObject({
      code: 'aborted',
    });
    expect(server.received).toHaveLength(1);
  });
});

describe("the server's own stream", () => {
  async function initialized(get: (response: Parameters<Parameters<typeof serveRaw>[0]>[1], count: number) => unknown) {
    let gets = 0;
    const server = await raw(({ method, rpc }, response) => {
      if (method === 'GET') return get(response, (gets += 1));
      if (rpc['id'] === undefined) return response.writeHead(202).end();
      return response.writeHead(200, json).end(JSON.stringify(result(rpc['id'])));
    });
    const opened = await open(server.url);
    await opened.transport.send(initialize);
    await opened.recorder.result(0);
    await opened.transport.send(notification('notifications/initialized'));
    return { ...opened, server, gets: () => gets };
  }

  test.each([404, 405, 406, 200, 400])('CN-1 goes on without it when the GET is answered with %i', async (status) => {
    const answered = deferred();
    const { transport, recorder, gets } = await initialized((response) =>
      response.writeHead(status, { 'content-type': 'text/plain' }).end('no', () => {
        answered.resolve();
      }),
    );
    await answered.promise;
    await transport.send(request(1));
    await recorder.result(1);
    expect(gets()).toBe(1);
    if (status !== 400) expect(recorder.heard.warnings).toEqual([]);
  });

  test('CN-1 opens it again after its end, from the last event', async () => {
    const { recorder, server } = await initialized((response, count) => {
      response.writeHead(200, eventStream);
      if (count === 1) response.end(`retry: 1\n${event(notification('notifications/tools/list_changed'), 'a')}`);
      else response.write(event(notification('notifications/prompts/list_changed')));
    });
    await recorder.params('notifications/prompts/list_changed');
    const gets = server.received.filter(({ method }) => method === 'GET');
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'a']);
    expect(
      recorder.heard.messages.every(({ message, requestId }) => 'result' in message || requestId === undefined),
    ).toBe(true);
  });

  test('CN-1 does not open a stream for ever that ends at once', async () => {
    const { recorder, gets } = await initialized((response) =>
      response.writeHead(200, eventStream).end('retry: 1\n\n'),
    );
    const warning = await recorder.until((heard) => heard.warnings[0]);
    expect(warning.code).toBe('stream_unavailable');
    expect(gets()).toBe(4);
  });
});

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
      if (method === 'GET' || rpc['id'] === 9) return void response.writeHead(200, eventStream).flushHeaders();
      if (rpc['id'] === undefined) return void response.writeHead(202).end();
      return void response.writeHead(200, json).end(JSON.stringify(result(rpc['id'])));
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
    const lost = expect(transport.send(request(1))).rejects.toMatchObject({ code: 'connection_lost' });
    await Promise.all([transport.close(), transport.close(), lost]);
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

  test('CN-1 refuses a url that is not http', () => {
    expect(() => createHttpTransport({ url: 'ftp://example.org', listener: new Recorder() })).toThrow(
      'ftp://example.org',
    );
  });
});

import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { refusalOf } from '../../../src/mcp/transports/refusal.ts';
import { initialize, notification, open, raw, request, result } from './http-fixture.ts';
import { event, eventStream, json } from './raw-http.ts';

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

  test('CN-1 takes the JSON-RPC error of a modern 400 for the answer', async () => {
    const error = { code: -32_602, message: 'no such tool' };
    const server = await raw(({ rpc }, response) =>
      response.writeHead(400, json).end(JSON.stringify({ jsonrpc: '2.0', id: rpc['id'], error })),
    );
    const { transport, recorder } = await open(server.url);
    const signal = new AbortController().signal;
    const params = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };
    await transport.send(request(1, 'tools/call', params), { requestSignal: signal });
    expect(recorder.heard.messages).toEqual([{ message: { jsonrpc: '2.0', id: 1, error }, requestId: 1 }]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('PE-1 leaves no listener on a signal that many requests share', async () => {
    const server = await raw(({ rpc }, response) =>
      response.writeHead(200, json).end(JSON.stringify(result(rpc['id']))),
    );
    const { transport, recorder } = await open(server.url);
    const signal = new AbortController().signal;
    const ids = Array.from({ length: 50 }, (_, index) => index + 1);
    await Promise.all(ids.map(async (id) => transport.send(request(id), { requestSignal: signal })));
    await Promise.all(ids.map(async (id) => recorder.result(id)));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
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

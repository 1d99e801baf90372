import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createSseTransport } from '../../../src/mcp/transports/sse.ts';
import { maxMessageBytes } from '../../../src/mcp/transports/body-sinks.ts';
import { refusalOf } from '../../../src/mcp/transports/refusal.ts';
import { atEnd, raw, request, result } from './http-fixture.ts';
import { event, eventStream } from './raw-http.ts';
import type { RawHttp } from './raw-http.ts';
import { Recorder } from './recorder.ts';

function make(url: string, headers: Record<string, string> = {}) {
  const recorder = new Recorder();
  const transport = createSseTransport({ url, listener: recorder, headers, env: {} });
  atEnd(async () => transport.close());
  return { recorder, transport };
}

/** A server of the old kind: it answers each POST on the one stream. */
async function legacy(endpoint = '/messages'): Promise<RawHttp & { stream(): ServerResponse | undefined }> {
  let stream: ServerResponse | undefined;
  const server = await raw(({ method, rpc }, response) => {
    if (method === 'GET') {
      stream = response.writeHead(200, eventStream);
      stream.write(`event: endpoint\r\ndata: ${endpoint}\r\n\r\n`);
      return;
    }
    response.writeHead(202).end();
    stream?.write(event(result(rpc['id'], { said: rpc['method'] })));
  });
  return { ...server, stream: () => stream };
}

test('CN-1 speaks to a legacy SSE server, with its headers, and leaves no socket', async () => {
  const server = await legacy();
  const { transport, recorder } = make(server.url, { authorization: 'Bearer secret' });
  await transport.start();
  await transport.send(request(1, 'tools/list'));
  expect(await recorder.result(1)).toEqual({ said: 'tools/list' });
  expect(server.received.map(({ method, path, headers }) => [method, path, headers.authorization])).toEqual([
    ['GET', '/mcp', 'Bearer secret'],
    ['POST', '/messages', 'Bearer secret'],
  ]);
  await Promise.all([transport.close(), transport.close()]);
  await Promise.all([...server.sockets].map(async (socket) => once(socket, 'close')));
  expect(recorder.heard.closed).toEqual([]);
});

test('RT-8 reports the loss of the stream, and does not open it again', async () => {
  const server = await legacy();
  const { transport, recorder } = make(server.url);
  await transport.start();
  server.stream()?.destroy();
  expect(await recorder.until((heard) => heard.closed[0])).toMatchObject({
    code: 'connection_lost',
    outcome: 'unknown',
  });
  await expect(transport.send(request(1))).rejects.toMatchObject({ code: 'connection_lost' });
  expect(server.received).toHaveLength(1);
});

test('CN-2 rejects a start that is refused, with what the refusal said', async () => {
  const server = await raw((_request, response) => response.writeHead(429, { 'retry-after': '2' }).end());
  const { transport } = make(server.url);
  const error: unknown = await transport.start().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 429 });
  expect(refusalOf(error)).toEqual({ status: 429, retryAfterMs: 2_000 });
});

test('SE-2 refuses an endpoint on another origin', async () => {
  const server = await legacy('http://127.0.0.1:9/steal');
  const { transport } = make(server.url);
  await expect(transport.start()).rejects.toThrow('origin');
});

test('SE-2 breaks off when one event outgrows the limit', async () => {
  const server = await legacy();
  const { transport, recorder } = make(server.url);
  await transport.start();
  server.stream()?.write(Buffer.alloc(maxMessageBytes + 1, 'x'));
  expect(await recorder.until((heard) => heard.closed[0])).toMatchObject({ code: 'connection_lost' });
});

test('RT-11 ends a start that waits for the endpoint', async () => {
  const server = await raw((_request, response) => {
    response.writeHead(200, eventStream).flushHeaders();
  });
  const { transport } = make(server.url);
  const started = transport.start();
  await Promise.all([transport.close(), expect(started).rejects.toMatchObject({ code: 'connection_lost' })]);
});

test('RT-12 hands over answers of any shape, and takes batches apart', async () => {
  const server = await legacy();
  const { transport, recorder } = make(server.url);
  await transport.start();
  const odd = [
    { jsonrpc: '2.0', id: 1, result: null },
    { jsonrpc: '2.0', id: 2, error: null },
  ];
  server.stream()?.write(event('no json') + event(odd[0]) + event([odd[1], result(3, { whole: 'yes' })]));
  expect(await recorder.result(3)).toEqual({ whole: 'yes' });
  expect(recorder.heard.messages.map(({ message }) => message)).toEqual([...odd, result(3, { whole: 'yes' })]);
  expect(recorder.heard.warnings.map(({ code }) => code)).toEqual(['invalid_message']);
});

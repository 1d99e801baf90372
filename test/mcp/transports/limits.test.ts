import { gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { maxBodyBytes, maxMessageBytes } from '../../../src/mcp/transports/body-sinks.ts';
import { leaseDispatchers } from '../../../src/mcp/transports/dispatchers.ts';
import { plainFetch } from '../../../src/mcp/transports/fast-fetch.ts';
import { createSseTransport } from '../../../src/mcp/transports/sse.ts';
import { createThread } from '../../../src/index.ts';
import { errorOf, serverOf } from '../../integration/runtimes/support.ts';
import { atEnd, initialize, open, raw, request, result } from './http-fixture.ts';
import { event, eventStream, json } from './raw-http.ts';
import { Recorder } from './recorder.ts';

const megabyte = 'x'.repeat(1_024 * 1_024);

/** Writes until the client has had enough. */
function flood(response: ServerResponse, chunk: string): void {
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}

describe('a peer that sends without end', () => {
  test('SE-2 a line of an event stream that never ends costs its request, and the connection is cut', async () => {
    const server = await raw((_request, response) => {
      response.writeHead(200, eventStream);
      response.write('data: ');
      flood(response, megabyte);
    });
    const { transport, recorder } = await open(server.url);
    await transport.send(request(1));
    expect(await recorder.until((heard) => heard.failed[0])).toMatchObject({
      id: 1,
      error: { code: 'limit_exceeded' },
    });
  });

  test('SE-2 an event of countless short lines counts as what it adds up to', async () => {
    const server = await raw((_request, response) => {
      response.writeHead(200, eventStream);
      flood(response, `data: ${'x'.repeat(60_000)}\n`);
    });
    const { transport, recorder } = await open(server.url);
    await transport.send(request(1));
    expect(await recorder.until((heard) => heard.failed[0])).toMatchObject({
      id: 1,
      error: { code: 'limit_exceeded' },
    });
  });

  test('SE-2 the body of a refusal is read no further than its beginning', async () => {
    const server = await raw((_request, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' });
      flood(response, megabyte);
    });
    const { transport } = await open(server.url);
    const error: unknown = await transport.send(request(1)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(String(error).length).toBeLessThan(100_000);
  });

  test('SE-2 the answer to a notification is read no further than its beginning', async () => {
    const server = await raw(({ rpc }, response) => {
      if (rpc['id'] !== undefined) response.writeHead(200, json).end(JSON.stringify(result(rpc['id'])));
      else {
        response.writeHead(200, { 'content-type': 'text/plain' });
        flood(response, megabyte);
      }
    });
    const { transport, recorder } = await open(server.url);
    await transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled' });
    await transport.send(request(1));
    expect(await recorder.result(1)).toEqual({});
  });

  test('SE-2 events of no use to anybody end with the request that waits for another', async () => {
    const server = await raw((_request, response) => {
      response.writeHead(200, eventStream);
      flood(response, `: comment\n\n${event({ jsonrpc: '2.0', id: 'nobody', result: {} })}`);
    });
    await using thread = createThread({ servers: { a: { url: server.url, startTimeoutMs: 500, protocol: 'legacy' } } });
    await thread.ready();
    expect(serverOf(thread, 'a')).toMatchObject({ state: 'failed', error: { code: 'timeout' } });
  });

  test('SE-2 headers without end are an error of their request alone', async () => {
    const server = await raw(({ rpc }, response) => {
      if (rpc['id'] === 1) response.writeHead(200, { ...json, 'x-long': 'x'.repeat(1_000_000) }).end('{}');
      else response.writeHead(200, json).end(JSON.stringify(result(rpc['id'])));
    });
    const { transport, recorder } = await open(server.url);
    await expect(transport.send(request(1))).rejects.toMatchObject({ code: 'limit_exceeded', outcome: 'unknown' });
    await transport.send(request(2));
    await recorder.result(2);
  });
});

describe('what is not what it says', () => {
  test('SE-2 a small body that unpacks to a huge one is never unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1_024 * 1_024));
    const server = await raw((_request, response) =>
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bomb),
    );
    const { transport } = await open(server.url);
    await expect(transport.send(request(1))).rejects.toMatchObject({ code: 'protocol_error' });
    expect(server.received[0]?.headers['accept-encoding']).toBe('identity');
  });

  test('SE-2 what is read whole besides messages is bounded, packed or not', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1_024 * 1_024));
    const server = await raw(({ path }, response) => {
      if (path === '/packed') response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bomb);
      else flood(response.writeHead(200, json), megabyte);
    });
    const lease = leaseDispatchers(new URL(server.url), { env: {} });
    atEnd(() => lease.release());
    for (const path of ['/packed', '/endless']) {
      const response = await plainFetch(lease, new URL(path, server.url), {});
      await expect(response.text()).rejects.toMatchObject({ code: 'limit_exceeded' });
    }
    expect(maxBodyBytes).toBeLessThan(maxMessageBytes);
  });

  test.each([
    ['text', '"just text"'],
    ['a number', '1'],
    ['null', 'null'],
    ['an empty list', '[]'],
    ['an object that is no message', '{"id":1}'],
    ['a result that is none', '{"jsonrpc":"2.0","id":1,"result":"text"}'],
    ['a message about something else', '{"jsonrpc":"2.0","id":77,"result":{}}'],
    ['nothing', ''],
  ])('SE-2 RT-8 a call answered with %s fails, and the next one is served', async (_what, body) => {
    let bad = true;
    const server = await raw(({ rpc, method }, response) => {
      if (method !== 'POST') return response.writeHead(405).end();
      if (rpc['id'] === undefined) return response.writeHead(202).end();
      const results: Readonly<Record<string, object>> = {
        initialize: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'x', version: '1' },
        },
        'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
        'tools/call': { content: [] },
      };
      response.writeHead(200, json);
      if (rpc['method'] === 'tools/call' && bad)
        return response.end(body.replace('"id":1', `"id":${JSON.stringify(rpc['id'])}`));
      return response.end(JSON.stringify({ ...result(rpc['id']), result: results[String(rpc['method'])] ?? {} }));
    });
    await using thread = createThread({ servers: { a: { url: server.url, protocol: 'legacy' } } });
    const step = await thread.beginStep();
    const error = await errorOf(step.callTool('mcp__a__echo'));
    expect(['protocol_error', 'connection_lost', 'invalid_result']).toContain(error.code);
    bad = false;
    expect(await step.callTool('mcp__a__echo')).toEqual({ content: [] });
  });
});

describe('redirects', () => {
  test('SE-2 are followed a few times and no more', async () => {
    const server = await raw((_request, response) => response.writeHead(307, { location: '/mcp' }).end());
    const { transport } = await open(server.url);
    await expect(transport.send(request(1))).rejects.toThrow('not followed');
    expect(server.received.length).toBeLessThanOrEqual(8);
  });

  test.each([301, 302, 303, 307, 308])(
    'SE-2 of %i take no header to another origin, whatever is in it',
    async (status) => {
      const elsewhere = await raw((_request, response) => response.writeHead(200, json).end('{}'));
      const server = await raw((_request, response) => response.writeHead(status, { location: elsewhere.url }).end());
      const headers = { authorization: 'Bearer secret', cookie: 'session=secret', 'x-api-key': 'secret' };
      const { transport } = await open(server.url, { headers });
      await expect(transport.send(request(1))).rejects.toThrow('not followed');
      await expect(transport.send(initialize)).rejects.toThrow('not followed');
      const sse = createSseTransport({ url: server.url, headers, listener: new Recorder(), env: {} });
      atEnd(() => sse.close());
      await expect(sse.start()).rejects.toThrow('not followed');
      expect(elsewhere.received).toEqual([]);
    },
  );

  test('CN-1 SE-1 one to another origin is named for what it is, without what its url may hide', async () => {
    const server = await raw((_request, response) =>
      response.writeHead(307, { location: 'https://elsewhere.example/mcp?token=secret' }).end(),
    );
    await using thread = createThread({ servers: { a: { url: server.url } } });
    const { message } = await errorOf(thread.listTools('a'));
    expect(message).toContain('got HTTP 307, a redirect to https://elsewhere.example. Redirects are followed within');
    expect(message).not.toContain('secret');
  });

  test('SE-2 an SSE server cannot have its messages posted elsewhere', async () => {
    const elsewhere = await raw((_request, response) => response.writeHead(202).end());
    const server = await raw((_request, response) => {
      response.writeHead(200, eventStream).write(`event: endpoint\ndata: ${elsewhere.url}\n\n`);
    });
    const sse = createSseTransport({
      url: server.url,
      headers: { authorization: 'Bearer secret' },
      listener: new Recorder(),
      env: {},
    });
    atEnd(() => sse.close());
    await expect(sse.start()).rejects.toThrow('origin');
    expect(elsewhere.received).toEqual([]);
  });
});

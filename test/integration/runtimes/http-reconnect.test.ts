import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import { longestRetryAfterMs } from '../../../src/machines/connection.ts';
import { SimulatedClock, serveHttp } from '../../../src/testing/index.ts';
import { event, serveRaw } from '../../mcp/transports/raw-http.ts';
import type { RawHttp } from '../../mcp/transports/raw-http.ts';
import { plainHttp, reply } from './plain-http.ts';
import { Watch, errorOf, eventually, serverOf, textOf, turns } from './support.ts';

interface Revivable {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
  calls(): number;
}

const kinds = ['legacy with sessions', 'legacy without', 'modern'] as const;

async function serve(kind: (typeof kinds)[number], port?: number): Promise<Revivable> {
  if (kind === 'legacy without') {
    const plain = await plainHttp({}, port);
    return { ...plain, calls: () => plain.count('tools/call') };
  }
  const era = kind === 'modern' ? 'modern' : 'legacy';
  const server = await serveHttp({ era, tools: ['echo'] }, port === undefined ? {} : { port });
  return { url: server.url, port: server.port, close: () => server.close(), calls: () => server.calls() };
}

/** Ends a server, and lets the client hear that its idle sockets are closed. */
async function gone(server: { close(): Promise<void> }): Promise<void> {
  await server.close();
  await turns(20);
}

describe.each(kinds)('an HTTP server that goes away (%s)', (kind) => {
  test('RT-7 RT-10 is connected to again on its port; the call that found it gone is sent once', async () => {
    const first = await serve(kind);
    await using thread = createThread({ servers: { a: { url: first.url } } });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    const { connection } = serverOf(thread, 'a');
    await gone(first);
    const call = step.callTool('mcp__a__echo', { text: 'done' });
    await watch.untilServer('a', 'reconnecting');
    expect(serverOf(thread, 'a')).toMatchObject({ connection, error: { code: 'server_unavailable' } });
    const second = await serve(kind, first.port);
    try {
      expect(textOf(await call)).toBe('done');
      expect(second.calls()).toBe(1);
      expect(serverOf(thread, 'a')).toMatchObject({ connection, state: 'ready' });
      expect(watch.of('call.ended').map(({ outcome }) => outcome)).toEqual(['completed']);
    } finally {
      await second.close();
    }
  });

  test('RT-7 shows when it is tried again while it stays away, and calls fail as not sent', async () => {
    const clock = new SimulatedClock();
    const first = await serve(kind);
    await using thread = createThread({ servers: { a: { url: first.url } }, clock });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    await gone(first);
    const call = errorOf(step.callTool('mcp__a__echo'));
    await watch.untilServer('a', 'reconnecting');
    clock.increment(0);
    await eventually(() => Date.parse(serverOf(thread, 'a').retryAt ?? '') > clock.now());
    clock.increment(10_000);
    expect(await call).toMatchObject({ code: 'server_unavailable', outcome: 'not-sent', retryable: true });
    const from = watch.facts.length;
    const second = await serve(kind, first.port);
    try {
      clock.increment(30_000);
      await watch.untilServer('a', 'ready', from);
      expect(textOf(await step.callTool('mcp__a__echo', { text: 'done' }))).toBe('done');
    } finally {
      await second.close();
    }
  });
});

test.each(['legacy', 'modern'] as const)(
  'RT-7 a %s server that dies while nobody calls is noticed by the stream it held open',
  async (era) => {
    const server = await serveHttp({ era, tools: ['echo', 'addTool'] });
    await using thread = createThread({ servers: { a: server.config } });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    await using _end = { [Symbol.asyncDispose]: () => server.close() };
    // What is told before the stream is open is lost.
    const isHeard = (): boolean => watch.of('tools.changed').length > 0;
    for (let index = 0; !isHeard(); index += 1) await step.callTool('mcp__a__addTool', { name: `t${String(index)}` });
    await server.close();
    await watch.untilServer('a', 'reconnecting');
    expect(serverOf(thread, 'a').error).toMatchObject({ code: 'server_unavailable' });
  },
);

describe('a response that is cut', () => {
  const cut = (_request: unknown, response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    response.write('{"jsonrpc":', () => response.socket?.destroy());
  };

  test('RT-10 H6 in the middle of its body leaves the call unknown, sends it once, and costs nothing else', async () => {
    await using server = await plainHttp({ 'tools/call': cut });
    await using thread = createThread({ servers: { a: { url: server.url } } });
    const step = await thread.beginStep();
    expect(await errorOf(step.callTool('mcp__a__echo'))).toMatchObject({ code: 'connection_lost', outcome: 'unknown' });
    expect(server.count('tools/call')).toBe(1);
    expect(serverOf(thread, 'a').state).toBe('ready');
  });

  test('RT-10 a read is repeated once, whatever it reads', async () => {
    const seen = new Set<unknown>();
    const cutFirst: NonNullable<Parameters<typeof plainHttp>[0]>[string] = (request, response) => {
      if (seen.has(request.rpc['method'])) reply(request, response, results[String(request.rpc['method'])] ?? {});
      else cut(request, response);
      seen.add(request.rpc['method']);
    };
    const results: Readonly<Record<string, object>> = {
      'resources/read': { contents: [] },
      'resources/list': { resources: [] },
      'prompts/get': { messages: [] },
      'prompts/list': { prompts: [] },
      'completion/complete': { completion: { values: [] } },
    };
    await using server = await plainHttp(Object.fromEntries(Object.keys(results).map((method) => [method, cutFirst])));
    await using thread = createThread({ servers: { a: { url: server.url } } });
    await using step = await thread.beginStep();
    await step.readResource('a', 'a:b');
    await step.listResources('a');
    await step.getPrompt('a', 'any');
    await thread.listPrompts('a');
    await thread.complete('a', { ref: { type: 'ref/prompt', name: 'any' }, argument: { name: 'a', value: 'b' } });
    for (const method of Object.keys(results)) expect([method, server.count(method)]).toEqual([method, 2]);
  });

  test('RT-10 a read that is cut twice has failed', async () => {
    await using server = await plainHttp({ 'resources/read': cut });
    await using thread = createThread({ servers: { a: { url: server.url } } });
    await thread.ready();
    expect(await errorOf(thread.readResource('a', 'a:b'))).toMatchObject({
      code: 'connection_lost',
      outcome: 'unknown',
    });
    expect(server.count('resources/read')).toBe(2);
  });
});

test('CN-2 RT-10 a read that finds its session gone is sent once more on a new one', async () => {
  await using server = await serveHttp({ tools: ['echo'] });
  await using thread = createThread({ servers: { a: server.config } });
  await thread.ready();
  await server.forgetSessions();
  expect(await thread.listTools('a')).toMatchObject({ tools: [{ name: 'echo' }] });
  await eventually(() => serverOf(thread, 'a').state === 'ready');
  expect(server.sessions).toHaveLength(1);
});

describe('a server that asks to be left alone', () => {
  const seconds = 120;

  test.each([
    ['seconds', () => String(seconds), seconds * 1_000],
    ['a date', () => new Date(Date.now() + seconds * 1_000).toUTCString(), (seconds - 2) * 1_000],
    ['more than is sane', () => '999999999', longestRetryAfterMs],
  ])('CN-2 RT-7 with %s is tried again then, not before, and not asked meanwhile', async (_how, header, leastMs) => {
    const clock = new SimulatedClock(Date.now());
    await using server = await serveHttp({ tools: ['echo'] });
    server.setStatus(503, { headers: { 'retry-after': header() } });
    await using thread = createThread({ servers: { a: server.config }, clock });
    const watch = new Watch(thread);
    await thread.ready();
    const { state, retryAt, error } = serverOf(thread, 'a');
    const waitMs = Date.parse(retryAt ?? '') - clock.now();
    expect({ state, code: error?.code }).toEqual({ state: 'failed', code: 'server_unavailable' });
    expect(waitMs).toBeGreaterThanOrEqual(leastMs);
    expect(waitMs).toBeLessThanOrEqual(longestRetryAfterMs);
    expect(server.requests).toHaveLength(1);
    clock.increment(waitMs);
    await watch.untilServer('a', 'ready');
  });
});

test('CN-3 RT-7 a host whose name nobody knows is a failed server that is tried again', async () => {
  const clock = new SimulatedClock();
  await using thread = createThread({ servers: { a: { url: 'http://holdfast.invalid/mcp' } }, clock });
  await thread.ready();
  const { state, retryAt, error } = serverOf(thread, 'a');
  expect({ state, code: error?.code, retryable: error?.retryable }).toEqual({
    state: 'failed',
    code: 'server_unavailable',
    retryable: true,
  });
  expect(error?.message).toContain('http://holdfast.invalid');
  expect(retryAt).toBeDefined();
});

test.each(['legacy', 'modern'] as const)(
  'RT-8 RT-10 H6 a %s event stream that ends before its result leaves the call unknown, once, and the server ready',
  async (era) => {
    await using server = await serveHttp({ era, tools: ['destructive', 'echo'] });
    await using thread = createThread({ servers: { a: server.config } });
    const step = await thread.beginStep();
    for (const how of ['end', 'break'] as const) {
      server.cutStream({ how });
      const error = await errorOf(step.callTool('mcp__a__destructive'));
      expect(error).toMatchObject({ code: 'connection_lost', outcome: 'unknown', retryable: true });
    }
    expect(server.calls('destructive')).toBe(2);
    expect(textOf(await step.callTool('mcp__a__echo', { text: 'still here' }))).toBe('still here');
    expect(serverOf(thread, 'a').state).toBe('ready');
  },
);

describe('a legacy SSE server', () => {
  async function sse(port = 0): Promise<RawHttp> {
    let stream: ServerResponse | undefined;
    const results: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: '2024-11-05',
        capabilities: { tools: {} },
        serverInfo: { name: 'sse', version: '1' },
      },
      'tools/list': {
        tools: [
          { name: 'echo', inputSchema: { type: 'object' } },
          { name: 'cut', inputSchema: { type: 'object' } },
        ],
      },
      'tools/call': { content: [{ type: 'text', text: 'over SSE' }] },
    };
    return serveRaw(({ method, rpc }, response) => {
      if (method === 'GET') {
        stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
        stream.write('event: endpoint\ndata: /messages\n\n');
        return;
      }
      response.writeHead(202).end();
      if (rpc['id'] === undefined) return;
      if (JSON.stringify(rpc['params'] ?? {}).includes('"cut"')) stream?.destroy();
      else stream?.write(event({ jsonrpc: '2.0', id: rpc['id'], result: results[String(rpc['method'])] ?? {} }));
    }, port);
  }

  test('RT-7 RT-10 whose stream breaks leaves its calls unknown, and is connected to again', async () => {
    const server = await sse();
    try {
      await using thread = createThread({ servers: { a: { url: server.url, transport: 'sse' } } });
      const watch = new Watch(thread);
      const step = await thread.beginStep();
      expect(await errorOf(step.callTool('mcp__a__cut'))).toMatchObject({
        code: 'connection_lost',
        outcome: 'unknown',
      });
      await watch.untilServer('a', 'reconnecting');
      expect(textOf(await step.callTool('mcp__a__echo'))).toBe('over SSE');
    } finally {
      await server.close();
    }
  });

  test('RT-7 that is started again on its port is connected to again, though nobody called', async () => {
    const first = await sse();
    await using thread = createThread({ servers: { a: { url: first.url, transport: 'sse' } } });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    await first.close();
    await watch.untilServer('a', 'reconnecting');
    const second = await sse(first.port);
    try {
      expect(textOf(await step.callTool('mcp__a__echo'))).toBe('over SSE');
    } finally {
      await second.close();
    }
  });
});

import { createServer } from 'node:http';
import { once } from 'node:events';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, test } from 'vitest';
import { HoldfastError } from '../../src/domain/errors.ts';
import { serveHttp } from '../../src/testing/index.ts';
import type { LoggedRequest, ScriptedHttpServer } from '../../src/testing/index.ts';
import { call, failureOf, open, send, Told } from './support.ts';

const eras = ['legacy', 'modern'] as const;

async function errorOf(promise: Promise<unknown>): Promise<HoldfastError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error('Expected a rejection.');
}

function requestsOf(server: ScriptedHttpServer, rpcMethod: string): readonly LoggedRequest[] {
  return server.requests.filter((request) => request.rpcMethods.includes(rpcMethod));
}

describe('starting over HTTP', () => {
  test.each(eras)('CN-2 a %s server that is busy twice is reached at the third attempt', async (era) => {
    await using server = await serveHttp({ era, tools: ['echo'] });
    for (const status of [408, 429, 500, 502, 503, 504]) {
      server.setStatus(status, { times: 2, headers: { 'retry-after': '0' } });
      await using opened = await open(server.config);
      expect(opened.link.info.era).toBe(era);
    }
  });

  test('CN-2 gives up after three attempts, and says with which status', async () => {
    await using server = await serveHttp();
    server.setStatus(503, { times: 100, headers: { 'retry-after': '0' } });
    const error = await errorOf(open(server.config));

    expect(error).toMatchObject({ code: 'server_unavailable', retryable: true });
    expect(error.message).toContain('Server "docs": expected a result of "server/discover", got HTTP 503.');
    expect(server.requests).toHaveLength(3);
  });

  test('CN-2 does not ask again a server that asks for more time than the start has', async () => {
    await using server = await serveHttp();
    server.setStatus(429, { times: 100, headers: { 'retry-after': '3600' } });
    const error = await errorOf(open(server.config));

    expect(error).toMatchObject({ code: 'server_unavailable', retryAfterMs: 3_600_000 });
    expect(server.requests).toHaveLength(1);
  });

  test('CN-2 a refused connection is tried three times', async () => {
    const server = await serveHttp();
    await server.close();
    const error = await errorOf(open(server.config));

    expect(error).toMatchObject({ code: 'server_unavailable', retryable: true });
    expect(error.message).toContain('Server "docs": ');
  });

  test('CN-2 CN-3 401 and 403 are tried once; only a challenge or a credential makes the first a matter of logging in', async () => {
    await using server = await serveHttp();
    const challenge = { 'www-authenticate': 'Bearer resource_metadata="http://127.0.0.1/x"' };
    server.setStatus(401, { headers: challenge });
    const challenged = await errorOf(open(server.config));
    server.setStatus(401);
    const plain = await errorOf(open(server.config));
    server.setStatus(401);
    const refused = await errorOf(open({ ...server.config, headers: { Authorization: 'Bearer wrong-token' } }));
    server.setStatus(403, { headers: challenge });
    const forbidden = await errorOf(open(server.config));

    expect(challenged).toMatchObject({ code: 'auth_required', retryable: false });
    expect(plain).toMatchObject({ code: 'server_unavailable', retryable: false });
    expect(refused.code).toBe('auth_required');
    expect(refused.message).not.toContain('wrong-token');
    expect(forbidden).toMatchObject({ code: 'server_unavailable', retryable: false });
    expect(server.requests).toHaveLength(4);
  });

  test('CN-3 a listing that needs a login fails the start with a remembered verdict', async () => {
    await using server = await serveHttp({ era: 'modern' });
    const told = new Told();
    await (await open(server.config, { told })).link.close();
    const [verdict] = told.of('onVerdict')[0] ?? [];
    server.setStatus(401, { times: 10, headers: { 'www-authenticate': 'Bearer' } });
    const opening = open(server.config, { verdict: parseVerdict(verdict) });

    expect((await errorOf(opening)).code).toBe('auth_required');
  });

  test('CN-3 names the variable that a header needs', async () => {
    const url = 'http://127.0.0.1:9/mcp';
    const header = await errorOf(open({ url, headersFrom: { 'x-key': 'HOLDFAST_TEST_UNSET' } }));
    const bearer = await errorOf(open({ url, bearerTokenVariable: 'HOLDFAST_TEST_UNSET' }));
    const noUrl = await errorOf(open({ url: 'ftp://127.0.0.1/' }));

    for (const error of [header, bearer, noUrl]) expect(error.code).toBe('server_misconfigured');
    expect(header.message).toBe(
      'Server "docs": expected the environment variable "HOLDFAST_TEST_UNSET" for the header "x-key", but it is not set. Set it.',
    );
    expect(noUrl.message).toContain('Server "docs": ');
  });

  test('CN-1 sends configured headers, those from variables, and the bearer token', async () => {
    await using server = await serveHttp({ tools: ['echo'] });
    process.env['HOLDFAST_TEST_TOKEN'] = 'token-of-the-test';
    try {
      const config = {
        ...server.config,
        headers: { 'x-plain': 'a' },
        headersFrom: { 'x-from': 'HOLDFAST_TEST_TOKEN' },
        bearerTokenVariable: 'HOLDFAST_TEST_TOKEN',
      };
      await using opened = await open(config);
      expect(opened.link.info.transport).toBe('http');
    } finally {
      delete process.env['HOLDFAST_TEST_TOKEN'];
    }
    for (const { headers } of server.requests) {
      expect(headers).toMatchObject({
        'x-plain': 'a',
        'x-from': 'token-of-the-test',
        authorization: 'Bearer token-of-the-test',
      });
    }
  });

  test.each([
    [404, 'http'],
    [405, 'http'],
    [404, 'auto'],
  ] as const)('CN-1 a url that speaks no MCP (%i, %s) is said to be the wrong one', async (status, transport) => {
    await using server = await serveHttp();
    server.setStatus(status, { times: 100 });
    server.setStatus(status, { times: 100, method: 'GET' });
    const error = await errorOf(open({ ...server.config, transport }));

    expect(error.code).toBe('protocol_error');
    expect(error.message).toContain(`HTTP ${status}. Check that the url is the MCP endpoint of the server.`);
  });

  test('CN-2 aborting the start ends it at once, timing out says so', async () => {
    await using server = await serveHttp({ hangOnStart: true });
    const stop = new AbortController();
    const opening = errorOf(open(server.config, { signal: stop.signal }));
    stop.abort();

    expect((await opening).code).toBe('aborted');
    const late = await errorOf(open(server.config, { timeoutMs: 200 }));
    expect(late).toMatchObject({ code: 'timeout', retryable: true });
    expect(late.message).toContain('within 200 ms');
  });
});

describe('calls over HTTP', () => {
  test.each(eras)('RT-8 a %s call whose stream is cut before its result fails', async (era) => {
    await using server = await serveHttp({ era, tools: ['echo'] });
    await using opened = await open(server.config);
    for (const how of ['end', 'break'] as const) {
      server.cutStream({ how });
      const { failure } = await failureOf(call(opened.link, 'echo'));
      expect(failure.code).toBe('connection_lost');
      expect(failure.message).toContain('Server "docs": ');
    }
    expect(await call(opened.link, 'echo', { text: 'still here' }).result).toMatchObject({
      content: [{ text: 'still here' }],
    });
  });

  test.each(eras)('RT-8 cancelling a %s call reaches the server, and frees its stream', async (era) => {
    await using server = await serveHttp({ era, tools: ['park', 'echo'] });
    await using opened = await open(server.config);
    const sent = call(opened.link, 'park', { key: 'a' });
    await server.untilParked('a');
    opened.link.cancel(sent.key);

    expect(await server.until('cancelled')).toMatchObject({ tool: 'park' });
    expect(requestsOf(server, 'notifications/cancelled')).toHaveLength(era === 'legacy' ? 1 : 0);
    expect(await call(opened.link, 'echo', { text: 'x' }).result).toMatchObject({ content: [{ text: 'x' }] });
  });

  test('RT-11 H10 closing a legacy link cancels its open calls and ends its session', async () => {
    await using server = await serveHttp({ tools: ['park'] });
    const opened = await open(server.config);
    const sent = call(opened.link, 'park', { key: 'a' });
    await server.untilParked('a');
    await opened.link.close();

    expect((await failureOf(sent)).failure.code).toBe('connection_lost');
    expect(await server.until('cancelled')).toMatchObject({ tool: 'park', value: 'cancelled' });
    expect(server.requests.at(-1)?.method).toBe('DELETE');
    expect(server.sessions).toEqual([]);
  });

  test('RT-10 a 404 of a session is session_lost; of anything else it is not', async () => {
    await using legacy = await serveHttp({ tools: ['echo'] });
    await using modern = await serveHttp({ era: 'modern', tools: ['echo'] });
    await using first = await open(legacy.config);
    await using second = await open(modern.config);
    await legacy.forgetSessions();
    modern.setStatus(404, { rpcMethod: 'tools/call' });
    const lost = await failureOf(call(first.link, 'echo'));
    const wrong = await failureOf(call(second.link, 'echo'));

    expect(lost).toMatchObject({ status: 404, failure: { code: 'session_lost', retryable: true } });
    expect(wrong).toMatchObject({ status: 404, failure: { code: 'protocol_error' } });
    expect(await first.link.list()).toMatchObject({ tools: [], failure: { code: 'session_lost' } });
  });

  test.each([
    [401, 'auth_required', false, undefined],
    [403, 'server_unavailable', false, 'not-sent'],
    [408, 'server_unavailable', true, 'unknown'],
    [429, 'server_unavailable', true, 'not-sent'],
    [500, 'server_unavailable', true, 'unknown'],
    [503, 'server_unavailable', true, 'unknown'],
    [504, 'server_unavailable', true, 'unknown'],
    [418, 'protocol_error', false, undefined],
  ])('RT-10 H6 a call refused with %i is %s, is sent once, and says whether it may have run', async (...row) => {
    const [status, code, retryable, outcome] = row;
    await using server = await serveHttp({ tools: ['echo'] });
    await using opened = await open(server.config);
    server.setStatus(status, { rpcMethod: 'tools/call', times: 5 });
    const failed = await failureOf(call(opened.link, 'echo'));

    expect(failed).toMatchObject({ status, failure: { code, retryable } });
    expect(failed.failure.outcome).toBe(outcome);
    expect(requestsOf(server, 'tools/call')).toHaveLength(1);
  });

  test('RT-8 a modern request carries the envelope and the headers of its body; its own _meta is kept', async () => {
    await using server = await serveHttp({ era: 'modern', tools: ['echo'] });
    await using opened = await open(server.config, { offer: { sampling: true, roots: false } });
    await send(opened.link, 'tools/call', { name: 'echo', arguments: {}, _meta: { traceparent: '00-1' } }).result;
    const [request] = requestsOf(server, 'tools/call');

    expect(request?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
    });
    expect(Object(request?.body).params._meta).toEqual({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'holdfast', version: '0.1.0' },
      'io.modelcontextprotocol/clientCapabilities': {
        elicitation: { form: {}, url: {} },
        extensions: { 'io.modelcontextprotocol/tasks': {} },
        sampling: {},
      },
      'io.modelcontextprotocol/logLevel': 'info',
      traceparent: '00-1',
    });
  });

  test('RT-8 a modern call repeats the arguments its tool wants as headers', async () => {
    const inputSchema = {
      type: 'object',
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        deep: { type: 'object', properties: { flag: { type: 'boolean', 'x-mcp-header': 'Flag' } } },
      },
    };
    const wrong = { type: 'object', properties: { list: { type: 'array', 'x-mcp-header': 'List' } } };
    const extraTools = [
      { name: 'mirrored', inputSchema },
      { name: 'wrong', inputSchema: wrong },
    ];
    await using modern = await serveHttp({ era: 'modern', tools: [], extraTools });
    await using legacy = await serveHttp({ era: 'legacy', tools: [], extraTools });
    await using opened = await open(modern.config);
    await using older = await open(legacy.config);
    const args = { region: 'zürich', deep: { flag: true } };
    await call(opened.link, 'mirrored', args).result;
    await call(older.link, 'mirrored', args).result;
    const [request] = requestsOf(modern, 'tools/call');
    const [plain] = requestsOf(legacy, 'tools/call');

    expect(request?.headers['mcp-param-region']).toBe(`=?base64?${Buffer.from('zürich').toString('base64')}?=`);
    expect(request?.headers['mcp-param-flag']).toBe('true');
    expect(plain?.headers).not.toHaveProperty('mcp-param-region');
    expect(opened.link.inventory.tools.map((tool) => tool.name)).toEqual(['mirrored']);
    expect(older.link.inventory.tools.map((tool) => tool.name)).toEqual(['mirrored', 'wrong']);
    expect(opened.told.warnings('tool_dropped')[0]).toContain('tool "wrong" cannot be used');
  });
});

describe('a modern server that knows a newer schema than was listed', () => {
  /** The third request of a link: discovery, listing, call. */
  const firstCall = 1_000_002;
  const body = (id: number): string =>
    JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_020, message: 'HeaderMismatch' } });
  const refusal = { rpcMethod: 'tools/call', headers: { 'content-type': 'application/json' } };

  test('H6 RT-8 a call refused for its headers is sent once more, after a new listing', async () => {
    await using server = await serveHttp({ era: 'modern', tools: ['echo'] });
    await using opened = await open(server.config);
    server.setStatus(400, { ...refusal, body: body(firstCall) });
    const result = await call(opened.link, 'echo', { text: 'x' }).result;

    expect(result).toMatchObject({ content: [{ text: 'x' }] });
    expect(requestsOf(server, 'tools/call')).toHaveLength(2);
    expect(requestsOf(server, 'tools/list')).toHaveLength(2);
    expect(server.calls('echo')).toBe(1);
  });

  test('H6 RT-8 a call refused twice fails, and is sent no third time', async () => {
    await using server = await serveHttp({ era: 'modern', tools: ['echo'] });
    await using opened = await open(server.config);
    server.setStatus(400, { ...refusal, body: body(firstCall) });
    server.setStatus(400, { ...refusal, body: body(firstCall + 2) });
    const failed = await failureOf(call(opened.link, 'echo'));

    expect(failed.rpc?.code).toBe(-32_020);
    expect(requestsOf(server, 'tools/call')).toHaveLength(2);
  });

  test('RT-8 cancelling a call cancels its second attempt', async () => {
    await using server = await serveHttp({ era: 'modern', tools: ['park'] });
    await using opened = await open(server.config);
    server.setStatus(400, { ...refusal, body: body(firstCall) });
    const sent = call(opened.link, 'park', { key: 'a' });
    await server.untilParked('a');
    opened.link.cancel(sent.key);

    expect(await server.until('cancelled')).toMatchObject({ tool: 'park' });
  });
});

describe('a transport the caller made', () => {
  test.each(eras)(
    'CN-1 RT-8 an HTTP transport of the SDK works to a %s server, cut streams and cancels included',
    async (era) => {
      await using server = await serveHttp({ era, tools: ['echo', 'park'] });
      const transport = new StreamableHTTPClientTransport(new URL(server.url));
      await using opened = await open({ transport });
      server.cutStream({ how: 'end' });
      const cut = await failureOf(call(opened.link, 'echo'));
      const sent = call(opened.link, 'park', { key: 'a' });
      await server.untilParked('a');
      opened.link.cancel(sent.key);
      await server.until('cancelled');

      expect(opened.link.info).toMatchObject({ transport: 'given', era });
      expect(cut.failure.code).toBe('connection_lost');
      expect(await call(opened.link, 'echo', { text: 'x' }).result).toMatchObject({ content: [{ text: 'x' }] });
    },
  );
});

describe('servers that only know the older HTTP transport', () => {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  /** A server of the 2024 transport: a GET opens the stream, POSTs go where it says. */
  async function serveSse(postStatus: number): Promise<string> {
    const { SSEServerTransport } = await import('@modelcontextprotocol/sdk/server/sse.js');
    const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
    const transports = new Map<string, InstanceType<typeof SSEServerTransport>>();
    const http = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://127.0.0.1');
      const serve = async (): Promise<void> => {
        if (request.method === 'GET') {
          const transport = new SSEServerTransport('/messages', response);
          transports.set(transport.sessionId, transport);
          const server = new McpServer({ name: 'older', version: '1' });
          server.tool('echo', () => ({ content: [{ type: 'text', text: 'older' }] }));
          await server.connect(transport);
        } else if (url.pathname === '/messages') {
          await transports.get(url.searchParams.get('sessionId') ?? '')?.handlePostMessage(request, response);
        } else {
          response.writeHead(postStatus).end();
        }
      };
      serve().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
    });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    cleanups.push(async () => {
      const closed = once(http, 'close');
      http.close();
      http.closeAllConnections();
      await closed;
    });
    const address = http.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/sse`;
  }

  test.each([400, 404, 405])('CN-1 auto falls back to SSE when the POST is answered with %i', async (status) => {
    await using opened = await open({ url: await serveSse(status) });

    expect(opened.link.info).toMatchObject({ transport: 'sse', era: 'legacy' });
    expect(await call(opened.link, 'echo').result).toMatchObject({ content: [{ text: 'older' }] });
  });

  test('CN-1 SSE alone is used when it is configured, and HTTP alone does not fall back', async () => {
    const url = await serveSse(405);
    await using opened = await open({ url, transport: 'sse' });

    expect(opened.link.info.transport).toBe('sse');
    expect((await errorOf(open({ url, transport: 'http' }))).code).toBe('protocol_error');
    const pinned = await errorOf(open({ url, transport: 'sse', protocol: '2026-07-28' }));
    expect(pinned.code).toBe('unsupported');
  });
});

function parseVerdict(value: unknown): { readonly era: 'modern'; readonly at: number; readonly discover: never } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- recorded as unknown, told as a verdict
  return value as { readonly era: 'modern'; readonly at: number; readonly discover: never };
}

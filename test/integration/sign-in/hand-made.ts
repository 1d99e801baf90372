/** An authorization server and an MCP server made by hand: they say what a test wants, not what is right. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createThread } from '../../../src/index.ts';
import type { HttpServer, Thread, ThreadEvent, ThreadOptions } from '../../../src/index.ts';
import { createMemoryCredentials } from '../../../src/mcp/index.ts';

/** The answer of an endpoint: JSON, or text as it is. */
export interface Said {
  readonly status?: number;
  readonly body: unknown;
}

export interface HandMadeOptions {
  /** What the token endpoint says to a request. */
  readonly token: (body: URLSearchParams) => Said | Promise<Said>;
  /** What the registration endpoint adds. */
  readonly registered?: Readonly<Record<string, unknown>>;
  /** What the metadata of the authorization server has instead. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Answers the metadata of the authorization server instead. */
  readonly wellKnown?: (response: ServerResponse) => void;
  /** What the MCP server says to a request that has a token. Default: what a server with a tool `echo` does. */
  readonly result?: (method: string, authorization: string) => unknown;
  /** Waits before the MCP server answers. */
  readonly slow?: (method: string) => Promise<void>;
  /** Whether the MCP server takes an `Authorization` header. Default: all. */
  readonly takes?: (authorization: string, method: string) => boolean;
}

export interface HandMade extends AsyncDisposable {
  readonly url: string;
  readonly issuer: string;
  /** The bodies of token requests. */
  readonly grants: URLSearchParams[];
  /** Every request the authorization server got. */
  readonly requests: string[];
  /** A thread that knows the server as `notes`. It is closed with this. */
  thread(options?: HandMadeThreadOptions): { readonly thread: Thread; readonly events: ThreadEvent[] };
}

export interface HandMadeThreadOptions extends Partial<ThreadOptions> {
  readonly config?: Partial<HttpServer>;
  /** Makes the thread. Default `createThread`. */
  readonly make?: (options: ThreadOptions) => Thread;
}

export async function handMade(options: HandMadeOptions): Promise<HandMade> {
  const grants: URLSearchParams[] = [];
  const requests: string[] = [];
  const threads: Thread[] = [];
  const authorization = await listen(async (request, response, origin) => {
    const body = await textOf(request);
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`);
    const { pathname } = new URL(request.url ?? '', origin);
    if (pathname.startsWith('/.well-known/')) {
      if (options.wellKnown !== undefined) options.wellKnown(response);
      else say(response, { body: { ...metadataOf(origin), ...options.metadata } });
    } else if (pathname === '/register')
      say(response, { status: 201, body: { ...Object(JSON.parse(body)), client_id: 'client', ...options.registered } });
    else if (pathname === '/token') {
      const parameters = new URLSearchParams(body);
      grants.push(parameters);
      say(response, await options.token(parameters));
    } else say(response, { status: 404, body: {} });
  });
  const server = await listen(async (request, response, origin) => {
    const body = await textOf(request);
    if (request.url?.startsWith('/.well-known/oauth-protected-resource') === true) {
      say(response, { body: { resource: `${origin}/mcp`, authorization_servers: [authorization.origin] } });
      return;
    }
    const message = Object(body === '' ? {} : JSON.parse(body)) as { id?: unknown; method?: string };
    const { id, method = '' } = message;
    const given = request.headers.authorization ?? '';
    if (given === '' || options.takes?.(given, method) === false) {
      const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
      response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }).end();
    } else if (request.method !== 'POST') response.writeHead(405).end();
    else if (id === undefined) response.writeHead(202).end();
    else {
      await options.slow?.(method);
      const result = options.result?.(method, given) ?? plainResult(method);
      if (result === undefined) say(response, { body: { jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } } });
      else say(response, { body: { jsonrpc: '2.0', id, result } });
    }
  });
  const url = `${server.origin}/mcp`;
  return {
    url,
    issuer: authorization.origin,
    grants,
    requests,
    thread({ config, make = createThread, ...more } = {}) {
      const own = make === createThread ? { authorization: { credentials: createMemoryCredentials() } } : {};
      const thread = make({
        ...own,
        ...more,
        servers: { notes: { url, ...config } },
      });
      threads.push(thread);
      const events: ThreadEvent[] = [];
      thread.events$.subscribe((event) => events.push(event));
      return { thread, events };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(threads.map((thread) => thread.close()));
      await Promise.all([authorization.close(), server.close()]);
    },
  };
}

/** Comes back from the authorization server with a code. */
export async function comeBack(url = '', code = 'a code nobody may see'): Promise<string> {
  const asked = new URL(url).searchParams;
  const callback = new URL(asked.get('redirect_uri') ?? '');
  callback.searchParams.set('state', asked.get('state') ?? '');
  callback.searchParams.set('code', code);
  return (await fetch(callback)).text();
}

/** Signs in whenever it is asked to. */
export function alwaysSignsIn(thread: Thread): void {
  const seen = new Set<string>();
  thread.elicitations$.subscribe((questions) => {
    for (const { token, url } of questions) {
      if (seen.has(token)) continue;
      seen.add(token);
      void comeBack(url).catch(() => undefined);
    }
  });
}

function plainResult(method: string): unknown {
  const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
  switch (method) {
    case 'server/discover':
      return {
        ...complete,
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {}, resources: {} },
        serverInfo: { name: 'notes', version: '1' },
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'notes', version: '1' } },
      };
    case 'tools/list':
      return { ...complete, tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };
    case 'tools/call':
      return { ...complete, content: [{ type: 'text', text: 'hello' }] };
    default:
      return undefined;
  }
}

function metadataOf(origin: string): Record<string, unknown> {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
  };
}

function say(response: ServerResponse, { status = 200, body }: Said): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (chunk instanceof Buffer) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function listen(
  handle: (request: IncomingMessage, response: ServerResponse, origin: string) => Promise<void>,
): Promise<{ readonly origin: string; close(): Promise<void> }> {
  const http = createServer((request, response) => {
    handle(request, response, origin).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  http.listen({ host: '127.0.0.1', port: 0 });
  await once(http, 'listening');
  const address = http.address();
  const origin = `http://127.0.0.1:${String(typeof address === 'object' && address !== null ? address.port : 0)}`;
  return {
    origin,
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

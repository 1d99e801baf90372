/** An MCP server that lets in who has a token: bearer or bound to a key, of an authorization server, with enough scopes. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { serveHttp } from '../../../src/testing/index.ts';
import type { ScriptedHttpServer, ServerScript } from '../../../src/testing/index.ts';
import type { AuthorizationServer } from './authorization-server.ts';

export interface GuardOptions {
  readonly script?: ServerScript;
  readonly authorizationServer: AuthorizationServer;
  /** Scopes a request needs, by its JSON-RPC method. Default: `mcp:read` for all. */
  readonly needs?: (method: string) => readonly string[];
  /** Which requests are let in without a token. Default none. */
  readonly isOpen?: (method: string) => boolean;
  /** Answers a request to a well-known place instead; returns false to leave it. */
  readonly wellKnown?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Named in the challenge. Default: `mcp:read`. */
  readonly challengeScope?: string | undefined;
}

export class GuardedServer implements AsyncDisposable {
  /** The JSON-RPC methods that were let in. */
  readonly admitted: string[] = [];
  /** Tokens that are not let in any more. */
  readonly barred = new Set<string>();
  /** The authorization header of each request. */
  readonly presented: (string | undefined)[] = [];
  /** Lets no token in at all. */
  takesNoToken = false;
  /** Sends every request there. */
  redirectTo: string | undefined;
  needs: (method: string) => readonly string[];
  authorizationServer: AuthorizationServer;
  readonly #options: GuardOptions;
  readonly #inner: ScriptedHttpServer;
  readonly #http: Server;
  #port = 0;

  private constructor(inner: ScriptedHttpServer, options: GuardOptions) {
    this.#inner = inner;
    this.#options = options;
    this.authorizationServer = options.authorizationServer;
    this.needs = options.needs ?? (() => ['mcp:read']);
    this.#http = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : undefined);
      });
    });
  }

  static async start(options: GuardOptions): Promise<GuardedServer> {
    const guarded = new GuardedServer(await serveHttp(options.script), options);
    guarded.#http.listen({ host: '127.0.0.1', port: 0 });
    await once(guarded.#http, 'listening');
    const address = guarded.#http.address();
    if (address === null || typeof address === 'string') throw new Error('Expected a TCP port.');
    guarded.#port = address.port;
    return guarded;
  }

  get origin(): string {
    return `http://127.0.0.1:${String(this.#port)}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  get inner(): ScriptedHttpServer {
    return this.#inner;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
    await this.#inner[Symbol.asyncDispose]();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith('/.well-known/') === true) {
      if (this.#options.wellKnown?.(request, response) !== true) this.#metadata(request, response);
      return;
    }
    if (this.redirectTo !== undefined) {
      response.writeHead(307, { location: this.redirectTo }).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) if (chunk instanceof Buffer) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const method = methodOf(body);
    this.presented.push(request.headers.authorization);
    const refusal = this.#options.isOpen?.(method) === true ? undefined : await this.#refusalOf(request, method);
    if (refusal !== undefined) {
      response.writeHead(refusal.status, { 'www-authenticate': refusal.challenge, 'content-type': 'application/json' });
      response.end('{"error":"refused"}');
      return;
    }
    this.admitted.push(method);
    this.#pass(request, response, body);
  }

  #metadata(request: IncomingMessage, response: ServerResponse): void {
    if (request.url !== '/.well-known/oauth-protected-resource/mcp') {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        resource: this.url,
        authorization_servers: [this.authorizationServer.issuer],
        scopes_supported: ['mcp:read'],
      }),
    );
  }

  async #refusalOf(
    request: IncomingMessage,
    method: string,
  ): Promise<{ readonly status: number; readonly challenge: string } | undefined> {
    const [scheme = '', token = ''] = (request.headers.authorization ?? '').split(' ');
    const metadata = `resource_metadata="${this.origin}/.well-known/oauth-protected-resource/mcp"`;
    const { challengeScope = 'mcp:read' } = this.#options;
    const challenge = `Bearer ${metadata}${challengeScope === '' ? '' : `, scope="${challengeScope}"`}`;
    if (token === '') return { status: 401, challenge };
    const known = this.takesNoToken || this.barred.has(token) ? undefined : await this.authorizationServer.find(token);
    const isBound = known?.jkt === undefined ? scheme === 'Bearer' : scheme === 'DPoP' && known.jkt === keyOf(request);
    if (known === undefined || !isBound) return { status: 401, challenge: `${challenge}, error="invalid_token"` };
    const missing = this.needs(method).filter((scope) => !known.scopes.has(scope));
    if (missing.length === 0) return undefined;
    return { status: 403, challenge: `Bearer error="insufficient_scope", ${metadata}, scope="${missing.join(' ')}"` };
  }

  #pass(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const { host: _host, ...headers } = request.headers;
    const onward = forward(this.#inner.url, { method: request.method ?? 'GET', headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    onward.end(body);
  }
}

function methodOf(body: Buffer): string {
  if (body.length === 0) return '';
  const message: unknown = JSON.parse(body.toString());
  if (typeof message !== 'object' || message === null || !('method' in message)) return '';
  return typeof message.method === 'string' ? message.method : '';
}

/** RFC 7638 thumbprint of the key in a DPoP proof. */
function keyOf(request: IncomingMessage): string {
  const proof = String(request.headers['dpop']).split('.', 1)[0] ?? '';
  const header: unknown = JSON.parse(Buffer.from(proof, 'base64url').toString());
  const jwk: unknown = typeof header === 'object' && header !== null ? Reflect.get(header, 'jwk') : undefined;
  if (typeof jwk !== 'object' || jwk === null) return '';
  const of = (name: string): unknown => Reflect.get(jwk, name);
  const canonical = JSON.stringify({ crv: of('crv'), kty: of('kty'), x: of('x'), y: of('y') });
  return createHash('sha256').update(canonical).digest('base64url');
}

/**
 * A scripted server over Streamable HTTP on loopback, in the test's own process.
 *
 * Owns: the listening socket, its connections, the log of requests, the planned faults.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { HoldfastError } from '../../domain/errors.ts';
import { ServerControls } from './controls.ts';
import { readBody, webRequest, writeResponse } from './http-bridge.ts';
import { HttpEndpoint, methodsOf } from './http-endpoint.ts';
import { HttpFaults } from './http-faults.ts';
import type { CutOptions, StatusOptions } from './http-faults.ts';
import type { ServerScript } from './script.ts';
import { Stage } from './stage.ts';

/** How a script is served over HTTP. */
export interface ServeHttpOptions {
  /** Default: any free one. */
  readonly port?: number;
  /** Answers the optional GET with this status and no stream. Default: the GET is served. */
  readonly getStatus?: number;
}

/** One HTTP request as it came. */
export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** JSON-RPC methods in the body. */
  readonly rpcMethods: readonly string[];
  /** The parsed body; `undefined` without one. */
  readonly body: unknown;
}

/**
 * Serves a script over HTTP on 127.0.0.1; resolves when it listens.
 *
 * Legacy clients get sessions, modern ones a server for each request, both as far as the script's `era` goes. Close it
 * when the test ends.
 */
export async function serveHttp(
  script: ServerScript = {},
  options: ServeHttpOptions = {},
): Promise<ScriptedHttpServer> {
  const server = new ScriptedHttpServer(new Stage(script), options);
  await server.listen();
  return server;
}

/** See {@link serveHttp}. */
export class ScriptedHttpServer extends ServerControls implements AsyncDisposable {
  /** Every request so far, oldest first. */
  readonly requests: LoggedRequest[] = [];
  readonly #options: ServeHttpOptions;
  readonly #endpoint: HttpEndpoint;
  readonly #faults = new HttpFaults();
  readonly #http: Server;
  #port = 0;

  /** @internal */
  constructor(stage: Stage, options: ServeHttpOptions) {
    super(stage);
    this.#options = options;
    this.#endpoint = new HttpEndpoint(stage, { kind: 'http', crash: () => void this.crash() });
    this.#http = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : undefined);
      });
    });
  }

  /** Starts listening; {@link serveHttp} has done it. */
  async listen(): Promise<void> {
    this.#http.listen({ host: '127.0.0.1', port: this.#options.port ?? 0 });
    await once(this.#http, 'listening');
    const address = this.#http.address();
    if (address === null || typeof address === 'string') {
      throw new HoldfastError('internal', 'Expected a TCP port, got a pipe. Listen on 127.0.0.1.');
    }
    this.#port = address.port;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`;
  }

  /** What a thread's `servers` take. */
  get config(): { readonly url: string } {
    return { url: this.url };
  }

  /** The ids of the open legacy sessions. */
  get sessions(): readonly string[] {
    return this.#endpoint.sessions;
  }

  /** Answers the next matching requests with a status instead of serving them. */
  setStatus(code: number, options: StatusOptions = {}): void {
    this.#faults.planStatus(code, options);
  }

  /** Ends the event streams of the next matching requests just before the result: it was made, and is lost. */
  cutStream(options: CutOptions = {}): void {
    this.#faults.planCut(options);
  }

  /** Destroys every open socket; the server keeps listening, and sessions stay known. */
  dropConnections(): void {
    this.#http.closeAllConnections();
  }

  /** Makes every session unknown: requests that name one get 404. */
  async forgetSessions(): Promise<void> {
    await this.#endpoint.forgetSessions();
  }

  /** As if the process ended and was started again: sockets and sessions are gone. */
  async crash(): Promise<void> {
    this.dropConnections();
    await this.forgetSessions();
  }

  /** Ends sessions and sockets; resolves when the port is free. */
  async close(): Promise<void> {
    await this.#endpoint.close();
    if (!this.#http.listening) return;
    const closed = once(this.#http, 'close');
    this.#http.close();
    this.#http.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? 'GET';
    const text = await readBody(request);
    const body = parseBody(text);
    const rpcMethods = methodsOf(body);
    this.requests.push({ method, path: request.url ?? '/', headers: request.headers, rpcMethods, body });
    if (this.#faults.refuse(method, rpcMethods, response)) return;
    const { hangOnStart, exitOnStart } = this.script;
    if (hangOnStart === true) return;
    if (exitOnStart !== undefined) {
      response.writeHead(500).end(exitOnStart.stderr);
      return;
    }
    if (method === 'GET' && this.#options.getStatus !== undefined) {
      response.writeHead(this.#options.getStatus, { 'content-type': 'text/plain' }).end();
      return;
    }
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const cut = method === 'POST' ? this.#faults.takeCut(rpcMethods) : undefined;
    const answer = await this.#endpoint.fetch(webRequest(request, text, gone.signal), body);
    if (cut === undefined) {
      await writeResponse(answer, response, { signal: gone.signal });
      return;
    }
    await writeResponse(answer, response, { signal: gone.signal, cut: (chunk) => /"(?:result|error)":/.test(chunk) });
    if (cut === 'break') response.destroy();
  }
}

function parseBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // The SDK answers what is no JSON; it gets the text itself.
    return undefined;
  }
}

/** The MCP side of a scripted HTTP server: sessions for the legacy era, one server a request for the modern one. */
import { randomUUID } from 'node:crypto';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { createScriptedServer } from './protocol.ts';
import type { Publisher, Stage } from './stage.ts';
import type { Carrier } from './tool.ts';

/** Answers the web requests of both eras, as far as the script speaks them. */
export class HttpEndpoint {
  readonly #stage: Stage;
  readonly #carrier: Carrier;
  readonly #sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  readonly #modern: McpHttpHandler | undefined;

  constructor(stage: Stage, carrier: Carrier) {
    this.#stage = stage;
    this.#carrier = carrier;
    if (this.#era === 'legacy') return;
    const handler = createMcpHandler(() => createScriptedServer({ stage, carrier, era: 'modern', publishes: false }), {
      legacy: 'reject',
      keepAliveMs: 0,
    });
    this.#modern = handler;
    stage.publishers.add(publisherOf(handler));
  }

  /** The ids of the open legacy sessions. */
  get sessions(): readonly string[] {
    return [...this.#sessions.keys()];
  }

  async fetch(request: Request, body: unknown): Promise<Response> {
    if (this.#modern === undefined) return this.#legacy(request, body);
    if (this.#era === 'both' && (await isLegacyRequest(request, body))) return this.#legacy(request, body);
    return this.#modern.fetch(request, body === undefined ? {} : { parsedBody: body });
  }

  /** Ends every legacy session: its id is unknown from now on. */
  async forgetSessions(): Promise<void> {
    const transports = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(transports.map((transport) => transport.close()));
  }

  async close(): Promise<void> {
    await this.forgetSessions();
    await this.#modern?.close();
  }

  get #era() {
    return this.#stage.script.era ?? 'legacy';
  }

  async #legacy(request: Request, body: unknown): Promise<Response> {
    const options = body === undefined ? {} : { parsedBody: body };
    const id = request.headers.get('mcp-session-id');
    if (id !== null) {
      const transport = this.#sessions.get(id);
      return transport === undefined
        ? refusal(404, -32_001, 'Session not found')
        : transport.handleRequest(request, options);
    }
    if (!methodsOf(body).includes('initialize'))
      return refusal(400, -32_000, 'Bad Request: no session id, and no initialize');
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      keepAliveMs: 0,
      onsessioninitialized: (session) => {
        this.#sessions.set(session, transport);
      },
      onsessionclosed: (session) => {
        this.#sessions.delete(session);
      },
    });
    this.#stage.journal.add({ kind: 'started' });
    await createScriptedServer({ stage: this.#stage, carrier: this.#carrier, era: 'legacy' }).connect(transport);
    return transport.handleRequest(request, options);
  }
}

/** The JSON-RPC methods a body names: one, or several of a batch. */
export function methodsOf(body: unknown): readonly string[] {
  return (Array.isArray(body) ? body : [body]).flatMap((message: unknown) => {
    if (typeof message !== 'object' || message === null || !('method' in message)) return [];
    return typeof message.method === 'string' ? [message.method] : [];
  });
}

function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}

function publisherOf({ notify }: McpHttpHandler): Publisher {
  return {
    toolsChanged: () => notify.toolsChanged(),
    resourceUpdated: (uri) => notify.resourceUpdated(uri),
    // The modern revision has no such notification.
    urlCompleted: () => undefined,
    // A client that wants to hear of a task subscribes to it, which the SDK's server does not offer.
    taskChanged: () => undefined,
  };
}

/** A legacy HTTP server without sessions, scripted method by method: what real stateless servers are. */
import type { ServerResponse } from 'node:http';
import { serveRaw } from '../../mcp/transports/raw-http.ts';
import type { RawHttp, Received } from '../../mcp/transports/raw-http.ts';

type Answer = (request: Received, response: ServerResponse) => unknown;

/** A running one. Disposing of it frees its port. */
export interface PlainHttp extends RawHttp, AsyncDisposable {
  /** How many requests of a method came. */
  count(method: string): number;
}

/** Serves the handshake, one tool `echo`, and what `answers` says; anything else is answered with an empty result. */
export async function plainHttp(answers: Readonly<Record<string, Answer>> = {}, port = 0): Promise<PlainHttp> {
  const server = await serveRaw((request, response) => {
    const { method, rpc } = request;
    if (method !== 'POST') return response.writeHead(405).end();
    if (rpc['id'] === undefined) return response.writeHead(202).end();
    const name = String(rpc['method']);
    const answer = answers[name];
    return answer === undefined ? reply(request, response, defaults[name] ?? {}) : answer(request, response);
  }, port);
  return {
    ...server,
    count: (method) => server.received.filter(({ rpc }) => rpc['method'] === method).length,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** Answers a request with a result. */
export function reply({ rpc }: Received, response: ServerResponse, result: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: rpc['id'], result }));
}

const defaults: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
    serverInfo: { name: 'plain', version: '1' },
  },
  'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
  'resources/read': { contents: [{ uri: 'a:b', text: 'read' }] },
  'resources/list': { resources: [] },
  'prompts/get': { messages: [] },
  'prompts/list': { prompts: [] },
  'completion/complete': { completion: { values: [] } },
};

/** The echo server as a process over Streamable HTTP on loopback. Its one argument is the era; it prints its url. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createMcpHandler, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { createEchoServer } from './echo.ts';
import { parseEra } from './serve.ts';

type Answer = (request: Request, body: unknown) => Promise<Response>;

const era = parseEra(process.argv[2]);
const answer = era === 'modern' ? modern() : legacy();

const http = createServer((request, response) => {
  relay(request, response).catch(() => response.destroy());
});
http.listen(0, '127.0.0.1', () => {
  const address = http.address();
  if (address !== null && typeof address !== 'string')
    process.stdout.write(`http://127.0.0.1:${String(address.port)}/mcp\n`);
});
// Ends with the process that started it.
process.stdin.resume().once('end', () => process.exit(0));

function modern(): Answer {
  const handler = createMcpHandler(createEchoServer, { legacy: 'reject', keepAliveMs: 0 });
  return (request, body) => handler.fetch(request, body === undefined ? {} : { parsedBody: body });
}

function legacy(): Answer {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return async (request, body) => {
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '');
    if (known !== undefined) return known.handleRequest(request, body === undefined ? {} : { parsedBody: body });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      keepAliveMs: 0,
      onsessioninitialized: (session) => {
        sessions.set(session, transport);
      },
    });
    await createEchoServer().connect(transport);
    return transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
  };
}

async function relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) text += String(chunk);
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  const gone = new AbortController();
  response.once('close', () => {
    gone.abort();
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
  const method = request.method ?? 'GET';
  const answered = await answer(
    new Request(`http://${request.headers.host ?? '127.0.0.1'}/mcp`, {
      method,
      headers,
      signal: gone.signal,
      ...(text === '' ? {} : { body: text }),
    }),
    body,
  );
  response.writeHead(answered.status, Object.fromEntries(answered.headers)).flushHeaders();
  if (answered.body !== null) for await (const chunk of answered.body) response.write(chunk);
  response.end();
}

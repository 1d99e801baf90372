/** Signing in to a server of the legacy HTTP+SSE transport. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import { createMemoryCredentials } from '../../../src/mcp/index.ts';
import { AuthorizationServer } from './authorization-server.ts';
import { browse } from './browser.ts';
import { nextQuestion } from './support.ts';

interface SseServer extends AsyncDisposable {
  readonly url: string;
}

/** A legacy server that lets in who has a token. */
async function startSse(authorizationServer: AuthorizationServer): Promise<SseServer> {
  const sessions = new Map<string, SSEServerTransport>();
  let origin = '';
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '', origin);
    if (url.pathname === '/.well-known/oauth-protected-resource/sse') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ resource: `${origin}/sse`, authorization_servers: [authorizationServer.issuer] }));
      return;
    }
    const token = request.headers.authorization?.split(' ')[1];
    if (token === undefined || (await authorizationServer.find(token)) === undefined) {
      response.writeHead(401, { 'www-authenticate': 'Bearer scope="mcp:read"' }).end();
      return;
    }
    if (request.method === 'POST') {
      await sessions.get(url.searchParams.get('sessionId') ?? '')?.handlePostMessage(request, response);
      return;
    }
    const transport = new SSEServerTransport('/messages', response);
    sessions.set(transport.sessionId, transport);
    const server = new McpServer({ name: 'legacy', version: '1.0.0' });
    server.registerTool('hello', { description: 'Says hello.' }, () => ({
      content: [{ type: 'text', text: 'hello' }],
    }));
    await server.connect(transport);
  };
  const http = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  http.listen({ host: '127.0.0.1', port: 0 });
  await once(http, 'listening');
  const address = http.address();
  origin = `http://127.0.0.1:${String(typeof address === 'object' && address !== null ? address.port : 0)}`;
  return {
    url: `${origin}/sse`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

test('CN-1 AU-1 signs in to a server of the older transport', async () => {
  await using authorizationServer = await AuthorizationServer.start();
  await using server = await startSse(authorizationServer);
  await using thread = createThread({
    servers: { old: { url: server.url, transport: 'sse' } },
    authorization: { credentials: createMemoryCredentials() },
  });
  await thread.ready();
  expect(thread.snapshot().servers[0]).toMatchObject({ state: 'authRequired', auth: 'notLoggedIn' });
  const signedIn = thread.authorize('old');
  await browse((await nextQuestion(thread)).url ?? '');
  await signedIn;
  await using step = await thread.beginStep();
  expect(await step.callTool('mcp__old__hello')).toMatchObject({ content: [{ text: 'hello' }] });
  expect(thread.snapshot().servers[0]).toMatchObject({ state: 'ready', auth: 'oauth', transport: 'sse' });
});

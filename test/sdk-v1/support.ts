/** Clients and servers of the MCP SDK 1.x. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';
import { deferred } from '../../src/testing/index.ts';

/** A v1 server with a tool of each kind that matters, and what they wait for. */
export function v1Server(): {
  readonly server: McpServer;
  readonly release: () => void;
  readonly cancelled: Promise<void>;
} {
  const gate = deferred();
  const cancelled = deferred();
  const server = new McpServer(
    { name: 'v1', version: '1.2.3' },
    { instructions: 'Be kind.', capabilities: { logging: {} } },
  );
  server.registerTool(
    'echo',
    { inputSchema: { text: z.string() }, annotations: { readOnlyHint: true } },
    ({ text }) => ({
      content: [{ type: 'text', text }],
    }),
  );
  server.registerTool('ask', {}, async () => {
    const answer = await server.server.elicitInput({
      message: 'Who?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    });
    return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
  });
  server.registerTool('roots', {}, async () => {
    const { roots } = await server.server.listRoots();
    return { content: [{ type: 'text', text: JSON.stringify(roots) }] };
  });
  server.registerTool('steps', { annotations: { readOnlyHint: true } }, async (extra) => {
    const progressToken = extra._meta?.progressToken;
    if (progressToken !== undefined)
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress: 1, total: 2 },
      });
    return { content: [{ type: 'text', text: 'done' }] };
  });
  server.registerTool('park', { annotations: { readOnlyHint: true } }, async (extra) => {
    extra.signal.addEventListener('abort', () => cancelled.resolve());
    await gate.promise;
    return { content: [{ type: 'text', text: 'released' }] };
  });
  server.registerTool('add', {}, () => {
    server.registerTool('added', {}, () => ({ content: [] }));
    return { content: [] };
  });
  server.registerResource('static', 'test://static', {}, () => ({ contents: [{ uri: 'test://static', text: 'hi' }] }));
  return { server, release: () => gate.resolve(), cancelled: cancelled.promise };
}

/** A connected v1 client of a v1 server of this process. */
export async function connected(
  options: { readonly capabilities?: object } = {},
): Promise<ReturnType<typeof v1Server> & { readonly client: Client } & AsyncDisposable> {
  const made = v1Server();
  const [near, far] = InMemoryTransport.createLinkedPair();
  await made.server.connect(far);
  const client = await connect(near, options.capabilities);
  return {
    ...made,
    client,
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await made.server.close();
    },
  };
}

/** A connected v1 client over any transport. */
export async function connect(
  transport: Transport,
  capabilities: object = { elicitation: {}, roots: {} },
): Promise<Client> {
  const client = new Client({ name: 'host', version: '1.0.0' }, { capabilities });
  await client.connect(transport);
  return client;
}

/** A v1 client of a v1 server that runs as a process: the reference server with everything. */
export function everything(): StdioClientTransport {
  const path = new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url);
  return new StdioClientTransport({ command: process.execPath, args: [path.pathname], stderr: 'ignore' });
}

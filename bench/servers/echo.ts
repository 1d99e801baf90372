/** The server every side of the benchmark calls: one tool that returns its text. */
import { McpServer } from '@modelcontextprotocol/server';

/** Makes a fresh server for one connection (modern HTTP: for one request). */
export function createEchoServer(): McpServer {
  const server = new McpServer({ name: 'echo', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.server.setRequestHandler('tools/list', () => ({
    tools: [
      {
        name: 'echo',
        description: 'Returns `text`.',
        inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
        annotations: { readOnlyHint: true },
      },
    ],
  }));
  server.server.setRequestHandler('tools/call', (request) => ({
    content: [{ type: 'text', text: String(request.params.arguments?.['text']) }],
  }));
  return server;
}

/**
 * A small MCP server of the modern era (2026-07-28), made with the official SDK.
 *
 * node restaurant-server.mjs                      speaks over stdio
 * node restaurant-server.mjs --http [--boot-ms N] listens on loopback after N ms, prints its url, ends with its stdin
 *
 * `menu` answers at once. `book_table` needs to know more: it ends its first round with `input_required`, and is called
 * again, with what the person said.
 */
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const details = z.object({
  name: z.string().min(1).describe('The table will be kept under this name'),
  seat: z.enum(['inside', 'garden', 'window']).default('garden').describe('Where you would like to sit'),
});

function createRestaurant() {
  const server = new McpServer({ name: 'restaurant', version: '1.0.0' });
  server.registerTool(
    'menu',
    { description: 'Says what there is to eat today.', annotations: { readOnlyHint: true } },
    () => text('Today: leek soup, mushroom risotto, plum cake.'),
  );
  server.registerTool(
    'book_table',
    {
      description: 'Books a table; asks for a name and where to sit.',
      inputSchema: z.object({ guests: z.number().int().min(1).max(12) }),
    },
    ({ guests }, { mcpReq }) => {
      const { inputResponses } = mcpReq;
      const answer = acceptedContent(inputResponses, 'details', details);
      if (answer !== undefined)
        return text(`A table for ${guests} in the ${answer.seat} area is kept for ${answer.name}.`);
      if (inputResponses?.details !== undefined) return text('No table was booked.');
      const question = inputRequired.elicit({ message: `Who are the ${guests} guests?`, requestedSchema: details });
      return inputRequired({ inputRequests: { details: question } });
    },
  );
  return server;
}

function text(content) {
  return { content: [{ type: 'text', text: content }] };
}

async function serve(handler, request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const answered = await handler.fetch(
    new Request(`http://127.0.0.1${request.url}`, {
      method: request.method,
      headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      signal: gone.signal,
      ...(request.method === 'POST' ? { body: Buffer.concat(chunks) } : {}),
    }),
  );
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  for await (const chunk of answered.body ?? []) response.write(chunk);
  response.end();
}

async function serveHttp(bootMs) {
  await wait(bootMs);
  const handler = createMcpHandler(createRestaurant);
  const http = createServer((request, response) => {
    serve(handler, request, response).catch((error) => response.destroy(error));
  });
  http.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
}

const { values } = parseArgs({ options: { http: { type: 'boolean' }, 'boot-ms': { type: 'string', default: '0' } } });
if (values.http) {
  process.stdin.on('end', () => process.exit(0)).resume();
  await serveHttp(Number(values['boot-ms']));
} else {
  serveStdio(createRestaurant);
}

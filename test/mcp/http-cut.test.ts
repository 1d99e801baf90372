import { once } from 'node:events';
import { createServer } from 'node:http';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { isRecord } from '../../src/domain/json.ts';
import { call, failureOf, open } from './support.ts';

function messageOf(text: string): { readonly id: unknown; readonly method: string } {
  const value: unknown = JSON.parse(text);
  return isRecord(value) ? { id: value['id'], method: String(value['method']) } : { id: undefined, method: '' };
}

/** A legacy server that takes every call whole, and then breaks its socket. */
async function cuttingServer(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const results: Readonly<Record<string, unknown>> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'cutting', version: '1' },
    },
    'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST') {
        response.writeHead(405).end();
        return;
      }
      const message = messageOf(Buffer.concat(chunks).toString());
      const result = results[message.method];
      if (message.id === undefined) response.writeHead(202).end();
      else if (result === undefined) request.socket.destroy();
      else {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Expected a port.');
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

test.each(['holdfast', 'sdk'])(
  'RT-10 H6 a call cut on its way may have run, one refused did not: %s',
  async (whose) => {
    const server = await cuttingServer();
    const config =
      whose === 'sdk'
        ? { transport: new StreamableHTTPClientTransport(new URL(server.url)) }
        : { url: server.url, transport: 'http' as const };
    await using opened = await open({ ...config, protocol: 'legacy' });
    const cut = await failureOf(call(opened.link, 'echo'));
    await server.close();
    const refused = await failureOf(call(opened.link, 'echo'));

    expect(cut.failure.outcome).toBe('unknown');
    expect(refused.failure).toMatchObject({ code: 'server_unavailable', outcome: 'not-sent' });
  },
);

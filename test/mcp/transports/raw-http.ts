/** A node:http server a test scripts by hand, which knows how many sockets are open. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Socket } from 'node:net';

export interface Received {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly rpc: Record<string, unknown>;
  readonly path: string;
}

export interface RawHttp {
  readonly origin: string;
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
}

export async function serveRaw(
  handle: (request: Received, response: ServerResponse) => unknown,
  port = 0,
): Promise<RawHttp> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const rpc = body === '' ? {} : (JSON.parse(body) as Record<string, unknown>);
      const entry = { method: request.method ?? '', headers: request.headers, rpc, path: request.url ?? '' };
      received.push(entry);
      return handle(entry, response);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Expected a port.');
  const origin = `http://127.0.0.1:${String(address.port)}`;
  return {
    origin,
    url: `${origin}/mcp`,
    port: address.port,
    received,
    sockets,
    close: async () => {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

export function event(data: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

export const eventStream = { 'content-type': 'text/event-stream' };
export const json = { 'content-type': 'application/json' };

/**
 * Serves frames to viewers on this machine: one JSON text message a frame, as the Stately inspector's own clients expect.
 *
 * Owns the HTTP server and its WebSockets. Each connection is one viewer, attached while it is open.
 *
 * - S1 Only loopback is listened on, and only the secret path of this run upgrades: everything else is told nothing.
 * - S2 A web page of another origin gets no connection, nor one that reaches loopback under a foreign host name.
 * - S3 A viewer that does not read costs a bounded amount of memory: then it is dropped.
 * - S4 After `close()` no socket, listener or viewer is left (H10).
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { HoldfastError } from '../domain/errors.ts';
import type { FrameSink } from './viewers.ts';

/** What a frame server is made with. */
export interface FrameServerOptions {
  /** Where the frames come from: a bridge's or a relay's `attach`. */
  readonly attach: (send: FrameSink) => () => void;
  /** Default: a free one. */
  readonly port?: number;
  /** Web origins that may connect besides the server's own, as `http://localhost:8080`. Default: none. */
  readonly origins?: readonly string[];
}

/** A server of frames on loopback. */
export interface FrameServer {
  /** What a viewer connects to; holds the secret. */
  readonly url: string;
  readonly port: number;
  /** Ends every connection and the server. Settles when nothing is left; again: the same promise. */
  close(): Promise<void>;
}

const host = '127.0.0.1';
const limits = { viewers: 32, messageBytes: 1_024, bufferedBytes: 64 * 1_024 * 1_024 } as const;

/**
 * Starts a frame server and resolves when it listens.
 *
 * @throws HoldfastError `invalid_argument` when the port cannot be listened on.
 */
export async function createFrameServer(options: FrameServerOptions): Promise<FrameServer> {
  const secret = randomBytes(24).toString('base64url');
  const server = createServer((_request, response) => {
    response.writeHead(404, { connection: 'close' }).end();
  });
  const sockets = new WebSocketServer({ noServer: true, maxPayload: limits.messageBytes, perMessageDeflate: false });
  const port = await listen(server, options.port ?? 0);
  const origins = new Set([`http://${host}:${port}`, `http://localhost:${port}`, ...(options.origins ?? [])]);

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {
      socket.destroy();
    });
    const refusal = refuse(request);
    if (refusal !== undefined) {
      socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (viewer) => {
      serve(viewer, options.attach);
    });
  });

  function refuse(request: IncomingMessage): string | undefined {
    const { host: name, origin } = request.headers;
    if (name !== `${host}:${port}` && name !== `localhost:${port}`) return '403 Forbidden';
    if (origin !== undefined && !origins.has(origin)) return '403 Forbidden';
    if (!isSame(request.url ?? '', `/${secret}`)) return '404 Not Found';
    return sockets.clients.size >= limits.viewers ? '503 Service Unavailable' : undefined;
  }

  let closing: Promise<void> | undefined;
  return {
    url: `ws://${host}:${port}/${secret}`,
    port,
    close() {
      closing ??= end(server, sockets);
      return closing;
    },
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const message = `Expected a free port for the inspector, got ${port}: ${cause.message}. Choose another one, or 0.`;
      reject(new HoldfastError('invalid_argument', message, { cause }));
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function serve(viewer: WebSocket, attach: FrameServerOptions['attach']): void {
  // `attach` replays at once, before it returns: a viewer dropped by then is detached right after.
  let detach: (() => void) | undefined;
  const drop = (): void => {
    detach?.();
    viewer.terminate();
  };
  viewer.on('close', drop);
  viewer.on('error', drop);
  detach = attach((frame) => {
    if (viewer.readyState !== viewer.OPEN) return;
    viewer.send(JSON.stringify(frame));
    if (viewer.bufferedAmount > limits.bufferedBytes) drop();
  });
  if (viewer.readyState !== viewer.OPEN) detach();
}

async function end(server: Server, sockets: WebSocketServer): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  sockets.close();
  const ended = [...sockets.clients].map(
    (viewer) =>
      new Promise<void>((resolve) => {
        viewer.once('close', () => {
          resolve();
        });
        viewer.terminate();
      }),
  );
  server.closeAllConnections();
  await Promise.all([closed, ...ended]);
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

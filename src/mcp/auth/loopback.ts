/**
 * Where a browser comes back to: a server on the loopback, open while somebody signs in.
 *
 * Owns its sockets. Says nothing of what it was called with.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { HoldfastError, messageOf } from '../../domain/errors.ts';
import type { CallbackResult } from '../../domain/authorization.ts';

export interface LoopbackOptions {
  /** `127.0.0.1` or `localhost`, which is listened to at both its addresses. */
  readonly hostname: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly path: string;
  /** Takes the url the browser was sent to. Never rejects. */
  readonly onCallback: (url: string) => Promise<CallbackResult>;
}

/** A listening loopback. */
export interface Loopback {
  readonly redirectUrl: string;
  close(): void;
}

/** Listens. @throws HoldfastError `auth_required` when the port is taken. */
export async function listenOnLoopback(options: LoopbackOptions): Promise<Loopback> {
  const { hostname, path } = options;
  const idle = new Set<Socket>();
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    idle.delete(request.socket);
    void answer(request, response, options, redirectUrl);
  };
  const notice = (socket: Socket): void => {
    idle.add(socket);
    socket.once('close', () => idle.delete(socket));
  };
  const first = createServer(limits, handle).on('connection', notice);
  const port = await listen(
    first,
    hostname === 'localhost' ? '127.0.0.1' : hostname.replaceAll(/[[\]]/g, ''),
    options.port,
  );
  const redirectUrl = `http://${hostname}:${String(port)}${path}`;
  const servers = [first];
  if (hostname === 'localhost') {
    const second = createServer(limits, handle).on('connection', notice);
    // Not every machine has the newer address; the browser takes the other then.
    const listens = await listen(second, '::1', port).then(
      () => true,
      () => false,
    );
    if (listens) servers.push(second);
  }
  return {
    redirectUrl,
    close: () => {
      for (const server of servers) server.close();
      // What is being answered is let finish: it is the page the person looks at.
      for (const socket of idle) socket.destroy();
    },
  };
}

const limits = { maxHeaderSize: 64 * 1024, requestTimeout: 10_000, headersTimeout: 10_000, keepAlive: false };

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { path, onCallback }: LoopbackOptions,
  redirectUrl: string,
): Promise<void> {
  response.setHeader('connection', 'close');
  const url = URL.canParse(request.url ?? '', redirectUrl) ? new URL(request.url ?? '', redirectUrl) : undefined;
  if (request.method !== 'GET' || url?.pathname !== path) {
    page(response, 404, 'Nothing is here.');
    return;
  }
  const result = await onCallback(url.href);
  switch (result.kind) {
    case 'signedIn':
      page(response, 200, 'You are signed in. You can close this window.');
      return;
    case 'again':
      response.writeHead(302, { location: result.url, 'cache-control': 'no-store' }).end();
      return;
    case 'failed':
      page(
        response,
        400,
        result.error.code === 'aborted'
          ? 'The sign-in was given up before it was done. You are not signed in. You can close this window.'
          : 'The sign-in did not work. Go back to where you began it: it says why.',
      );
      return;
    case 'unknown':
      page(response, 400, 'No sign-in waits for this. Begin it again.');
  }
}

function page(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'",
      'referrer-policy': 'no-referrer',
    })
    .end(`<!doctype html><meta charset="utf-8"><title>Holdfast</title><p>${text}</p>\n`);
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        new HoldfastError(
          'auth_required',
          `Expected to listen at ${host}:${String(port)} for the browser to come back, got "${messageOf(error)}". Free the port, or choose another with "oauth.callbackPort".`,
          { cause: error },
        ),
      );
    });
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/** Heads of responses that no honest server sends: each ends its request, none ends the process. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { plainFetch } from '../../../src/mcp/transports/fast-fetch.ts';
import { leaseDispatchers } from '../../../src/mcp/transports/dispatchers.ts';
import { toWireError } from '../../../src/mcp/errors.ts';
import { startExchange } from '../../../src/mcp/transports/exchange.ts';
import { deferred } from '../../../src/testing/deferred.ts';
import { atEnd, initialize, open, request } from './http-fixture.ts';

/** A server that answers every request by writing to its socket. */
async function socketServer(answer: (socket: Socket, text: string) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      answer(socket, data.toString('latin1'));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Expected a port.');
  return `http://127.0.0.1:${String(address.port)}/mcp`;
}

async function errorOfSending(
  url: string,
  message: Parameters<Awaited<ReturnType<typeof open>>['transport']['send']>[0],
) {
  const { transport, recorder } = await open(url);
  const failed = recorder.until((heard) => heard.failed[0]).then(({ error }) => error);
  const refused = transport.send(message).then(
    () => failed,
    (error: unknown) => error,
  );
  return toWireError(await refused, { server: 'odd', expected: 'an answer' });
}

describe('a socket that ends with the head', () => {
  test.each([
    ['a refusal, reset', 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n', 'resetAndDestroy'],
    ['a refusal, closed', 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nno', 'end'],
    [
      'a stream, reset',
      'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n',
      'resetAndDestroy',
    ],
    [
      'JSON, reset',
      'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{',
      'resetAndDestroy',
    ],
    ['no content, reset', 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n', 'resetAndDestroy'],
  ] as const)('RT-12 fails "initialize" and nothing else: %s', async (_name, head, how) => {
    const url = await socketServer((socket) => {
      socket.write(head, () => socket[how]());
    });
    for (let time = 0; time < 10; time += 1)
      expect((await errorOfSending(url, initialize)).code).toMatch(
        /^(protocol_error|connection_lost|server_unavailable)$/,
      );
  });
});

describe('a status of another world', () => {
  const statuses = [
    ...[
      '000 x',
      '050 x',
      '099 x',
      '101 Switching',
      '101 Switching\r\nUpgrade: x\r\nConnection: upgrade',
      '300 x',
      '304 Not Modified',
      '305 x',
      '399 x',
    ],
    ...['400 x', '418 x', '499 x', '599 x', '600 x', '999 Request Denied', '999 \u0001\u00ff'],
  ];
  const ways = ['whole', 'cut', 'bare'] as const;

  test.each(statuses.flatMap((status) => ways.map((way) => [status, way] as const)))(
    'RT-8 RT-12 ends its request with an error: %s, %s',
    async (status, way) => {
      const url = await socketServer((socket) => {
        const head = `HTTP/1.1 ${status}\r\nContent-Type: text/html\r\n`;
        if (way === 'whole') socket.end(`${head}Content-Length: 2\r\n\r\nno`);
        else if (way === 'cut') socket.end(`${head}Content-Length: 20\r\n\r\nno`);
        else socket.end(`${head}\r\n`);
      });
      for (const message of [initialize, request(1)])
        expect((await errorOfSending(url, message)).code).toMatch(
          /^(protocol_error|connection_lost|server_unavailable)$/,
        );
    },
  );

  test.each([
    ['304', 'protocol_error'],
    ['600', 'server_unavailable'],
    ['999', 'server_unavailable'],
  ] as const)('RT-8 says which it was when the connection stays open: %s', async (status, code) => {
    const url = await socketServer((socket) => {
      socket.write(
        `HTTP/1.1 ${status} x\r\nContent-Length: ${status === '304' ? '0' : '2'}\r\n\r\n${status === '304' ? '' : 'no'}`,
      );
    });
    const error = await errorOfSending(url, request(1));
    expect(error).toMatchObject({ code, status: Number(status) });
    expect(error.message).toContain(status);
  });

  test('RT-12 a fetch of anything else hears it as well', async () => {
    const url = await socketServer((socket) => {
      socket.end('HTTP/1.1 999 x\r\nContent-Length: 2\r\n\r\nno');
    });
    const lease = leaseDispatchers(new URL(url), { env: {} });
    atEnd(async () => lease.release());
    const response = await plainFetch(lease, new URL(url), {});
    expect([response.status, response.ok, await response.text()]).toEqual([999, false, 'no']);
  });
});

test.each(['resetAndDestroy', 'end'] as const)(
  'RT-12 a body nobody has read yet, cut by %s, fails its reader and nothing else',
  async (how) => {
    const closed = deferred();
    const url = await socketServer((socket) => {
      socket.on('close', () => {
        closed.resolve();
      });
      socket.write(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${'x'.repeat(60_000)}`, () => socket[how]());
    });
    const lease = leaseDispatchers(new URL(url), { env: {} });
    atEnd(async () => lease.release());
    const response = await plainFetch(lease, new URL(url), {});
    await closed.promise;
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const read = await response.text().then(
      (text) => text.length <= 60_000,
      (error: unknown) => error instanceof Error,
    );
    expect(read).toBe(true);
  },
);

test('RT-12 whatever a reader of a response throws ends its request', async () => {
  const url = await socketServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno');
  });
  const lease = leaseDispatchers(new URL(url), { env: {} });
  atEnd(async () => lease.release());
  const boom = (): never => {
    throw new Error('boom');
  };
  const fine = (): undefined => undefined;
  for (const headFirst of [true, false]) {
    for (const throws of ['head', 'data', 'end'] as const) {
      const ended = deferred<string>();
      startExchange({
        dispatcher: lease.calls,
        url: new URL(url),
        method: 'POST',
        headers: [],
        body: '{}',
        headFirst,
        onHead: () => {
          if (throws === 'head') boom();
          return { data: throws === 'data' ? boom : fine, end: throws === 'end' ? boom : fine, fail: fine };
        },
        onNoResponse: (error) => {
          ended.resolve(error.message);
        },
      });
      expect(await ended.promise).toContain('boom');
    }
  }
});

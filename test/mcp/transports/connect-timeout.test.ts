import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { Agent } from 'undici';
import { expect, test } from 'vitest';
import { startExchange } from '../../../src/mcp/transports/exchange.ts';
import type { HoldfastError } from '../../../src/domain/errors.ts';
import { findsNobody } from '../../../src/mcp/transports/nobody-there.ts';
import { createThread } from '../../../src/index.ts';
import { serverOf } from '../../integration/runtimes/support.ts';

interface BlackHole extends AsyncDisposable {
  readonly port: number;
}

/** A listener whose queue of connections is full: the system answers no further one, and nobody refuses it either. */
async function blackHole(): Promise<BlackHole> {
  const program = `
    const server = require('node:net').createServer();
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      process.stdout.write(String(server.address().port) + '\\n', () => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      });
    });
  `;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [first] = (await once(child.stdout, 'data')) as readonly unknown[];
  const port = Number(String(first));
  const sockets: Socket[] = [];
  // Those the system takes fill its queue; the first that hangs shows that it is full.
  for (let index = 0; index < 16; index += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    const isTaken = await Promise.race([
      once(socket, 'connect').then(() => true),
      new Promise<boolean>((resolve) => {
        setTimeout(resolve, 300, false);
      }),
    ]);
    if (!isTaken) break;
  }
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

test('RT-7 a connect that nobody answers was not sent, and says that nobody is there', async () => {
  await using hole = await blackHole();
  const dispatcher = new Agent({ connect: { timeout: 100 } });
  try {
    const error = await new Promise<HoldfastError>((resolve, reject) => {
      startExchange({
        dispatcher,
        url: new URL(`http://127.0.0.1:${String(hole.port)}/mcp`),
        method: 'POST',
        headers: [],
        body: '{}',
        onNoResponse: resolve,
        onHead: () => {
          reject(new Error('Expected no answer.'));
          return { data: () => undefined, end: () => undefined, fail: () => undefined };
        },
      });
    });
    expect(error).toMatchObject({ code: 'server_unavailable', outcome: 'not-sent', retryable: true });
    expect(findsNobody(error.cause)).toBe(true);
  } finally {
    await dispatcher.destroy();
  }
});

test('CN-2 RT-7 a start that nobody answers ends with its limit, and is tried again', async () => {
  await using hole = await blackHole();
  const url = `http://127.0.0.1:${String(hole.port)}/mcp`;
  await using thread = createThread({ servers: { a: { url, startTimeoutMs: 300 } } });
  await thread.ready();
  const { state, error, retryAt } = serverOf(thread, 'a');
  expect({ state, code: error?.code, hasRetry: retryAt !== undefined }).toEqual({
    state: 'failed',
    code: 'timeout',
    hasRetry: true,
  });
});

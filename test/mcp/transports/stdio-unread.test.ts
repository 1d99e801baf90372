import { afterEach, expect, test } from 'vitest';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { createStdioTransport } from '../../../src/mcp/transports/stdio.ts';
import type { StdioTransportOptions } from '../../../src/mcp/transports/stdio.ts';
import type { WireTransport } from '../../../src/mcp/transports/transport.ts';
import { Recorder } from './recorder.ts';

const opened: WireTransport[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((transport) => transport.close()));
});

const pings = 20_000;

/** Asks without reading what it is told; after SIGUSR2 it reads, and says when it has every reply. */
const asker = `
  let seen = 0;
  process.on('SIGUSR2', () => {
    require('node:readline').createInterface({ input: process.stdin }).on('line', () => {
      if (++seen === ${pings}) process.stdout.write('{"jsonrpc":"2.0","method":"notifications/message","params":{}}\\n');
    });
  });
  (async () => {
    for (let id = 0; id < ${pings}; id++)
      if (!process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' }) + '\\n'))
        await new Promise((resolve) => process.stdout.once('drain', resolve));
  })();
  setInterval(() => {}, 1000);
`;

const deaf = 'setInterval(() => {}, 1000);';

class Answering extends Recorder {
  most = 0;
  transport: WireTransport | undefined;

  override onMessage(message: JSONRPCMessage): void {
    if (!('method' in message) || !('id' in message)) {
      super.onMessage(message);
      return;
    }
    void this.transport?.send({ jsonrpc: '2.0', id: message.id, result: { text: 'x'.repeat(200) } });
    this.most = Math.max(this.most, this.transport?.unsent ?? 0);
  }
}

async function start(script: string, unsentLimits: NonNullable<StdioTransportOptions['unsentLimits']>) {
  const recorder = new Answering();
  const transport = createStdioTransport({
    command: process.execPath,
    args: ['-e', script],
    listener: recorder,
    graceMs: 100,
    unsentLimits,
  });
  recorder.transport = transport;
  opened.push(transport);
  await transport.start();
  return { transport, recorder };
}

/** Turns of the event loop until nothing has changed for a hundred of them. */
async function settled(look: () => number): Promise<void> {
  let last = look();
  for (let still = 0; still < 100; still++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (look() === last && last > 0) continue;
    last = look();
    still = 0;
  }
}

test('RT-12 SE-2 a server that asks and does not read is not read on, and loses no reply once it reads', async () => {
  const { transport, recorder } = await start(asker, { replies: 65_536, all: 64 * 1_024 * 1_024 });
  await settled(() => recorder.most);
  expect(recorder.most).toBeLessThan(1_000_000);

  process.kill(transport.pid ?? 0, 'SIGUSR2');
  await recorder.params('notifications/message');
  expect(recorder.most).toBeLessThan(1_000_000);
  expect(recorder.heard.closed).toEqual([]);
});

test('RT-12 SE-2 a server that reads nothing is given up when too much waits for it', async () => {
  const { transport, recorder } = await start(deaf, { replies: 65_536, all: 500_000 });
  const text = 'x'.repeat(100_000);
  let refused: unknown;
  for (let id = 0; refused === undefined && id < 100; id++) {
    const sent = transport.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { text } });
    refused = await Promise.race([
      sent.then(
        () => undefined,
        (error: unknown) => error,
      ),
      new Promise((resolve) => {
        setImmediate(resolve);
      }),
    ]);
  }

  expect(refused).toMatchObject({ code: 'connection_lost', outcome: 'not-sent' });
  const lost = await recorder.until((heard) => heard.closed[0]);
  expect(lost).toMatchObject({ code: 'connection_lost', outcome: 'unknown' });
  expect(lost.message).toContain('it does not read its stdin');
});

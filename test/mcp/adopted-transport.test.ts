import { InMemoryTransport, McpServer } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import type { McpServerFactory } from '../../src/domain/config.ts';
import { adoptTransport, createInMemoryTransport } from '../../src/mcp/adopted-transport.ts';
import type { AdoptOptions } from '../../src/mcp/adopted-transport.ts';
import { deferred } from '../../src/testing/deferred.ts';
import { open, Told } from './support.ts';
import { Recorder } from './transports/recorder.ts';

const ping = { jsonrpc: '2.0' as const, id: 1, method: 'ping' };

function make(factory: McpServerFactory, options?: AdoptOptions) {
  const recorder = new Recorder();
  return { recorder, transport: createInMemoryTransport(factory, recorder, options) };
}

const never = (): Promise<never> => new Promise(() => undefined);

test('CN-1 connects a server of this process, and closes it', async () => {
  const server = new McpServer({ name: 'near', version: '1' });
  const { transport, recorder } = make(() => server);
  await transport.start();
  await transport.send(ping);
  expect(await recorder.result(1)).toEqual({});
  await Promise.all([transport.close(), transport.close()]);
  expect(server.isConnected()).toBe(false);
  expect(recorder.heard.closed).toEqual([]);
  await expect(transport.send(ping)).rejects.toMatchObject({ code: 'connection_lost', outcome: 'not-sent' });
});

test('RT-12 reports a server that closes by itself, once', async () => {
  const server = new McpServer({ name: 'near', version: '1' });
  const { transport, recorder } = make(() => Promise.resolve(server));
  await transport.start();
  await server.close();
  expect(await recorder.until((heard) => heard.closed[0])).toMatchObject({ code: 'connection_lost' });
  await transport.close();
  expect(recorder.heard.closed).toHaveLength(1);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('no database');
    },
  ],
  ['rejects', () => Promise.reject(new Error('no database'))],
  ['makes a server that does not connect', () => ({ connect: () => Promise.reject(new Error('no database')) })],
] satisfies [string, McpServerFactory][])(
  'CN-1 says that the server is unavailable when the factory %s',
  async (_how, factory) => {
    const { transport } = make(factory);
    await expect(transport.start()).rejects.toMatchObject({
      code: 'server_unavailable',
      message: expect.stringContaining('no database') as string,
    });
    await transport.close();
  },
);

test('H10 closes a server that was made after the close', async () => {
  const server = new McpServer({ name: 'late', version: '1' });
  const made = deferred<McpServer>();
  const { transport } = make(() => made.promise);
  const started = transport.start();
  await transport.close();
  made.resolve(server);
  await expect(started).rejects.toMatchObject({ code: 'connection_lost' });
  expect(server.isConnected()).toBe(false);
});

test('H10 RT-11 a server of this process whose close never settles keeps nobody waiting, and is told', async () => {
  const server = new McpServer({ name: 'near', version: '1' });
  const { transport, recorder } = make(() => ({ connect: (far) => server.connect(far), close: never }), {
    closeLimitMs: 10,
  });
  await transport.start();
  await transport.close();
  expect(recorder.heard.warnings).toEqual([
    {
      code: 'transport_error',
      message: 'Expected the in-memory server to close within 10 ms, but it did not. It is left to itself.',
    },
  ]);
});

test('H10 RT-11 a given transport whose close never settles, or throws, keeps nobody waiting, and is told', async () => {
  for (const close of [
    never,
    () => {
      throw new Error('no');
    },
  ]) {
    const recorder = new Recorder();
    const [near] = InMemoryTransport.createLinkedPair();
    const transport = adoptTransport(Object.assign(near, { close }) as never, recorder, { closeLimitMs: 10 });
    await transport.start();
    await transport.close();
    expect(recorder.heard.warnings).toHaveLength(1);
  }
});

test('H10 a server whose connect never settles is closed all the same', async () => {
  const connecting = deferred<undefined>();
  const closed = deferred<undefined>();
  const { transport } = make(() => ({
    connect: async () => {
      connecting.resolve(undefined);
      return never();
    },
    close: () => {
      closed.resolve(undefined);
      return Promise.resolve();
    },
  }));
  const started = transport.start();
  started.catch(() => undefined);
  await connecting.promise;
  await transport.close();
  expect(await closed.promise).toBeUndefined();
});

test('H10 RT-2 the limit of a start holds for a transport that neither starts nor closes, whose owner is told', async () => {
  const [near] = InMemoryTransport.createLinkedPair();
  const told = new Told();
  const transport = Object.assign(near, { start: never, close: never }) as never;
  await expect(open({ transport }, { timeoutMs: 500, told })).rejects.toMatchObject({ code: 'timeout' });
  expect(told.warnings('transport_error')).toHaveLength(1);
});

test.each(['while it connects', 'before it connects', 'when it is first spoken to'])(
  'CN-2 a server of this process that goes %s is unavailable',
  async (when) => {
    const inMemory: McpServerFactory = () => ({
      connect: async (far) => {
        const end = far as unknown as InMemoryTransport;
        if (when === 'before it connects') await end.close();
        if (when === 'when it is first spoken to') end.onmessage = () => void end.close();
        await end.start();
        if (when === 'while it connects') await end.close();
      },
    });
    for (const protocol of ['auto', 'legacy'] as const)
      await expect(open({ inMemory, protocol })).rejects.toMatchObject({ code: 'server_unavailable' });
  },
);

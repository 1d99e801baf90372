import { McpServer } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import type { McpServerFactory } from '../../../src/domain/config.ts';
import { createInMemoryTransport } from '../../../src/mcp/transports/in-memory.ts';
import { deferred } from '../../../src/testing/deferred.ts';
import { Recorder } from './recorder.ts';

const ping = { jsonrpc: '2.0' as const, id: 1, method: 'ping' };

function make(factory: McpServerFactory) {
  const recorder = new Recorder();
  return { recorder, transport: createInMemoryTransport({ factory, listener: recorder }) };
}

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

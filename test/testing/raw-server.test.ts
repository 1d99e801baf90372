import type { Transport } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { rawServer } from '../../src/testing/index.ts';
import type { RawServer } from '../../src/testing/index.ts';
import { makeClient } from './peers.ts';

async function connect(server: RawServer) {
  const peer = makeClient({ mode: 'legacy' });
  await peer.client.connect(server.config.transport as unknown as Transport);
  return peer;
}

describe('TK-1 a raw server', () => {
  test('shakes hands and lists by default, and leaves calls to its handler', async () => {
    await using server = rawServer((message, peer) => {
      if (message['method'] !== 'tools/call') return false;
      peer.reply(message, { content: [{ type: 'text', text: 'raw' }] });
      peer.reply(message, { content: [{ type: 'text', text: 'again' }] });
      return true;
    });
    const { client, call } = await connect(server);
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(['echo']);
    expect(await call('echo')).toBe('raw');
    await expect(client.listPrompts()).resolves.toEqual({ prompts: [] });
    await client.ping();
    expect(server.received.map((message) => message['method'])).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/list',
      'tools/call',
      'ping',
    ]);
  });

  test('sends errors, and requests of its own, and hears their answers', async () => {
    await using server = rawServer((message, peer) => {
      if (message['method'] !== 'tools/call') return false;
      peer.fail(message, -32_099, 'no', { why: 1 });
      return true;
    });
    const { call } = await connect(server);
    await expect(call('echo')).rejects.toMatchObject({ code: -32_099, data: { why: 1 } });
    server.send({
      jsonrpc: '2.0',
      id: 'q',
      method: 'elicitation/create',
      params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
    });
    const answer = await server.waitFor((message) => message['id'] === 'q');
    expect(answer).toMatchObject({ result: { action: 'accept' } });
  });

  test('answers unknown requests with an error, and can lie from the start', async () => {
    await using server = rawServer((message, peer) => {
      if (message['method'] !== 'initialize') return undefined;
      peer.reply(message, { protocolVersion: 7 });
      return true;
    });
    await expect(connect(server)).rejects.toBeInstanceOf(Error);
    await server.waitFor('initialize');
  });

  test('knows when the connection closed, and then sends nothing', async () => {
    const server = rawServer();
    const { client } = await connect(server);
    await client.close();
    expect(server.closed).toBe(true);
    server.send({ jsonrpc: '2.0', method: 'late' });
    await server.close();
  });
});

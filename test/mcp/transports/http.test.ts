import { Client } from '@modelcontextprotocol/client';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { createHttpTransport } from '../../../src/mcp/transports/http.ts';
import { refusalOf } from '../../../src/mcp/transports/refusal.ts';
import type { WireTransport } from '../../../src/mcp/transports/transport.ts';
import { serveHttp } from '../../../src/testing/servers/http-server.ts';
import { atEnd, request } from './http-fixture.ts';
import { Recorder } from './recorder.ts';

/** Lets the SDK's own client speak over a wire transport. */
async function connectClient(
  url: string,
  mode: 'auto' | 'legacy',
): Promise<{ client: Client; transport: WireTransport; recorder: Recorder }> {
  const sdk: Transport = {
    hasPerRequestStream: true,
    start: async () => transport.start(),
    send: async (message, options) => transport.send(message, options),
    close: async () => transport.close(),
    setProtocolVersion: (version) => {
      transport.setProtocolVersion(version);
    },
  };
  class Relay extends Recorder {
    override onMessage(message: JSONRPCMessage, requestId?: string | number): void {
      super.onMessage(message, requestId);
      sdk.onmessage?.(message);
    }
  }
  const recorder = new Relay();
  const transport = createHttpTransport({ url, listener: recorder, env: {} });
  atEnd(async () => transport.close());
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(sdk);
  return { client, transport, recorder };
}

describe('real servers', () => {
  test.each(['legacy', 'modern'] as const)(
    'CN-1 speaks to a %s server, and names the request of each message',
    async (era) => {
      const server = await serveHttp({ era, tools: ['echo', 'progress'] });
      atEnd(async () => server.close());
      const { client, transport, recorder } = await connectClient(server.url, era === 'legacy' ? 'legacy' : 'auto');
      const answers = await Promise.all(
        Array.from({ length: 150 }, async (_, index) =>
          client.callTool({ name: 'echo', arguments: { text: `n${String(index)}` } }),
        ),
      );
      expect(answers.map((answer) => JSON.stringify(answer.content))).toEqual(
        Array.from({ length: 150 }, (_, index) => expect.stringContaining(`n${String(index)}"`) as string),
      );
      const responses = recorder.heard.messages.filter(({ message }) => 'result' in message);
      expect(responses.every(({ message, requestId }) => 'id' in message && message.id === requestId)).toBe(true);
      expect(transport.sessionId === undefined).toBe(era === 'modern');
      await client.close();
      expect(server.sessions).toEqual([]);
    },
  );

  test('CN-1 delivers progress on the stream of its call', async () => {
    const server = await serveHttp({ tools: ['progress'] });
    atEnd(async () => server.close());
    const { client, recorder } = await connectClient(server.url, 'legacy');
    await client.callTool({ name: 'progress', arguments: { steps: 3 } }, { onprogress: () => undefined });
    const told = recorder.heard.messages.filter(
      ({ message }) => 'method' in message && message.method === 'notifications/progress',
    );
    expect(told).toHaveLength(3);
    expect(new Set(told.map(({ requestId }) => requestId)).size).toBe(1);
    expect(told[0]?.requestId).toBeDefined();
  });

  test('CN-1 hears the server on its own stream', async () => {
    const server = await serveHttp({ tools: ['addTool'] });
    atEnd(async () => server.close());
    const { client, recorder } = await connectClient(server.url, 'legacy');
    // The stream is opened in its own time; what is said before is lost.
    const heard = (): boolean => recorder.heard.messages.some(({ message }) => 'method' in message);
    for (let tool = 0; !heard(); tool += 1) {
      await client.callTool({ name: 'addTool', arguments: { name: `t${String(tool)}` } });
    }
    expect(await recorder.params('notifications/tools/list_changed')).toEqual({});
  });

  test('SE-2 answers a request whose session is unknown with the 404 of the server', async () => {
    const server = await serveHttp({ tools: ['echo'] });
    atEnd(async () => server.close());
    const { client, transport } = await connectClient(server.url, 'legacy');
    await client.callTool({ name: 'echo', arguments: { text: 'x' } });
    await server.forgetSessions();
    const error: unknown = await transport.send(request('late', 'tools/list')).catch((reason: unknown) => reason);
    expect(refusalOf(error)).toMatchObject({ status: 404 });
  });
});

import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import type { ServerRequests, Thread } from '../../../src/index.ts';
import { rawServer } from '../../../src/testing/index.ts';
import type { RawMessage } from '../../../src/testing/index.ts';
import { errorOf, peerKinds, startPeer } from '../runtimes/support.ts';

/** Asks in a step, and outside of any. */
async function bothWays(thread: Thread, ask: (asker: ServerRequests) => Promise<unknown>): Promise<unknown[]> {
  await using step = await thread.beginStep();
  return [await ask(step), await ask(thread)];
}

describe.each(peerKinds)('of a %s server, %s', (era, kind) => {
  test.each([
    [
      'tools/list',
      (asker: ServerRequests) => asker.listTools('a'),
      { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
    ],
    ['resources/list', (asker: ServerRequests) => asker.listResources('a'), { resources: [{ uri: 'test://static' }] }],
    [
      'resources/templates/list',
      (asker: ServerRequests) => asker.listResourceTemplates('a'),
      { resourceTemplates: [{ uriTemplate: 'test://park/{key}' }] },
    ],
    [
      'resources/read',
      (asker: ServerRequests) => asker.readResource('a', 'test://static'),
      { contents: [{ uri: 'test://static', text: 'static' }] },
    ],
    ['prompts/list', (asker: ServerRequests) => asker.listPrompts('a'), { prompts: [{ name: 'greet' }, {}] }],
    [
      'prompts/get',
      (asker: ServerRequests) => asker.getPrompt('a', 'greet', { name: 'Ada' }),
      { messages: [{ role: 'user', content: { type: 'text', text: 'Greet Ada.' } }] },
    ],
    [
      'completion/complete',
      (asker: ServerRequests) =>
        asker.complete('a', {
          ref: { type: 'ref/prompt', name: 'greet' },
          argument: { name: 'name', value: 'Ad' },
        }),
      { completion: { values: ['Ada'] } },
    ],
  ] as const)('RE-1 RT-2 %s is sent for a step and for the current runtime', async (_method, ask, expected) => {
    await using peer = await startPeer(kind, { era, tools: ['echo'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const [ofStep, ofThread] = await bothWays(thread, ask);

    expect(ofStep).toMatchObject(expected);
    expect(ofThread).toEqual(ofStep);
  });

  test('RE-1 RT-12 a resource and a prompt nobody knows are refused with the words of the server', async () => {
    await using peer = await startPeer(kind, { era, tools: ['echo'] });
    await using thread = createThread({ servers: { a: peer.config } });
    await thread.ready();
    const errors = [
      await errorOf(thread.readResource('a', 'test://none')),
      await errorOf(thread.getPrompt('a', 'none')),
    ];

    for (const error of errors) expect(error.code).toBe('protocol_error');
    expect(errors.map(({ message }) => /none/.test(message))).toEqual([true, true]);
  });
});

const capable = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
  serverInfo: { name: 'raw', version: '1' },
};

test('RE-1 arguments, cursors and contexts go out as they were given', async () => {
  const asked: RawMessage[] = [];
  const server = rawServer((message, peer) => {
    const { method } = message;
    if (method === 'initialize') return (peer.reply(message, capable), true);
    if (method !== 'prompts/get' && method !== 'resources/list' && method !== 'completion/complete') return false;
    asked.push(message);
    peer.reply(message, { messages: [], resources: [], completion: { values: [] } });
    return true;
  });
  await using thread = createThread({ servers: { a: { ...server.config, protocol: 'legacy' } } });
  await thread.ready();
  await thread.getPrompt('a', 'plan', { city: 'Zürich', days: '2' });
  await thread.listResources('a', { cursor: 'page two' });
  const context = {
    ref: { type: 'ref/resource', uri: 'test://{a}/{b}' },
    argument: { name: 'b', value: 'x' },
    context: { arguments: { a: '1' } },
  };
  await thread.complete('a', context);

  expect(asked.map(({ params }) => params)).toEqual([
    { name: 'plan', arguments: { city: 'Zürich', days: '2' } },
    { cursor: 'page two' },
    context,
  ]);
});

test('RT-12 a ping of a server is answered in the middle of everything', async () => {
  const server = rawServer((message, peer) => {
    if (message['method'] !== 'tools/call') return false;
    peer.send({ jsonrpc: '2.0', id: 'alive?', method: 'ping' });
    return true;
  });
  await using thread = createThread({ servers: { a: { ...server.config, protocol: 'legacy' } } });
  await using step = await thread.beginStep();
  const call = step.callTool('mcp__a__echo');
  const request = await server.waitFor('tools/call');
  await server.waitFor((message) => message['id'] === 'alive?');
  server.reply(request, { content: [] });

  expect(await call).toEqual({ content: [] });
  expect(server.received.find((message) => message['id'] === 'alive?')).toMatchObject({ result: {} });
});

import { expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import type { ThreadOptions } from '../../../src/index.ts';
import { rawServer, serveHttp } from '../../../src/testing/index.ts';
import { turns } from '../runtimes/support.ts';

const everything = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
};

test('CN-1 ER-3 a legacy session hears nothing that was not asked for: no ping, no level, no list of tasks', async () => {
  const server = rawServer(
    (message, peer) => {
      if (message['method'] !== 'tools/call') return false;
      peer.reply(message, { content: [] });
      return true;
    },
    { capabilities: everything },
  );
  const thread = createThread({ servers: { a: { ...server.config, protocol: 'legacy' } } });
  const step = await thread.beginStep();
  await step.callTool('mcp__a__echo');
  await step.end();
  await thread.close();

  expect(server.received.map(({ method }) => method)).toEqual([
    'initialize',
    'notifications/initialized',
    'tools/list',
    'tools/call',
  ]);
});

test.each([
  'sampling/createMessage',
  'tasks/get',
  'tasks/result',
  'tasks/list',
  'tasks/cancel',
  'tools/list',
  'logging/setLevel',
  'holdfast/unknown',
])(
  'ER-3 ER-4 RT-12 a server that asks for %s, which was not offered, hears that there is no such method',
  async (method) => {
    const server = rawServer();
    await using thread = createThread({ servers: { a: { ...server.config, protocol: 'legacy' } } });
    await thread.ready();
    server.send({ jsonrpc: '2.0', id: 'mine', method, params: { taskId: 't', messages: [], maxTokens: 1 } });
    const answer = await server.waitFor(({ id, error }) => id === 'mine' && error !== undefined);

    expect(answer).toMatchObject({ error: { code: -32_601 } });
    await turns(2);
    expect(thread.snapshot()).toMatchObject({ elicitations: [], servers: [{ state: 'ready' }] });
  },
);

const offers: readonly (readonly [string, ThreadOptions, Record<string, unknown>])[] = [
  ['forms, urls, roots and tasks', {}, {}],
  ['sampling too, where the thread has it', { sampling: 'ask' }, { sampling: {} }],
];

test.each(offers)('ER-3 ER-4 a modern server is told of %s, in each request', async (_what, options, more) => {
  await using server = await serveHttp({ era: 'modern', tools: ['echo'] });
  await using thread = createThread({ ...options, servers: { a: server.config } });
  await using step = await thread.beginStep();
  await step.callTool('mcp__a__echo');
  const declared = server.requests
    .map(({ body }) => Object(body).params?._meta?.['io.modelcontextprotocol/clientCapabilities'] as unknown)
    .filter((each) => each !== undefined);

  expect(declared.length).toBeGreaterThan(2);
  for (const each of declared)
    expect(each).toEqual({
      elicitation: { form: {}, url: {} },
      roots: {},
      extensions: { 'io.modelcontextprotocol/tasks': {} },
      ...more,
    });
});

import { describe, expect, test } from 'vitest';
import { isRecord } from '../../../src/domain/json.ts';
import { createThread } from '../../../src/index.ts';
import type { ListOptions, ServerRequests } from '../../../src/index.ts';
import { rawServer, scriptedServer } from '../../../src/testing/index.ts';
import type { RawMessage, RawServer } from '../../../src/testing/index.ts';
import { errorOf, peerKinds, startPeer } from '../runtimes/support.ts';

const all = { tools: {}, resources: {}, prompts: {}, completions: {} };

/** A legacy peer that announces everything and answers only what it is told to. */
function answering(results: Readonly<Record<string, unknown>>): RawServer {
  return rawServer(
    (message, peer) => {
      const result = results[String(message['method'])];
      if (result === undefined) return false;
      peer.reply(message, typeof result === 'function' ? result(message) : result);
      return true;
    },
    { capabilities: all },
  );
}

function threadOf(peers: Readonly<Record<string, RawServer>>) {
  return createThread({
    servers: Object.fromEntries(
      Object.entries(peers).map(([name, { config }]) => [name, { ...config, protocol: 'legacy' }]),
    ),
  });
}

describe.each(peerKinds)('a %s server, %s', (era, kind) => {
  test('RE-1 lists and reads the resources of the runtime that is current', async () => {
    await using peer = await startPeer(kind, { era, tools: ['echo'] });
    await using thread = createThread({ servers: { a: peer.config, b: peer.config } });
    const { resources } = thread;
    await thread.ready();
    expect(resources.has('a')).toBe(true);
    expect(resources.has('c')).toBe(false);
    expect(await resources.list('a')).toEqual({ items: [expect.objectContaining({ uri: 'test://static' })] });
    expect((await resources.listTemplates('a')).items).toMatchObject([{ uriTemplate: 'test://park/{key}' }]);
    const { contents } = await resources.read('a', 'test://static');
    expect(contents[0]).toMatchObject({ uri: 'test://static', text: 'static' });
    const listed = await resources.listAll();
    expect(listed.items.map(({ server, item }) => `${server} ${item.uri}`)).toEqual([
      'a test://static',
      'b test://static',
    ]);
    expect(listed.failures).toEqual({});
    expect((await resources.listAllTemplates({ servers: ['b'] })).items).toHaveLength(1);
    await thread.replaceRuntime({ servers: { c: peer.config } });
    expect([resources.has('a'), resources.has('c')]).toEqual([false, true]);
    expect((await resources.listAll()).items.map(({ server }) => server)).toEqual(['c']);
  });

  test('RE-1 H1 requests of a step go on to its own runtime', async () => {
    await using peer = await startPeer(kind, { era, tools: ['echo'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const step = await thread.beginStep();
    await thread.replaceRuntime({ servers: {} });
    expect(await step.readResource('a', 'test://static')).toMatchObject({ contents: [{ text: 'static' }] });
    expect(await step.listResourceTemplates('a', { all: true })).toMatchObject({ resourceTemplates: [{}] });
    expect(await step.complete('a', completion('A'))).toMatchObject({ completion: { values: ['Ada', 'Alan'] } });
    expect((await errorOf(thread.resources.read('a', 'test://static'))).code).toBe('server_unavailable');
  });
});

function completion(value: string) {
  return { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'name', value } };
}

test('RE-1 the cache key is the same while the same runtime is current, and never that of another thread', async () => {
  await using peer = scriptedServer({ tools: [] });
  await using thread = createThread({ id: 'same', servers: { a: peer.config } });
  await using other = createThread({ id: 'same', servers: { a: peer.config } });
  const before = thread.resources.cacheKey;
  await Promise.all([thread.ready(), other.ready()]);
  const first = thread.resources.cacheKey;
  expect(first).not.toBe(before);
  expect(thread.resources.cacheKey).toBe(first);
  await peer.addTool('more');
  await thread.restartServer('a');
  expect(thread.resources.cacheKey).toBe(first);
  await thread.replaceRuntime({ servers: { a: peer.config } });
  expect(thread.resources.cacheKey).not.toBe(first);
  expect(thread.resources.cacheKey).not.toBe(other.resources.cacheKey);
});

test('RE-1 a server that fails, lies, or has no resources hides nothing of the others', async () => {
  const good = { resources: [{ uri: 'a:1', name: 'one' }] };
  await using fine = answering({ 'resources/list': good });
  await using refusing = answering({});
  await using lying = answering({ 'resources/list': { resources: [{ uri: 'a:2' }] } });
  await using looping = answering({ 'resources/list': { ...good, nextCursor: 'again' } });
  await using empty = rawServer();
  await using thread = threadOf({ fine, refusing, lying, looping, empty });
  const { items, failures } = await thread.resources.listAll();
  expect(items).toEqual([{ server: 'fine', item: good.resources[0] }]);
  expect(Object.keys(failures)).toEqual(['refusing', 'lying', 'looping']);
  expect(failures['refusing']).toMatchObject({
    code: 'protocol_error',
    message: expect.stringContaining('it announces "resources"') as unknown,
  });
  expect(failures['lying']?.message).toContain('"name" of entry 0');
  expect(failures['looping']?.message).toContain('cursor "again" again');
  expect(await errorOf(thread.resources.list('empty'))).toMatchObject({ code: 'unsupported' });
  expect(await errorOf(thread.resources.list('lying'))).toMatchObject({ code: 'protocol_error' });
});

test('RE-1 CN-3 a server that does not answer is given up after its time, and one that cannot start says why', async () => {
  const silent = rawServer((message) => message['method'] === 'resources/list', { capabilities: all });
  await using _ = silent;
  await using fine = answering({ 'resources/list': { resources: [{ uri: 'a:1', name: 'one' }] } });
  await using thread = createThread({
    servers: {
      silent: { ...silent.config, protocol: 'legacy' },
      fine: { ...fine.config, protocol: 'legacy' },
      gone: { command: '/does/not/exist' },
      off: { command: 'x', enabled: false },
    },
    misconfigured: { bad: { code: 'server_misconfigured', message: 'No such variable.', retryable: false } },
  });
  await thread.ready();
  const { items, failures } = await thread.resources.listAll({ timeoutMs: 50 });
  expect(items.map(({ server }) => server)).toEqual(['fine']);
  expect(failures).toMatchObject({
    silent: { code: 'timeout' },
    gone: { code: 'server_unavailable' },
    bad: { message: 'No such variable.' },
  });
  expect(failures).not.toHaveProperty('off');
});

test.each([
  ['no list', {}, 'the list "contents"'],
  ['no uri', { contents: [{ text: 'x' }] }, 'a "uri" in entry 0'],
  ['neither text nor blob', { contents: [{ uri: 'a:1' }] }, 'a "text" or a "blob"'],
  ['both', { contents: [{ uri: 'a:1', text: '', blob: '' }] }, 'not both'],
  ['a blob that is none', { contents: [{ uri: 'a:1', blob: '§' }] }, 'a "blob" of base64'],
  ['a number for a text', { contents: [{ uri: 'a:1', text: 1 }] }, 'a "text" or a "blob"'],
])('RE-1 what is read must be contents: %s is a fault of the server', async (_, result, expected) => {
  await using peer = answering({ 'resources/read': result });
  await using thread = threadOf({ a: peer });
  const error = await errorOf(thread.readResource('a', 'a:1'));
  expect(error).toMatchObject({ code: 'protocol_error', outcome: 'failed' });
  expect(error.message).toContain(expected);
});

test.each([
  ['prompts/list', { prompts: 'x' }, 'the list "prompts"'],
  ['prompts/list', { prompts: [{ name: 'a' }], nextCursor: 5 }, '"nextCursor"'],
  ['resources/list', { resources: [5] }, 'an object in entry 0'],
  ['resources/list', { resources: [{ uri: 'a:1', name: 'a' }, { name: 'b' }] }, 'a "uri" in entry 1'],
  ['resources/templates/list', {}, 'the list "resourceTemplates"'],
  ['tools/list', { tools: [{}] }, 'a "name" in entry 0'],
] as const)(
  'RE-1 what is listed must be of its kind: %s with %j is a fault of the server',
  async (method, result, expected) => {
    let isOdd = false;
    await using peer = answering({ [method]: () => (isOdd ? result : { tools: [] }) });
    await using thread = threadOf({ a: peer });
    await using step = await thread.beginStep();
    isOdd = true;
    const list = (asker: ServerRequests, options: ListOptions): Promise<unknown> => {
      switch (method) {
        case 'prompts/list':
          return asker.listPrompts('a', options);
        case 'resources/list':
          return asker.listResources('a', options);
        case 'resources/templates/list':
          return asker.listResourceTemplates('a', options);
        case 'tools/list':
          return asker.listTools('a', options);
      }
    };
    for (const asker of [thread, step])
      for (const options of [{}, { all: true }]) {
        const error = await errorOf(list(asker, options));
        expect(error).toMatchObject({ code: 'protocol_error', outcome: 'failed' });
        expect(error.message).toContain(expected);
      }
  },
);

test('RE-1 a blob and a text are read, and what else is said of them stays', async () => {
  const contents = [
    { uri: 'a:1', mimeType: 'image/png', blob: 'AAEC', _meta: { own: 1 } },
    { uri: 'a:2', text: '' },
  ];
  await using peer = answering({ 'resources/read': { contents, _meta: { of: 'all' } } });
  await using thread = threadOf({ a: peer });
  expect(await thread.resources.read('a', 'a:1')).toEqual({ contents, _meta: { of: 'all' } });
});

test('RE-1 prompts and completions that are none are faults of the server', async () => {
  await using peer = answering({
    'prompts/get': { messages: [{ role: 'user', content: 'text' }] },
    'completion/complete': { completion: { values: [1] } },
  });
  await using thread = threadOf({ a: peer });
  expect((await errorOf(thread.getPrompt('a', 'x'))).message).toContain('a "content" with its type');
  expect((await errorOf(thread.complete('a', completion('')))).message).toContain('"values"');
});

test('RE-1 a server that offers neither is not asked for resources, prompts or completions', async () => {
  await using peer = rawServer();
  await using thread = threadOf({ a: peer });
  await using step = await thread.beginStep();
  for (const asker of [thread, step])
    for (const asked of [
      asker.listResources('a'),
      asker.listResourceTemplates('a', { all: true }),
      asker.readResource('a', 'a:1'),
      asker.listPrompts('a'),
      asker.getPrompt('a', 'x'),
      asker.complete('a', completion('')),
    ])
      expect(await errorOf(asked)).toMatchObject({ code: 'unsupported', outcome: 'not-sent', retryable: false });
  const asked = peer.received.map(({ method }) => method);
  expect(asked).toEqual(['initialize', 'notifications/initialized', 'tools/list']);
});

test('RE-1 a server of a revision without that capability is asked for completions', async () => {
  await using peer = rawServer(
    (message, raw) => {
      if (message['method'] !== 'completion/complete') return false;
      raw.reply(message, { completion: { values: ['x'] } });
      return true;
    },
    { protocolVersion: '2024-11-05' },
  );
  await using thread = threadOf({ a: peer });
  expect(await thread.complete('a', completion(''))).toEqual({ completion: { values: ['x'] } });
});

test('RE-1 CN-4 a cursor is passed through, and all pages are followed within their limits', async () => {
  const pages = ({ params }: RawMessage) => {
    if (isRecord(params) && params['cursor'] === 'two') return { prompts: [{ name: 'b' }] };
    return { prompts: [{ name: 'a' }], nextCursor: 'two' };
  };
  await using peer = answering({
    'prompts/list': pages,
    'resources/templates/list': () => ({ resourceTemplates: [], nextCursor: String(Math.random()) }),
  });
  await using thread = threadOf({ a: peer });
  expect(await thread.listPrompts('a')).toEqual({ prompts: [{ name: 'a' }], nextCursor: 'two' });
  expect(await thread.listPrompts('a', { cursor: 'two' })).toEqual({ prompts: [{ name: 'b' }] });
  expect(await thread.listPrompts('a', { all: true })).toEqual({ prompts: [{ name: 'a' }, { name: 'b' }] });
  expect((await errorOf(thread.listResourceTemplates('a', { all: true }))).code).toBe('limit_exceeded');
});

test('RE-1 RT-8 a listing of all servers ends with its signal', async () => {
  const silent = rawServer((message) => message['method'] === 'resources/list', { capabilities: all });
  await using _ = silent;
  await using thread = threadOf({ silent });
  await thread.ready();
  const stop = new AbortController();
  const listed = thread.resources.listAll({ signal: stop.signal });
  await silent.waitFor('resources/list');
  stop.abort();
  expect((await errorOf(listed)).code).toBe('aborted');
  expect(thread.snapshot().runtimes[0]?.holders).toEqual([]);
});

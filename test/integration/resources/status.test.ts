import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import type { ServerStatus, StatusOptions, Thread } from '../../../src/index.ts';
import { SimulatedClock, rawServer, scriptedServer } from '../../../src/testing/index.ts';
import { Watch, errorOf, eventually, peerKinds, startPeer } from '../runtimes/support.ts';

async function statusOf(thread: Thread, server: string, detail?: 'tools' | 'full'): Promise<ServerStatus> {
  const { servers } = await thread.status({ servers: [server], ...(detail === undefined ? {} : { detail }) });
  return servers[0] ?? expect.fail(`Expected a status of "${server}".`);
}

describe.each(peerKinds)('a %s server, %s', (era, kind) => {
  test('RE-3 status says what a server is, has and did', async () => {
    await using peer = await startPeer(kind, {
      era,
      tools: ['echo', 'fail', 'park', 'ask'],
      instructions: 'Be kind.',
    });
    await using thread = createThread({ servers: { a: { ...peer.config, parallel: true } } });
    const step = await thread.beginStep();
    const watch = new Watch(thread);
    await step.callTool('mcp__a__echo', { text: 'x' });
    await step.callTool('mcp__a__fail', {});
    const aborted = new AbortController();
    const parked = errorOf(step.callTool('mcp__a__park', { key: 'k' }, { signal: aborted.signal }));
    await peer.untilParked('k');
    aborted.abort();
    await parked;
    const asked = step.callTool('mcp__a__ask', {});
    const opened = await watch.until(({ type }) => type === 'elicitation.opened');
    if (opened.type === 'elicitation.opened')
      await thread.respond(opened.elicitation.token, { action: 'accept', content: { name: 'x' } });
    await asked;

    const { generation, servers } = await thread.status();
    expect(generation).toBe(1);
    expect(servers).toHaveLength(1);
    expect(servers[0]).toMatchObject({
      name: 'a',
      state: 'ready',
      era,
      serverInfo: { name: 'scripted' },
      auth: kind === 'http' ? 'unknown' : 'unsupported',
      counts: { calls: 4, failed: 0, aborted: 1, toolErrors: 1, questions: 1, reconnects: 0 },
      latency: { count: 3 },
      tools: { listed: 4, shown: 4, denied: 0, hidden: 0, dropped: 0 },
      capabilities: expect.arrayContaining(['completions', 'prompts', 'resources', 'tools']) as unknown,
    });
    expect(JSON.parse(JSON.stringify(servers))).toEqual(servers);
    for (const key of ['toolList', 'resources', 'prompts', 'instructions']) expect(servers[0]).not.toHaveProperty(key);

    const full = await statusOf(thread, 'a', 'full');
    expect(full).toMatchObject({
      instructions: 'Be kind.',
      resources: { count: 1, items: [{ uri: 'test://static' }] },
      resourceTemplates: { count: 1, items: [{ uriTemplate: 'test://park/{key}' }] },
      prompts: { count: 2, items: [{ name: 'greet' }, { name: 'park' }] },
    });
    expect(full.toolList?.map(({ name }) => name)).toEqual(step.tools.map(({ name }) => name));
  });
});

test('RE-3 status says of each tool that is not shown why', async () => {
  await using peer = scriptedServer({
    tools: ['echo', 'park'],
    extraTools: [
      { name: 'hidden', inputSchema: { type: 'object' }, _meta: { ui: { visibility: ['app'] } } },
      { name: 'echo', inputSchema: { type: 'object' } },
      { name: 'a b', inputSchema: { type: 'object' } },
      { name: 'a_b', inputSchema: { type: 'object' } },
      { name: 'listed', inputSchema: { type: 'object' } },
      Object({ name: 'broken', inputSchema: 7 }),
    ],
  });
  const tools = { allow: ['echo', 'park', 'a b', 'a_b', 'hidden'], deny: ['park'] };
  await using thread = createThread({ servers: { a: { ...peer.config, tools } } });
  const step = await thread.beginStep();
  const { tools: counts, toolList = [] } = await statusOf(thread, 'a', 'tools');
  expect(counts).toEqual({ listed: 8, shown: 3, denied: 2, hidden: 1, dropped: 2 });
  expect(
    toolList.map(({ tool, missing, renamed }) => [tool, missing?.reason ?? (renamed === true ? 'renamed' : 'shown')]),
  ).toEqual([
    ['echo', 'shown'],
    ['park', 'denied'],
    ['hidden', 'hidden'],
    ['a b', 'renamed'],
    ['a_b', 'renamed'],
    ['listed', 'notAllowed'],
    ['echo', 'dropped'],
    ['broken', 'dropped'],
  ]);
  expect(toolList.flatMap(({ name }) => name ?? [])).toEqual(step.tools.map(({ name }) => name));
  expect(toolList.at(-1)?.missing?.message).toContain('"inputSchema" of tool "broken"');
});

test("RE-3 latencies are those of the thread's clock, without the time a person was asked", async () => {
  await using peer = scriptedServer({ tools: ['park', 'ask'] });
  const clock = new SimulatedClock();
  await using thread = createThread({ servers: { a: { ...peer.config, parallel: true } }, clock });
  const watch = new Watch(thread);
  const step = await thread.beginStep();
  const call = step.callTool('mcp__a__park', { key: 'k' });
  await peer.untilParked('k');
  clock.increment(100);
  peer.release('k');
  await call;
  expect((await statusOf(thread, 'a')).latency).toEqual({ count: 1, p50Ms: 107, p95Ms: 107, p99Ms: 107 });
  const asked = step.callTool('mcp__a__ask', {});
  const opened = await watch.until(({ type }) => type === 'elicitation.opened');
  clock.increment(60_000);
  if (opened.type === 'elicitation.opened')
    await thread.respond(opened.elicitation.token, { action: 'accept', content: { name: 'x' } });
  await asked;
  expect((await statusOf(thread, 'a')).latency).toMatchObject({ count: 2, p50Ms: 0, p99Ms: 107 });
});

test('RE-3 reconnects and results nobody waited for are counted over all links of a connection', async () => {
  await using peer = scriptedServer({ tools: ['park'] });
  await using thread = createThread({ servers: { a: peer.config } });
  const step = await thread.beginStep();
  const stop = new AbortController();
  const call = errorOf(step.callTool('mcp__a__park', { key: 'k' }, { signal: stop.signal }));
  await peer.untilParked('k');
  stop.abort();
  await call;
  await thread.restartServer('a');
  const failed = errorOf(step.callTool('mcp__a__park', { key: 'k' }));
  await peer.untilParked('k');
  await peer.crash();
  await failed;
  await eventually(() => thread.snapshot().servers[0]?.state === 'ready');
  expect((await statusOf(thread, 'a')).counts).toMatchObject({ calls: 2, aborted: 1, failed: 1, reconnects: 2 });
});

test('RE-3 a late result is counted', async () => {
  await using peer = rawServer((message) => message['method'] === 'tools/call');
  await using thread = createThread({ servers: { a: { ...peer.config, protocol: 'legacy' } } });
  const step = await thread.beginStep();
  const stop = new AbortController();
  const call = errorOf(step.callTool('mcp__a__echo', {}, { signal: stop.signal }));
  const request = await peer.waitFor('tools/call');
  stop.abort();
  await call;
  await peer.waitFor('notifications/cancelled');
  peer.reply(request, { content: [] });
  expect((await statusOf(thread, 'a')).counts.lateResults).toBe(1);
});

test('RE-3 status tells of servers that are off, wrong or broken, and one that fails hides nothing', async () => {
  await using fine = scriptedServer({ tools: ['echo'] });
  await using lying = rawServer(
    (message, peer) => {
      if (message['method'] !== 'resources/list') return false;
      peer.reply(message, { resources: [{ name: 'no uri' }] });
      return true;
    },
    { capabilities: { tools: {}, resources: {} } },
  );
  await using thread = createThread({
    servers: {
      fine: fine.config,
      lying: { ...lying.config, protocol: 'legacy' },
      gone: { command: '/does/not/exist' },
      off: { command: 'x', enabled: false },
    },
    misconfigured: { bad: { code: 'server_misconfigured', message: 'No such variable.', retryable: false } },
    provenance: { fine: { plugin: { id: 'p', name: 'Plugin' } } },
  });
  await thread.ready();
  const { servers } = await thread.status({ detail: 'full' });
  expect(servers.map(({ name, state }) => [name, state])).toEqual([
    ['fine', 'ready'],
    ['lying', 'ready'],
    ['gone', 'failed'],
    ['off', 'disabled'],
    ['bad', 'misconfigured'],
  ]);
  const [first, second, third, , last] = servers;
  expect(first).toMatchObject({ provenance: { plugin: { id: 'p' } }, resources: { count: 1 } });
  expect(second).toMatchObject({
    resources: { count: 0, failure: { code: 'protocol_error' } },
    resourceTemplates: { failure: { code: 'protocol_error' } },
    prompts: { count: 0, items: [] },
  });
  expect(second?.prompts).not.toHaveProperty('failure');
  expect(third).toMatchObject({ error: { code: 'server_unavailable' }, tools: { listed: 0 }, counts: { calls: 0 } });
  expect(third).not.toHaveProperty('resources');
  expect(last).toMatchObject({ error: { message: 'No such variable.' }, tools: { listed: 0 } });
});

test('RE-3 status before the first runtime tells of what starts', async () => {
  await using hanging = scriptedServer({ hangOnStart: true });
  await using thread = createThread({ servers: { a: hanging.config } });
  await eventually(() => thread.snapshot().servers.length === 1);
  expect(await thread.status({ detail: 'full' })).toMatchObject({ generation: 0, servers: [{ state: 'starting' }] });
});

test('RE-3 SE-1 status holds no secret', async () => {
  const secret = 'a-secret-of-a-server';
  await using peer = scriptedServer({ tools: [], extraTools: [], instructions: `Say ${secret}.` });
  await using thread = createThread({ servers: { a: peer.config }, secrets: [secret] });
  await thread.ready();
  const text = JSON.stringify(await thread.status({ detail: 'full' }));
  expect(text).toContain('Say ');
  expect(text).not.toContain(secret);
});

test('RE-3 what status is asked wrongly is refused', async () => {
  await using peer = scriptedServer({ tools: [] });
  await using thread = createThread({ servers: { a: peer.config } });
  await thread.ready();
  for (const options of [{ servers: ['b'] }, { servers: 'a' }, { detail: 'all' }, { timeoutMs: 0 }, { signal: 1 }])
    expect(await errorOf(thread.status(options as unknown as StatusOptions))).toMatchObject({
      code: 'invalid_argument',
    });
  expect((await errorOf(thread.status({ servers: ['b'] }))).message).toContain('("a"), got "b"');
});

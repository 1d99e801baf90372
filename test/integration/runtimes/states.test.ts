import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import type { Failure } from '../../../src/domain/errors.ts';
import type { ServerConfig } from '../../../src/domain/config.ts';
import { deferred, scriptedServer, serveHttp, stdioServerConfig } from '../../../src/testing/index.ts';
import { Watch, errorOf, eventually, serverOf, shown, textOf } from './support.ts';

test('CN-3 every server has its state, its error and its times, each on its own', async () => {
  const gate = deferred();
  await using good = scriptedServer({ era: 'modern', tools: ['echo'] });
  await using held = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
  await using locked = await serveHttp({ tools: ['echo'] });
  locked.setStatus(401, { times: 10, headers: { 'www-authenticate': 'Bearer' } });
  const missing: Failure = {
    code: 'server_misconfigured',
    message: 'Server "unset": expected the variable "TOKEN" to be set, and it is not.',
    retryable: false,
  };
  await using thread = createThread({
    servers: {
      good: good.config,
      held: held.config,
      locked: locked.config,
      off: { ...good.config, enabled: false },
      exits: stdioServerConfig({ exitOnStart: { code: 2, stderr: 'no database\n' } }),
      absent: { command: 'holdfast-has-no-such-command' },
    },
    misconfigured: { unset: missing },
    limits: { startGraceMs: 3_000 },
  });
  const watch = new Watch(thread);
  await thread.ready();

  const states = Object.fromEntries(thread.snapshot().servers.map(({ name, state }) => [name, state]));
  expect(states).toEqual({
    good: 'ready',
    held: 'starting',
    locked: 'authRequired',
    off: 'disabled',
    exits: 'failed',
    absent: 'failed',
    unset: 'misconfigured',
  });
  expect(serverOf(thread, 'good')).toMatchObject({
    transport: 'in-memory',
    era: 'modern',
    protocolVersion: '2026-07-28',
    toolCount: 1,
    generations: [1],
    startedAt: expect.stringMatching(/Z$/) as unknown,
    serverInfo: { name: 'scripted' },
  });
  expect(serverOf(thread, 'exits').error).toMatchObject({ code: 'server_unavailable', stderr: 'no database' });
  expect(serverOf(thread, 'absent').error?.message).toContain('holdfast-has-no-such-command');
  expect(serverOf(thread, 'unset').error).toEqual(missing);
  expect(serverOf(thread, 'locked')).toMatchObject({ auth: 'notLoggedIn', error: { code: 'auth_required' } });
  expect(watch.of('server.changed').filter(({ state }) => state === 'misconfigured')).toMatchObject([
    { server: 'unset', generations: [1], error: missing },
  ]);
  expect(thread.snapshot().runtimes[0]?.servers.toSorted()).toEqual(Object.keys(states).toSorted());
  gate.resolve();
  await watch.untilServer('held', 'ready');
});

test('CN-3 a disabled server starts nothing, and its tools are unknown', async () => {
  await using off = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({ servers: { off: { ...off.config, enabled: false } } });
  const step = await thread.beginStep();
  expect(step.tools).toEqual([]);
  expect((await errorOf(step.callTool('mcp__off__echo'))).code).toBe('unknown_tool');
  expect((await errorOf(step.listTools('off'))).code).toBe('server_unavailable');
  expect(off.journal).toEqual([]);
  await thread.replaceRuntime({ servers: { off: off.config } });
  expect(shown(await thread.beginStep(), 'off')).toEqual(['echo']);
});

test('CN-3 a required server that is disabled is left out', async () => {
  await using good = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({ servers: { off: { ...good.config, required: true, enabled: false } } });
  await thread.ready();
  expect(thread.snapshot().servers.map(({ state }) => state)).toEqual(['disabled']);
});

test('CN-3 one hanging and one exiting server beside a good one delay and hide nothing', async () => {
  await using good = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({
    servers: {
      hangs: stdioServerConfig({ hangOnStart: true }),
      exits: stdioServerConfig({ exitOnStart: { code: 1 } }),
      good: good.config,
    },
  });
  const step = await thread.beginStep();
  expect(shown(step, 'good')).toEqual(['echo']);
  expect(textOf(await step.callTool('mcp__good__echo', { text: 'works' }))).toBe('works');
  expect(serverOf(thread, 'hangs').state).toBe('starting');
  await eventually(() => serverOf(thread, 'exits').state === 'failed');
});

test('CN-2 CN-3 a server that does not start within its limit fails, and says so', async () => {
  await using thread = createThread({
    servers: { hangs: { ...stdioServerConfig({ hangOnStart: true }), startTimeoutMs: 300, required: true } },
  });
  const error = await errorOf(thread.ready());
  expect(error.code).toBe('runtime_failed');
  expect(error.message).toContain('300 ms');
});

test('CN-2 the start limit covers the first listing', async () => {
  await using slow = scriptedServer({ tools: ['echo'], listing: { hangs: true } });
  await using thread = createThread({ servers: { slow: { ...slow.config, startTimeoutMs: 300, required: true } } });
  expect((await errorOf(thread.ready())).message).toContain('300 ms');
});

describe.each(['legacy', 'modern'] as const)('the listing of a %s server', (era) => {
  test('CN-4 is followed over all its pages', async () => {
    await using peer = scriptedServer({ era, tools: ['echo'], manyTools: 500, listing: { pageSize: 10 } });
    await using thread = createThread({ servers: { a: peer.config } });
    const step = await thread.beginStep();
    expect(shown(step, 'a')).toHaveLength(501);
    expect(textOf(await step.callTool('mcp__a__tool-499', { deep: true }))).toBe('{"deep":true}');
  });

  test.each([
    ['endless', { tools: ['echo'], listing: { endless: true } }],
    ['of a repeated cursor', { tools: ['echo', 'count', 'pid'], listing: { repeatedCursor: true } }],
    ['of more than 2,048 tools', { tools: ['echo'], manyTools: 2_049 }],
    ['that fails', { tools: ['echo'], listing: { fails: true } }],
  ] as const)('CN-4 %s makes it degraded, never a truncated list; the rest stays usable', async (_, script) => {
    await using peer = scriptedServer({ era, ...script, tools: [...script.tools] });
    await using thread = createThread({ servers: { a: peer.config } });
    const step = await thread.beginStep();
    expect(serverOf(thread, 'a')).toMatchObject({ state: 'degraded', toolCount: 0 });
    expect(serverOf(thread, 'a').error).toBeDefined();
    expect(step.tools).toEqual([]);
    expect(await step.readResource('a', 'test://static')).toMatchObject({ contents: [{ text: 'static' }] });
  });

  test('CN-4 RT-3 that cannot be had whole fails a required server', async () => {
    await using peer = scriptedServer({ era, tools: ['echo'], listing: { endless: true } });
    await using thread = createThread({ servers: {} });
    await thread.ready();
    const error = await errorOf(thread.replaceRuntime({ servers: { a: { ...peer.config, required: true } } }));
    expect(error.code).toBe('runtime_failed');
    expect(thread.snapshot().generation).toBe(1);
  });

  test('CN-4 that fails later keeps the tools that were known, and heals', async () => {
    const config: ServerConfig = {
      inMemory: () => peer.config.inMemory(),
    };
    await using peer = scriptedServer({ era, tools: ['echo', 'addTool'], listing: { fails: 1 } });
    await using thread = createThread({ servers: { a: config } });
    const watch = new Watch(thread);
    await thread.ready();
    expect(serverOf(thread, 'a').state).toBe('degraded');
    await peer.addTool('extra');
    await watch.untilServer('a', 'ready');
    expect(shown(await thread.beginStep(), 'a')).toEqual(['echo', 'addTool', 'extra']);
    expect(serverOf(thread, 'a').error).toBeUndefined();
  });
});

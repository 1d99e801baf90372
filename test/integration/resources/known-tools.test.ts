import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import { createHost } from '../../../src/index.ts';
import type { Host, ServerConfig, ThreadOptions } from '../../../src/index.ts';
import { createToolCache } from '../../../src/mcp/index.ts';
import { SimulatedClock, deferred, scriptedServer, serveHttp, stdioServerConfig } from '../../../src/testing/index.ts';
import type { ServerScript } from '../../../src/testing/index.ts';
import { Watch, errorOf, eventually, serverOf, shown, textOf, turns } from '../runtimes/support.ts';

/** A server that starts at once the first time, and later only when it is opened. */
function slowLater(script: ServerScript = { tools: ['echo', 'destructive'] }) {
  const gate = deferred<undefined>();
  const fast = scriptedServer(script);
  const slow = scriptedServer(script, { gate: gate.promise });
  let starts = 0;
  const config: ServerConfig = {
    inMemory: () => {
      starts += 1;
      return (starts === 1 ? fast : slow).config.inMemory();
    },
    protocol: 'legacy',
  };
  return {
    config,
    fast,
    open: () => gate.resolve(undefined),
    breakDown: () => gate.reject(new Error('It broke.')),
    [Symbol.asyncDispose]: async () => {
      await fast.close();
      await slow.close();
    },
  };
}

/** Another thread of the host has the server ready. */
async function know(host: Host, config: ServerConfig): Promise<void> {
  await host.createThread({ servers: { slow: config } }).ready();
}

test('RE-2 RT-3 with the grace over, a step shows the known tools of a server that still starts, and its calls wait', async () => {
  await using peer = slowLater();
  await using quick = scriptedServer({ tools: ['echo'] });
  const clock = new SimulatedClock();
  await using host = createHost({ clock });
  await know(host, peer.config);
  const thread = host.createThread({ servers: { slow: peer.config, quick: quick.config } });
  const watch = new Watch(thread);
  await watch.untilServer('quick', 'ready');
  expect(thread.snapshot().generation).toBe(0);
  clock.increment(1_000);
  const step = await thread.beginStep();
  expect(serverOf(thread, 'slow').state).toBe('starting');
  expect(shown(step, 'slow')).toEqual(['echo', 'destructive']);
  expect((await thread.status()).servers[0]?.tools).toMatchObject({ listed: 2, shown: 2, cached: true });
  const call = step.callTool('mcp__slow__echo', { text: 'waited' });
  await turns(5);
  expect(peer.fast.calls()).toBe(0);
  peer.open();
  expect(textOf(await call)).toBe('waited');
  expect((await thread.status()).servers[0]?.tools).not.toHaveProperty('cached');
});

test('RE-2 hints of known tools count for nothing until their server has answered', async () => {
  await using peer = slowLater();
  await using host = createHost();
  await know(host, peer.config);
  const thread = host.createThread({ servers: { slow: peer.config }, cachedTools: 'immediate' });
  const known = await thread.beginStep();
  expect(known.tools.map(({ tool, annotations }) => [tool, annotations])).toEqual([
    ['echo', undefined],
    ['destructive', undefined],
  ]);
  const watch = new Watch(thread);
  peer.open();
  await watch.untilServer('slow', 'ready');
  const fresh = await thread.beginStep();
  expect(fresh.tools[0]?.annotations).toEqual({ readOnlyHint: true });
  expect(known.tools[0]).not.toHaveProperty('annotations');
});

describe('RE-2 RT-3 how a thread uses what its host knows', () => {
  test('immediate publishes the first runtime before its servers have answered', async () => {
    await using peer = slowLater();
    await using host = createHost();
    await know(host, peer.config);
    const thread = host.createThread({ servers: { slow: peer.config }, cachedTools: 'immediate' });
    const step = await thread.beginStep();
    expect(shown(step, 'slow')).toEqual(['echo', 'destructive']);
    expect(serverOf(thread, 'slow').state).toBe('starting');
  });

  test('immediate waits for a required server all the same', async () => {
    await using peer = slowLater();
    await using host = createHost();
    await know(host, peer.config);
    const thread = host.createThread({
      servers: { slow: { ...peer.config, required: true } },
      cachedTools: 'immediate',
    });
    const began = thread.beginStep();
    await turns(10);
    expect(thread.snapshot().generation).toBe(0);
    peer.open();
    expect(shown(await began, 'slow')).toEqual(['echo', 'destructive']);
  });

  test('off shows nothing of a server that still starts', async () => {
    await using peer = slowLater();
    await using quick = scriptedServer({ tools: ['echo'] });
    await using host = createHost({ limits: { startGraceMs: 0 } });
    await know(host, peer.config);
    const thread = host.createThread({ servers: { slow: peer.config, quick: quick.config }, cachedTools: 'off' });
    expect(shown(await thread.beginStep(), 'slow')).toEqual([]);
    peer.open();
  });

  test('known tools are not shown of a server that failed to start', async () => {
    await using peer = slowLater();
    await using host = createHost();
    await know(host, peer.config);
    const thread = host.createThread({ servers: { slow: peer.config }, cachedTools: 'immediate' });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    const call = errorOf(step.callTool('mcp__slow__echo', {}));
    peer.breakDown();
    await watch.untilServer('slow', 'failed');
    expect(await call).toMatchObject({ code: 'server_unavailable', outcome: 'not-sent' });
    expect(shown(await thread.beginStep(), 'slow')).toEqual([]);
  });

  test('a call waits no longer than 10 s for a server whose tools were known', async () => {
    await using peer = slowLater();
    const clock = new SimulatedClock();
    await using host = createHost({ clock });
    await know(host, peer.config);
    const thread = host.createThread({ servers: { slow: peer.config }, cachedTools: 'immediate' });
    const step = await thread.beginStep();
    const call = errorOf(step.callTool('mcp__slow__echo', {}));
    await turns(2);
    clock.increment(10_000);
    expect(await call).toMatchObject({ code: 'server_unavailable', outcome: 'not-sent' });
  });

  test('what is no mode is refused', async () => {
    await using host = createHost();
    const options = { cachedTools: 'sometimes' } as unknown as ThreadOptions;
    expect(() => host.createThread(options)).toThrow(
      'Expected cachedTools to be "grace", "immediate" or "off", got "sometimes".',
    );
  });
});

test('RE-2 H8 what is known of a server is known with the same credentials only', async () => {
  await using peer = await serveHttp({ era: 'legacy', tools: ['echo'] });
  await using host = createHost();
  const config = (token: string): ServerConfig => ({
    ...peer.config,
    transport: 'http',
    headers: { authorization: `Bearer ${token}` },
  });
  const first = host.createThread({ servers: { slow: config('secret-of-one') } });
  await first.ready();
  peer.setStatus(503, { times: 100 });
  const same = host.createThread({ servers: { slow: config('secret-of-one') }, cachedTools: 'immediate' });
  const other = host.createThread({ servers: { slow: config('secret-of-other') }, cachedTools: 'immediate' });
  await same.ready();
  expect((await same.status()).servers[0]).toMatchObject({ state: 'starting', tools: { listed: 1, cached: true } });
  await eventually(() => other.snapshot().servers.length > 0);
  expect((await other.status()).servers[0]?.tools).toMatchObject({ listed: 0 });
});

test.each([
  [true, ['greet']],
  [false, []],
])('RE-2 a server that says of its list that it is cacheable: %s', async (cacheable, tools) => {
  const server = () => {
    const experimental = { 'codex/tool-catalog-cache': { cacheable } };
    const made = new McpServer({ name: 'own', version: '1.0.0' }, { capabilities: { tools: {}, experimental } });
    made.registerTool('greet', {}, () => ({ content: [] }));
    return made;
  };
  await using hanging = scriptedServer({ hangOnStart: true });
  let starts = 0;
  const config: ServerConfig = {
    inMemory: () => {
      starts += 1;
      return starts === 1 ? server() : hanging.config.inMemory();
    },
    protocol: 'legacy',
  };
  await using quick = scriptedServer({ tools: ['echo'] });
  await using host = createHost({ limits: { startGraceMs: 0 } });
  await know(host, config);
  const thread = host.createThread({ servers: { slow: config, quick: quick.config } });
  expect(shown(await thread.beginStep(), 'slow')).toEqual(tools);
});

test('RE-2 a changed list is what the next thread knows', async () => {
  await using peer = slowLater();
  await using host = createHost();
  const first = host.createThread({ servers: { slow: peer.config } });
  const watch = new Watch(first);
  await first.ready();
  await peer.fast.addTool('added');
  await watch.until(({ type }) => type === 'tools.changed');
  const second = host.createThread({ servers: { slow: peer.config }, cachedTools: 'immediate' });
  expect(shown(await second.beginStep(), 'slow')).toEqual(['echo', 'destructive', 'added']);
});

test('RE-2 a host that is given a cache on disk knows the tools of processes from the run before, and none of its own', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-'));
  try {
    const config = stdioServerConfig({ tools: ['echo'] });
    const toolCache = createToolCache({ directory, key: 'ada' });
    await using first = createHost({ toolCache });
    await using peer = scriptedServer({ tools: ['echo'] });
    await first.createThread({ servers: { child: config, own: peer.config } }).ready();
    await eventually(() => existsSync(directory) && readdirSync(directory).length > 0);
    await first.close();
    expect(readdirSync(directory)).toHaveLength(1);
    await using second = createHost({ toolCache });
    const thread = second.createThread({ servers: { child: config }, cachedTools: 'immediate' });
    const step = await thread.beginStep();
    expect(serverOf(thread, 'child').state).toBe('starting');
    expect(textOf(await step.callTool('mcp__child__echo', { text: 'at once' }))).toBe('at once');
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('RT-12 RE-2 a cache that throws costs only what it would have known', async () => {
  const fail = (): never => {
    throw new Error('The cache broke.');
  };
  await using peer = scriptedServer({ tools: ['echo'] });
  await using host = createHost({ toolCache: { get: fail, begin: fail, put: fail } });
  const thread = host.createThread({ servers: { a: peer.config } });
  const watch = new Watch(thread);
  expect(shown(await thread.beginStep(), 'a')).toEqual(['echo']);
  expect(watch.of('warning').map(({ code }) => code)).toContain('tool_cache_failed');
});

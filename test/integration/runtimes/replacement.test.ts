import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import type { Publication, Thread } from '../../../src/index.ts';
import type { ServerConfig } from '../../../src/domain/config.ts';
import { scriptedServer, serveHttp, stdioServerConfig } from '../../../src/testing/index.ts';
import { Watch, serverOf, shown, textOf } from './support.ts';

describe('unchanged servers', () => {
  test('RT-5 keep their process and connection id across replacements', async () => {
    const kept = stdioServerConfig({ tools: ['pid'] });
    await using thread = createThread({ servers: { kept } });
    await thread.ready();
    const { pid, connection } = serverOf(thread, 'kept');
    for (let swap = 0; swap < 5; swap++)
      await thread.replaceRuntime({ servers: { kept: { ...kept }, [`new-${String(swap)}`]: stdioServerConfig() } });
    expect(serverOf(thread, 'kept')).toMatchObject({ pid, connection, generations: [6] });
    const step = await thread.beginStep();
    expect(textOf(await step.callTool('mcp__kept__pid'))).toBe(String(pid));
  });

  test.each<[string, Partial<ServerConfig>]>([
    ['a filter', { tools: { allow: ['echo'] } }],
    ['a time limit', { callTimeoutMs: 5_000 }],
    ['a start limit', { startTimeoutMs: 5_000 }],
    ['an approval mode', { approval: 'approve' }],
    ['the parallel flag', { parallel: true }],
    ['the serialize flag', { serialize: true }],
    ['required', { required: true }],
    ['a pause limit', { maxPauseMs: 1_000 }],
    ['retry', { retry: 'idempotent' }],
  ])('RT-5 %s reconnects nothing', async (_, change) => {
    await using peer = scriptedServer({ era: 'modern', tools: ['echo', 'count'] });
    await using thread = createThread({ servers: { a: peer.config } });
    await thread.ready();
    const { connection } = serverOf(thread, 'a');
    await thread.replaceRuntime({ servers: { a: { ...peer.config, ...change } } });
    expect(serverOf(thread, 'a').connection).toBe(connection);
    expect(peer.journal.filter(({ kind }) => kind === 'started')).toHaveLength(1);
  });

  test('RT-5 a changed filter changes what the next step shows, on the same connection', async () => {
    await using peer = scriptedServer({ tools: ['echo', 'count'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const old = await thread.beginStep();
    await thread.replaceRuntime({ servers: { a: { ...peer.config, tools: { deny: ['count'] } } } });
    const young = await thread.beginStep();
    expect([shown(old, 'a'), shown(young, 'a')]).toEqual([['echo', 'count'], ['echo']]);
    expect(textOf(await old.callTool('mcp__a__count', { tool: 'count' }))).toBe('1');
  });
});

describe('changed servers', () => {
  test.each<[string, (config: ReturnType<typeof stdioServerConfig>) => ServerConfig]>([
    ['an environment value', (config) => ({ ...config, env: { MODE: 'two' } })],
    ['an argument', (config) => ({ ...config, args: [...(config.args ?? []), 'more'] })],
    ['the folder', (config) => ({ ...config, cwd: '/' })],
    ['the protocol', (config) => ({ ...config, protocol: 'legacy' })],
    ['the environment', (config) => ({ ...config, environment: 'elsewhere' })],
  ])('RT-5 %s starts a new process', async (_, change) => {
    const before = { ...stdioServerConfig({ tools: ['env', 'pid'] }), env: { MODE: 'one' } };
    await using thread = createThread({ servers: { a: before } });
    const watch = new Watch(thread);
    await thread.ready();
    const { pid, connection } = serverOf(thread, 'a');
    await thread.replaceRuntime({ servers: { a: change(before) } });
    const after = serverOf(thread, 'a');
    expect(after.pid).not.toBe(pid);
    expect(after.connection).not.toBe(connection);
    await watch.untilServer('a', 'closed');
    expect(thread.snapshot().servers).toHaveLength(1);
  });

  test('RT-5 a header opens a new session', async () => {
    await using peer = await serveHttp({ tools: ['echo'] });
    await using thread = createThread({ servers: { a: { ...peer.config, headers: { 'x-team': 'one' } } } });
    await thread.ready();
    const { connection } = serverOf(thread, 'a');
    await thread.replaceRuntime({ servers: { a: { ...peer.config, headers: { 'x-team': 'two' } } } });
    expect(serverOf(thread, 'a').connection).not.toBe(connection);
    expect(peer.requests.at(-1)?.headers['x-team']).toBe('two');
  });
});

describe('500 rapid replacements', () => {
  test('RT-4 RT-5 drop no call in flight and keep what is unchanged', async () => {
    const child = stdioServerConfig({ tools: ['echo', 'pid', 'park', 'release'] });
    await using http = await serveHttp({ era: 'modern', tools: ['echo'] });
    await using memory = scriptedServer({ tools: ['echo'] });
    const changing = Array.from({ length: 4 }, () => scriptedServer({ tools: ['echo'] }));
    const serversOf = (swap: number): Record<string, ServerConfig> => ({
      child: { ...child, callTimeoutMs: 60_000 + (swap % 2) },
      http: http.config,
      memory: memory.config,
      changing: changing[swap % 4]?.config ?? memory.config,
    });
    await using thread = createThread({ servers: serversOf(0) });
    await thread.ready();
    const before = ['child', 'http', 'memory'].map((name) => serverOf(thread, name).connection);
    const { pid } = serverOf(thread, 'child');
    const parkedStep = await thread.beginStep();
    const parked = parkedStep.callTool('mcp__child__park', { key: 'throughout' });

    const publications: Promise<Publication>[] = [];
    const calls: Promise<string>[] = [];
    for (let swap = 1; swap <= 500; swap++) {
      publications.push(thread.replaceRuntime({ servers: serversOf(swap) }));
      calls.push(callAll(thread, String(swap)));
      // Some come in bursts, some one turn after the other.
      if (swap % 3 !== 0) await publications.at(-1);
    }
    const outcomes = await Promise.all(publications);
    const texts = await Promise.all(calls);

    expect(texts).toEqual(
      Array.from({ length: 500 }, (_, swap) =>
        Array(4)
          .fill(String(swap + 1))
          .join(' '),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'published').length).toBeGreaterThan(300);
    expect(outcomes.at(-1)).toMatchObject({ status: 'published', generation: 501 });
    expect(['child', 'http', 'memory'].map((name) => serverOf(thread, name).connection)).toEqual(before);
    expect(serverOf(thread, 'child').pid).toBe(pid);
    expect(thread.snapshot().runtimes.map(({ generation }) => generation)).toEqual([1, 501]);

    const releasing = await thread.beginStep();
    await releasing.callTool('mcp__child__release', { key: 'throughout', value: 'survived' });
    expect(textOf(await parked)).toBe('survived');
    await thread.close();
    await Promise.all(changing.map((server) => server.close()));
  });
});

async function callAll(thread: Thread, text: string): Promise<string> {
  await using step = await thread.beginStep();
  const results = await Promise.all(
    ['child', 'http', 'memory', 'changing'].map((server) => step.callTool(`mcp__${server}__echo`, { text })),
  );
  return results.map(textOf).join(' ');
}

import { describe, expect, test, vi } from 'vitest';
import { createHost } from '../../../src/index.ts';
import { createLinkPool } from '../../../src/mcp/link-pool.ts';
import { restMs } from '../../../src/mcp/shared-server.ts';
import type { Thread } from '../../../src/index.ts';
import type { ServerConfig } from '../../../src/domain/config.ts';
import { serveHttp } from '../../../src/testing/index.ts';
import type { ScriptedHttpServer } from '../../../src/testing/index.ts';
import { Told } from '../../mcp/support.ts';
import { Watch, errorOf, eventually, serverOf, shown, textOf, turns } from '../runtimes/support.ts';

function count(server: ScriptedHttpServer, method: string): number {
  return server.requests.filter(({ rpcMethods }) => rpcMethods.includes(method)).length;
}

async function ready(host: ReturnType<typeof createHost>, config: ServerConfig): Promise<Thread> {
  const thread = host.createThread({ servers: { a: config } });
  await thread.ready();
  return thread;
}

describe('threads of one host that name a modern HTTP server alike', () => {
  test('CN-6 discover, list and listen to it once, those that start together too', async () => {
    await using server = await serveHttp({ era: 'modern', tools: ['echo'] });
    await using host = createHost();
    const first = await Promise.all([ready(host, server.config), ready(host, server.config)]);
    const later = await ready(host, server.config);
    for (const thread of [...first, later]) {
      const step = await thread.beginStep();
      expect(shown(step, 'a')).toEqual(['echo']);
      expect(textOf(await step.callTool('mcp__a__echo', { text: thread.id }))).toBe(thread.id);
    }
    expect([count(server, 'server/discover'), count(server, 'tools/list')]).toEqual([1, 1]);
    await eventually(() => count(server, 'subscriptions/listen') > 0);
    expect(count(server, 'subscriptions/listen')).toBe(1);
  });

  test.each([
    ['another bearer', { headers: { authorization: 'Bearer of-another-person' } }],
    ['another header', { headers: { 'x-tenant': 'other' } }],
    ['another url', { url: '?other' }],
  ])('CN-6 H8 share nothing with %s', async (_what, difference) => {
    await using server = await serveHttp({ era: 'modern', tools: ['echo'] });
    await using host = createHost();
    await ready(host, { ...server.config, headers: { authorization: 'Bearer of-one-person' } });
    const other = 'url' in difference ? { url: `${server.url}${difference.url}` } : difference;
    await ready(host, { ...server.config, headers: { authorization: 'Bearer of-one-person' }, ...other });
    expect([count(server, 'server/discover'), count(server, 'tools/list')]).toEqual([2, 2]);
  });

  test('CN-6 H8 share nothing with threads of another host, nor when they offer something else', async () => {
    await using server = await serveHttp({ era: 'modern', tools: ['echo'] });
    await using host = createHost();
    await using other = createHost();
    await ready(host, server.config);
    await ready(other, server.config);
    const sampling = host.createThread({ servers: { a: server.config }, sampling: 'ask' });
    await sampling.ready();
    expect(count(server, 'tools/list')).toBe(3);
  });

  test('H8 hear the progress and the logs of their own calls only', async () => {
    await using server = await serveHttp({ era: 'modern', tools: ['progress', 'log', 'echo'] });
    await using host = createHost();
    const [one, two] = [await ready(host, server.config), await ready(host, server.config)];
    const [seen, other] = [new Watch(one), new Watch(two)];
    const step = await one.beginStep();
    const progress: number[] = [];
    await step.callTool(
      'mcp__a__progress',
      { steps: 3 },
      { onProgress: ({ progress: done }) => void progress.push(done) },
    );
    await step.callTool('mcp__a__log', { message: 'only for one' });
    await (await two.beginStep()).callTool('mcp__a__echo');
    expect(progress).toHaveLength(3);
    expect(seen.of('call.progressed')).toHaveLength(3);
    expect(JSON.stringify(other.facts)).not.toContain('only for one');
    expect(other.of('call.progressed')).toEqual([]);
    expect(other.of('server.logged')).toEqual([]);
    expect(other.of('call.started').map(({ tool }) => tool)).toEqual(['echo']);
  });

  test('H8 are asked for their own calls only', async () => {
    await using server = await serveHttp({ era: 'modern', tools: ['ask'] });
    await using host = createHost();
    const [one, two] = [await ready(host, server.config), await ready(host, server.config)];
    const call = (await one.beginStep()).callTool('mcp__a__ask');
    await eventually(() => one.snapshot().elicitations.length === 1);
    expect(two.snapshot().elicitations).toEqual([]);
    const [{ token } = { token: '' }] = one.snapshot().elicitations;
    expect(await two.respond(token, { action: 'accept', content: { name: 'x' } })).toEqual({ status: 'unknown' });
    await one.respond(token, { action: 'accept', content: { name: 'x' } });
    await call;
  });

  test('CN-5 CN-6 all hear that the tools changed, and list them once', async () => {
    await using server = await serveHttp({ era: 'modern', tools: ['echo', 'addTool'] });
    await using host = createHost();
    const threads = [await ready(host, server.config), await ready(host, server.config)];
    const watches = threads.map((thread) => new Watch(thread));
    await eventually(() => count(server, 'subscriptions/listen') === 1);
    const isDone = (): boolean => watches.every((watch) => watch.of('tools.changed').length > 0);
    let names = 0;
    while (!isDone()) {
      await server.addTool(`added-${String((names += 1))}`);
      await turns(10);
    }
    for (const thread of threads) expect(shown(await thread.beginStep(), 'a')).toContain('added-1');
    expect(count(server, 'tools/list')).toBeLessThanOrEqual(1 + names);
  });

  test('CN-6 one that closes leaves the others what they have; the last one closes it', async () => {
    await using server = await serveHttp({ era: 'modern', tools: ['echo', 'park'] });
    await using host = createHost();
    const [one, two] = [await ready(host, server.config), await ready(host, server.config)];
    const step = await two.beginStep();
    const parked = step.callTool('mcp__a__park', { key: 'key' });
    await server.untilParked('key');
    await one.close();
    expect(serverOf(two, 'a').state).toBe('ready');
    server.release('key', 'still here');
    expect(textOf(await parked)).toBe('still here');
    await two.close();
    await ready(host, server.config);
    expect(count(server, 'tools/list')).toBe(2);
  });

  test('CN-6 RT-7 a restart is a start of its own, and disturbs nobody', async () => {
    await using server = await serveHttp({ era: 'modern', tools: ['echo', 'park'] });
    await using host = createHost();
    const [one, two] = [await ready(host, server.config), await ready(host, server.config)];
    const parked = (await two.beginStep()).callTool('mcp__a__park', { key: 'key' });
    await server.untilParked('key');
    await one.restartServer('a');
    expect(count(server, 'tools/list')).toBe(2);
    server.release('key', 'undisturbed');
    expect(textOf(await parked)).toBe('undisturbed');
    expect(serverOf(one, 'a').state).toBe('ready');
    const third = await ready(host, server.config);
    expect(textOf(await (await third.beginStep()).callTool('mcp__a__echo', { text: 'third' }))).toBe('third');
    expect(count(server, 'tools/list')).toBe(2);
  });

  test('CN-6 RT-7 all find it again after it went away, with one listing', async () => {
    const server = await serveHttp({ era: 'modern', tools: ['echo'] });
    await using host = createHost();
    const threads = [await ready(host, server.config), await ready(host, server.config)];
    const watches = threads.map((thread) => new Watch(thread));
    const steps = await Promise.all(threads.map((thread) => thread.beginStep()));
    await Promise.all(steps.map((step) => step.callTool('mcp__a__echo')));
    await server.close();
    await Promise.all(watches.map((watch) => watch.untilServer('a', 'reconnecting')));
    await using again = await serveHttp({ era: 'modern', tools: ['echo'] }, { port: server.port });
    const calls = await Promise.all(steps.map((step) => step.callTool('mcp__a__echo', { text: 'back' })));
    expect(calls.map(textOf)).toEqual(['back', 'back']);
    expect(count(again, 'tools/list')).toBe(1);
    expect(again.calls()).toBe(2);
  });

  test('CN-6 a start that one of them gives up goes on for the other', async () => {
    await using server = await serveHttp({ era: 'modern', tools: ['echo'], listing: {} });
    server.setStatus(503, { headers: { 'retry-after': '1' } });
    await using host = createHost();
    const one = host.createThread({ servers: { a: server.config } });
    await eventually(() => server.requests.length === 1);
    const two = host.createThread({ servers: { a: { ...server.config, required: true } } });
    await one.close();
    await two.ready();
    expect(serverOf(two, 'a').state).toBe('ready');
  });

  test('CN-6 a start that fails has failed for all who wait for it', async () => {
    await using server = await serveHttp({ era: 'modern', tools: ['echo'] });
    server.setStatus(503, { headers: { 'retry-after': '3600' } });
    const open = createLinkPool();
    const options = {
      server: 'a',
      config: server.config,
      identity: 'the same',
      offer: { sampling: false, roots: false },
      signal: new AbortController().signal,
      timeoutMs: 5_000,
    };
    const errors = await Promise.all([1, 2].map(() => errorOf(open({ ...options, handlers: new Told().handlers }))));
    expect(errors.map(({ code }) => code)).toEqual(['server_unavailable', 'server_unavailable']);
    expect(count(server, 'server/discover')).toBe(1);
  });
});

test('PE-4 CN-6 a thread that says nothing for a while gives up its own conversation, and goes on when it speaks', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    await using server = await serveHttp({ era: 'modern', tools: ['echo', 'park'] });
    await using host = createHost();
    const [one, two] = [await ready(host, server.config), await ready(host, server.config)];
    const step = await one.beginStep();
    await step.callTool('mcp__a__echo', { text: 'first' });
    const parked = (await two.beginStep()).callTool('mcp__a__park', { key: 'key' });
    await server.untilParked('key');
    vi.advanceTimersByTime(restMs * 3);
    await turns(5);
    expect(textOf(await step.callTool('mcp__a__echo', { text: 'again' }))).toBe('again');
    server.release('key', 'waited for');
    expect(textOf(await parked)).toBe('waited for');
    expect(count(server, 'tools/list')).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

describe('what is never shared', () => {
  test('H8 a legacy server has one session for each thread', async () => {
    await using server = await serveHttp({ tools: ['echo'] });
    await using host = createHost();
    const threads = await Promise.all([1, 2, 3].map(() => ready(host, server.config)));
    for (const thread of threads) await (await thread.beginStep()).callTool('mcp__a__echo');
    expect(server.sessions).toHaveLength(3);
    await threads[0]?.close();
    expect(server.sessions).toHaveLength(2);
  });
});

test.each(['legacy', 'modern'] as const)(
  'AU-3 CN-6 a %s call that meets a wall still leads to a sign-in',
  async (era) => {
    await using server = await serveHttp({ era, tools: ['echo'] });
    await using host = createHost();
    const threads = [await ready(host, server.config), await ready(host, server.config)];
    for (const [index, thread] of threads.entries()) {
      const path = `/metadata-${String(index)}`;
      const challenge = `Bearer resource_metadata="http://127.0.0.1:${String(server.port)}${path}"`;
      server.setStatus(401, { rpcMethod: 'tools/call', headers: { 'www-authenticate': challenge } });
      const error = await errorOf((await thread.beginStep()).callTool('mcp__a__echo'));
      expect(error.outcome).toBe('not-sent');
      expect(server.requests.map((request) => request.path)).toContain(path);
    }
  },
);

import { describe, expect, test } from 'vitest';
import { createHost, createThread } from '../../../src/index.ts';
import type { ServerConfig, Thread } from '../../../src/index.ts';
import { SimulatedClock, serveHttp } from '../../../src/testing/index.ts';
import type { ScriptedHttpServer } from '../../../src/testing/index.ts';
import { Watch, errorOf } from '../runtimes/support.ts';

const uri = 'test://static';
const hourMs = 60 * 60 * 1_000;

/** How often a method was asked for. */
function asked(peer: ScriptedHttpServer, method: string): number {
  return peer.requests.filter(({ rpcMethods }) => rpcMethods.includes(method)).length;
}

describe('RE-2 what a modern server lets be kept', () => {
  test('is given again, to steps too, until its time is over', async () => {
    await using peer = await serveHttp({ era: 'modern', tools: ['echo'], keep: { ttlMs: hourMs } });
    const clock = new SimulatedClock();
    await using thread = createThread({ servers: { a: peer.config }, clock });
    await using step = await thread.beginStep();
    const first = await thread.readResource('a', uri);
    const again = await thread.readResource('a', uri);
    expect(again).toEqual(first);
    expect(again).not.toBe(first);
    expect(await step.readResource('a', uri)).toEqual(first);
    expect(await thread.resources.read('a', uri)).toEqual(first);
    expect(asked(peer, 'resources/read')).toBe(1);
    clock.increment(hourMs);
    await thread.readResource('a', uri);
    expect(asked(peer, 'resources/read')).toBe(2);
  });

  test.each([
    ['resources/list', (thread: Thread) => thread.listResources('a')],
    ['resources/templates/list', (thread: Thread) => thread.listResourceTemplates('a')],
    ['prompts/list', (thread: Thread) => thread.listPrompts('a')],
    ['prompts/list', (thread: Thread) => thread.listPrompts('a', { all: true })],
    ['tools/list', (thread: Thread) => thread.listTools('a')],
  ])('%s is one of them', async (method, list) => {
    await using peer = await serveHttp({ era: 'modern', tools: ['echo'], keep: { ttlMs: hourMs } });
    await using thread = createThread({ servers: { a: peer.config } });
    await thread.ready();
    const before = asked(peer, method);
    const first = await list(thread);
    expect(await list(thread)).toEqual(first);
    expect(asked(peer, method) - before).toBe(1);
  });

  test('is asked for again where the caller wants it fresh', async () => {
    await using peer = await serveHttp({ era: 'modern', tools: ['echo'], keep: { ttlMs: hourMs } });
    await using thread = createThread({ servers: { a: peer.config } });
    await thread.readResource('a', uri);
    await thread.readResource('a', uri, { fresh: true });
    expect(asked(peer, 'resources/read')).toBe(2);
  });

  test('is at an end when the server says that it changed', async () => {
    await using peer = await serveHttp({ era: 'modern', tools: ['echo'], keep: { ttlMs: hourMs } });
    await using thread = createThread({ servers: { a: peer.config } });
    const watch = new Watch(thread);
    await thread.subscribeResource('a', uri);
    await thread.readResource('a', uri);
    await thread.listTools('a');
    const listed = asked(peer, 'tools/list');
    await peer.updateResource(uri);
    await watch.until(({ type }) => type === 'resource.updated');
    await thread.readResource('a', uri);
    expect(asked(peer, 'resources/read')).toBe(2);
    await thread.listTools('a');
    expect(asked(peer, 'tools/list')).toBe(listed);
    await peer.addTool('more');
    await watch.until(({ type }) => type === 'tools.changed');
    expect(await thread.listTools('a')).toMatchObject({ tools: [{ name: 'echo' }, { name: 'more' }] });
  });

  test('is at an end when its server is connected anew, and lasts through a replacement that leaves it', async () => {
    await using peer = await serveHttp({ era: 'modern', tools: ['echo'], keep: { ttlMs: hourMs } });
    await using thread = createThread({ servers: { a: peer.config } });
    await thread.readResource('a', uri);
    await thread.replaceRuntime({ servers: { a: { ...peer.config, parallel: true } } });
    await thread.readResource('a', uri);
    expect(asked(peer, 'resources/read')).toBe(1);
    await thread.restartServer('a');
    await thread.readResource('a', uri);
    expect(asked(peer, 'resources/read')).toBe(2);
  });

  test('is not kept when it changed while it was on its way', async () => {
    await using peer = await serveHttp({ era: 'modern', tools: ['echo'], keep: { ttlMs: hourMs } });
    await using thread = createThread({ servers: { a: peer.config } });
    const watch = new Watch(thread);
    await thread.subscribeResource('a', 'test://park/x');
    const read = thread.readResource('a', 'test://park/x');
    await peer.untilParked('x');
    await peer.updateResource('test://park/x');
    await watch.until(({ type }) => type === 'resource.updated');
    peer.release('x', 'old');
    expect(await read).toMatchObject({ contents: [{ text: 'old' }] });
    peer.release('x', 'young');
    expect(await thread.readResource('a', 'test://park/x')).toMatchObject({ contents: [{ text: 'young' }] });
  });
});

test('RE-2 H8 a private result is for its thread alone, a public one for all who reach the server', async () => {
  const other = { authorization: 'Bearer another-secret' };
  for (const [cacheScope, reads] of [
    ['private', 3],
    ['public', 1],
  ] as const) {
    await using peer = await serveHttp({ era: 'modern', tools: ['echo'], keep: { ttlMs: hourMs, cacheScope } });
    await using host = createHost();
    const configs: readonly ServerConfig[] = [peer.config, peer.config, { ...peer.config, headers: other }];
    for (const config of configs) {
      const thread = host.createThread({ servers: { a: config } });
      await thread.readResource('a', uri);
    }
    expect(asked(peer, 'resources/read')).toBe(reads);
    await using stranger = createThread({ servers: { a: peer.config } });
    await stranger.readResource('a', uri);
    expect(asked(peer, 'resources/read')).toBe(reads + 1);
  }
});

test.each([
  ['legacy', { ttlMs: hourMs }],
  ['modern', undefined],
] as const)('RE-2 a %s server that does not say so has nothing kept', async (era, kept) => {
  await using peer = await serveHttp({ era, tools: ['echo'], ...(kept === undefined ? {} : { keep: kept }) });
  await using thread = createThread({ servers: { a: peer.config } });
  await thread.readResource('a', uri);
  await thread.readResource('a', uri);
  expect(asked(peer, 'resources/read')).toBe(2);
});

test('RE-2 a step that has ended and a thread that is closed give nothing of what is kept', async () => {
  await using peer = await serveHttp({ era: 'modern', tools: ['echo'], keep: { ttlMs: hourMs } });
  await using thread = createThread({ servers: { a: peer.config } });
  const step = await thread.beginStep();
  await step.readResource('a', uri);
  await step.end();
  expect((await errorOf(step.readResource('a', uri))).code).toBe('step_ended');
  await thread.close();
  expect((await errorOf(thread.readResource('a', uri))).code).toBe('thread_closed');
});

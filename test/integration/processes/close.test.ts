import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHost, createThread } from '../../../src/index.ts';
import type { Thread } from '../../../src/index.ts';
import type { ServerConfig } from '../../../src/domain/config.ts';
import { deferred, readJournal, scriptedServer, serveHttp, stdioServerConfig } from '../../../src/testing/index.ts';
import { Watch, errorOf, eventually, serverOf, textOf, turns } from '../runtimes/support.ts';
import { isAlive, processListeners, resources } from './support.ts';

/** A process with grandchildren: in its group, in sessions of their own, deaf to SIGTERM, holding its pipes. */
async function grow(thread: Thread, server: string): Promise<readonly number[]> {
  const step = await thread.beginStep();
  const pids = [serverOf(thread, server).pid ?? 0];
  for (const args of [
    {},
    { detached: true },
    { detached: true, deaf: true },
    { inherit: true },
    { deaf: true, inherit: true },
  ])
    pids.push(Number(textOf(await step.callTool(`mcp__${server}__fork`, args))));
  await step.end();
  return pids;
}

describe('close', () => {
  test.each<[string, ServerConfig]>([
    ['a process that ends with its stdin', stdioServerConfig({ tools: ['fork'] })],
    ['a process that ends on SIGTERM', stdioServerConfig({ tools: ['fork'], stubborn: 'stdin' })],
    ['a process that ends only on SIGKILL', stdioServerConfig({ tools: ['fork'], stubborn: 'sigterm' })],
    ['a modern process', stdioServerConfig({ era: 'modern', tools: ['fork'] })],
  ])('RT-11 H10 leaves nothing of %s and of what it started', async (_, config) => {
    const thread = createThread({ servers: { a: config } });
    const pids = await grow(thread, 'a');
    expect(pids.map(isAlive)).toEqual(pids.map(() => true));
    await thread.close();
    expect(pids.map(isAlive)).toEqual(pids.map(() => false));
  });

  test('RT-11 H10 leaves no socket, listener or child of any kind of server', async () => {
    const settled = await settledResources();
    const listeners = processListeners();
    for (let round = 0; round < 3; round++) {
      await using legacy = await serveHttp({ tools: ['ask', 'echo', 'hang'] });
      await using modern = await serveHttp({ era: 'modern', tools: ['ask', 'echo', 'hang'] });
      await using memory = scriptedServer({ tools: ['ask', 'hang'] });
      const thread = createThread({
        servers: {
          legacy: { ...legacy.config, parallel: true, required: true },
          modern: { ...modern.config, parallel: true, required: true },
          memory: { ...memory.config, parallel: true, required: true },
          child: { ...stdioServerConfig({ tools: ['hang'] }), parallel: true, required: true },
          hangs: stdioServerConfig({ hangOnStart: true }),
          exits: stdioServerConfig({ exitOnStart: { code: 1 } }),
          refused: { url: 'http://127.0.0.1:1/mcp' },
        },
      });
      const watch = new Watch(thread);
      const step = await thread.beginStep();
      const open = [
        errorOf(step.callTool('mcp__legacy__hang')),
        errorOf(step.callTool('mcp__modern__hang')),
        errorOf(step.callTool('mcp__memory__hang')),
        errorOf(step.callTool('mcp__child__hang')),
        errorOf(step.callTool('mcp__legacy__ask')),
        errorOf(step.callTool('mcp__modern__ask')),
        errorOf(step.callTool('mcp__memory__ask')),
        errorOf(thread.readResource('memory', 'test://park/key')),
      ];
      await watch.until(() => watch.of('elicitation.opened').length === 3);
      await thread.close();
      expect((await Promise.all(open)).map(({ code }) => code)).toEqual(open.map(() => 'aborted'));
      expect(watch.of('elicitation.settled').map(({ outcome }) => outcome)).toEqual([
        'cancelled',
        'cancelled',
        'cancelled',
      ]);
      expect(thread.snapshot()).toMatchObject({
        state: 'closed',
        runtimes: [],
        servers: [],
        steps: [],
        elicitations: [],
      });
      expect(memory.connections).toBe(0);
    }
    expect(await settledResources()).toEqual(settled);
    expect(processListeners()).toEqual(listeners);
  });

  test('RT-11 during the first start ends what was being started', async () => {
    const thread = createThread({ servers: { hangs: stdioServerConfig({ hangOnStart: true }) } });
    const watch = new Watch(thread);
    const ready = errorOf(thread.ready());
    await watch.untilServer('hangs', 'starting');
    await turns(3);
    await thread.close();
    expect((await ready).code).toBe('thread_closed');
    expect(await childrenOfThisProcess()).toEqual([]);
  });

  test('RT-11 before anything began, twice, and at once, is one close', async () => {
    const thread = createThread({ servers: { a: stdioServerConfig() } });
    const watch = new Watch(thread);
    await Promise.all([thread.close(), thread.close()]);
    await thread.close();
    await thread[Symbol.asyncDispose]();
    expect(watch.of('thread.closed')).toHaveLength(1);
    expect(watch.facts.at(-1)?.type).toBe('thread.closed');
    expect(await childrenOfThisProcess()).toEqual([]);
  });

  test('RT-11 H10 of threads that listen for signals leaves no listener for them', async () => {
    const listeners = processListeners();
    const threads = Array.from({ length: 20 }, () => createThread({ handleSignals: true }));
    expect(processListeners()['SIGTERM']).toBe((listeners['SIGTERM'] ?? 0) + 1);
    await Promise.all(threads.map((thread) => thread.close()));
    expect(processListeners()).toEqual(listeners);
  });

  test('RT-11 rejects a replacement that is under way', async () => {
    const gate = deferred();
    await using held = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
    const thread = createThread({ servers: {} });
    await thread.ready();
    const replaced = errorOf(thread.replaceRuntime({ servers: { held: { ...held.config, required: true } } }));
    await held.until('started');
    await thread.close();
    expect((await replaced).code).toBe('thread_closed');
    expect(held.connections).toBe(0);
    gate.resolve();
  });

  test('RT-11 while a server reconnects or restarts leaves nothing', async () => {
    const config = stdioServerConfig({ tools: ['pid'] });
    const thread = createThread({ servers: { a: config, b: config } });
    const watch = new Watch(thread);
    await thread.ready();
    const restarted = thread.restartServer('b');
    process.kill(serverOf(thread, 'a').pid ?? 0, 'SIGKILL');
    await watch.untilServer('a', 'reconnecting');
    await thread.close();
    await restarted;
    expect(await childrenOfThisProcess()).toEqual([]);
  });

  test('RT-11 of a host closes all its threads', async () => {
    const host = createHost();
    const threads = Array.from({ length: 3 }, () =>
      host.createThread({ servers: { a: stdioServerConfig({ tools: ['fork'] }) } }),
    );
    const pids = (await Promise.all(threads.map((thread) => grow(thread, 'a')))).flat();
    await host.close();
    expect(pids.map(isAlive)).toEqual(pids.map(() => false));
    expect(threads.map((thread) => thread.snapshot().state)).toEqual(['closed', 'closed', 'closed']);
  });
});

describe('a retired runtime', () => {
  test('RT-11 H10 that drained leaves nothing of its processes, and disturbs no other', async () => {
    const kept = stdioServerConfig({ tools: ['pid'] });
    await using thread = createThread({ servers: { old: stdioServerConfig({ tools: ['fork'] }), kept } });
    const watch = new Watch(thread);
    const pids = await grow(thread, 'old');
    const step = await thread.beginStep();
    await thread.replaceRuntime({ servers: { kept } });
    await turns(5);
    expect(pids.map(isAlive)).toEqual(pids.map(() => true));
    await step.end();
    await watch.untilServer('old', 'closed');
    expect(pids.map(isAlive)).toEqual(pids.map(() => false));
    const next = await thread.beginStep();
    expect(textOf(await next.callTool('mcp__kept__pid'))).toBe(String(serverOf(thread, 'kept').pid));
  });

  test('RT-11 a killed process leaves no grandchild in its group when it is started again', async () => {
    await using thread = createThread({ servers: { a: stdioServerConfig({ tools: ['fork'] }) } });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    const grandchild = Number(textOf(await step.callTool('mcp__a__fork')));
    const from = watch.facts.length;
    process.kill(serverOf(thread, 'a').pid ?? 0, 'SIGKILL');
    await watch.untilServer('a', 'ready', from);
    expect(isAlive(grandchild)).toBe(false);
  });
});

describe('a start', () => {
  const started = (file: string): readonly number[] => [
    ...new Set(readJournal(file).flatMap(({ kind, pid }) => (kind === 'started' ? pid : []))),
  ];
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  test('RT-4 H10 that a newer replacement dropped leaves nothing of its processes', async () => {
    const journalFile = join(folder, 'journal');
    await using good = scriptedServer({ tools: ['echo'] });
    await using thread = createThread({ servers: {} });
    await thread.ready();
    const watch = new Watch(thread);
    const dropped = thread.replaceRuntime({
      servers: { hangs: { ...stdioServerConfig({ hangOnStart: true, journalFile }), required: true } },
    });
    await eventually(() => started(journalFile).length > 0);
    await thread.replaceRuntime({ servers: { good: good.config } });
    expect(await dropped).toMatchObject({ status: 'superseded' });
    await watch.untilServer('hangs', 'closed');
    expect(started(journalFile).map(isAlive)).toEqual(started(journalFile).map(() => false));
  });

  test('RT-3 H10 that failed with its runtime leaves nothing of the others', async () => {
    const journalFile = join(folder, 'journal');
    const thread = createThread({ servers: {} });
    await thread.ready();
    const watch = new Watch(thread);
    const failed = thread.replaceRuntime({
      servers: {
        good: stdioServerConfig({ tools: ['echo'], journalFile }),
        bad: { command: 'holdfast-has-no-such-command', required: true },
      },
    });
    expect((await errorOf(failed)).code).toBe('runtime_failed');
    await watch.untilServer('good', 'closed');
    expect(started(journalFile).map(isAlive)).toEqual(started(journalFile).map(() => false));
    await thread.close();
  });

  test('ER-1 H10 leaves nothing of the process that was asked for its era', async () => {
    const journalFile = join(folder, 'journal');
    await using thread = createThread({ servers: { a: stdioServerConfig({ tools: ['echo'], journalFile }) } });
    await thread.ready();
    await eventually(() => started(journalFile).length === 2);
    await eventually(() => started(journalFile).filter(isAlive).length === 1);
    expect(started(journalFile).filter(isAlive)).toEqual([serverOf(thread, 'a').pid]);
  });
});

/** What this process holds once sockets that are being closed are closed; the timers are the test runner's own too. */
async function settledResources(): Promise<readonly string[]> {
  await turns(20);
  return resources().filter((kind) => kind !== 'Immediate' && kind !== 'CloseReq' && kind !== 'Timeout');
}

/** The processes this one has started and that still run. */
async function childrenOfThisProcess(): Promise<readonly string[]> {
  await turns(2);
  return process.getActiveResourcesInfo().filter((kind) => kind === 'ProcessWrap');
}

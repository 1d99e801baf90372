import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import type { InMemoryServer } from '../../../src/domain/config.ts';
import { SimulatedClock, deferred, scriptedServer, serveHttp, stdioServerConfig } from '../../../src/testing/index.ts';
import type { ScriptedServer } from '../../../src/testing/index.ts';
import { Watch, errorOf, eventually, serverOf, shown, textOf, turns } from './support.ts';

/** A server that can be told not to start any more. */
class Flaky {
  readonly peer: ScriptedServer;
  readonly config: InMemoryServer;
  attempts = 0;
  down = false;

  constructor(peer: ScriptedServer) {
    this.peer = peer;
    this.config = {
      inMemory: () => {
        this.attempts += 1;
        if (this.down) throw new Error('The server is down.');
        return peer.config.inMemory();
      },
    };
  }
}

describe.each(['legacy', 'modern'] as const)('a killed %s process', (era) => {
  test('RT-7 fails only what is on it, and is started again at once under the same connection', async () => {
    const config = stdioServerConfig({ era, tools: ['hang', 'pid', 'echo'] });
    await using other = scriptedServer({ era, tools: ['park'] });
    await using thread = createThread({ servers: { a: { ...config, parallel: true }, other: other.config } });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    const { pid, connection } = serverOf(thread, 'a');
    const lost = [errorOf(step.callTool('mcp__a__hang')), errorOf(step.callTool('mcp__a__hang'))];
    const kept = step.callTool('mcp__other__park', { key: 'key' });
    await step.callTool('mcp__a__echo');
    await other.untilParked('key');

    const from = watch.facts.length;
    process.kill(pid ?? 0, 'SIGKILL');

    for (const error of await Promise.all(lost))
      expect(error).toMatchObject({ code: 'connection_lost', outcome: 'unknown', retryable: true });
    await watch.untilServer('a', 'reconnecting', from);
    await watch.untilServer('a', 'ready', from);
    const after = serverOf(thread, 'a');
    expect(after.connection).toBe(connection);
    expect(after.pid).not.toBe(pid);
    expect(textOf(await step.callTool('mcp__a__pid'))).toBe(String(after.pid));
    other.release('key', 'kept');
    expect(textOf(await kept)).toBe('kept');
    expect(
      watch
        .of('call.ended')
        .map(({ outcome }) => outcome)
        .toSorted(),
    ).toEqual(['completed', 'completed', 'completed', 'unknown', 'unknown']);
  });

  test('RT-7 keeps its last known tools in new steps, and a call waits for it', async () => {
    const config = stdioServerConfig({ era, tools: ['pid'] });
    await using thread = createThread({ servers: { a: config } });
    const watch = new Watch(thread);
    await thread.ready();
    const { pid } = serverOf(thread, 'a');
    process.kill(pid ?? 0, 'SIGKILL');
    await watch.untilServer('a', 'reconnecting');
    const step = await thread.beginStep();
    expect(shown(step, 'a')).toEqual(['pid']);
    expect(textOf(await step.callTool('mcp__a__pid'))).not.toBe(String(pid));
  });
});

describe('backoff', () => {
  async function lost(clock: SimulatedClock) {
    const peer = scriptedServer({ tools: ['echo'] });
    const flaky = new Flaky(peer);
    const thread = createThread({ servers: { a: flaky.config }, clock });
    const watch = new Watch(thread);
    await thread.ready();
    const step = await thread.beginStep();
    const dispose = async (): Promise<void> => {
      await thread.close();
      await peer.close();
    };
    return { peer, flaky, thread, watch, step, [Symbol.asyncDispose]: dispose };
  }

  test('RT-7 a lost server is tried at once, then after 1 s doubling to 30 s, with jitter', async () => {
    const clock = new SimulatedClock();
    await using setup = await lost(clock);
    const { flaky, thread, peer, watch } = setup;
    flaky.down = true;
    const from = watch.facts.length;
    await peer.crash();
    await watch.untilServer('a', 'reconnecting', from);
    expect(waitOf(thread, clock)).toBe(0);
    const waits: number[] = [];
    for (let attempt = 0; attempt < 8; attempt++) {
      clock.increment(waitOf(thread, clock));
      await eventually(() => flaky.attempts === attempt + 2 && serverOf(thread, 'a').retryAt !== undefined);
      waits.push(waitOf(thread, clock));
    }
    const longest = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000];
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeLessThanOrEqual(longest[index] ?? 0);
      expect(wait).toBeGreaterThanOrEqual((longest[index] ?? 0) * 0.5);
    }
    flaky.down = false;
    clock.increment(30_000);
    await watch.untilServer('a', 'ready', from);
    expect(textOf(await setup.step.callTool('mcp__a__echo', { text: 'back' }))).toBe('back');
  });

  test('RT-7 a server that is lost again soon waits, and after 60 s of health is tried at once again', async () => {
    const clock = new SimulatedClock();
    await using setup = await lost(clock);
    const { thread, peer, watch } = setup;
    const loseAndRecover = async (): Promise<number> => {
      const from = watch.facts.length;
      await peer.crash();
      await watch.untilServer('a', 'reconnecting', from);
      const wait = waitOf(thread, clock);
      clock.increment(wait);
      await watch.untilServer('a', 'ready', from);
      return wait;
    };
    expect(await loseAndRecover()).toBe(0);
    expect(await loseAndRecover()).toBeGreaterThanOrEqual(500);
    clock.increment(60_000);
    expect(await loseAndRecover()).toBe(0);
  });

  test('RT-7 a call that meets it waits at most 10 s, then fails as not sent', async () => {
    const clock = new SimulatedClock();
    await using setup = await lost(clock);
    const { flaky, peer, watch, step } = setup;
    flaky.down = true;
    await peer.crash();
    await watch.untilServer('a', 'reconnecting');
    const call = errorOf(step.callTool('mcp__a__echo'));
    let settled = false;
    void call.then(() => (settled = true));
    clock.increment(9_999);
    await turns(3);
    expect(settled).toBe(false);
    clock.increment(1);
    expect(await call).toMatchObject({ code: 'server_unavailable', outcome: 'not-sent', retryable: true });
    expect(peer.calls()).toBe(0);
  });

  test('RT-7 a call with a shorter limit waits that long, and was not sent', async () => {
    const clock = new SimulatedClock();
    await using setup = await lost(clock);
    const { flaky, peer, watch, step } = setup;
    flaky.down = true;
    await peer.crash();
    await watch.untilServer('a', 'reconnecting');
    const call = errorOf(step.callTool('mcp__a__echo', {}, { timeoutMs: 2_000 }));
    clock.increment(2_000);
    expect(await call).toMatchObject({ code: 'server_unavailable', outcome: 'not-sent' });
  });

  test('RT-8 RT-10 a call that is aborted while it waits for its server was not sent', async () => {
    const clock = new SimulatedClock();
    await using setup = await lost(clock);
    const { flaky, peer, watch, step } = setup;
    flaky.down = true;
    await peer.crash();
    await watch.untilServer('a', 'reconnecting');
    const controller = new AbortController();
    const call = errorOf(step.callTool('mcp__a__echo', {}, { signal: controller.signal }));
    controller.abort();
    expect(await call).toMatchObject({ code: 'aborted', outcome: 'not-sent' });
    flaky.down = false;
    clock.increment(30_000);
    await watch.untilServer('a', 'ready', watch.facts.length - 1);
    expect(peer.calls()).toBe(0);
  });

  test('RT-7 one attempt is shared by all who wait', async () => {
    const clock = new SimulatedClock();
    await using setup = await lost(clock);
    const { flaky, peer, watch, thread } = setup;
    await peer.crash();
    await watch.untilServer('a', 'reconnecting');
    const steps = await Promise.all(Array.from({ length: 5 }, () => thread.beginStep()));
    const calls = steps.map((step, index) => step.callTool('mcp__a__echo', { text: String(index) }));
    clock.increment(0);
    expect((await Promise.all(calls)).map(textOf)).toEqual(['0', '1', '2', '3', '4']);
    expect(flaky.attempts).toBe(2);
  });
});

test('RT-7 a replacement does not begin an attempt anew that is being made', async () => {
  const clock = new SimulatedClock();
  const gate = deferred();
  await using peer = scriptedServer({ tools: ['echo'] });
  await using slow = scriptedServer({ tools: ['echo'] }, { gate: gate.promise });
  let attempts = 0;
  const config: InMemoryServer = {
    inMemory: () => {
      attempts += 1;
      return (attempts === 1 ? peer : slow).config.inMemory();
    },
  };
  await using thread = createThread({ servers: { a: config }, clock });
  const watch = new Watch(thread);
  await thread.ready();
  await peer.crash();
  await watch.untilServer('a', 'reconnecting');
  clock.increment(0);
  await slow.until('started');
  const replaced = thread.replaceRuntime({ servers: { a: { ...config, required: true } } });
  await turns(5);
  gate.resolve();
  await replaced;
  expect(attempts).toBe(2);
});

describe('restartServer', () => {
  test.each(['legacy', 'modern'] as const)(
    'RT-7 RT-8 ends the calls on a %s process and starts a new one',
    async (era) => {
      await using thread = createThread({
        servers: { a: { ...stdioServerConfig({ era, tools: ['hang', 'pid', 'echo'] }), parallel: true } },
      });
      const step = await thread.beginStep();
      const { pid, connection } = serverOf(thread, 'a');
      const call = errorOf(step.callTool('mcp__a__hang'));
      await step.callTool('mcp__a__echo');
      const restarted = thread.restartServer('a');
      const meanwhile = step.callTool('mcp__a__pid');
      await restarted;
      expect(await call).toMatchObject({ code: 'connection_lost', outcome: 'unknown' });
      const after = serverOf(thread, 'a');
      expect(after).toMatchObject({ connection, state: 'ready' });
      expect(after.pid).not.toBe(pid);
      expect(textOf(await meanwhile)).toBe(String(after.pid));
    },
  );

  test('RT-7 starts a failed server again', async () => {
    await using peer = scriptedServer({ tools: ['echo'] });
    const flaky = new Flaky(peer);
    flaky.down = true;
    await using thread = createThread({ servers: { a: flaky.config } });
    await thread.ready();
    expect(serverOf(thread, 'a').state).toBe('failed');
    await thread.restartServer('a');
    expect(serverOf(thread, 'a').state).toBe('failed');
    flaky.down = false;
    await thread.restartServer('a');
    expect(serverOf(thread, 'a').state).toBe('ready');
    expect(flaky.attempts).toBe(3);
    expect(shown(await thread.beginStep(), 'a')).toEqual(['echo']);
  });

  test('RT-7 says which servers there are when the name is none of them', async () => {
    await using peer = scriptedServer({ tools: ['echo'] });
    await using thread = createThread({ servers: { a: peer.config } });
    await thread.ready();
    const error = await errorOf(thread.restartServer('b'));
    expect(error.message).toContain('"a"');
    expect(error.message).toContain('"b"');
  });

  test('RT-7 a replacement starts a failed server again', async () => {
    await using peer = scriptedServer({ tools: ['echo'] });
    const flaky = new Flaky(peer);
    flaky.down = true;
    await using thread = createThread({ servers: { a: flaky.config } });
    await thread.ready();
    flaky.down = false;
    await thread.replaceRuntime({ servers: { a: { ...flaky.config, required: true } } });
    expect(serverOf(thread, 'a').state).toBe('ready');
    expect(flaky.attempts).toBe(2);
  });
});

describe('over HTTP', () => {
  test('RT-7 a failed start is tried again after the backoff', async () => {
    const clock = new SimulatedClock();
    await using peer = await serveHttp({ tools: ['echo'] });
    const { port } = peer;
    await peer.close();
    await using thread = createThread({ servers: { a: { url: `http://127.0.0.1:${String(port)}/mcp` } }, clock });
    const watch = new Watch(thread);
    await thread.ready();
    const failed = serverOf(thread, 'a');
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'server_unavailable', retryable: true } });
    expect(waitOf(thread, clock)).toBeGreaterThan(0);
    await using _again = await serveHttp({ tools: ['echo'] }, { port });
    const from = watch.facts.length;
    clock.increment(waitOf(thread, clock));
    await watch.untilServer('a', 'ready', from);
    expect(shown(await thread.beginStep(), 'a')).toEqual(['echo']);
  });

  test.each([
    [401, { 'www-authenticate': 'Bearer' }, 'authRequired', 'auth_required'],
    [401, {}, 'failed', 'server_unavailable'],
    [403, {}, 'failed', 'server_unavailable'],
  ])('RT-7 CN-3 %i %j is %s and never tried again by itself', async (status, headers, state, code) => {
    const clock = new SimulatedClock();
    await using peer = await serveHttp({ tools: ['echo'] });
    peer.setStatus(status, { times: 100, headers });
    await using thread = createThread({ servers: { a: peer.config }, clock });
    await thread.ready();
    const server = serverOf(thread, 'a');
    expect(server).toMatchObject({ state, error: { code } });
    expect(server.retryAt).toBeUndefined();
    const { length } = peer.requests;
    clock.increment(3_600_000);
    await turns(5);
    expect(peer.requests).toHaveLength(length);
  });

  test('RT-7 a step keeps working after its server came back', async () => {
    await using peer = await serveHttp({ tools: ['echo'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const step = await thread.beginStep();
    await step.callTool('mcp__a__echo');
    await peer.crash();
    // The client hears that its idle sockets were closed.
    await turns(20);
    expect(textOf(await step.callTool('mcp__a__echo', { text: 'again' }))).toBe('again');
    await eventually(() => serverOf(thread, 'a').state === 'ready');
  });
});

/** How long until the next attempt, in milliseconds of the clock. */
function waitOf(thread: Parameters<typeof serverOf>[0], clock: SimulatedClock): number {
  const { retryAt } = serverOf(thread, 'a');
  if (retryAt === undefined) expect.fail('Expected an attempt to be planned.');
  return Date.parse(retryAt) - clock.now();
}

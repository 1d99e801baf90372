/** What a server does to its connection, and an operator about it: lost, tried again, restarted, given up. */
/* oxlint-disable vitest/no-standalone-expect -- these are the assertions of paths, and run inside their tests */
import { expect } from 'vitest';
import { setup } from 'xstate';
import { SimulatedClock, scriptedToolNames } from '../../src/testing/index.ts';
import { GatedServer } from './gated-server.ts';
import type { Driver } from './paths.ts';
import { expectSound, WatchedThread, turn } from './watched-thread.ts';
import type { Observe } from './watched-thread.ts';

export const linksModel = setup({}).createMachine({
  id: 'links',
  initial: 'ready',
  states: {
    ready: { on: { 'server.dies': 'waiting', 'operator.restarts': 'ready', 'user.closes': 'closed' } },
    waiting: {
      on: { 'time.passes': 'reconnecting', 'operator.restarts': 'reconnecting', 'user.closes': 'closed' },
    },
    reconnecting: {
      on: {
        'server.starts': 'ready',
        'server.refuses': 'waiting',
        'operator.restarts': 'reconnecting',
        'user.closes': 'closed',
      },
    },
    closed: {},
  },
});

/** A thread with one server, whose time is simulated: nothing is tried again before its time. */
export function linksDriver(observe: Observe): Driver {
  const clock = new SimulatedClock();
  const server = new GatedServer({ name: 'docs' });
  const watch = new WatchedThread({ servers: { docs: server.config }, clock }, observe);
  const { thread } = watch;
  const entry = () => thread.snapshot().servers[0];
  const restarts: Promise<void>[] = [];
  let isReady = true;

  /** Does what changes the server's state. */
  const changing = async (act: () => unknown): Promise<void> => {
    const from = watch.facts.length;
    act();
    await watch.until('server.changed', () => true, from);
  };
  const restart = (): void => {
    restarts.push(thread.restartServer('docs'));
  };

  return {
    events: {
      'xstate.init': () => thread.ready(),
      'server.dies': async () => {
        isReady = false;
        await changing(() => server.die());
      },
      // Tried again, it is still reconnecting: no news to wait for.
      'time.passes': () => {
        clock.increment((Date.parse(entry()?.retryAt ?? '') || clock.now()) - clock.now());
        expect(entry()?.retryAt).toBeUndefined();
      },
      'server.starts': async () => {
        const from = watch.facts.length;
        isReady = true;
        server.open();
        await watch.until('server.changed', ({ state }) => state === 'ready', from);
      },
      'server.refuses': async () => {
        const from = watch.facts.length;
        server.refuse();
        await watch.until('server.changed', ({ error }) => error !== undefined, from);
        await server.die();
      },
      'operator.restarts': async () => {
        if (!isReady) {
          restart();
          // What was being opened is let go of before the next is.
          for (let turns = 0; turns < 5; turns++) await turn();
          return;
        }
        const from = watch.facts.length;
        restart();
        await watch.until('server.changed', ({ state }) => state === 'ready', from);
      },
      'user.closes': () => thread.close(),
    },
    states: {
      '*': () => {
        expectSound(thread.snapshot());
      },
      ready: async () => {
        expectSound(thread.snapshot());
        expect(entry()).toMatchObject({ state: 'ready', toolCount: scriptedToolNames.length });
        expect(entry()?.retryAt).toBeUndefined();
        await using step = await thread.beginStep();
        const result = await step.callTool('mcp__docs__echo', { text: 'here' });
        expect(result.content).toEqual([{ type: 'text', text: 'here' }]);
      },
      waiting: () => {
        expectSound(thread.snapshot());
        expect(entry()).toMatchObject({ state: 'reconnecting', error: {} });
        expect(entry()?.retryAt).toBeDefined();
      },
      reconnecting: async () => {
        expect(entry()).toMatchObject({ state: 'reconnecting' });
        // RT-7: while a server reconnects, new steps show its last known tools.
        await using step = await thread.beginStep();
        expect(step.tools).toHaveLength(scriptedToolNames.length);
      },
    },
    [Symbol.asyncDispose]: async () => {
      await watch.end();
      await Promise.allSettled(restarts);
      expect(server.peer.connections).toBe(0);
      expect(clock.pendingCount).toBe(0);
    },
  };
}

/** What an operator does while servers start, fail or stay away: candidates and the runtimes that come of them. */
/* oxlint-disable vitest/no-standalone-expect -- these are the assertions of paths, and run inside their tests */
import { expect } from 'vitest';
import { setup } from 'xstate';
import type { Publication } from '../../src/index.ts';
import { SimulatedClock } from '../../src/testing/index.ts';
import { GatedServer } from './gated-server.ts';
import type { Driver } from './paths.ts';
import { errorOf, expectSound, WatchedThread } from './watched-thread.ts';
import type { Observe } from './watched-thread.ts';

/** Every candidate has a required server, `docs`, and an optional one that no runtime had before. */
export const replacingModel = setup({}).createMachine({
  id: 'replacing',
  initial: 'firstStarting',
  states: {
    firstStarting: {
      on: {
        'servers.start': 'current',
        'required.starts': 'firstInGrace',
        'required.fails': 'firstFailing',
        'operator.replaces': { target: 'firstStarting', reenter: true },
        'user.closes': 'closed',
      },
    },
    firstInGrace: {
      on: {
        'optional.starts': 'current',
        'optional.fails': 'current',
        'time.passesGrace': 'current',
        'user.closes': 'closed',
      },
    },
    firstFailing: {
      on: {
        'optional.starts': 'withoutRuntime',
        'time.passesGrace': 'withoutRuntime',
        'operator.replaces': 'firstStarting',
        'user.closes': 'closed',
      },
    },
    withoutRuntime: { on: { 'operator.replaces': 'firstStarting', 'user.closes': 'closed' } },
    current: {
      on: {
        'operator.replaces': 'replacing',
        'operator.publishesAtOnce': { target: 'current', reenter: true },
        'user.closes': 'closed',
      },
    },
    replacing: {
      on: {
        'servers.start': 'current',
        'required.starts': 'inGrace',
        'required.fails': 'failing',
        'operator.replaces': { target: 'replacing', reenter: true },
        'operator.publishesAtOnce': 'current',
        'operator.givesUp': 'current',
        'user.closes': 'closed',
      },
    },
    inGrace: {
      on: {
        'optional.starts': 'current',
        'optional.fails': 'current',
        'time.passesGrace': 'current',
        'operator.givesUp': 'current',
      },
    },
    failing: {
      on: { 'optional.starts': 'current', 'time.passesGrace': 'current', 'operator.replaces': 'replacing' },
    },
    closed: {},
  },
});

interface Candidate {
  readonly generation: number;
  readonly required: GatedServer;
  readonly optional: GatedServer;
  /** Absent for the first, which `ready` waits for. */
  readonly publication: Promise<Publication> | undefined;
  readonly controller: AbortController;
}

/** A thread whose candidates wait at their servers' doors. */
export function replacingDriver(observe: Observe): Driver {
  const clock = new SimulatedClock();
  let generation = 1;
  let current = 0;
  let isFailing = false;
  const servers = () => ({
    required: new GatedServer({ name: 'docs' }, false),
    optional: new GatedServer({ name: 'extra' }, false),
  });
  const mapOf = ({ required, optional }: ReturnType<typeof servers>) => ({
    docs: { ...required.config, required: true },
    [`extra-${String(generation)}`]: optional.config,
  });
  const first = servers();
  const watch = new WatchedThread({ servers: mapOf(first), clock }, observe);
  const { thread } = watch;
  let ready = thread.ready();
  ready.catch(() => undefined);
  let candidate: Candidate = { generation, ...first, publication: undefined, controller: new AbortController() };

  /** The candidate's servers are on their way. */
  const untilBegun = (): Promise<unknown> =>
    watch.until('server.changed', (fact) => fact.server === 'docs' && fact.generations.includes(generation));
  const untilServer = (server: string, state: string): Promise<unknown> =>
    watch.until(
      'server.changed',
      (fact) => fact.server === server && fact.state === state && fact.generations.includes(generation),
    );
  const replace = (publish: 'settled' | 'immediate'): void => {
    const before = candidate;
    generation += 1;
    const next = servers();
    const controller = new AbortController();
    const publication = thread.replaceRuntime({ servers: mapOf(next) }, { publish, signal: controller.signal });
    publication.catch(() => undefined);
    if (current === 0 && isFailing) {
      ready = thread.ready();
      ready.catch(() => undefined);
    }
    isFailing = false;
    candidate = { generation, ...next, publication, controller };
    superseded = before.publication;
  };
  let superseded: Promise<Publication> | undefined;
  const published = async (): Promise<void> => {
    const replaced = current;
    current = generation;
    if (candidate.publication !== undefined)
      expect(await candidate.publication).toEqual({
        status: 'published',
        generation,
        ...(replaced === 0 ? {} : { replaced }),
      });
    await ready;
  };
  const rejected = async (): Promise<void> => {
    const error = await errorOf(candidate.publication ?? ready);
    expect(error.code).toBe('runtime_failed');
    expect(error.message).toContain('"docs"');
    if (current === 0) expect(await errorOf(ready)).toMatchObject({ code: 'runtime_failed' });
  };
  const optionalSettles = async (state: 'ready' | 'failed'): Promise<void> => {
    if (state === 'ready') candidate.optional.open();
    else candidate.optional.refuse();
    await (isFailing ? rejected() : published());
  };

  return {
    events: {
      'servers.start': async () => {
        await untilBegun();
        candidate.required.open();
        candidate.optional.open();
        await published();
      },
      'required.starts': async () => {
        await untilBegun();
        candidate.required.open();
        await untilServer('docs', 'ready');
      },
      'required.fails': async () => {
        await untilBegun();
        candidate.required.refuse();
        await untilServer('docs', 'failed');
        isFailing = true;
      },
      'optional.starts': () => optionalSettles('ready'),
      'optional.fails': () => optionalSettles('failed'),
      'time.passesGrace': async () => {
        clock.increment(999);
        expect(thread.snapshot().generation).toBe(current);
        clock.increment(1);
        await (isFailing ? rejected() : published());
      },
      'operator.replaces': async () => {
        const wasFailing = isFailing || candidate.generation === current;
        replace('settled');
        if (!wasFailing && superseded !== undefined)
          expect(await superseded).toEqual({ status: 'superseded', generation: current });
        await untilBegun();
      },
      'operator.publishesAtOnce': async () => {
        replace('immediate');
        await published();
      },
      'operator.givesUp': async () => {
        candidate.controller.abort();
        expect(await errorOf(candidate.publication ?? Promise.resolve())).toMatchObject({ code: 'aborted' });
        await watch.until('runtime.discarded', (fact) => fact.generation === candidate.generation);
      },
      'user.closes': async () => {
        await thread.close();
      },
    },
    states: {
      '*': () => {
        const snapshot = thread.snapshot();
        expectSound(snapshot);
        // H2: whatever became of candidates, the current runtime is the last one that was published.
        expect(snapshot.generation).toBe(current);
      },
      closed: () => {
        expect(thread.snapshot()).toMatchObject({ state: 'closed', runtimes: [] });
      },
      current: () => {
        expectSound(thread.snapshot());
        expect(thread.snapshot().runtimes).toMatchObject([{ generation: current, state: 'current' }]);
      },
      replacing: () => {
        expectSound(thread.snapshot());
        expect(thread.snapshot().runtimes).toMatchObject([
          { generation: current, state: 'current' },
          { generation, state: 'starting' },
        ]);
      },
      withoutRuntime: async () => {
        expect(thread.snapshot()).toMatchObject({ state: 'starting', generation: 0, runtimes: [] });
        expect(await errorOf(thread.beginStep())).toMatchObject({ code: 'runtime_failed' });
      },
    },
    [Symbol.asyncDispose]: async () => {
      await watch.end();
      // Numbers of candidates are never used again (RT-4).
      const started = watch.of('runtime.starting').map((fact) => fact.generation);
      expect(started).toEqual(started.map((_, index) => index + 1));
      expect(clock.pendingCount).toBe(0);
    },
  };
}

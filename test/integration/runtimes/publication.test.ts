import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import type { Thread } from '../../../src/index.ts';
import { scriptedServer } from '../../../src/testing/index.ts';
import type { ScriptedServer } from '../../../src/testing/index.ts';
import { Watch, turns } from './support.ts';

/** Looks at a thread at every fact, every microtask and every turn until stopped; keeps what must never be seen. */
class Sampler {
  readonly violations: string[] = [];
  samples = 0;
  #running = true;

  constructor(thread: Thread) {
    const look = (): void => {
      this.#look(thread);
    };
    thread.events$.subscribe(look);
    const everyMicrotask = (left: number): void => {
      if (!this.#running) return;
      look();
      // Microtasks alone would never let the event loop turn.
      if (left > 0) queueMicrotask(() => everyMicrotask(left - 1));
      else setImmediate(() => everyMicrotask(5));
    };
    everyMicrotask(5);
  }

  stop(): void {
    this.#running = false;
  }

  #look(thread: Thread): void {
    this.samples += 1;
    const { generation, runtimes, servers, state } = thread.snapshot();
    if (state !== 'active') return;
    const current = runtimes.filter((runtime) => runtime.state === 'current');
    if (current.length !== 1) this.violations.push(`${String(current.length)} current runtimes`);
    if (current[0]?.generation !== generation) this.violations.push('the current runtime is not the one of the thread');
    const mine = servers.filter((server) => server.generations.includes(generation));
    if (mine.length === 0) this.violations.push(`runtime ${String(generation)} has no server`);
    for (const server of mine) {
      if (server.toolCount === 0 || server.state !== 'ready')
        this.violations.push(`"${server.name}" is ${server.state} with ${String(server.toolCount)} tools`);
    }
  }
}

describe.each(['settled', 'immediate'] as const)('publication %s', (publish) => {
  test('H2 no observer sees an empty list or two current runtimes during 50 swaps of unchanged servers', async () => {
    await using kept = scriptedServer({ tools: ['echo'] });
    await using thread = createThread({ servers: { kept: kept.config } });
    await thread.ready();
    const sampler = new Sampler(thread);
    for (let swap = 0; swap < 50; swap++)
      await thread.replaceRuntime({ servers: { kept: { ...kept.config, callTimeoutMs: 1_000 + swap } } }, { publish });
    sampler.stop();
    expect(sampler.violations).toEqual([]);
    expect(sampler.samples).toBeGreaterThan(300);
  });
});

test('H2 no observer sees an empty list or two current runtimes during 50 swaps of changed servers', async () => {
  const servers: ScriptedServer[] = [];
  const fresh = (): ScriptedServer => {
    const server = scriptedServer({ era: servers.length % 2 === 0 ? 'legacy' : 'modern', tools: ['echo'] });
    servers.push(server);
    return server;
  };
  await using thread = createThread({ servers: { a: fresh().config } });
  await thread.ready();
  const sampler = new Sampler(thread);
  const steps: string[] = [];
  for (let swap = 0; swap < 50; swap++) {
    const swapped = thread.replaceRuntime({ servers: { a: fresh().config } });
    const before = await thread.beginStep();
    await swapped;
    const after = await thread.beginStep();
    steps.push(
      `${String(before.tools.length)} ${String(after.tools.length)} ${String(after.generation - before.generation)}`,
    );
    await Promise.all([before.end(), after.end()]);
  }
  sampler.stop();
  await thread.close();
  await Promise.all(servers.map((server) => server.close()));
  expect(sampler.violations).toEqual([]);
  expect(new Set(steps)).toEqual(new Set(['1 1 1']));
});

test('H2 the facts of a publication come in order, each when the thread already shows it', async () => {
  await using peer = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({ servers: { a: peer.config } });
  await thread.ready();
  const seen: string[] = [];
  thread.events$.subscribe((fact) => {
    if (fact.type.startsWith('runtime.') && 'generation' in fact)
      seen.push(`${fact.type} ${String(fact.generation)} at ${String(thread.snapshot().generation)}`);
  });
  const step = await thread.beginStep();
  await thread.replaceRuntime({ servers: { a: peer.config } });
  seen.push('replaced');
  await step.end();
  await turns();
  expect(seen).toEqual([
    'runtime.starting 2 at 1',
    'runtime.published 2 at 2',
    'runtime.retired 1 at 2',
    'replaced',
    'runtime.stopped 1 at 2',
  ]);
});

test('RT-3 the reply of a replacement comes after its fact', async () => {
  await using peer = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({ servers: { a: peer.config } });
  const watch = new Watch(thread);
  await thread.ready();
  expect(watch.of('runtime.published').map(({ generation }) => generation)).toEqual([1]);
  const publication = await thread.replaceRuntime({ servers: {} });
  expect(publication).toEqual({ status: 'published', generation: 2, replaced: 1 });
  expect(watch.of('runtime.published').map(({ generation }) => generation)).toEqual([1, 2]);
});

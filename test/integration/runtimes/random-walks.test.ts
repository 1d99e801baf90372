import { expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import type { Step, Thread } from '../../../src/index.ts';
import type { ServerConfig } from '../../../src/domain/config.ts';
import { Watch, startPeer, turns } from './support.ts';
import type { Peer, PeerKind } from './support.ts';

/** Numbers from 0 to 1 that are the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

interface OpenCall {
  readonly id: string;
  readonly server: number;
  readonly controller: AbortController;
  readonly promise: Promise<unknown>;
}

/** What a user, an operator and servers do, at random. */
class Walk {
  readonly thread: Thread;
  readonly watch: Watch;
  readonly pool: readonly Peer[];
  readonly calls: OpenCall[] = [];
  readonly replacements: Promise<unknown>[] = [];
  readonly others: Promise<unknown>[] = [];
  readonly #random: () => number;
  readonly #steps = new Map<Step, readonly number[]>();
  /** Which server of the pool a runtime names as `a` and as `b`. */
  readonly #named = new Map<number, readonly number[]>();
  #generations = 1;
  #keys = 0;

  constructor(seed: number, pool: readonly Peer[]) {
    this.#random = randomOf(seed);
    this.pool = pool;
    this.#named.set(1, [0, 1]);
    this.thread = createThread({ servers: this.#servers([0, 1]) });
    this.watch = new Watch(this.thread);
  }

  async go(moves: number): Promise<void> {
    const { thread } = this;
    await thread.ready();
    const acts: readonly [number, () => unknown][] = [
      [3, () => this.#beginStep()],
      [8, () => this.#call()],
      [4, () => this.#release()],
      [3, () => this.#replace()],
      [1, () => this.#break()],
      [2, () => this.#endStep()],
      [2, () => this.#pick(this.calls)?.controller.abort()],
      [1, () => this.others.push(thread.restartServer(this.#random() < 0.5 ? 'a' : 'b').catch(() => undefined))],
      [4, () => this.#respond()],
      [4, () => turns(1)],
    ];
    const total = acts.reduce((sum, [weight]) => sum + weight, 0);
    for (let move = 0; move < moves; move++) {
      let at = this.#random() * total;
      const act = acts.find(([weight]) => (at -= weight) < 0);
      await act?.[1]();
    }
  }

  async end(): Promise<void> {
    await this.thread.close();
    await Promise.all([...this.calls.map(({ promise }) => promise), ...this.replacements, ...this.others]);
    await Promise.all(this.pool.map((server) => server.close()));
  }

  #servers(named: readonly number[]): Record<string, ServerConfig> {
    const [a = 0, b = 0] = named;
    const callTimeoutMs = 60_000 + Math.floor(this.#random() * 3);
    return Object.fromEntries(
      [['a', a] as const, ['b', b] as const].map(([name, index]) => [
        name,
        {
          ...(this.pool[index]?.config ?? this.#fail()),
          callTimeoutMs,
          parallel: index % 2 === 0,
          required: index === 2,
        },
      ]),
    );
  }

  async #beginStep(): Promise<void> {
    if (this.#steps.size >= 5) return;
    const step = await this.thread.beginStep();
    this.#steps.set(step, this.#named.get(step.generation) ?? []);
  }

  #call(): void {
    const entry = this.#pick([...this.#steps]);
    if (entry === undefined || this.calls.length > 400) return;
    const [step, named] = entry;
    const isB = this.#random() < 0.5;
    const tool = this.#pick(['echo', 'park', 'ask', 'idempotent']) ?? 'echo';
    const name = `mcp__${isB ? 'b' : 'a'}__${tool}`;
    if (!step.tools.some((info) => info.name === name)) return;
    this.#keys += 1;
    const id = `call ${String(this.#keys)}`;
    const controller = new AbortController();
    const promise = step
      .callTool(name, { key: id, text: id, message: id }, { signal: controller.signal, callId: id })
      .catch((error: unknown) => error);
    this.calls.push({ id, server: named[isB ? 1 : 0] ?? -1, controller, promise });
  }

  /** Something happens to a server: it crashes, or over HTTP only its sockets or its sessions go. */
  async #break(): Promise<void> {
    const server = this.#pick(this.pool);
    if (server === undefined) return;
    const what = this.#random();
    if (!('dropConnections' in server) || what < 0.3) await server.crash();
    else if (what < 0.6) server.dropConnections();
    else await server.forgetSessions();
  }

  #release(): void {
    const server = this.#pick(this.pool);
    const key = server === undefined ? undefined : this.#pick(server.parked);
    if (key !== undefined) server?.release(key);
  }

  #replace(): void {
    const named = [Math.floor(this.#random() * 5), Math.floor(this.#random() * 5)];
    this.#generations += 1;
    this.#named.set(this.#generations, named);
    const publish = this.#random() < 0.3 ? 'immediate' : 'settled';
    this.replacements.push(
      this.thread.replaceRuntime({ servers: this.#servers(named) }, { publish }).catch((error: unknown) => error),
    );
  }

  async #endStep(): Promise<void> {
    const entry = this.#pick([...this.#steps]);
    if (entry === undefined) return;
    this.#steps.delete(entry[0]);
    await entry[0].end();
  }

  async #respond(): Promise<void> {
    const open = this.#pick(this.thread.snapshot().elicitations);
    if (open === undefined) return;
    await this.thread.respond(
      open.token,
      this.#random() < 0.7 ? { action: 'accept', content: { name: 'Ada' } } : { action: 'decline' },
    );
  }

  #pick<TItem>(items: readonly TItem[]): TItem | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }

  #fail(): never {
    throw new Error('Expected a server of the pool.');
  }
}

const walks = (['in memory', 'http'] as const).flatMap((kind) =>
  Array.from({ length: 8 }, (_, seed): [PeerKind, number] => [kind, seed + 1]),
);

test.each(walks)(
  'H1 H2 H3 H5 H6 hold on a random walk with crashes, swaps, aborts and questions (%s, seed %i)',
  async (reached, seed) => {
    const eras = ['legacy', 'modern', 'legacy', 'modern', 'legacy'] as const;
    const tools = ['echo', 'park', 'ask', 'idempotent'] as const;
    const walk = new Walk(seed, await Promise.all(eras.map((era) => startPeer(reached, { era, tools }))));
    await walk.go(600);
    const before = walk.thread.snapshot();
    await walk.end();
    const { watch, pool, calls, thread } = walk;

    // H1, H6: no call ran twice, and none on another server than the one its step was shown.
    for (const [index, server] of pool.entries()) {
      for (const entry of server.journal) {
        if (entry.kind !== 'called' || entry.tool === 'ask') continue;
        const call = calls.find(({ id }) => id === entry.args?.['key']);
        expect(call?.server).toBe(index);
      }
    }
    for (const { id } of calls) {
      const ran = pool.flatMap(({ journal }) =>
        journal.filter(({ kind, args, tool }) => kind === 'called' && tool !== 'ask' && args?.['key'] === id),
      );
      expect(ran.length).toBeLessThanOrEqual(1);
    }
    // H2: one current runtime at every time; every candidate was published or discarded, once.
    expect(before.runtimes.filter(({ state }) => state === 'current')).toHaveLength(1);
    const fates = [...watch.of('runtime.published'), ...watch.of('runtime.discarded')].map(
      ({ generation }) => generation,
    );
    const candidates = watch.of('runtime.starting').map(({ generation }) => generation);
    expect(fates.toSorted((a, b) => a - b)).toEqual(candidates);
    // H3: a runtime stops once, after it was retired and after every step on it has ended.
    for (const { generation } of watch.of('runtime.published')) {
      const order = watch.facts.flatMap((fact, at) =>
        'generation' in fact && fact.generation === generation ? [{ type: fact.type, at }] : [],
      );
      const stopped = order.filter(({ type }) => type === 'runtime.stopped');
      expect(stopped).toHaveLength(1);
      expect(order.at(-1)?.type).toBe('runtime.stopped');
    }
    // H5: every question ends once; every call that began ends once.
    const opened = watch.of('elicitation.opened').map(({ elicitation }) => elicitation.token);
    expect(
      watch
        .of('elicitation.settled')
        .map(({ token }) => token)
        .toSorted(),
    ).toEqual(opened.toSorted());
    const ended = watch.of('call.ended').map(({ call }) => call);
    expect(new Set(ended).size).toBe(ended.length);
    const began = watch.of('call.started').map(({ call }) => call);
    expect(began.filter((call) => !ended.includes(call))).toEqual([]);
    expect(thread.snapshot()).toMatchObject({
      state: 'closed',
      runtimes: [],
      servers: [],
      steps: [],
      elicitations: [],
    });
    expect(pool.map((peer) => ('connections' in peer ? peer.connections : 0))).toEqual(pool.map(() => 0));
  },
);

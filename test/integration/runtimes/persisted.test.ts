import { afterEach, describe, expect, test } from 'vitest';
import { createActor } from 'xstate';
import { createEffects } from '../../../src/actors/effects.ts';
import type { Effects } from '../../../src/actors/effects.ts';
import { provideThread } from '../../../src/actors/provide.ts';
import type { RuntimeServers } from '../../../src/api.ts';
import { systemClock } from '../../../src/clock.ts';
import { createThread } from '../../../src/index.ts';
import { openLink } from '../../../src/mcp/open-link.ts';
import type { ThreadActorRef } from '../../../src/machines/thread.ts';
import { stepSystemId } from '../../../src/machines/thread.ts';
import { scriptedServer, serveHttp, stdioServerConfig } from '../../../src/testing/index.ts';
import { Watch, errorOf, eventually, turns } from './support.ts';

const secret = 'correct-horse-battery-staple';

/** The root actor of a thread, without the façade that hides it. */
class Root implements AsyncDisposable {
  readonly effects: Effects;
  readonly actor: ThreadActorRef;
  #generation = 0;

  constructor() {
    this.effects = createEffects({
      clock: systemClock,
      limits: {},
      policy: {},
      reviewer: undefined,
      sampling: undefined,
      roots: undefined,
      verdicts: { get: () => undefined, set: () => undefined },
      openLink,
    });
    this.actor = createActor(provideThread(), {
      id: 'thread',
      input: { thread: 'persisted', graceMs: 1_000, settledLimit: 100 },
    });
    this.effects.bind(this.actor);
    this.actor.start();
  }

  async replace(next: RuntimeServers): Promise<void> {
    this.#generation += 1;
    this.effects.plan(this.#generation, next);
    const published = this.effects.publications.wait(this.#generation);
    this.actor.send({ type: 'runtime.replace', generation: this.#generation, publish: 'settled' });
    await published;
  }

  beginStep(id: string): void {
    this.actor.send({ type: 'step.begin', step: id });
  }

  /** Starts a call as a step does; settles with what became of it. */
  call(step: string, server: string, tool: string, args: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const { servers, calls } = this.effects;
    const { context, children } = parseStep(this.effects.lookUp(stepSystemId(step))?.getSnapshot());
    const { generation } = context;
    const planned = servers.resolve(generation, server);
    if (planned?.connection === undefined) expect.fail(`Expected server "${server}" in runtime ${String(generation)}.`);
    const input = {
      call: `call-${server}-${tool}-${step}`,
      step,
      name: `mcp__${server}__${tool}`,
      server,
      tool,
      generation,
      method: 'tools/call',
      params: { name: tool, arguments: args },
      timeLimitMs: 60_000,
    };
    const turn = { connection: planned.connection.id, lane: undefined, exclusive: false };
    const settled = calls.start({ input, config: planned.config, turn, repeatable: false }, (given) =>
      children['calls']?.send({ type: 'fleet.spawn', id: given.call, systemId: given.call, input: given }),
    );
    return settled.catch((error: unknown) => error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.actor.getSnapshot().status !== 'active') return;
    const done = new Promise<void>((resolve) => this.actor.subscribe({ complete: resolve }));
    this.actor.send({ type: 'thread.close', reason: 'the test is over', at: 0 });
    await done;
  }
}

interface StepView {
  readonly context: { readonly generation: number };
  readonly children: Readonly<Record<string, { send(event: unknown): void }>>;
}

/** The snapshot of a step's actor, as far as the test reads it. */
function parseStep(snapshot: unknown): StepView {
  if (snapshot === undefined) expect.fail('Expected the step to be open.');
  return snapshot as StepView;
}

/** What is saved, checked to be plain and free of secrets. */
function persisted(root: Root): string {
  const snapshot: unknown = root.actor.getPersistedSnapshot();
  const text = JSON.stringify(snapshot);
  expect(JSON.parse(text)).toEqual(withoutUndefined(snapshot));
  expect(text).not.toContain(secret);
  return text;
}

/** JSON has no `undefined`: a field that is undefined is one that is absent. Anything else that JSON changes stays. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === undefined ? [] : [[key, withoutUndefined(inner)]])),
  );
}

describe('the persisted snapshot of a thread', () => {
  test('H9 is plain data with two runtimes, open calls, open questions and a failed server, and holds no secret', async () => {
    await using legacy = scriptedServer({ tools: ['ask', 'park'], askOnStart: true });
    await using modern = await serveHttp({ era: 'modern', tools: ['ask', 'park'] });
    await using root = new Root();
    const servers = {
      legacy: legacy.config,
      modern: { ...modern.config, headers: { authorization: `Bearer ${secret}` } },
      child: { ...stdioServerConfig({ tools: ['park', 'awaitParked'] }), env: { API_KEY: secret } },
      bad: {
        ...stdioServerConfig({ exitOnStart: { code: 1, stderr: `refused ${secret}\n` } }),
        env: { OTHER_KEY: secret },
      },
    };
    await root.replace({ servers });
    await eventually(() => root.effects.questions.shown.list().length === 1);
    persisted(root);

    root.beginStep('one');
    const calls = [
      root.call('one', 'legacy', 'ask'),
      root.call('one', 'modern', 'ask'),
      root.call('one', 'modern', 'park', { key: 'key' }),
      root.call('one', 'child', 'park', { key: 'key' }),
    ];
    await eventually(() => root.effects.questions.shown.list().length === 3);
    await modern.untilParked('key');
    expect(persisted(root)).toContain('requestState');

    await root.replace({ servers: { legacy: legacy.config } });
    root.beginStep('two');
    const text = persisted(root);
    expect(text).toContain('runtime-1');
    expect(text).toContain('runtime-2');

    modern.release('key');
    await calls[2];
    await legacy.crash();
    await turns(3);
    persisted(root);
    await root[Symbol.asyncDispose]();
    await Promise.all(calls);
    persisted(root);
  });

  test('H9 an idle thread is saved in little', async () => {
    await using root = new Root();
    await root.replace({ servers: {} });
    expect(persisted(root).length).toBeLessThan(4_000);
  });
});

describe('the public snapshot of a thread', () => {
  const threads: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(threads.splice(0).map((thread) => thread.close()));
  });

  test('H9 SE-1 is plain data and holds no secret, nor do facts and errors', async () => {
    await using peer = await serveHttp({ tools: ['ask', 'echo', 'log', 'throwError'] });
    const thread = createThread({
      servers: {
        a: { ...peer.config, headers: { authorization: `Bearer ${secret}` }, parallel: true },
        bad: {
          ...stdioServerConfig({ exitOnStart: { code: 1, stderr: `refused ${secret}\n` } }),
          env: { API_KEY: secret },
        },
      },
    });
    threads.push(thread);
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    const call = step.callTool('mcp__a__ask', { message: `Is ${secret} right?` }).catch((error: unknown) => error);
    await watch.until(({ type }) => type === 'elicitation.opened');
    await step.callTool('mcp__a__log', { data: { leaked: secret } });
    const error = await errorOf(step.callTool('mcp__a__throwError', { message: `bad key ${secret}` }));
    await watch.untilServer('bad', 'failed');
    const snapshot = thread.snapshot();
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
    for (const fact of watch.facts) expect(JSON.parse(JSON.stringify(fact))).toEqual(fact);
    for (const surface of [snapshot, watch.facts, [error.message, error.stderr, error.issues, error.data]])
      expect(JSON.stringify(surface)).not.toContain(secret);
    await thread.close();
    await call;
    expect(JSON.stringify([thread.snapshot(), watch.facts])).not.toContain(secret);
  });
});

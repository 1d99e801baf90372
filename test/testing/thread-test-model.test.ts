import { describe, expect, test } from 'vitest';
import { HoldfastError } from '../../src/index.ts';
import { createThreadTestModel, threadTestEventTypes } from '../../src/testing/index.ts';
import type { ThreadTestHost } from '../../src/testing/index.ts';
import { Conversation } from '../model-based/conversation.ts';

/** A host that does whatever it is told. */
const willing: ThreadTestHost = {
  events: Object.fromEntries(threadTestEventTypes.map((type) => [type, () => undefined])),
};

describe('paths on a real thread', () => {
  const model = createThreadTestModel();

  test.each(model.shortestPaths().map((path) => [path.description, path] as const))(
    'TK-2 H1 H2 H3 H4 H5 H10 the shortest path that %s',
    async (_, path) => {
      await using conversation = new Conversation('legacy');
      await expect(path.test(conversation.host)).resolves.toBeUndefined();
    },
  );

  test('TK-2 the shortest paths covered the model', () => {
    model.assertCovered();
    expect(model.coverage()).toEqual({
      states: { total: 12, covered: 12, missing: [] },
      transitions: { total: 58, covered: 58, missing: [] },
    });
  });

  const walks = (['legacy', 'modern'] as const).flatMap((era) =>
    createThreadTestModel({ era })
      .randomWalks({ seed: 7, count: 10, length: 30 })
      .map((path, index) => ({ era, path, index })),
  );

  test.each(walks)('TK-2 H1 H2 H3 H4 H5 H10 random walk $index with $era servers', async ({ era, path }) => {
    await using conversation = new Conversation(era);
    await expect(path.test(conversation.host)).resolves.toBeUndefined();
  });
});

describe('createThreadTestModel', () => {
  test('TK-2 the shortest paths come to every state by every transition', async () => {
    const model = createThreadTestModel();
    for (const path of model.shortestPaths()) await path.test(willing);
    model.assertCovered();
    expect(new Set(model.shortestPaths().map(({ description }) => description)).size).toBe(58);
  });

  test('TK-2 simple paths come to no state twice and are as long as they may be', () => {
    const model = createThreadTestModel();
    for (const { steps } of model.simplePaths({ maxLength: 7 })) {
      const states = steps.map(({ state }) => JSON.stringify(state));
      expect(new Set(states).size).toBe(states.length);
      expect(steps.length).toBeLessThanOrEqual(7);
    }
    expect(model.simplePaths().length).toBeGreaterThan(model.simplePaths({ maxLength: 4 }).length);
  });

  test('TK-2 the same seed gives the same walks, another one others', () => {
    const model = createThreadTestModel();
    const walks = (seed: number) =>
      model.randomWalks({ seed, count: 5, length: 20 }).map(({ description }) => description);
    expect(walks(1)).toEqual(walks(1));
    expect(walks(1)).not.toEqual(walks(2));
    expect(model.randomWalks({ seed: 3, count: 5, length: 20 }).every(({ steps }) => steps.length <= 20)).toBe(true);
  });

  test('TK-2 a path is covered as far as it was walked, and what is missing is named', async () => {
    const model = createThreadTestModel();
    const path = model.shortestPaths().find(({ steps }) => steps.at(-1)?.event === 'server.asks');
    const failing: ThreadTestHost = {
      events: {
        ...willing.events,
        'server.asks': () => {
          throw new Error('Nothing was asked.');
        },
      },
    };
    await expect(path?.test(failing)).rejects.toThrow('Nothing was asked.');
    const { states, transitions } = model.coverage();
    expect(states.covered).toBe(4);
    expect(transitions.covered).toBe(3);
    expect(transitions.missing).toContain('calling, current, up → server.asks');
    expect(() => {
      model.assertCovered();
    }).toThrow(/none came to.*\n- .*asking, current, up/s);
  });

  test('TK-2 an assertion that fails in a state fails the path', async () => {
    const model = createThreadTestModel();
    const [path] = model.shortestPaths();
    const seen: unknown[] = [];
    const host: ThreadTestHost = {
      ...willing,
      states: {
        starting: (state) => void seen.push(state),
        idle: () => {
          throw new Error('It is not idle.');
        },
      },
    };
    await expect(path?.test(host)).rejects.toThrow('It is not idle.');
    expect(seen).toEqual([{ conversation: 'starting', runtime: 'current', server: 'up' }]);
  });

  test('TK-2 an event without a handler is an error that says what to do, not a step that passes', async () => {
    const model = createThreadTestModel();
    const [path] = model.shortestPaths();
    const error: unknown = await path?.test({ events: {} }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HoldfastError);
    expect(error).toMatchObject({ code: 'invalid_argument' });
    expect(String(error)).toContain('"host.becomesReady"');
  });

  test('TK-2 events that are left out are in no path, and what they lead to need not be covered', async () => {
    const model = createThreadTestModel({ without: ['server.dies', 'operator.replacesRuntime'] });
    const paths = [...model.shortestPaths(), ...model.randomWalks({ seed: 1, count: 20, length: 20 })];
    const events = new Set(paths.flatMap(({ steps }) => steps.map(({ event }) => event)));
    expect(events).not.toContain('server.dies');
    expect(events).not.toContain('server.comesBack');
    expect(model.coverage().states).toMatchObject({ total: 6 });
    for (const path of paths) await path.test(willing);
    model.assertCovered();
  });

  test.each([0, -1, 1.5, Number.NaN])('TK-2 refuses %d walks, or a length of so many', (value) => {
    const model = createThreadTestModel();
    expect(() => model.randomWalks({ seed: 1, count: value, length: 5 })).toThrow(HoldfastError);
    expect(() => model.randomWalks({ seed: 1, count: 5, length: value })).toThrow(HoldfastError);
    expect(() => model.simplePaths({ maxLength: value })).toThrow(HoldfastError);
  });
});

/** Holdfast's own exploration in scopes that take seconds; `npm run explore` sees the whole one (SPEC TK-3). */
import { expect, test } from 'vitest';
import { exploreThread, smallScope } from '../../scripts/explore/run.ts';
import type { Scope } from '../../scripts/explore/scope.ts';
import { threadSystems } from '../../scripts/explore/system.ts';
import { invariants } from '../../scripts/explore/invariants.ts';
import { threadKey } from '../../scripts/explore/key.ts';
import { possibleMoves } from '../../scripts/explore/moves.ts';
import { explore } from '../../src/testing/index.ts';

const scopes: readonly Scope[] = [
  { ...smallScope, name: 'a server that asks on the stream of its call' },
  { ...smallScope, name: 'a server whose results require input', asking: 'modern' },
  {
    ...smallScope,
    name: 'a server both runtimes keep, with calls of two steps that cannot be told apart',
    steps: 2,
    crashes: 0,
    server: 'kept',
    asking: 'plain',
  },
  { ...smallScope, name: 'a request outside a step', requests: 1, crashes: 0 },
];

for (const scope of scopes) {
  test(`TK-3 H1 H2 H3 H4 H5 H6 H7 H8 hold in every state with ${scope.name}`, async () => {
    const found = await exploreThread(scope, { shortcuts: true });

    expect(found.violations).toEqual([]);
    expect(found.complete).toBe(true);
    expect(found.states).toBeGreaterThan(500);
  });
}

test('TK-3 H10 a thread that is closed at any moment ends clean', async () => {
  const found = await exploreThread({ ...smallScope, closes: true }, { shortcuts: true });

  expect(found.violations).toEqual([]);
  expect(found.complete).toBe(true);
});

test('TK-3 H9 actors that were saved and restored before every event behave as ones that never were', async () => {
  const found = await exploreThread(smallScope, { shortcuts: true });

  for (let index = 0; index < found.states; index += 1) {
    const { path, key } = found.state(index);
    expect(await found.replay(path)).toEqual({ key, violations: [] });
  }
});

test('TK-3 calls reach the same states with and without their shortcuts', async () => {
  const keysOf = async (shortcuts: boolean): Promise<ReadonlySet<string>> => {
    const keys = new Set<string>();
    const keyOf = threadKey(smallScope);
    await explore(threadSystems(smallScope, { shortcuts }), {
      events: possibleMoves,
      invariants,
      key: (saved) => {
        const key = keyOf(saved);
        keys.add(key);
        return key;
      },
    });
    return keys;
  };

  expect(await keysOf(true)).toEqual(await keysOf(false));
});

test('TK-3 what the key leaves out hides no violation', async () => {
  const scope = { ...smallScope, callsPerStep: 2, crashes: 0 };
  const whole = await explore(threadSystems(scope, { shortcuts: true }), { events: possibleMoves, invariants });
  const folded = await exploreThread(scope, { shortcuts: true });

  expect(whole.violations).toEqual([]);
  expect(whole.complete).toBe(true);
  expect(whole.states).toBeGreaterThan(folded.states);
});

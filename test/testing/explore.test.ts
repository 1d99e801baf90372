import { assign, fromPromise, sendTo, setup, waitFor } from 'xstate';
import { expect, test } from 'vitest';
import { actorSystem, canonicalJson, describeViolation, explore, throwsNothing } from '../../src/testing/index.ts';

type Turn = { readonly type: 'turn'; readonly lamp: string };

/** Goes round `colors` states. */
const lampMachine = setup({
  types: { context: {} as { at: number }, events: {} as { type: 'turn' } },
}).createMachine({
  context: { at: 0 },
  on: { turn: { actions: assign(({ context }) => ({ at: (context.at + 1) % 7 })) } },
});

/** Two lamps, each an actor of its own. */
const lampsMachine = setup({ types: { events: {} as Turn }, actors: { lamp: lampMachine } }).createMachine({
  invoke: [
    { id: 'left', src: 'lamp', systemId: 'left' },
    { id: 'right', src: 'lamp', systemId: 'right' },
  ],
  on: { turn: { actions: sendTo(({ event }) => event.lamp, { type: 'turn' }) } },
});

const turns: readonly Turn[] = [
  { type: 'turn', lamp: 'left' },
  { type: 'turn', lamp: 'right' },
];

const counterMachine = setup({
  types: { context: {} as { count: number }, events: {} as { type: 'add' | 'break' } },
}).createMachine({
  context: { count: 0 },
  on: {
    add: { actions: assign(({ context }) => ({ count: context.count + 1 })) },
    break: {
      actions: () => {
        throw new Error('it broke');
      },
    },
  },
});

test('TK-3 explores every state of a parent and its children, each with a shortest path', async () => {
  const found = await explore(actorSystem(lampsMachine), { events: () => turns, invariants: {} });

  expect(found).toMatchObject({ states: 49, transitions: 98, maxDepth: 12, complete: true, violations: [] });
});

test('TK-3 a path walked without saving ends in the state that was found by saving and restoring', async () => {
  const found = await explore(actorSystem(lampsMachine), { events: () => turns, invariants: {} });

  for (let index = 0; index < found.states; index += 1) {
    const { path, key } = found.state(index);
    expect(await found.replay(path)).toEqual({ key, violations: [] });
  }
});

test('TK-3 reports the shortest path to a violation, and replays it', async () => {
  const found = await explore(actorSystem(counterMachine), {
    events: () => [{ type: 'add' }],
    invariants: {
      'stays below three': (actor) => (actor.getSnapshot().context.count < 3 ? undefined : 'it is three'),
    },
  });

  const [violation] = found.violations;
  expect(found.complete).toBe(true);
  expect(violation).toEqual({
    invariant: 'stays below three',
    message: 'it is three',
    path: [{ type: 'add' }, { type: 'add' }, { type: 'add' }],
  });
  expect((await found.replay(violation?.path ?? [])).violations).toEqual([
    { invariant: 'stays below three', message: 'it is three' },
  ]);
  expect(violation && describeViolation(violation, ({ type }) => type)).toBe(
    'stays below three: it is three\n   1. add\n   2. add\n   3. add',
  );
});

test('TK-3 an exploration that meets its limit says that it is not complete', async () => {
  const progress: number[] = [];
  const found = await explore(actorSystem(counterMachine), {
    events: () => [{ type: 'add' }],
    invariants: {},
    limit: 20,
    onProgress: ({ states }) => progress.push(states),
  });

  expect(found).toMatchObject({ states: 20, complete: false });
  expect(progress).toEqual([20]);
});

test('TK-3 an event that makes an actor fail is a violation', async () => {
  const found = await explore(actorSystem(counterMachine), {
    events: (actor) => (actor.getSnapshot().context.count === 1 ? [{ type: 'break' }] : [{ type: 'add' }]),
    invariants: {},
  });

  expect(found.violations).toEqual([
    { invariant: throwsNothing, message: 'it broke', path: [{ type: 'add' }, { type: 'break' }] },
  ]);
});

test('TK-3 H9 a state that would not survive being saved is a violation', async () => {
  const machine = setup({
    types: { context: {} as { when: Date | null }, events: {} as { type: 'note' } },
  }).createMachine({
    context: { when: null },
    on: { note: { actions: assign({ when: () => new Date(0) }) } },
  });
  const found = await explore(actorSystem(machine), { events: () => [{ type: 'note' }], invariants: {} });

  expect(found.violations).toMatchObject([{ invariant: throwsNothing, path: [{ type: 'note' }] }]);
  expect(found.violations[0]?.message).toContain('got a Date');
});

test('TK-3 waits for actors that work by promises where it is told how', async () => {
  const machine = setup({
    types: { events: {} as { type: 'fetch' } },
    actors: { load: fromPromise(() => Promise.resolve('loaded')) },
  }).createMachine({
    initial: 'idle',
    states: {
      idle: { on: { fetch: 'loading' } },
      loading: { invoke: { src: 'load', onDone: 'loaded' } },
      loaded: {},
    },
  });
  const createSystem = actorSystem(machine, {
    settle: async (actor) => {
      await waitFor(actor, (snapshot) => !snapshot.matches('loading'));
    },
  });
  const found = await explore(createSystem, {
    events: (actor) => (actor.getSnapshot().matches('idle') ? [{ type: 'fetch' }] : []),
    invariants: {},
  });

  expect(found).toMatchObject({ states: 2, transitions: 1, complete: true });
});

test('TK-3 states with one key are one state', async () => {
  const swapped = (text: string): string => (text === 'left' ? 'right' : text === 'right' ? 'left' : text);
  const found = await explore(actorSystem(lampsMachine), {
    events: () => turns,
    invariants: {},
    key: (saved) => [canonicalJson(saved), canonicalJson(saved, swapped)].toSorted().join(' '),
  });

  expect(found).toMatchObject({ states: 28, complete: true });
});

test('TK-3 equal data has one canonical text, whatever the order of its keys', () => {
  expect(canonicalJson({ b: [1, undefined, null], a: 'x', c: undefined })).toBe('{"a":"x","b":[1,null,null]}');
  expect(canonicalJson({ a: 'x', b: [1, null, null] })).toBe('{"a":"x","b":[1,null,null]}');
  expect(() => canonicalJson({ a: new Map() })).toThrow('got a Map');
});

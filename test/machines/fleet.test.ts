import { createMachine, createActor, fromCallback, setup } from 'xstate';
import type { AnyActorRef, AnyEventObject } from 'xstate';
import { expect, test } from 'vitest';
import { createFleet, fleetChildren } from '../../src/machines/index.ts';
import { throughJson } from './support.ts';

/** Works until told to finish, to break, or to say what it was told. */
const workerMachine = setup({
  types: {
    context: {} as { readonly name: string; readonly done: number },
    input: {} as { readonly name: string },
    output: {} as { readonly name: string },
  },
}).createMachine({
  id: 'worker',
  context: ({ input }) => ({ name: input.name, done: 0 }),
  output: ({ context }) => ({ name: context.name }),
  initial: 'working',
  states: {
    working: {
      on: {
        'work.finish': 'finished',
        'work.break': {
          actions: () => {
            throw new Error('It broke.');
          },
        },
        'work.tick': 'resting',
      },
    },
    resting: { on: { 'work.finish': 'finished' } },
    finished: { type: 'final' },
  },
});

interface Office {
  readonly root: AnyActorRef;
  readonly heard: AnyEventObject[];
  readonly send: (event: AnyEventObject) => void;
  readonly names: () => readonly string[];
  readonly fleet: () => AnyActorRef;
}

/** A fleet of workers below a parent that writes down what it hears. */
function office(options: { readonly notify?: boolean; readonly snapshot?: unknown } = {}): Office {
  const heard: AnyEventObject[] = [];
  const machine = createMachine(
    {
      invoke: { id: 'workers', src: 'workers', systemId: 'workers' },
      on: { '*': { actions: ({ event }) => heard.push(event) } },
    },
    {
      actors: { workers: createFleet(workerMachine, options.notify === undefined ? {} : { notify: options.notify }) },
    },
  );
  const root: AnyActorRef = createActor(
    machine,
    options.snapshot === undefined ? {} : { snapshot: options.snapshot as never },
  ).start();
  const fleet = (): AnyActorRef => root.system.get('workers') as AnyActorRef;
  return {
    root,
    heard,
    send: (event) => {
      fleet().send(event);
    },
    names: () => fleetChildren(fleet()).map(({ id }) => id),
    fleet,
  };
}

const spawn = (id: string): AnyEventObject => ({
  type: 'fleet.spawn',
  id,
  systemId: `worker/${id}`,
  input: { name: id },
});

const tell = (id: string, type: string): AnyEventObject => ({ type: 'fleet.send', id, event: { type } });

test('F1 a finished child is dropped at once, and told to the parent with its output', () => {
  const { send, names, heard, root } = office();
  send(spawn('a'));
  send(spawn('b'));
  send(tell('a', 'work.finish'));
  expect(names()).toEqual(['b']);
  expect(heard).toEqual([{ type: 'fleet.settled', fleet: 'workers', child: 'a', output: { name: 'a' } }]);
  expect(JSON.stringify(root.getPersistedSnapshot())).not.toContain('worker/a');
  expect(root.system.get('worker/a')).toBeUndefined();
  root.stop();
});

test('F2 RT-12 a child that errors is dropped and told with its error; its siblings go on', () => {
  const { send, names, heard, root } = office();
  send(spawn('a'));
  send(spawn('b'));
  send(tell('a', 'work.break'));
  expect(names()).toEqual(['b']);
  expect(heard).toMatchObject([{ type: 'fleet.settled', child: 'a', error: { message: 'It broke.' } }]);
  send(tell('b', 'work.finish'));
  expect(heard).toMatchObject([{ child: 'a' }, { child: 'b', output: { name: 'b' } }]);
  expect(root.getSnapshot().status).toBe('active');
  root.stop();
});

test('F3 after a drain nothing is spawned, and the parent hears once, when the last child is gone', () => {
  const { send, names, heard, root } = office();
  send(spawn('a'));
  send(spawn('b'));
  send({ type: 'fleet.drain', event: { type: 'work.tick' } });
  send(spawn('c'));
  expect(names()).toEqual(['a', 'b']);
  expect(heard).toEqual([]);
  send(tell('a', 'work.finish'));
  expect(heard.map(({ type }) => type)).toEqual(['fleet.settled']);
  send(tell('b', 'work.finish'));
  expect(heard.map(({ type }) => type)).toEqual(['fleet.settled', 'fleet.settled', 'fleet.drained']);
  root.stop();
});

test('F3 a drain ends every child that its event ends, and tells that once', () => {
  const { send, names, heard, root } = office();
  for (const id of ['a', 'b', 'c']) send(spawn(id));
  send({ type: 'fleet.drain', event: { type: 'work.finish' } });
  expect(names()).toEqual([]);
  expect(heard.filter(({ type }) => type === 'fleet.drained')).toHaveLength(1);
  expect(heard.at(-1)).toEqual({ type: 'fleet.drained', fleet: 'workers' });
  root.stop();
});

test('F3 an empty fleet is drained at once', () => {
  const { send, heard, root } = office();
  send({ type: 'fleet.drain', event: { type: 'work.finish' } });
  expect(heard).toEqual([{ type: 'fleet.drained', fleet: 'workers' }]);
  root.stop();
});

test('spawning an id that is taken, and sending to one that is not there, change nothing', () => {
  const { send, names, heard, root, fleet } = office();
  send(spawn('a'));
  const [first] = fleetChildren(fleet());
  send(spawn('a'));
  send(tell('nobody', 'work.finish'));
  expect(fleetChildren(fleet())).toEqual([first]);
  expect(names()).toEqual(['a']);
  expect(heard).toEqual([]);
  root.stop();
});

test('with `notify: false` a settled child is kept from the parent, a drained fleet is not', () => {
  const { send, names, heard, root } = office({ notify: false });
  send(spawn('a'));
  send(tell('a', 'work.finish'));
  expect(names()).toEqual([]);
  send({ type: 'fleet.drain', event: { type: 'work.finish' } });
  expect(heard).toEqual([{ type: 'fleet.drained', fleet: 'workers' }]);
  root.stop();
});

test('F1 H9 a restored fleet has its open children back, with their ids, systemIds and states, and no finished ones', () => {
  const before = office();
  for (const id of ['a', 'b', 'c']) before.send(spawn(id));
  before.send(tell('a', 'work.finish'));
  before.send(tell('b', 'work.tick'));
  const saved = before.root.getPersistedSnapshot();
  expect(throughJson(saved)).toEqual(JSON.parse(JSON.stringify(saved)));
  before.root.stop();

  const { root, names, fleet, send, heard } = office({ snapshot: throughJson(saved) });
  expect(names()).toEqual(['b', 'c']);
  expect(fleetChildren(fleet()).map((ref) => (ref.getSnapshot() as { value: unknown }).value)).toEqual([
    'resting',
    'working',
  ]);
  expect(root.system.get('worker/b')).toBe(fleetChildren(fleet())[0]);
  expect(root.system.get('worker/a')).toBeUndefined();
  send(tell('b', 'work.finish'));
  expect(heard).toEqual([{ type: 'fleet.settled', fleet: 'workers', child: 'b', output: { name: 'b' } }]);
  expect(names()).toEqual(['c']);
  root.stop();
});

test('F3 a fleet restored while it drained spawns nothing, and tells when its last child is gone', () => {
  const before = office();
  before.send(spawn('a'));
  before.send({ type: 'fleet.drain', event: { type: 'work.tick' } });
  const saved = throughJson(before.root.getPersistedSnapshot());
  before.root.stop();
  const { root, names, send, heard } = office({ snapshot: saved });
  send(spawn('b'));
  expect(names()).toEqual(['a']);
  send(tell('a', 'work.finish'));
  expect(heard.map(({ type }) => type)).toEqual(['fleet.settled', 'fleet.drained']);
  root.stop();
});

test('H10 stopping the parent stops every child, and no child is left to be looked up', () => {
  const stopped: string[] = [];
  const machine = createMachine(
    { invoke: { id: 'pipes', src: 'pipes', systemId: 'pipes' } },
    {
      actors: {
        pipes: createFleet(
          fromCallback<AnyEventObject, string>(({ input }) => () => {
            stopped.push(input);
          }),
        ),
      },
    },
  );
  const root = createActor(machine).start();
  const fleet = root.system.get('pipes') as AnyActorRef;
  fleet.send({ type: 'fleet.spawn', id: 'a', systemId: 'a', input: 'a' });
  fleet.send({ type: 'fleet.spawn', id: 'b', systemId: 'b', input: 'b' });
  root.stop();
  expect(stopped).toEqual(['a', 'b']);
  expect(fleetChildren(fleet)).toEqual([]);
  expect(root.system.get('a')).toBeUndefined();
});

test('F1 F2 a child that ends or breaks while it is made is dropped like any other', () => {
  const heard: AnyEventObject[] = [];
  const machine = createMachine(
    {
      invoke: { id: 'shorts', src: 'shorts', systemId: 'shorts' },
      on: { '*': { actions: ({ event }) => heard.push(event) } },
    },
    {
      actors: {
        shorts: createFleet(
          setup({ types: { input: {} as string, context: {} as { readonly name: string } } }).createMachine({
            context: ({ input }) => {
              if (input === 'broken') throw new Error('It never began.');
              return { name: input };
            },
            initial: 'over',
            states: { over: { type: 'final' } },
          }),
        ),
      },
    },
  );
  const root = createActor(machine).start();
  const fleet = root.system.get('shorts') as AnyActorRef;
  fleet.send({ type: 'fleet.spawn', id: 'short', input: 'short' });
  fleet.send({ type: 'fleet.spawn', id: 'broken', input: 'broken' });
  expect(fleetChildren(fleet)).toEqual([]);
  expect(heard).toMatchObject([
    { type: 'fleet.settled', child: 'short' },
    { type: 'fleet.settled', child: 'broken', error: { message: 'It never began.' } },
  ]);
  expect(root.getSnapshot().status).toBe('active');
  root.stop();
});

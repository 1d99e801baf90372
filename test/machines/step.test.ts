import { fromCallback } from 'xstate';
import type { AnyEventObject } from 'xstate';
import { expect, test } from 'vitest';
import { callMachine, createFleet, fleetChildren, stepMachine } from '../../src/machines/index.ts';
import { callInput, logged, SlotLog, start, startChild, throughJson, withActors } from './support.ts';
import type { Child } from './support.ts';

interface Begun extends Child<typeof stepMachine> {
  readonly log: SlotLog;
  readonly call: (id: string) => void;
  readonly calls: () => readonly { readonly id: string; send(event: AnyEventObject): void }[];
}

function step(snapshot?: unknown): Begun {
  const log = new SlotLog();
  const machine = withActors(logged(stepMachine, log), {
    calls: createFleet(logged(callMachine, log), { notify: false }),
  });
  const child = startChild(machine, {
    input: { step: 'step-1', generation: 3 },
    ...(snapshot === undefined ? {} : { snapshot }),
  });
  const fleet = () => child.actor.getSnapshot().children['calls'];
  return {
    ...child,
    log,
    call: (id) => {
      fleet()?.send({ type: 'fleet.spawn', id, systemId: id, input: callInput({ call: id, generation: 3 }) });
    },
    calls: () => fleetChildren(fleet()),
  };
}

const end = { type: 'step.end', reason: 'its step ended', at: start } as const;

test('P2 a step without calls ends at once, and says so before its parent hears', () => {
  const { actor, log, heard } = step();
  expect(log.names).toEqual(['announceBegan']);
  actor.send(end);
  expect(log.names).toEqual(['announceBegan', 'announceEnded']);
  expect(actor.getSnapshot().status).toBe('done');
  expect(heard).toMatchObject([{ type: 'xstate.done.actor.step', output: { step: 'step-1', generation: 3 } }]);
});

test('P2 RT-8 the end aborts every open call, with its reason, and comes after the last of them', () => {
  const { actor, log, call, calls } = step();
  call('call-1');
  call('call-2');
  calls()[0]?.send({ type: 'call.completed', result: {} });
  expect(calls().map(({ id }) => id)).toEqual(['call-2']);
  actor.send(end);
  expect(calls()).toEqual([]);
  const { names } = log;
  expect(names.indexOf('announceEnded')).toBeGreaterThan(names.lastIndexOf('settleCall'));
  expect(names.filter((name) => name === 'cancelRequest')).toHaveLength(1);
  expect(log.runs.findLast(({ slot }) => slot === 'settleCall')?.context).toContain('aborted: its step ended');
});

test('P2 nothing is called after the end', () => {
  const pending: { send(event: AnyEventObject): void }[] = [];
  const log = new SlotLog();
  const { actor } = startChild(
    withActors(logged(stepMachine, log), {
      // Calls that do not end when they are told to.
      calls: createFleet(
        fromCallback(({ self }) => {
          pending.push(self);
        }),
        { notify: false },
      ),
    }),
    { input: { step: 'step-1', generation: 3 } },
  );
  const fleet = () => actor.getSnapshot().children['calls'];
  fleet()?.send({ type: 'fleet.spawn', id: 'call-1', input: {} });
  actor.send(end);
  actor.send(end);
  fleet()?.send({ type: 'fleet.spawn', id: 'call-2', input: {} });
  expect(fleetChildren(fleet()).map(({ id }) => id)).toEqual(['call-1']);
  expect(actor.getSnapshot().value).toBe('ending');
});

test('P1 H1 its generation is the one it began with, whatever happens', () => {
  const { actor, call, calls } = step();
  call('call-1');
  calls()[0]?.send({ type: 'call.abort', reason: 'x', at: start });
  expect(actor.getSnapshot().context).toEqual({ step: 'step-1', generation: 3 });
});

test('RT-12 a call that breaks is dropped; the step and its other calls go on', () => {
  const log = new SlotLog();
  const { actor } = startChild(
    withActors(logged(stepMachine, log), {
      calls: createFleet(
        logged(callMachine, log, {
          announceStarted: ({ context }) => {
            if ((context as { input: { call: string } }).input.call === 'bad') throw new Error('It broke.');
          },
        }),
        { notify: false },
      ),
    }),
    { input: { step: 'step-1', generation: 3 } },
  );
  const { calls } = actor.getSnapshot().children;
  calls?.send({ type: 'fleet.spawn', id: 'bad', input: callInput({ call: 'bad' }) });
  calls?.send({ type: 'fleet.spawn', id: 'good', input: callInput({ call: 'good' }) });
  expect(fleetChildren(calls).map(({ id }) => id)).toEqual(['good']);
  expect(actor.getSnapshot().value).toBe('open');
});

test('RT-12 a fleet that fails is reported, and the step lives', () => {
  const log = new SlotLog();
  const { actor } = startChild(
    withActors(logged(stepMachine, log), {
      calls: fromCallback(() => {
        throw new Error('No fleet.');
      }),
    }),
    { input: { step: 'step-1', generation: 3 } },
  );
  expect(log.names).toContain('reportError');
  expect(actor.getSnapshot().value).toBe('open');
});

test('H9 it is restored with its open calls, and ends with the last of them', () => {
  const before = step();
  before.call('call-1');
  before.call('call-2');
  before.calls()[0]?.send({ type: 'call.completed', result: {} });
  const { context } = before.actor.getSnapshot();
  expect(throughJson(context)).toEqual(context);
  const saved = throughJson(before.actor.getPersistedSnapshot());
  before.stop();
  const { actor, calls, log } = step(saved);
  expect(calls().map(({ id }) => id)).toEqual(['call-2']);
  expect(actor.system.get('call-2')).toBe(calls()[0]);
  actor.send(end);
  expect(actor.getSnapshot().status).toBe('done');
  expect(log.names.at(-1)).toBe('announceEnded');
});

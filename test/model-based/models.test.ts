/**
 * Model machines, whose events are what a user, a person, a server and an operator do, drive real threads; and what these
 * threads' machines went through is held against the charts.
 */
import { createActor } from 'xstate';
import { describe, expect, test } from 'vitest';
import { logged, SlotLog } from '../machines/support.ts';
import * as machines from '../../src/machines/index.ts';
import { createThreadTestMachine } from '../../src/testing/thread-test-model/machine.ts';
import { callsDriver } from './calls-driver.ts';
import { callsModel } from './calls.ts';
import { conversationDriver } from './conversation-driver.ts';
import { drives } from './drives.ts';
import { linksDriver, linksModel } from './links.ts';
import { MachineCoverage } from './machine-coverage.ts';
import { pathsOf } from './paths.ts';
import { replacingDriver, replacingModel } from './replacing.ts';
import { scenarios } from './scenarios.ts';
import { taskScenarios } from './task-scenarios.ts';
import type { Observe } from './watched-thread.ts';

const charts = [
  machines.threadMachine,
  machines.routerMachine,
  machines.runtimeMachine,
  machines.connectionMachine,
  machines.stepMachine,
  machines.callMachine,
  machines.elicitationMachine,
  machines.taskMachine,
];

const eras = ['legacy', 'modern'] as const;
const stepMachine = logged(machines.stepMachine, new SlotLog());
const inThreads = new MachineCoverage(charts);
const everywhere = new MachineCoverage(charts);

const recordThread: Observe = (event) => {
  inThreads.inspect(event);
  everywhere.inspect(event);
};

const models = [
  ...eras.map((era) => ({
    name: `H1 H2 H3 H4 H5 H9 H10 a conversation with a ${era} server`,
    paths: pathsOf(createThreadTestMachine(era), (observe) => conversationDriver(era, observe)),
  })),
  ...eras.map((era) => ({
    name: `H4 H5 H6 EL-9 EL-11 PO-1 the calls of a step on a ${era} server`,
    paths: pathsOf(callsModel, (observe) => callsDriver(era, observe)),
  })),
  { name: 'H2 RT-3 RT-4 RT-6 candidates and what becomes of them', paths: pathsOf(replacingModel, replacingDriver) },
  { name: 'RT-7 N1 N2 a connection that is lost and had again', paths: pathsOf(linksModel, linksDriver) },
];

/** Titles and bodies as `test.each` takes them: `%s` shows a title whole. */
function rows<TRun>(
  all: readonly { readonly title: string; readonly run: TRun }[],
): readonly (readonly [string, TRun])[] {
  return all.map(({ title, run }) => [title, run] as const);
}

describe.each(models.map(({ name, paths }) => [name, paths] as const))('%s', (_name, paths) => {
  test.each(rows(paths))('%s', async (_, run) => {
    await expect(run(recordThread)).resolves.toBeUndefined();
  });
});

describe('situations no model has', () => {
  test.each(rows([...scenarios, ...taskScenarios]))('%s', async (_, run) => {
    await expect(run(recordThread)).resolves.toBeUndefined();
  });
});

describe('the charts, actor by actor', () => {
  test.each(rows(drives))('%s', async (_, run) => {
    await expect(run(everywhere.inspect)).resolves.toBeUndefined();
  });
});

/** What no thread can show, and why. */
const beyondThreads: Readonly<Record<string, string>> = {
  'call#starting always (2 of 3)': 'taken by a shortcut, which shows no transitions',
  'call#onWire on call.resend': 'a lost link settles its questions before its requests',
  'runtime#settled on runtime.discard': 'the thread publishes what has settled in the same step',
  'thread on xstate.error.actor.*': 'a fault of Holdfast',
  'connection on xstate.error.actor.*': 'a fault of Holdfast',
  'connection#restarting on xstate.error.actor.closeLink': 'a fault of Holdfast',
  'connection#closing on xstate.error.actor.closeLink': 'a fault of Holdfast',
  'step on xstate.error.actor.calls': 'a fault of Holdfast',
  'call on xstate.error.actor.*': 'a fault of Holdfast',
  'task on xstate.error.actor.*': 'a fault of Holdfast',
  'elicitation#deciding on xstate.error.actor.decide': 'a fault of Holdfast',
};

describe('the charts', () => {
  test('every state and transition of every machine is reached', () => {
    expect(everywhere.missing).toEqual([]);
    expect(everywhere.states.size).toBeGreaterThan(50);
    expect(everywhere.transitions.size).toBeGreaterThan(100);
  });

  test('real threads reach every one that a fault of Holdfast or a shortcut does not stand for', () => {
    expect(inThreads.missing.filter((name) => !(name in beyondThreads))).toEqual([]);
    const known = new Set([...inThreads.states, ...inThreads.transitions]);
    expect(Object.keys(beyondThreads).filter((name) => !known.has(name))).toEqual([]);
  });

  test('a chart that nothing drove is reported state by state and transition by transition', () => {
    const coverage = new MachineCoverage([machines.stepMachine]);
    expect(coverage.missing).toEqual([
      'step',
      'step#open',
      'step#ending',
      'step#ended',
      'step on xstate.error.actor.calls',
      'step#open on step.end',
      'step#ending on fleet.drained',
    ]);
    const actor = createActor(stepMachine, { input: { step: 'step-1', generation: 1 }, inspect: coverage.inspect });
    actor.start();
    expect(coverage.missing).toEqual([
      'step#ending',
      'step#ended',
      'step on xstate.error.actor.calls',
      'step#open on step.end',
      'step#ending on fleet.drained',
    ]);
    actor.stop();
  });
});

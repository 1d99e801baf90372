/**
 * Ways through the charts that no user, server or operator can bring about: what only a fault of Holdfast, or a shortcut,
 * would show. Here the actors run alone, their slots a log, and are sent the events themselves.
 */
import { expect } from 'vitest';
import { fromCallback, fromPromise, waitFor } from 'xstate';
import type { AnyEventObject, InspectionEvent } from 'xstate';
import {
  callMachine,
  connectionMachine,
  elicitationMachine,
  runtimeMachine,
  stepMachine,
  taskMachine,
} from '../../src/machines/index.ts';
import { SimulatedClock } from '../../src/testing/index.ts';
import {
  callInput,
  deadlineOn,
  failure,
  logged,
  question,
  SlotLog,
  start,
  startChild,
  withActors,
} from '../machines/support.ts';
import { play } from '../machines/thread-support.ts';

export interface Drive {
  readonly title: string;
  readonly run: (inspect: (event: InspectionEvent) => void) => Promise<void>;
}

const broken = (): never => {
  throw new Error('It broke.');
};

const linkInput = {
  connection: 'connection-1',
  server: 'docs',
  transport: 'http',
  retriesStart: true,
  reopens: true,
  at: start,
} as const;

/** A connection whose links cannot be closed. */
async function driveConnection(
  inspect: (event: InspectionEvent) => void,
  link: () => void,
  events: readonly AnyEventObject[],
  until: unknown,
): Promise<void> {
  const machine = withActors(logged(connectionMachine, new SlotLog()), {
    link: fromCallback(link),
    closeLink: fromPromise(() => Promise.reject(new Error('It stays.'))),
    deadline: deadlineOn(new SimulatedClock()),
  });
  const { actor, stop } = startChild(machine, { input: linkInput, inspect });
  for (const event of events) actor.send(event as never);
  await waitFor(actor, ({ value }) => JSON.stringify(value) === JSON.stringify(until));
  stop();
}

export const drives: readonly Drive[] = [
  {
    title: 'S1 a call without its shortcuts goes onto the wire and off it with a result',
    run: (inspect) => {
      const { actor, stop } = startChild(logged(callMachine, new SlotLog()), { input: callInput(), inspect });
      actor.send({ type: 'call.completed', result: {} });
      stop();
      return Promise.resolve();
    },
  },
  {
    title: 'H6 a call that waits for an answer is not sent again while its question is open',
    run: (inspect) => {
      const log = new SlotLog();
      const elicitation = withActors(logged(elicitationMachine, log), {
        decide: fromPromise(() => new Promise(() => undefined)),
      });
      const { actor, stop } = startChild(withActors(logged(callMachine, log), { elicitation }), {
        input: callInput(),
        inspect,
      });
      actor.send({ type: 'call.asked', question: question('elc_a'), at: start });
      actor.send({ type: 'call.resend', outcome: 'unknown', failure: failure('connection_lost') });
      stop();
      return Promise.resolve();
    },
  },
  {
    title: 'RT-12 a call whose question fails inside is given up',
    run: (inspect) => {
      const log = new SlotLog();
      const elicitation = logged(elicitationMachine, log, { register: broken });
      const machine = withActors(logged(callMachine, log), { elicitation });
      const { actor, stop } = startChild(machine, { input: callInput(), inspect });
      actor.send({ type: 'call.asked', question: question('elc_a'), at: start });
      stop();
      return Promise.resolve();
    },
  },
  {
    title: 'RT-12 a task whose slots fail inside is given up',
    run: (inspect) => {
      const machine = withActors(logged(taskMachine, new SlotLog()), { watch: fromCallback(broken) });
      const input = {
        call: 'call-1',
        name: 'mcp__docs__search',
        server: 'docs',
        style: 'core',
        record: { taskId: 'task-1', status: 'working' },
        at: start,
      } as const;
      const { actor, stop } = startChild(machine, { input, inspect });
      expect(actor.getSnapshot().output).toMatchObject({ kind: 'failure', failure: { code: 'internal' } });
      stop();
      return Promise.resolve();
    },
  },
  {
    title: 'RT-12 a question whose decision fails inside is shown',
    run: async (inspect) => {
      const machine = withActors(logged(elicitationMachine, new SlotLog()), {
        decide: fromPromise(() => Promise.reject(new Error('It broke.'))),
      });
      const { actor, stop } = startChild(machine, { input: question('elc_a'), inspect });
      await waitFor(actor, (snapshot) => snapshot.matches('open'));
      stop();
    },
  },
  {
    title: 'RT-12 a step whose fleet fails goes on',
    run: (inspect) => {
      const machine = withActors(logged(stepMachine, new SlotLog()), { calls: fromCallback(broken) });
      startChild(machine, { input: { step: 'step-1', generation: 1 }, inspect }).stop();
      return Promise.resolve();
    },
  },
  {
    title: 'G3 a runtime that has settled can be discarded before it is published',
    run: (inspect) => {
      const machine = withActors(logged(runtimeMachine, new SlotLog()), { deadline: deadlineOn(new SimulatedClock()) });
      const input = { generation: 1, publish: 'settled', first: true, graceMs: 1_000 } as const;
      const { actor, stop } = startChild(machine, { input, inspect });
      actor.send({ type: 'runtime.begin', servers: [], at: start });
      actor.send({ type: 'runtime.discard', reason: 'the thread was closed' });
      stop();
      return Promise.resolve();
    },
  },
  {
    title: 'RT-12 a thread whose runtime fails inside goes on',
    run: (inspect) => {
      const { root, publish } = play({ inspect, also: { announceStopped: broken } });
      publish(1);
      publish(2);
      root.stop();
      return Promise.resolve();
    },
  },
  {
    title: 'RT-12 N2 a connection whose link throws, and cannot be closed, ends',
    run: (inspect) => driveConnection(inspect, broken, [{ type: 'connection.close' }], 'closed'),
  },
  {
    title: 'RT-12 N1 a connection whose link cannot be closed opens another',
    run: (inspect) =>
      driveConnection(inspect, () => undefined, [{ type: 'connection.restart', at: start }], { linked: 'starting' }),
  },
];

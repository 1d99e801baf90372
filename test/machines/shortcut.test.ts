import * as fc from 'fast-check';
import { fromCallback, fromPromise } from 'xstate';
import type { AnyEventObject } from 'xstate';
import { expect, test } from 'vitest';
import { callShortcuts } from '../../src/machines/call-shortcuts.ts';
import { callMachine, elicitationMachine, taskMachine } from '../../src/machines/index.ts';
import type { CallInput } from '../../src/machines/index.ts';
import { withShortcuts } from '../../src/machines/shortcut.ts';
import {
  ada,
  callInput,
  failure,
  HeldSlot,
  logged,
  question,
  SlotLog,
  start,
  startChild,
  throughJson,
  withActors,
} from './support.ts';
import type { Child } from './support.ts';

/** What happens to a call: an event of its own, or an answer to the question it put as number `index`. */
type Move =
  | { readonly kind: 'event'; readonly event: AnyEventObject }
  | { readonly kind: 'answer'; readonly index: number; readonly action: 'accept' | 'decline' | 'misfit' };

const at = fc.integer({ min: 0, max: 900 }).map((ms) => start + ms);
const outcome = fc.constantFrom('failed' as const, 'unknown' as const, 'not-sent' as const);
const token = fc.constantFrom('elc_a', 'elc_b', 'elc_c');
const questions = fc
  .uniqueArray(token, { maxLength: 3 })
  .map((tokens) =>
    tokens.map((name, index) =>
      index === 2
        ? { ...question(name, { kind: 'authorization' }) }
        : question(name, { kind: 'round', key: `entry-${name}` }),
    ),
  );

const taskRecord = fc.constant({ taskId: 'task-1', status: 'working' });
const taskEnd = fc.constant({ kind: 'result', result: { content: [] } });

const event: fc.Arbitrary<AnyEventObject> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ type: 'call.completed', result: { content: [] } }) },
  fc.record({ type: fc.constant('call.failed'), outcome, failure: fc.constant(failure('connection_lost')) }),
  fc.record({ type: fc.constant('call.resend'), outcome, failure: fc.constant(failure('session_lost')) }),
  fc.record({ type: fc.constant('call.abort'), reason: fc.constant('aborted by a test'), at }),
  fc.record({ type: fc.constant('call.admitted'), at }),
  fc.record({ type: fc.constant('call.timedOut'), at }),
  fc.record({ type: fc.constant('call.pauseEnded'), at }),
  fc.record({ type: fc.constant('call.asked'), question: token.map((name) => question(name)), at }),
  fc.record({ type: fc.constant('call.questionOpened'), token, at }),
  fc.record({
    type: fc.constant('question.settled'),
    settlement: fc.record({ token, outcome: fc.constant('accepted' as const), at }),
  }),
  fc.record({ type: fc.constant('call.inputRequired'), questions, responses: fc.constant({}), at }),
  fc.record({ type: fc.constant('call.authorizationRequired'), questions, at }),
  fc.record({ type: fc.constant('call.becameTask'), style: fc.constant('core' as const), record: taskRecord, at }),
  fc.record({ type: fc.constant('xstate.done.actor.task'), output: taskEnd }),
);

const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('event' as const), event }) },
  fc.record({
    kind: fc.constant('answer' as const),
    index: fc.nat(3),
    action: fc.constantFrom('accept' as const, 'decline' as const, 'misfit' as const),
  }),
);

const input: fc.Arbitrary<CallInput> = fc
  .record({ admitted: fc.boolean(), asksFirst: fc.boolean(), maxPauseMs: fc.option(fc.constant(500)) })
  .map(({ admitted, asksFirst, maxPauseMs }) =>
    callInput({
      admitted,
      ...(asksFirst ? { approval: question('elc_p', { kind: 'approval' }) } : {}),
      ...(maxPauseMs === null ? {} : { maxPauseMs }),
    }),
  );

interface Runner extends Child<typeof callMachine> {
  readonly log: SlotLog;
}

/** The call's machine with slots that keep a log; with shortcuts, or as the chart says. */
function run(given: CallInput, shortcuts: boolean, snapshot?: unknown): Runner {
  const log = new SlotLog();
  const elicitation = withActors(logged(elicitationMachine, log), { decide: fromPromise(new HeldSlot<never>().start) });
  const silent = fromCallback(() => undefined);
  const slots = { deadline: silent, watch: silent, look: silent, fetch: silent, deliver: silent };
  const task = withActors(logged(taskMachine, log), slots);
  const machine = withActors(logged(callMachine, log), { elicitation, task });
  const child = startChild(shortcuts ? withShortcuts(machine, callShortcuts) : machine, {
    input: given,
    systemId: 'call-1',
    ...(snapshot === undefined ? {} : { snapshot }),
  });
  return { ...child, log };
}

function apply(runner: Runner, step: Move): void {
  if (runner.actor.getSnapshot().status !== 'active') return;
  if (step.kind === 'event') {
    runner.actor.send(step.event as never);
    return;
  }
  const open = Object.keys(runner.actor.getSnapshot().children);
  const responder = runner.actor.system.get(open[step.index] ?? '') as
    { send(event: AnyEventObject): void } | undefined;
  const answer =
    step.action === 'decline'
      ? { action: 'decline' }
      : step.action === 'accept'
        ? ada
        : { action: 'accept', content: { name: 7 } };
  responder?.send({ type: 'elicitation.answer', answer, at: start + 950, ticket: 1 });
}

/** Everything an observer can tell of an actor. */
function seen({ actor, log, heard }: Runner): unknown {
  const snapshot = actor.getSnapshot();
  return {
    value: snapshot.value,
    status: snapshot.status,
    context: snapshot.context,
    output: snapshot.output as unknown,
    error: snapshot.error,
    tags: [...snapshot.tags],
    children: Object.keys(snapshot.children),
    canComplete: snapshot.can({ type: 'call.completed', result: {} }),
    isRunning: snapshot.matches({ onWire: 'running' }),
    persisted: throughJson(actor.getPersistedSnapshot()),
    actions: log.runs,
    heard,
  };
}

test('S1 with and without shortcuts a call has the same snapshots and runs the same actions in the same order', () => {
  fc.assert(
    fc.property(input, fc.array(move, { maxLength: 12 }), (given, moves) => {
      const plain = run(given, false);
      const quick = run(given, true);
      expect(seen(quick)).toEqual(seen(plain));
      for (const step of moves) {
        apply(plain, step);
        apply(quick, step);
        expect(seen(quick)).toEqual(seen(plain));
      }
      plain.stop();
      quick.stop();
    }),
    { numRuns: 400, seed: 20_260_728 },
  );
});

test('S1 H9 a call saved without shortcuts goes on with them, and the other way round', () => {
  fc.assert(
    fc.property(input, fc.array(move, { maxLength: 4 }), fc.array(move, { maxLength: 6 }), (given, before, after) => {
      const [first, second] = [run(given, false), run(given, true)];
      for (const step of before) for (const runner of [first, second]) apply(runner, step);
      if (first.actor.getSnapshot().status !== 'active') return;
      const quick = run(given, true, throughJson(first.actor.getPersistedSnapshot()));
      const plain = run(given, false, throughJson(second.actor.getPersistedSnapshot()));
      expect(seen(quick)).toEqual(seen(plain));
      for (const step of after) {
        apply(plain, step);
        apply(quick, step);
        expect(seen(quick)).toEqual(seen(plain));
      }
      for (const runner of [first, second, quick, plain]) runner.stop();
    }),
    { numRuns: 200, seed: 20_260_728 },
  );
});

test('S1 the two shortcuts are taken: a plain call runs the chart for nothing but its making', () => {
  const machine = logged(callMachine, new SlotLog());
  let interpreted = 0;
  const counted = Object.assign(Object.create(machine) as typeof machine, {
    getInitialSnapshot: (...args: Parameters<typeof machine.getInitialSnapshot>) => {
      interpreted += 1;
      return machine.getInitialSnapshot(...args);
    },
    transition: (...args: Parameters<typeof machine.transition>) => {
      interpreted += 1;
      return machine.transition(...args);
    },
  });
  const { actor } = startChild(withShortcuts(counted, callShortcuts), { input: callInput() });
  actor.send({ type: 'call.completed', result: {} });
  expect(actor.getSnapshot().status).toBe('done');
  expect(interpreted).toBe(0);
});

/** The slots of the machines, filled by the simulated world instead of by `src/actors`. */
import { fromCallback, fromPromise } from 'xstate';
import { callMachine } from '../../src/machines/call.ts';
import { callShortcuts } from '../../src/machines/call-shortcuts.ts';
import { connectionMachine } from '../../src/machines/connection.ts';
import type { ConnectionEvent } from '../../src/machines/connection.ts';
import { elicitationMachine } from '../../src/machines/elicitation.ts';
import type { Decision } from '../../src/machines/elicitation.ts';
import { createFleet } from '../../src/machines/fleet.ts';
import type { DeadlineInput, DeadlinePassedEvent } from '../../src/machines/not-provided.ts';
import { routerMachine } from '../../src/machines/router.ts';
import { runtimeMachine } from '../../src/machines/runtime.ts';
import { withShortcuts } from '../../src/machines/shortcut.ts';
import { stepMachine } from '../../src/machines/step.ts';
import { threadMachine } from '../../src/machines/thread.ts';
import { offWire, sendRequest, settleCall } from './calls.ts';
import { cancelQuestions, settleQuestion } from './questions.ts';
import { detachRuntime, linkDown, noteConnection } from './servers.ts';
import { actorOf, wrong } from './world.ts';
import type { Live } from './world.ts';

/** The machines before they are put together: what a fault is planted in. */
export interface Machines {
  readonly router: typeof routerMachine;
  readonly runtime: typeof runtimeMachine;
  readonly step: typeof stepMachine;
  readonly call: typeof callMachine;
  readonly elicitation: typeof elicitationMachine;
}

export type LiveOf = (system: object) => Live;

export interface ProvideOptions {
  /** Changes the machines before they are put together. */
  readonly plant?: (machines: Machines, liveOf: LiveOf) => Machines;
  /** The runtime a step says it is pinned to, when it makes a call. Default: the one it captured. */
  readonly pinOf?: (live: Live, step: string) => number;
  /** Runs calls with the shortcuts that `src/actors` runs them with. */
  readonly shortcuts: boolean;
}

/** The thread machine over the world that `liveOf` finds for an actor system. */
export function provideThread(
  liveOf: LiveOf,
  { plant = (machines) => machines, shortcuts }: ProvideOptions,
): typeof threadMachine {
  const own: Machines = {
    router: provideRouter(liveOf),
    runtime: provideRuntime(liveOf),
    step: provideStep(liveOf),
    call: provideCall(liveOf),
    elicitation: provideElicitation(liveOf),
  };
  const given = plant(own, liveOf);
  const call = given.call.provide({ actors: { elicitation: given.elicitation } });
  const calls = shortcuts ? withShortcuts(call, callShortcuts) : call;
  return threadMachine.provide({
    actors: {
      router: given.router,
      steps: createFleet(given.step.provide({ actors: { calls: createFleet(calls, { notify: false }) } })),
      requests: createFleet(calls),
      connections: createFleet(provideConnection(liveOf, given.elicitation), { notify: false }),
      runtime: given.runtime,
    },
    actions: {
      announcePublished: ({ system }, { generation }) => {
        liveOf(system).world.current = generation;
      },
      dropCandidate: nothing,
      rejectCandidate: nothing,
      announceClosed: ({ system }) => {
        liveOf(system).world.isClosed = true;
      },
      reportError: ({ system, event }) => {
        wrong(liveOf(system), `H5 an actor failed: ${JSON.stringify(event)}`);
      },
    },
  });
}

function provideRouter(liveOf: LiveOf): typeof routerMachine {
  return routerMachine.provide({
    actions: {
      reply: ({ system }, { outcome }) => {
        liveOf(system).replies.push(outcome);
      },
    },
  });
}

function provideElicitation(liveOf: LiveOf): typeof elicitationMachine {
  return elicitationMachine.provide({
    actors: { decide: fromPromise(neverDecided), deadline: inertDeadline },
    actions: {
      register: ({ context, system }) => {
        actorOf(liveOf(system), 'router')?.send({ type: 'router.register', token: context.elicitation.token });
      },
      show: nothing,
      reply: ({ system }, { outcome }) => {
        liveOf(system).replies.push(outcome);
      },
      settle: ({ context, system }, settlement) => {
        settleQuestion(liveOf(system), context, settlement);
      },
    },
  });
}

function provideCall(liveOf: LiveOf): typeof callMachine {
  return callMachine.provide({
    actions: {
      noteActor: nothing,
      requestTurn: nothing,
      releaseTurn: nothing,
      resumeTurn: nothing,
      armTimeLimit: nothing,
      disarmTimeLimit: nothing,
      armPauseLimit: nothing,
      announceStarted: nothing,
      announcePaused: nothing,
      announceResumed: nothing,
      sendRequest: ({ context, system }) => {
        sendRequest(liveOf(system), context);
      },
      cancelRequest: ({ context, system }) => {
        offWire(liveOf(system), context.input.call);
      },
      cancelQuestions: ({ context, system }, { reason, expired }) => {
        cancelQuestions(liveOf(system), context.questions, reason, expired);
      },
      settleCall: ({ context, system }) => {
        settleCall(liveOf(system), context);
      },
    },
  });
}

function provideStep(liveOf: LiveOf): typeof stepMachine {
  return stepMachine.provide({
    actions: {
      announceBegan: ({ context, system }) => {
        const live = liveOf(system);
        if (context.generation !== live.world.current)
          wrong(live, `H1 step ${context.step} took runtime ${String(context.generation)}, which was not current`);
        live.world.steps[context.step] = { generation: context.generation, state: 'open' };
      },
      announceEnded: ({ context, system }) => {
        const step = liveOf(system).world.steps[context.step];
        if (step !== undefined) step.state = 'ended';
      },
    },
  });
}

function provideRuntime(liveOf: LiveOf): typeof runtimeMachine {
  return runtimeMachine.provide({
    actors: { deadline: inertDeadline },
    actions: {
      schedule: ({ context, system }) => {
        liveOf(system).world.scheduled.push(context.generation);
      },
      announceStarting: ({ context, system }) => {
        liveOf(system).world.runtimes[context.generation] = 'alive';
      },
      detach: ({ context, system }) => {
        detachRuntime(liveOf(system), context.generation);
      },
      announceRetired: nothing,
      announceStopped: ({ context, system }) => {
        liveOf(system).world.runtimes[context.generation] = 'stopped';
      },
      announceDiscarded: ({ context, system }) => {
        liveOf(system).world.runtimes[context.generation] = 'discarded';
      },
    },
  });
}

function provideConnection(liveOf: LiveOf, elicitation: typeof elicitationMachine): typeof connectionMachine {
  return connectionMachine.provide({
    actors: {
      link: fromCallback<ConnectionEvent, { readonly connection: string; readonly server: string }>(
        ({ input, system }) =>
          () => {
            const live = liveOf(system);
            if (!live.isStopped) linkDown(live, input.connection, 'its server was closed');
          },
      ),
      closeLink: fromPromise(neverClosed),
      deadline: inertDeadline,
      questions: createFleet(elicitation, { notify: false }),
    },
    actions: {
      announce: ({ context, system }, { state }) => {
        noteConnection(liveOf(system), context.input.connection, state);
      },
    },
  });
}

function nothing(): void {
  // A slot that matters only where time passes, or somebody watches.
}

/** Never passes by itself: that a time has come is an event of the exploration. */
const inertDeadline = fromCallback<DeadlinePassedEvent, DeadlineInput>(() => undefined);

function neverDecided(): Promise<{ readonly decision: Decision; readonly at: number }> {
  return new Promise(() => undefined);
}

function neverClosed(): Promise<void> {
  return new Promise(() => undefined);
}

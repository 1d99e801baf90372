/** A thread's machine with all its real children, their slots a log, for tests that play everything around it. */
import { createActor, fromCallback, fromPromise } from 'xstate';
import type { AnyActorRef, AnyEventObject, InspectionEvent } from 'xstate';
import {
  callMachine,
  connectionMachine,
  createFleet,
  elicitationMachine,
  fleetChildren,
  routerMachine,
  runtimeId,
  runtimeMachine,
  stepMachine,
  stepSystemId,
  threadMachine,
} from '../../src/machines/index.ts';
import type { RuntimeServer, ThreadActorRef } from '../../src/machines/index.ts';
import { SimulatedClock } from '../../src/testing/index.ts';
import { callInput, deadlineOn, logged, SlotLog, withActors } from './support.ts';

export interface Played {
  readonly root: ThreadActorRef;
  readonly clock: SimulatedClock;
  readonly log: SlotLog;
  readonly get: (id: string) => AnyActorRef | undefined;
  readonly send: (id: string, event: AnyEventObject) => void;
  readonly replace: (generation: number, publish?: 'settled' | 'immediate') => void;
  /** Lets a candidate begin with these servers, so that it settles when they do. */
  readonly begin: (generation: number, ...servers: readonly RuntimeServer[]) => void;
  /** Replaces and publishes a runtime without servers. */
  readonly publish: (generation: number) => void;
  readonly value: (id: string) => unknown;
  readonly childrenOf: (fleet: string) => readonly string[];
  /** Starts a call in a step. */
  readonly call: (step: string, id: string) => void;
  readonly close: () => void;
}

export interface PlayOptions {
  readonly snapshot?: unknown;
  readonly inspect?: (event: InspectionEvent) => void;
  readonly also?: Parameters<typeof logged>[2];
}

/** Plays a thread. Links open nothing, decisions show every question, closing a link takes one turn of the event loop. */
export function play({ snapshot, inspect, also = {} }: PlayOptions = {}): Played {
  const clock = new SimulatedClock();
  const log = new SlotLog();
  const fill = <TMachine extends Parameters<typeof logged>[0]>(machine: TMachine): TMachine =>
    logged(machine, log, also);
  const elicitation = withActors(fill(elicitationMachine), {
    decide: fromPromise(() => Promise.resolve({ decision: { kind: 'show' }, at: clock.now() })),
    deadline: deadlineOn(clock),
  });
  const call = withActors(fill(callMachine), { elicitation });
  const step = withActors(fill(stepMachine), { calls: createFleet(call, { notify: false }) });
  const connection = withActors(fill(connectionMachine), {
    link: fromCallback(() => undefined),
    closeLink: fromPromise(() => Promise.resolve()),
    deadline: deadlineOn(clock),
    questions: createFleet(elicitation, { notify: false }),
  });
  const machine = withActors(fill(threadMachine), {
    router: fill(routerMachine),
    steps: createFleet(step),
    requests: createFleet(call),
    connections: createFleet(connection, { notify: false }),
    runtime: withActors(fill(runtimeMachine), { deadline: deadlineOn(clock) }),
  });
  const root = createActor(machine, {
    id: 'thread',
    systemId: 'thread',
    clock,
    input: { thread: 'thread-1', graceMs: 1_000, settledLimit: 100 },
    ...(snapshot === undefined ? {} : { snapshot: snapshot as never }),
    ...(inspect === undefined ? {} : { inspect }),
  }) as ThreadActorRef;
  root.start();
  const get = (id: string): AnyActorRef | undefined => root.system.get(id) as AnyActorRef | undefined;
  const send = (id: string, event: AnyEventObject): void => {
    get(id)?.send(event);
  };
  const played: Played = {
    root,
    clock,
    log,
    get,
    send,
    replace: (generation, publish = 'settled') => {
      root.send({ type: 'runtime.replace', generation, publish });
    },
    begin: (generation, ...servers) => {
      send(runtimeId(generation), { type: 'runtime.begin', servers, at: clock.now() });
    },
    publish: (generation) => {
      played.replace(generation);
      played.begin(generation);
    },
    value: (id) => (get(id)?.getSnapshot() as { value?: unknown } | undefined)?.value,
    childrenOf: (fleet) => fleetChildren(get(fleet)).map(({ id }) => id),
    call: (ofStep, id) => {
      const placed = get(stepSystemId(ofStep))?.getSnapshot() as { children: Record<string, AnyActorRef> } | undefined;
      placed?.children['calls']?.send({
        type: 'fleet.spawn',
        id,
        systemId: id,
        input: callInput({ call: id, step: ofStep }),
      });
    },
    close: () => {
      root.send({ type: 'thread.close', reason: 'the thread was closed', at: clock.now() });
    },
  };
  return played;
}

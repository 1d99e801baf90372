/** Turns a model machine into tests: each of its shortest paths, walked on a fresh system. */
import { createTestModel } from '@xstate/test';
import type { AnyMachineSnapshot, AnyStateMachine, StateValue } from 'xstate';
import type { Observe } from './watched-thread.ts';

/** How a system does what a model says, and what has to be true in its states. */
export interface Driver extends AsyncDisposable {
  readonly events: Readonly<Record<string, () => Promise<void> | void>>;
  /** By state of the model, as `matches` takes it; `*` holds where no other does. */
  readonly states: Readonly<Record<string, (snapshot: { readonly value: StateValue }) => Promise<void> | void>>;
}

export interface ModelPath {
  /** What is reached, and by which events. */
  readonly title: string;
  readonly run: (observe: Observe) => Promise<void>;
}

/** The shortest paths to each state of `machine` by each transition. */
export function pathsOf(machine: AnyStateMachine, makeDriver: (observe: Observe) => Driver): readonly ModelPath[] {
  const events = machine.events.map((type) => ({ type: String(type) }));
  return createTestModel(machine)
    .getShortestPaths({ events: (state: AnyMachineSnapshot) => events.filter((event) => state.can(event)) })
    .map((path) => ({
      title: path.description.replaceAll('"', ''),
      run: async (observe) => {
        await using driver = makeDriver(observe);
        await path.test({
          events: new Proxy(driver.events, { get: (known, type) => known[String(type)] ?? handlerOf(String(type)) }),
          states: driver.states,
        });
      },
    }));
}

/** An event nobody handles is a hole in the test, not a step that passes. */
function handlerOf(type: string): () => void {
  return () => {
    if (type !== 'xstate.init') throw new Error(`Expected a handler for "${type}". Add it to the driver.`);
  };
}

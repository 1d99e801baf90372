/** The model as a graph of named states, built once for each choice of events. */
import type { SnapshotFrom } from 'xstate';
import { adjacencyMapToArray, getAdjacencyMap, getShortestPaths } from 'xstate/graph';
import type { ThreadTestEventType, ThreadTestMachine } from './machine.ts';
import { createThreadTestMachine, threadTestEventTypes } from './machine.ts';
import type { ThreadTestState, ThreadTestStep } from './types.ts';

type Snapshot = SnapshotFrom<ThreadTestMachine>;

/** One way out of a state. Events that change nothing in a state do not happen there. */
export interface Move extends ThreadTestStep {
  readonly from: ThreadTestState;
}

export interface ThreadTestGraph {
  readonly start: ThreadTestState;
  readonly states: readonly string[];
  readonly moves: readonly Move[];
  /** One path to each move, by the shortest way to where it begins. */
  readonly shortest: readonly (readonly ThreadTestStep[])[];
  movesFrom(state: ThreadTestState): readonly Move[];
}

/** Builds the graph of the model for one era, without some events. */
export function threadTestGraph(era: 'legacy' | 'modern', without: readonly ThreadTestEventType[]): ThreadTestGraph {
  const machine = createThreadTestMachine(era);
  const events = threadTestEventTypes.filter((type) => !without.includes(type)).map((type) => ({ type }));
  const options = {
    events: (snapshot: Snapshot) => events.filter((event) => snapshot.can(event)),
    serializeState: (snapshot: Snapshot) => nameOf(stateOf(snapshot)),
  };
  const moves = adjacencyMapToArray(getAdjacencyMap(machine, options)).map(({ state, event, nextState }): Move => ({
    from: stateOf(state),
    event: event.type,
    state: stateOf(nextState),
  }));
  const ways = getShortestPaths(machine, options).map(({ state, steps }) => ({
    to: stateOf(state),
    steps: steps
      .filter(({ event }) => isThreadTestEvent(event.type))
      .map((step): ThreadTestStep => ({ event: step.event.type, state: stateOf(step.state) })),
  }));
  const start = ways.find(({ steps }) => steps.length === 0)?.to ?? {
    conversation: 'starting',
    runtime: 'current',
    server: 'up',
  };
  const byState = new Map<string, Move[]>();
  for (const move of moves) byState.set(nameOf(move.from), [...(byState.get(nameOf(move.from)) ?? []), move]);
  return {
    start,
    states: ways.map(({ to }) => nameOf(to)),
    moves,
    shortest: moves.map(({ from, event, state }) => [
      ...(ways.find(({ to }) => nameOf(to) === nameOf(from))?.steps ?? []),
      { event, state },
    ]),
    movesFrom: (state) => byState.get(nameOf(state)) ?? [],
  };
}

/** A state as text: `asking, retired, up`. */
export function nameOf({ conversation, runtime, server }: ThreadTestState): string {
  return `${conversation}, ${runtime}, ${server}`;
}

/** A transition as text: `asking, retired, up → person.accepts`. */
export function nameOfMove(from: ThreadTestState, event: ThreadTestEventType): string {
  return `${nameOf(from)} → ${event}`;
}

function isThreadTestEvent(type: string): boolean {
  return threadTestEventTypes.some((known) => known === type);
}

function stateOf({ value }: Snapshot): ThreadTestState {
  const { conversation, runtime, server } = value;
  return {
    conversation: typeof conversation === 'string' ? conversation : conversation.stepping,
    runtime,
    server,
  };
}

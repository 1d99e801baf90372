/**
 * The world around the actors of one thread: server, wire, person and time, as plain data that is saved with the actors.
 *
 * Owns what `src/actors` keeps beside the actors. What ended is folded to the one word `ended`, so that histories that no
 * longer matter are one state; what must never happen after the end is noted when it happens.
 */
import type { AnyActorRef } from 'xstate';
import type { RespondOutcome } from '../../src/domain/elicitation.ts';
import type { ServerState } from '../../src/domain/snapshot.ts';
import { actorOf as lookUp } from '../../src/machines/actor-of.ts';
import type { ThreadActorRef } from '../../src/machines/thread.ts';
import type { Scope } from './scope.ts';

export interface WorldConnection {
  /** The runtimes that name it, ascending. */
  generations: number[];
  state: ServerState;
  /** Its link is open: requests and answers get through. */
  isLinked: boolean;
  /** It is being ended: no runtime attaches to it any more. */
  isClosing: boolean;
}

export interface WorldCall {
  /** `''` for a request outside a step. */
  readonly step: string;
  /** The runtime its step captured; of a request, the one that was current. */
  readonly generation: number;
  /** `held`: waits for its server to be back. `put`: answered with a request for input. */
  state: 'new' | 'held' | 'onWire' | 'put' | 'ended';
  sends: number;
}

export interface WorldQuestion {
  readonly call: string;
  readonly asker: 'request' | 'round';
  readonly connection: string;
  /** The calls it may belong to, when that is not known. */
  readonly candidates: readonly string[];
  state: 'open' | 'settled';
}

export interface World {
  asked: { runtimes: number; questions: number; crashes: number };
  /** Candidates that have not begun. */
  scheduled: number[];
  /** Connections that no runtime names are closed in the next sweep. */
  isSweepDue: boolean;
  /** The current runtime, as told. */
  current: number;
  runtimes: Record<string, 'alive' | 'stopped' | 'discarded'>;
  /** Runtime → its connection, since it began. */
  plans: Record<string, string>;
  connections: Record<string, WorldConnection>;
  steps: Record<string, { generation: number; state: 'open' | 'ended' }>;
  calls: Record<string, WorldCall>;
  questions: Record<string, WorldQuestion>;
  isClosing: boolean;
  isClosed: boolean;
  /** What happened that must not, each beginning with the invariant it breaks. */
  wrongs: string[];
}

/** What an asker hears. */
export interface Heard {
  readonly token: string;
  readonly action: string;
}

/** The actors and their world, while they are live. */
export interface Live {
  readonly scope: Scope;
  readonly root: ThreadActorRef;
  readonly world: World;
  /** The runtime a step's façade makes calls on. */
  readonly pinOf: (live: Live, step: string) => number;
  /** What `respond` was told during the last event. */
  replies: RespondOutcome[];
  /** What askers heard during the last event. */
  heard: Heard[];
  isStopped: boolean;
}

export function newWorld(): World {
  return {
    asked: { runtimes: 0, questions: 0, crashes: 0 },
    scheduled: [],
    isSweepDue: false,
    current: 0,
    runtimes: {},
    plans: {},
    connections: {},
    steps: {},
    calls: {},
    questions: {},
    isClosing: false,
    isClosed: false,
    wrongs: [],
  };
}

/** The connection of the server as a runtime names it; `''` before it began. */
export function connectionOf({ world }: Live, generation: number): string {
  return world.plans[generation] ?? '';
}

/** The live actor of a systemId. */
export function actorOf({ root }: Live, id: string): AnyActorRef | undefined {
  const actor = lookUp(root.system, id);
  return actor?.getSnapshot().status === 'active' ? actor : undefined;
}

export function wrong({ world }: Live, what: string): void {
  if (!world.wrongs.includes(what)) world.wrongs.push(what);
}

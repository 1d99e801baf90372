/** What tests of a host see of the model: paths to walk, and what was covered. Nothing of XState shows. */
import type { ThreadTestEventType } from './machine.ts';

/** Where the model is: what the host's thread has to look like after a step. */
export interface ThreadTestState {
  /**
   * `starting` before the first runtime; `idle` without a step; in a step: `quiet` without a call, `calling`, `asking` with
   * a question open; `closed`.
   */
  readonly conversation: 'starting' | 'idle' | 'quiet' | 'calling' | 'asking' | 'closed';
  /** `retired` while the open step holds a runtime that was replaced. */
  readonly runtime: 'current' | 'retired';
  /** The server of the open step, else of the current runtime. */
  readonly server: 'up' | 'down';
}

/** One event of a path, and the state it leads to. */
export interface ThreadTestStep {
  readonly event: ThreadTestEventType;
  /** What it leads to. */
  readonly state: ThreadTestState;
}

/** A part of a state that assertions can be written for; `*` is every state. */
export type ThreadTestStateKey =
  | ThreadTestState['conversation']
  | `runtime.${ThreadTestState['runtime']}`
  | `server.${ThreadTestState['server']}`
  | '*';

/** The host under test: how it does what the model says, and what has to be true then. */
export interface ThreadTestHost {
  /** One for each event of the paths. Resolves when the host has done it. */
  readonly events: Readonly<Partial<Record<ThreadTestEventType, (step: ThreadTestStep) => Promise<void> | void>>>;
  /** Run after each step, and once before the first, for each key that holds. What they throw fails the path. */
  readonly states?: Readonly<Partial<Record<ThreadTestStateKey, (state: ThreadTestState) => Promise<void> | void>>>;
}

/** A way through the model that drives a host. */
export interface ThreadTestPath {
  /** The events, and where they lead: the title of a test. */
  readonly description: string;
  readonly steps: readonly ThreadTestStep[];
  /**
   * Walks the path on a fresh host, and notes what it covered as far as it came.
   *
   * @throws HoldfastError `invalid_argument` for an event without a handler; else what a handler or an assertion threw.
   */
  test(host: ThreadTestHost): Promise<void>;
}

/** How many random walks, and how long. */
export interface RandomWalkOptions {
  /** The same seed gives the same walks. */
  readonly seed: number;
  /** How many walks. */
  readonly count: number;
  /** Steps in each, at most: a walk ends early where the thread is closed. */
  readonly length: number;
}

/** Which simple paths. */
export interface SimplePathOptions {
  /** Steps in each, at most. Default 6. */
  readonly maxLength?: number;
}

/** Which part of a thread the model covers. */
export interface ThreadTestModelOptions {
  /** Which era the host's servers are of: it decides what becomes of a question whose server dies. Default `legacy`. */
  readonly era?: 'legacy' | 'modern';
  /** Events the host cannot do; no path has them, and nothing they lead to has to be covered. */
  readonly without?: readonly ThreadTestEventType[];
}

/** What was reached by the paths tested so far, of what there is. Names are for reading. */
export interface ThreadTestCoverage {
  readonly states: { readonly total: number; readonly covered: number; readonly missing: readonly string[] };
  readonly transitions: { readonly total: number; readonly covered: number; readonly missing: readonly string[] };
}

/** A model of a thread, and the paths through it. */
export interface ThreadTestModel {
  /** To every state by every transition, the shortest way. Together they cover the model. */
  shortestPaths(): readonly ThreadTestPath[];
  /** Every path that comes to no state twice. */
  simplePaths(options?: SimplePathOptions): readonly ThreadTestPath[];
  randomWalks(options: RandomWalkOptions): readonly ThreadTestPath[];
  coverage(): ThreadTestCoverage;
  /** @throws HoldfastError `invalid_argument` that lists what no tested path came to. */
  assertCovered(): void;
}

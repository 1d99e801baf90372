/** What `explore` is given, and what it finds. */

/** One live system: actors, and whatever of the world around them its state depends on. */
export interface ExploredSystem<TEvent, TView> {
  /** What `events` and `invariants` look at: an actor, or the actors together with the simulated world they act on. */
  readonly view: TView;
  /** Sends one event; settles when nothing more follows from it. What it throws is a violation. */
  send(event: TEvent): void | Promise<void>;
  /** Everything a later system needs to go on from here, as plain data. */
  save(): unknown;
  /** Lets go of what the system holds. It is not used afterwards. */
  stop(): void;
}

/** Makes a system: new, or as one was when it was saved. Several may be alive at once. */
export type CreateSystem<TEvent, TView> = (saved?: unknown) => ExploredSystem<TEvent, TView>;

/** What is explored, and within which bounds. */
export interface ExploreOptions<TEvent, TView> {
  /** Everything that may happen next. Must depend on the saved state alone. */
  readonly events: (view: TView) => readonly TEvent[];
  /** Name → what is wrong in this state, or `undefined`. Checked once in every state. */
  readonly invariants: Readonly<Record<string, (view: TView) => string | undefined>>;
  /** States with one key are one state. Default: the saved data, in canonical form. */
  readonly key?: (saved: unknown) => string;
  /** Most states; beyond them the exploration is not complete. Default 100,000. */
  readonly limit?: number;
  /** Ends after so many violations. Default: one of each invariant is reported, by its shortest path. */
  readonly maxViolations?: number;
  /** Called every 1,000 states, and at the end. */
  readonly onProgress?: (progress: ExploreProgress) => void;
}

/** How far an exploration is. */
export interface ExploreProgress {
  readonly states: number;
  readonly transitions: number;
  /** Found, and not gone on from yet. */
  readonly waiting: number;
  readonly depth: number;
}

/** An invariant that does not hold, and the shortest way to where it does not. */
export interface Violation<TEvent> {
  /** The name of the invariant, or {@link throwsNothing}. */
  readonly invariant: string;
  readonly message: string;
  /** The shortest sequence of events that leads to it from a new system. */
  readonly path: readonly TEvent[];
}

/** What was seen when a path was walked on one new system, without saving in between. */
export interface Replay {
  /** The key of the state at its end. */
  readonly key: string;
  /** What is wrong there. */
  readonly violations: readonly { readonly invariant: string; readonly message: string }[];
}

/** A state of the explored system, as invariants and events see it. */
export interface ExploredState<TEvent> {
  readonly path: readonly TEvent[];
  /** SHA-256 of the key. */
  readonly key: string;
}

/** What an exploration found. */
export interface Exploration<TEvent> {
  /** Distinct states. */
  readonly states: number;
  /** Events that were tried. */
  readonly transitions: number;
  /** Length of the longest of the shortest paths. */
  readonly maxDepth: number;
  /** Every state that can be reached was reached. States that violate an invariant are not gone on from. */
  readonly complete: boolean;
  readonly violations: readonly Violation<TEvent>[];
  /** The state found as number `index`, from 0, and the shortest path to it. */
  state(index: number): ExploredState<TEvent>;
  /** Walks a path on one new system: what came of restored systems has to come of a running one. */
  replay(path: readonly TEvent[]): Promise<Replay>;
}

/** The invariant that holds always: no event, and no saving, throws. */
export const throwsNothing = 'throws nothing';

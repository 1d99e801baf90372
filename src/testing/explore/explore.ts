/**
 * Breadth-first search over every state of a real actor system (SPEC TK-3).
 *
 * Each state is saved as plain data. For each event that may happen there, a fresh system is restored from it, sent that
 * one event, saved again and compared with what is known.
 *
 * - X1 A state is gone on from once; its path is a shortest one.
 * - X2 Every state is checked against every invariant, once.
 */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HoldfastError, messageOf } from '../../domain/errors.ts';
import { canonicalJson } from './canonical.ts';
import { throwsNothing } from './types.ts';
import type {
  CreateSystem,
  ExploredState,
  ExploredSystem,
  Exploration,
  ExploreOptions,
  Replay,
  Violation,
} from './types.ts';

interface Found<TEvent> {
  readonly parent: number;
  readonly event: TEvent | undefined;
  readonly depth: number;
  readonly key: string;
}

interface Waiting<TEvent> {
  readonly index: number;
  /** JSON: a frontier of texts takes a fraction of the memory of one of objects. */
  readonly saved: string;
  readonly events: readonly TEvent[];
}

interface Finding {
  readonly invariant: string;
  readonly message: string;
}

const progressEvery = 1_000;

/**
 * Explores every state a system can be in, and checks the invariants in each.
 *
 * ```ts
 * const found = await explore(actorSystem(doorMachine), {
 *   events: (actor) => (actor.getSnapshot().can({ type: 'door.open' }) ? [{ type: 'door.open' }] : []),
 *   invariants: { 'the alarm is off': (actor) => (actor.getSnapshot().matches('alarm') ? 'it rings' : undefined) },
 * });
 * for (const violation of found.violations) console.log(describeViolation(violation));
 * ```
 *
 * Times, random values and counters make states differ that behave alike: keep them out of the state, or out of `key`.
 * Resolves also when invariants are violated; rejects only when the first state cannot be made.
 */
export async function explore<TEvent, TView>(
  createSystem: CreateSystem<TEvent, TView>,
  options: ExploreOptions<TEvent, TView>,
): Promise<Exploration<TEvent>> {
  const search = new Search(createSystem, options);
  await search.run();
  return search;
}

/** A violation as text: what is wrong, and the numbered events that lead there. */
export function describeViolation<TEvent>(
  { invariant, message, path }: Violation<TEvent>,
  describe: (event: TEvent) => string = (event) => JSON.stringify(event),
): string {
  const events = path.map((event, index) => `  ${String(index + 1).padStart(2)}. ${describe(event)}`);
  return [`${invariant}: ${message}`, ...events].join('\n');
}

class Search<TEvent, TView> implements Exploration<TEvent> {
  readonly violations: Violation<TEvent>[] = [];
  transitions = 0;
  maxDepth = 0;
  complete = false;
  readonly #createSystem: CreateSystem<TEvent, TView>;
  readonly #options: ExploreOptions<TEvent, TView>;
  readonly #found: Found<TEvent>[] = [];
  readonly #known = new Set<string>();
  readonly #limit: number;
  #queue: Waiting<TEvent>[] = [];
  #next: Waiting<TEvent>[] = [];

  constructor(createSystem: CreateSystem<TEvent, TView>, options: ExploreOptions<TEvent, TView>) {
    this.#createSystem = createSystem;
    this.#options = options;
    this.#limit = options.limit ?? 100_000;
  }

  get states(): number {
    return this.#found.length;
  }

  async run(): Promise<void> {
    const first = this.#createSystem();
    this.#visit(first, -1, undefined);
    first.stop();
    let isWhole = true;
    while (this.#next.length > 0 && isWhole) {
      this.#queue = this.#next.toReversed();
      this.#next = [];
      isWhole = await this.#expandAll();
    }
    this.complete = isWhole;
    this.#tellProgress();
  }

  state(index: number): ExploredState<TEvent> {
    const found = this.#found[index];
    if (found === undefined)
      throw new HoldfastError(
        'invalid_argument',
        `Expected the number of a state, 0 to ${String(this.states - 1)}, got ${String(index)}.`,
      );
    return { key: found.key, path: this.#pathTo(index) };
  }

  async replay(path: readonly TEvent[]): Promise<Replay> {
    const system = this.#createSystem();
    try {
      for (const event of path) await system.send(event);
      return { key: this.#keyOf(system.save()), violations: this.#check(system.view) };
    } catch (error) {
      return { key: '', violations: [{ invariant: throwsNothing, message: messageOf(error) }] };
    } finally {
      system.stop();
    }
  }

  /** One layer. Resolves with false when a limit ended it early. */
  async #expandAll(): Promise<boolean> {
    while (this.#queue.length > 0) {
      const waiting = this.#queue.pop();
      if (waiting === undefined) break;
      for (const event of waiting.events) {
        if (this.#isOver()) return false;
        const settled = this.#expand(waiting, event);
        if (settled !== undefined) await settled;
      }
      if (this.transitions % progressEvery < waiting.events.length) await nextTurn();
    }
    return true;
  }

  /** Tries one event; asynchronous only where the system is. */
  #expand({ index, saved }: Waiting<TEvent>, event: TEvent): Promise<void> | undefined {
    this.transitions += 1;
    const system = this.#createSystem(JSON.parse(saved));
    const failed = (error: unknown): void => {
      this.#report([{ invariant: throwsNothing, message: messageOf(error) }], [...this.#pathTo(index), event]);
      system.stop();
    };
    const sent = (): void => {
      this.#visit(system, index, event);
      system.stop();
    };
    try {
      const settled = system.send(event);
      if (settled !== undefined) return settled.then(sent).catch(failed);
      sent();
    } catch (error) {
      failed(error);
    }
    return undefined;
  }

  #visit(system: ExploredSystem<TEvent, TView>, parent: number, event: TEvent | undefined): void {
    const saved = system.save();
    const key = this.#keyOf(saved);
    if (this.#known.has(key)) return;
    this.#known.add(key);
    // Whatever the key looks at: what is not plain data would be lost on the way to the next system.
    if (this.#options.key !== undefined) canonicalJson(saved);
    const depth = parent < 0 ? 0 : (this.#found[parent]?.depth ?? 0) + 1;
    const index = this.#found.push({ parent, event, depth, key }) - 1;
    this.maxDepth = Math.max(this.maxDepth, depth);
    if (this.states % progressEvery === 0) this.#tellProgress();
    // What may happen is asked before the invariants are: they may look by doing.
    const events = this.#options.events(system.view);
    const wrong = this.#check(system.view);
    if (wrong.length > 0) this.#report(wrong, this.#pathTo(index));
    else if (events.length > 0) this.#next.push({ index, saved: JSON.stringify(saved), events });
  }

  #check(view: TView): readonly Finding[] {
    return Object.entries(this.#options.invariants).flatMap(([invariant, check]) => {
      const message = check(view);
      return message === undefined ? [] : [{ invariant, message }];
    });
  }

  /** One of each invariant, unless more are asked for: the search is breadth-first, so the first is a shortest. */
  #report(findings: readonly Finding[], path: readonly TEvent[]): void {
    for (const finding of findings)
      if (!this.violations.some(({ invariant }) => invariant === finding.invariant))
        this.violations.push({ ...finding, path });
  }

  #isOver(): boolean {
    return this.states >= this.#limit || this.violations.length >= (this.#options.maxViolations ?? Infinity);
  }

  #keyOf(saved: unknown): string {
    const text = (this.#options.key ?? canonicalJson)(saved);
    return createHash('sha256').update(text).digest('base64');
  }

  #pathTo(index: number): readonly TEvent[] {
    const path: TEvent[] = [];
    for (let found = this.#found[index]; found !== undefined; found = this.#found[found.parent])
      if (found.event !== undefined) path.push(found.event);
    return path.toReversed();
  }

  #tellProgress(): void {
    this.#options.onProgress?.({
      states: this.states,
      transitions: this.transitions,
      waiting: this.#queue.length + this.#next.length,
      depth: this.maxDepth,
    });
  }
}

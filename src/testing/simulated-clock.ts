/**
 * Time that moves only when a test says so.
 *
 * Owns: the pending timers. Receives: `increment` and `set`. Sends: the callbacks of timers that came due.
 * - T1 timers fire in order of their due time, then of their making.
 * - T2 while a callback runs, `now()` is the time it was due at, and a timer it makes counts from there.
 * - T3 time never goes back.
 */
import type { Clock } from '../api.ts';
import { HoldfastError } from '../domain/errors.ts';

interface Timer {
  readonly id: number;
  readonly dueAt: number;
  readonly callback: () => void;
}

const defaultStart = Date.UTC(2026, 0, 1);
const maxFiringsPerMove = 100_000;

/** A {@link Clock} under the test's control; also fits XState's `clock` option. */
export class SimulatedClock implements Clock {
  #now: number;
  #nextId = 1;
  readonly #timers = new Map<number, Timer>();

  /** Starts at `startAt`, in milliseconds since the epoch. Default 2026-01-01T00:00:00Z. */
  constructor(startAt: number = defaultStart) {
    this.#now = startAt;
  }

  /** How many timers have not fired and were not cleared. */
  get pendingCount(): number {
    return this.#timers.size;
  }

  // Arrow properties, because XState calls them without their clock.
  readonly now = (): number => this.#now;

  readonly setTimeout = (callback: () => void, ms: number): number => {
    const id = this.#nextId++;
    // As in Node: what is no sensible delay is none.
    const delay = Number.isFinite(ms) && ms > 0 ? ms : 0;
    this.#timers.set(id, { id, dueAt: this.#now + delay, callback });
    return id;
  };

  readonly clearTimeout = (id: unknown): void => {
    if (typeof id === 'number') this.#timers.delete(id);
  };

  /**
   * Moves time on by `ms` and fires what comes due on the way, timers made by callbacks included.
   *
   * @throws HoldfastError `invalid_argument` for a negative `ms`; `limit_exceeded` if timers keep making due timers.
   */
  increment(ms: number): void {
    this.set(this.#now + ms);
  }

  /**
   * Moves time on to `at`, in milliseconds since the epoch, and fires what comes due on the way.
   *
   * A callback that throws stops the move at its own time; the error rises.
   *
   * @throws HoldfastError `invalid_argument` for a time that is past; `limit_exceeded` if timers keep making due timers.
   */
  set(at: number): void {
    if (!(at >= this.#now)) {
      throw new HoldfastError(
        'invalid_argument',
        `Expected a time at or after ${this.#now}, got ${at}. Time only moves on.`,
      );
    }
    for (let fired = 0; ; fired++) {
      const timer = this.#nextDue(at);
      if (timer === undefined) break;
      if (fired === maxFiringsPerMove) {
        throw new HoldfastError(
          'limit_exceeded',
          `Expected at most ${maxFiringsPerMove} timers in one move of the clock, got more. Look for a timer without delay that makes itself again.`,
        );
      }
      this.#timers.delete(timer.id);
      this.#now = Math.max(this.#now, timer.dueAt);
      timer.callback();
    }
    // A callback may itself have moved the clock further.
    this.#now = Math.max(this.#now, at);
  }

  #nextDue(at: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers.values()) {
      if (timer.dueAt <= at && (next === undefined || timer.dueAt < next.dueAt)) next = timer;
    }
    return next;
  }
}

/**
 * The readings of skills that no server's request bounds: of files in environments, and of what extensions give.
 *
 * Owns what is being read. A reading ends with its own signal, its time, its step and its thread, whether or not the one
 * who reads listens to that.
 */
import type { Clock, RequestOptions } from './api.ts';
import { HoldfastError } from './domain/errors.ts';
import { abortedError } from './wait-ready.ts';

/** How long a reading may take when its caller does not say. */
const usualTimeoutMs = 30_000;

export class SkillReadings {
  readonly #clock: Clock;
  readonly #open = new Map<(error: HoldfastError) => void, object>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Reads for a step. `what` names the skill in messages. */
  run<TValue>(
    step: object,
    what: string,
    { signal, timeoutMs = usualTimeoutMs }: RequestOptions,
    read: (signal: AbortSignal) => Promise<TValue>,
  ): Promise<TValue> {
    if (signal?.aborted === true) return Promise.reject(abortedError(`Reading ${what}`, signal));
    return new Promise((resolve, reject) => {
      const over = new AbortController();
      const settle = (): void => {
        this.#clock.clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#open.delete(end);
      };
      const end = (error: HoldfastError): void => {
        settle();
        reject(error);
        over.abort(error);
      };
      const onAbort = (): void => end(abortedError(`Reading ${what}`, signal));
      const timer = this.#clock.setTimeout(() => end(timeoutError(what, timeoutMs)), timeoutMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#open.set(end, step);
      read(over.signal).then(resolve, reject).finally(settle);
    });
  }

  /** Ends the readings of a step, or all. */
  end(step?: object): void {
    for (const [end, of] of this.#open)
      if (step === undefined || step === of)
        end(new HoldfastError('aborted', 'Reading a skill was aborted: its step ended. Begin a new one.'));
  }
}

function timeoutError(what: string, timeoutMs: number): HoldfastError {
  return new HoldfastError(
    'timeout',
    `Expected ${what} within ${String(timeoutMs)} ms, and it did not come. Raise timeoutMs, or see why it is slow.`,
    { outcome: 'unknown' },
  );
}

/** The limit of one start: its owner's signal and its time, as one signal that knows which of the two it was. */
import { setMaxListeners } from 'node:events';
import { WireError } from './wire-error.ts';

export interface DeadlineOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export class Deadline {
  readonly #controller = new AbortController();
  readonly #options: DeadlineOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #endsAt: number;
  #timedOut = false;

  constructor(options: DeadlineOptions) {
    this.#options = options;
    this.#endsAt = performance.now() + options.timeoutMs;
    setMaxListeners(0, this.#controller.signal);
    this.#timer = setTimeout(
      () => {
        this.#timedOut = true;
        this.#controller.abort();
      },
      Math.min(options.timeoutMs, longestTimerMs),
    );
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
    if (options.signal.aborted) this.#onAbort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The time that is left. */
  get remainingMs(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  /** Whether it was the time that ran out. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  /** The error to report once the signal is aborted; undefined before. */
  errorFor(server: string): WireError | undefined {
    if (!this.signal.aborted) return undefined;
    return this.#timedOut
      ? new WireError(
          'timeout',
          `Server "${server}": expected it to be ready within ${this.#options.timeoutMs} ms, got no whole answer. Raise "startTimeoutMs" or look at its log.`,
        )
      : new WireError('aborted', `Server "${server}": expected to start it, but the start was aborted.`);
  }

  /** Ends timer and listener. Call it in any case. */
  end(): void {
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (): void => {
    clearTimeout(this.#timer);
    this.#controller.abort();
  };
}

/** The longest time a timer takes. */
export const longestTimerMs = 2 ** 31 - 1;

/** Settles like `promise`, or rejects once `signal` aborts; the promise is then left to itself, its rejection handled. */
export function untilAborted<TResult>(promise: Promise<TResult>, signal: AbortSignal): Promise<TResult> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(new WireError('aborted', 'Expected to wait, but it was aborted.'));
    };
    const settle = (): void => {
      signal.removeEventListener('abort', onAbort);
    };
    promise.then(resolve, reject).finally(settle).catch(unreachable);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

/**
 * Says whether `promise` fulfils within `ms`; after that it is left to itself, its rejection handled.
 *
 * @throws what the promise rejects with in that time.
 */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** `then(resolve, reject)` never rejects; this satisfies the rule that every promise is handled. */
function unreachable(): void {
  // Nothing gets here.
}

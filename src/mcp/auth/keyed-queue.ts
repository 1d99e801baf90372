/** One at a time for a key, within this process. */
import { HoldfastError } from '../../domain/errors.ts';

export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs after what is queued for the key before it. Aborting `signal` leaves the queue. */
  async run<TResult>(key: string, work: () => Promise<TResult>, signal?: AbortSignal): Promise<TResult> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const own = before.then(nothing, nothing).then(() => {
      if (signal?.aborted === true) throw new HoldfastError('aborted', 'The wait for the credentials was given up.');
      return work();
    });
    this.#last.set(key, own);
    try {
      return await own;
    } finally {
      if (this.#last.get(key) === own) this.#last.delete(key);
    }
  }
}

function nothing(): void {
  // How it ended is the business of whoever ran it.
}

/** What a server should hear before its link is closed: that nobody waits for a task any more (SPEC RT-8, ER-3). */
import type { RequestSink } from '../domain/link.ts';
import { settlesWithin } from './deadline.ts';

/** How long closing waits for a server to hear it. */
const patienceMs = 500;

/** Owns the requests that are last words and have no answer yet. */
export class LastWords {
  readonly #open = new Set<Promise<void>>();

  /** Whether closing waits for a request of this method. */
  includes(method: string): boolean {
    return method === 'tasks/cancel';
  }

  /** The same sink, noted. */
  note(sink: RequestSink): RequestSink {
    const settled = new AbortController();
    const answer = new Promise<void>((resolve) => {
      settled.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.#open.add(answer);
    const heard = (): void => {
      this.#open.delete(answer);
      settled.abort();
    };
    return {
      onResult: (result) => {
        heard();
        sink.onResult(result);
      },
      onFailure: (failure) => {
        heard();
        sink.onFailure(failure);
      },
    };
  }

  /** Resolves when each was heard or failed, or patience has run out; undefined when there is none. */
  heard(): Promise<unknown> | undefined {
    return this.#open.size === 0 ? undefined : settlesWithin(Promise.all(this.#open), patienceMs);
  }
}

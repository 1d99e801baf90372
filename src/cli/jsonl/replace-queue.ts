/**
 * Replacements in the order they were asked for, though some must read files first.
 *
 * Q1 `replaceRuntime` is called in the order of the requests, so that the latest wins (SPEC RT-4).
 * Q2 Those whose reading overlaps are handed over together, in one go: of a burst only the last starts anything.
 */
import type { Publication, ReplaceOptions, RuntimeServers, Thread } from '../../index.ts';

interface Waiting {
  readonly servers: RuntimeServers | undefined;
  readonly failure: unknown;
  readonly options: ReplaceOptions;
  readonly settle: (result: Promise<Publication>) => void;
}

/** Hands replacements to a thread. */
export class ReplaceQueue {
  readonly #thread: Thread;
  readonly #waiting: (Waiting | undefined)[] = [];
  #reading = 0;

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  /** Replaces the runtime by what `read` brings, after every replacement asked for before. */
  async replace(read: () => RuntimeServers | Promise<RuntimeServers>, options: ReplaceOptions): Promise<Publication> {
    const place = this.#waiting.push(undefined) - 1;
    this.#reading += 1;
    return new Promise<Publication>((resolve, reject) => {
      const settle = (result: Promise<Publication>) => void result.then(resolve, reject);
      const put = (servers: RuntimeServers | undefined, failure: unknown) => {
        this.#waiting[place] = { servers, failure, options, settle };
        this.#reading -= 1;
        if (this.#reading === 0) this.#flush();
      };
      try {
        const servers = read();
        if (servers instanceof Promise)
          servers.then(
            (value) => put(value, undefined),
            (error: unknown) => put(undefined, error),
          );
        else put(servers, undefined);
      } catch (error) {
        put(undefined, error);
      }
    });
  }

  #flush(): void {
    for (const waiting of this.#waiting.splice(0)) {
      if (waiting === undefined) continue;
      waiting.settle(
        waiting.servers === undefined
          ? Promise.reject(waiting.failure)
          : this.#thread.replaceRuntime(waiting.servers, waiting.options),
      );
    }
  }
}

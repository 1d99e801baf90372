/**
 * The messages over HTTP that expect no result: answers to a server's questions, and notifications.
 *
 * Owns how many of them are on their way, since a server can ask for answers in a loop and take none (SPEC SE-2).
 * `B1` never more than {@link outboxLimits.onTheWay} are on their way and {@link outboxLimits.waiting} wait;
 * `B2` one that is not taken within {@link answerLimitMs} makes room for the next.
 */
import { HoldfastError } from '../../domain/errors.ts';

/** What may be on its way to one server at once, and what may wait behind it. */
export const outboxLimits = { onTheWay: 64, waiting: 16_384 } as const;

/** How long a server has to take one message. */
export const answerLimitMs = 30_000;

interface Waiting {
  begin(): void;
  refuse(error: HoldfastError): void;
}

export class Outbox {
  readonly #waiting: Waiting[] = [];
  readonly #emptied = new Set<() => void>();
  #onTheWay = 0;
  #end: HoldfastError | undefined;

  /** Runs `post` once it is its turn. `signal` aborts when the server takes too long. */
  send(post: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    if (this.#onTheWay < outboxLimits.onTheWay) return this.#run(post);
    if (this.#waiting.length >= outboxLimits.waiting) return Promise.reject(tooMany());
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        begin: () => {
          this.#run(post).then(resolve, reject);
        },
        refuse: reject,
      });
    });
  }

  /** Resolves when nothing is on its way and nothing waits. */
  empty(): Promise<void> {
    if (this.#onTheWay === 0) return Promise.resolve();
    return new Promise((resolve) => this.#emptied.add(resolve));
  }

  /** Refuses what waits, and everything from now on. */
  close(error: HoldfastError): void {
    this.#end = error;
    for (const each of this.#waiting.splice(0)) each.refuse(error);
  }

  async #run(post: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#onTheWay += 1;
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort();
    }, answerLimitMs).unref();
    try {
      await post(late.signal);
    } finally {
      clearTimeout(timer);
      this.#onTheWay -= 1;
      this.#next();
    }
  }

  #next(): void {
    this.#waiting.shift()?.begin();
    if (this.#onTheWay > 0) return;
    for (const resolve of this.#emptied) resolve();
    this.#emptied.clear();
  }
}

function tooMany(): HoldfastError {
  return new HoldfastError(
    'limit_exceeded',
    `Expected the server to take what it is told, but ${String(outboxLimits.waiting)} messages wait for it. This one was dropped; look at its log.`,
    { outcome: 'not-sent' },
  );
}

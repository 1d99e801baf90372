/** What is on the wire, by connection: who a question may belong to, and when a link has nothing more to wait for. */
import type { Clock } from '../api.ts';
import type { Link } from '../domain/link.ts';
import { reconnectLimitMs } from './call-failures.ts';
import type { CallRecord } from './calls.ts';

export class InFlight {
  readonly #clock: Clock;
  readonly #byConnection = new Map<string, Set<CallRecord>>();
  /** An empty set, kept: a connection that has one call at a time needs no new one for each. */
  #spare: Set<CallRecord> | undefined;
  /** Who waits for a link to have nothing in flight. */
  readonly #waiters = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records with a request on the wire of a connection. */
  of(connection: string): Iterable<CallRecord> {
    return this.#byConnection.get(connection) ?? [];
  }

  add(connection: string, record: CallRecord): void {
    let records = this.#byConnection.get(connection);
    if (records === undefined) {
      records = this.#spare ?? new Set();
      this.#spare = undefined;
      this.#byConnection.set(connection, records);
    }
    records.add(record);
  }

  delete(connection: string, record: CallRecord): void {
    const records = this.#byConnection.get(connection);
    if (records?.delete(record) !== true) return;
    if (records.size === 0) {
      this.#byConnection.delete(connection);
      this.#spare = records;
    }
    this.wake();
  }

  /** Looks again for links that have nothing in flight. */
  wake(): void {
    if (this.#waiters.size > 0) for (const check of [...this.#waiters]) check();
  }

  /** Resolves when nothing is in flight on a link any more, or after the time a call would wait for a new one. */
  whenIdle(connection: string, link: Link): Promise<void> {
    // A task is with its server, not on a link, unless it is asked after just now.
    const isIdle = (): boolean =>
      ![...this.of(connection)].some((record) => record.link === link && record.key !== undefined);
    if (isIdle()) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#clock.clearTimeout(timer);
        this.#waiters.delete(check);
        resolve();
      };
      const check = (): void => {
        if (isIdle()) done();
      };
      const timer = this.#clock.setTimeout(done, reconnectLimitMs);
      this.#waiters.add(check);
    });
  }
}

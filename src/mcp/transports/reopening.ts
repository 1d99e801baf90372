/** How soon a stream that ended is opened again: its server says it, but not for ever (SPEC SE-2). */

/** A stream that was open this long counts as one that works, even if it was silent. */
export const healthyMs = 5_000;
const unspacedEnds = 3;
const firstFloorMs = 1_000;

/** Counts the ends in a row of streams that were not open for long: the more, the longer the next one waits. */
export class Reopening {
  #openedAt: number | undefined;
  #earlyEnds = 0;

  opened(): void {
    this.#openedAt = performance.now();
  }

  /** A stream ended, or was not had. Tells whether it was open long enough to count as one that works. */
  ended(): boolean {
    const isHealthy = this.#openedAt !== undefined && performance.now() - this.#openedAt >= healthyMs;
    this.#openedAt = undefined;
    this.#earlyEnds = isHealthy ? 0 : this.#earlyEnds + 1;
    return isHealthy;
  }

  /** `askedMs`, or more: a server may end a stream early as often as it likes, and is asked no more often for it. */
  delayMs(askedMs: number): number {
    const spaced = this.#earlyEnds - unspacedEnds;
    if (spaced <= 0) return askedMs;
    return Math.max(askedMs, Math.min(firstFloorMs * 2 ** (spaced - 1), healthyMs));
  }
}

/**
 * When a link lists its tools anew (SPEC CN-5, SE-2): at once, but not as often as its server may like.
 *
 * Owns one timer.
 * - R1 One listing at a time; what changes meanwhile, or while the next one waits, makes one more.
 * - R2 After {@link relistBounds} `atOnce` listings they are `apartMs` apart; a quiet server has its share back in time.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../api.ts';
import type { ListedTool } from '../domain/tool.ts';

/** How often a server that says that its tools changed is asked for them. */
export const relistBounds = { atOnce: 4, apartMs: 1_000 } as const;

export interface RelistingPorts {
  readonly clock: Clock;
  /** Lists. Never rejects; false: there is nothing to list any more. */
  list(): Promise<boolean>;
}

export class Relisting {
  readonly #ports: RelistingPorts;
  #share: number = relistBounds.atOnce;
  #countedAt: number;
  #isListing = false;
  #listAgain = false;
  #isStopped = false;
  #timer: { readonly id: unknown } | undefined;

  constructor(ports: RelistingPorts) {
    this.#ports = ports;
    this.#countedAt = ports.clock.now();
  }

  /** The tools may be others now. */
  changed(): void {
    this.#listAgain = true;
    if (!this.#isListing && this.#timer === undefined) void this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== undefined) this.#ports.clock.clearTimeout(this.#timer.id);
  }

  async #run(): Promise<void> {
    this.#isListing = true;
    while (this.#listAgain && !this.#isStopped) {
      const waitMs = this.#waitMs();
      if (waitMs > 0) {
        this.#later(waitMs);
        break;
      }
      this.#share -= 1;
      this.#listAgain = false;
      if (!(await this.#ports.list())) break;
    }
    this.#isListing = false;
  }

  #later(waitMs: number): void {
    const wake = (): void => {
      this.#timer = undefined;
      void this.#run();
    };
    this.#timer = { id: this.#ports.clock.setTimeout(wake, waitMs) };
  }

  #waitMs(): number {
    const { atOnce, apartMs } = relistBounds;
    const now = this.#ports.clock.now();
    this.#share = Math.min(atOnce, this.#share + Math.max(0, now - this.#countedAt) / apartMs);
    this.#countedAt = now;
    return this.#share >= 1 ? 0 : Math.ceil((1 - this.#share) * apartMs);
  }
}

/** Whether a listing brought what was known: a server may say that its tools changed when they did not. */
export function sameTools(before: readonly ListedTool[], now: readonly ListedTool[]): boolean {
  return isDeepStrictEqual(before, now);
}

/**
 * One sign-in of a person: from the url they are sent to until the code they brought back is a token (SPEC AU-1, AU-3).
 *
 * Owns the state and the code verifier, and who waits. Given up when nobody waits any more, or its time is over.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { CallbackResult, SignIn } from '../../domain/authorization.ts';
import { HoldfastError } from '../../domain/errors.ts';
import { toAuthError } from './errors.ts';

/** The url to open, and what makes its answer a token. */
export interface AuthorizationRequest {
  readonly url: string;
  /** Checks who answered and exchanges the code. Gives another request where the authorization server wants one. */
  redeem(answer: URLSearchParams): Promise<AuthorizationRequest | undefined>;
}

export interface RunningSignInOptions {
  readonly timeoutMs: number;
  readonly clock: {
    setTimeout(callback: () => void, ms: number): unknown;
    clearTimeout(id: unknown): void;
  };
  readonly onOver: () => void;
}

/** Names one sign-in in what the browser brings back. */
export function newState(): string {
  return randomBytes(24).toString('base64url');
}

export class RunningSignIn implements SignIn {
  readonly done: Promise<void>;
  readonly state: string;
  readonly #options: RunningSignInOptions;
  readonly #timer: unknown;
  #request: AuthorizationRequest;
  #waiting = 0;
  #phase: 'open' | 'redeeming' | 'over' = 'open';
  #resolve: () => void = nothing;
  #reject: (error: HoldfastError) => void = nothing;

  constructor(state: string, request: AuthorizationRequest, options: RunningSignInOptions) {
    this.state = state;
    this.#request = request;
    this.#options = options;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.done.catch(nothing);
    this.#timer = options.clock.setTimeout(() => {
      this.end(
        new HoldfastError(
          'auth_required',
          `Expected somebody to sign in within ${String(options.timeoutMs)} ms, and nobody did. Begin again.`,
        ),
      );
    }, options.timeoutMs);
  }

  get url(): string {
    return this.#request.url;
  }

  get isOver(): boolean {
    return this.#phase === 'over';
  }

  join(): () => void {
    this.#waiting += 1;
    let isWaiting = true;
    return () => {
      if (!isWaiting) return;
      isWaiting = false;
      this.#waiting -= 1;
      if (this.#waiting === 0) this.end(new HoldfastError('aborted', 'Nobody waits for the sign-in any more.'));
    };
  }

  /** Whether a url the browser was sent to answers this. */
  isFor(callback: URL): boolean {
    const given = Buffer.from(callback.searchParams.get('state') ?? '');
    const own = Buffer.from(this.state);
    return this.#phase !== 'over' && given.length === own.length && timingSafeEqual(given, own);
  }

  /** Takes the answer; a second one is not for this any more. */
  async finish(callback: URL): Promise<CallbackResult> {
    if (this.#phase !== 'open') return { kind: 'unknown' };
    this.#phase = 'redeeming';
    try {
      const next = await this.#request.redeem(callback.searchParams);
      if (next === undefined) {
        this.#over();
        this.#resolve();
        return { kind: 'signedIn' };
      }
      this.#request = next;
      // It may have been given up meanwhile.
      if (!this.isOver) this.#phase = 'open';
      return { kind: 'again', url: next.url };
    } catch (error) {
      const known = toAuthError(error, 'the sign-in to be completed');
      this.end(known);
      return { kind: 'failed', error: known };
    }
  }

  /** Ends it without credentials. */
  end(error: HoldfastError): void {
    if (this.#phase === 'over') return;
    this.#over();
    this.#reject(error);
  }

  #over(): void {
    this.#phase = 'over';
    this.#options.clock.clearTimeout(this.#timer);
    this.#options.onOver();
  }
}

function nothing(): void {
  // Who waits for it has a catch of their own.
}

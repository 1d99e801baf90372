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
  redeem(answer: URLSearchParams, exchange: Exchange): Promise<AuthorizationRequest | undefined>;
}

/** The exchange of a code, as long as somebody wants it. */
export interface Exchange {
  /** Aborted when the sign-in is given up: nothing is kept then. */
  readonly signal: AbortSignal;
  /** What came is kept: from now on the sign-in is done, whoever gives it up. */
  readonly commit: () => void;
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
  readonly #givenUp = new AbortController();
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
      const next = await this.#request.redeem(callback.searchParams, {
        signal: this.#givenUp.signal,
        commit: () => {
          this.complete();
        },
      });
      if (next === undefined) return { kind: 'signedIn' };
      if (this.isOver) return { kind: 'failed', error: givenUpError() };
      this.#request = next;
      this.#phase = 'open';
      return { kind: 'again', url: next.url };
    } catch (error) {
      const known = this.#givenUp.signal.aborted ? givenUpError() : toAuthError(error, 'the sign-in to be completed');
      this.end(known);
      return { kind: 'failed', error: known };
    }
  }

  /** Somebody else got credentials that do for it. One whose answer came goes its own way. */
  completeElsewhere(): void {
    if (this.#phase === 'open') this.complete();
  }

  /** Ends it: there are credentials. */
  complete(): void {
    if (this.isOver) return;
    this.#over();
    this.#resolve();
  }

  /** Ends it without credentials: an exchange that runs is stopped. */
  end(error: HoldfastError): void {
    if (this.isOver) return;
    this.#over();
    this.#givenUp.abort(error);
    this.#reject(error);
  }

  #over(): void {
    this.#phase = 'over';
    this.#options.clock.clearTimeout(this.#timer);
    this.#options.onOver();
  }
}

/** What a browser, and whoever brought its answer, is told of a sign-in that nobody wanted any more. */
export function givenUpError(): HoldfastError {
  return new HoldfastError('aborted', 'The sign-in was given up before it was done. Nothing of it was kept.');
}

function nothing(): void {
  // Who waits for it has a catch of their own.
}

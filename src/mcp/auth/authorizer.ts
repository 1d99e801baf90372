/**
 * Lets one server be used: puts credentials on what goes to it, answers its challenges, and begins the sign-in of a person
 * where only that helps (SPEC AU-1 to AU-3).
 *
 * Owns the one sign-in that may be open. Invariant `Z2`: tokens go to the server they are for and nowhere else.
 */
import { computeScopeUnion, withDpop } from '@modelcontextprotocol/client';
import type { Authorizer, CallbackResult, Fetch, SignIn, SignInRequest } from '../../domain/authorization.ts';
import { HoldfastError } from '../../domain/errors.ts';
import type { AuthState } from '../../domain/snapshot.ts';
import { clip } from '../wire.ts';
import { beginSignIn } from './begin-sign-in.ts';
import { challengeOf } from './challenge.ts';
import type { Challenge } from './challenge.ts';
import type { Tokens } from './credentials.ts';
import { beforeSending } from './errors.ts';
import type { RunningSignIn } from './running-sign-in.ts';
import { TokenSource } from './token-source.ts';
import type { TokenSourceOptions } from './token-source.ts';

/** What an authorizer is made with. */
export type AuthorizerOptions = TokenSourceOptions;

/** How often one request is sent again after its server wanted more scopes. */
const maxStepUps = 2;

/** Makes the authorizer of one server; nothing is read or sent before it is used. */
export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  return new ServerAuthorizer(options);
}

class ServerAuthorizer implements Authorizer {
  readonly #source: TokenSource;
  /** The token the server would not take. */
  #refused: string | undefined;
  #beginning: Promise<RunningSignIn> | undefined;
  #signIn: RunningSignIn | undefined;

  constructor(options: AuthorizerOptions) {
    this.#source = new TokenSource(options);
    void this.#listen();
  }

  get state(): AuthState {
    const { hadTokens, challenge } = this.#source;
    if (this.#hasTokens) return 'oauth';
    if (hadTokens) return 'reauthenticate';
    return challenge === undefined ? 'unknown' : 'notLoggedIn';
  }

  async load(): Promise<AuthState> {
    await this.#source.load();
    return this.state;
  }

  get canSignIn(): boolean {
    return !this.#source.isSilent;
  }

  get readsHeaders(): boolean {
    return this.#source.config.dpop === true;
  }

  authorize(next: Fetch): Fetch {
    return (url, init) => {
      // Nearly every server: no credentials, no challenge.
      if (this.#source.isLoaded && this.#source.tokens === undefined)
        return next(url, init).then((response) =>
          response.status === 401 || response.status === 403 ? this.#meet(response, next, url, init) : response,
        );
      return this.#send(next, url, init);
    };
  }

  async signIn(request: SignInRequest = {}): Promise<SignIn | undefined> {
    if (this.#source.isSilent) throw this.#cannotSignIn();
    if (this.#signIn?.isOver === false && request.scopes === undefined) return this.#signIn;
    if (request.anew !== true && request.scopes === undefined) {
      await this.#source.load();
      await this.#source.reload();
      if (this.#hasTokens) return undefined;
    }
    this.#beginning ??= this.#begin(request).finally(() => {
      this.#beginning = undefined;
    });
    return this.#beginning;
  }

  async finish(callbackUrl: string): Promise<CallbackResult> {
    const callback = URL.canParse(callbackUrl) ? new URL(callbackUrl) : undefined;
    const signIn = this.#signIn;
    if (callback === undefined || signIn?.isFor(callback) !== true) return { kind: 'unknown' };
    return signIn.finish(callback);
  }

  close(): void {
    this.#source.closing.abort();
    this.#signIn?.end(new HoldfastError('aborted', 'The server was let go of.'));
  }

  /** There are tokens the server has not refused. */
  get #hasTokens(): boolean {
    const { tokens } = this.#source;
    return tokens !== undefined && tokens.access_token !== this.#refused;
  }

  /** Somebody else in this process signs in with the same store: who waits here for that need not go on waiting. */
  async #listen(): Promise<void> {
    const { closing, options } = this.#source;
    const entry = await this.#source.entry().catch(() => undefined);
    if (entry === undefined || closing.signal.aborted) return;
    const takeOver = async (): Promise<void> => {
      if (this.#hasTokens || this.#source.isSilent) return;
      await this.#source.reload();
      if (this.state !== 'oauth') return;
      this.#signIn?.completeElsewhere();
      options.onSignedInElsewhere?.();
    };
    const leave = entry.hearOfSignIns(() => void takeOver());
    closing.signal.addEventListener('abort', leave, { once: true });
  }

  async #begin(request: SignInRequest): Promise<RunningSignIn> {
    this.#signIn?.end(new HoldfastError('aborted', 'Another sign-in was begun instead.'));
    const signIn = await beginSignIn({
      source: this.#source,
      request,
      onCallback: (url) => this.finish(url),
      onSignedIn: () => {
        this.#refused = undefined;
      },
    });
    this.#signIn = signIn;
    if (this.#source.closing.signal.aborted) this.close();
    return signIn;
  }

  async #send(next: Fetch, url: string | URL, init: RequestInit | undefined): Promise<Response> {
    await this.#source.load();
    await beforeSending(this.#source.freshen());
    const { tokens } = this.#source;
    return this.#meet(await this.#sendWith(tokens, next, url, init), next, url, init, tokens);
  }

  #sendWith(tokens: Tokens | undefined, next: Fetch, url: string | URL, init: RequestInit = {}): Promise<Response> {
    if (tokens === undefined) return next(url, init);
    const { dpop } = this.#source;
    if (tokens.token_type.toLowerCase() === 'dpop')
      // One that is bound to a key that is lost helps nobody: the server asks for another.
      return dpop === undefined
        ? next(url, init)
        : withDpop(dpop, () => Promise.resolve(tokens.access_token))(next)(url, init);
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${tokens.access_token}`);
    return next(url, { ...init, headers });
  }

  /** Sends again while the server says what is missing and it can be had without a person. */
  async #meet(
    first: Response,
    next: Fetch,
    url: string | URL,
    init: RequestInit | undefined,
    firstUsed?: Tokens,
  ): Promise<Response> {
    let response = first;
    let used = firstUsed;
    let renewals = 0;
    let stepUps = 0;
    for (;;) {
      const challenge = challengeOf(response);
      const isMeant = challenge !== undefined && (challenge.isNamed || this.#source.options.config.oauth !== undefined);
      if (!isMeant) return response;
      this.#note(challenge, used);
      const maxRenewals = this.#source.isSilent ? 1 : 2;
      const mayTry = challenge.status === 401 ? renewals++ < maxRenewals : stepUps++ < maxStepUps;
      if (!mayTry || !(await beforeSending(this.#source.replace(challenge, used)))) {
        if (challenge.status === 403) throw tooNarrow(challenge);
        return response;
      }
      await response.body?.cancel();
      used = this.#source.tokens;
      response = await this.#sendWith(used, next, url, init);
    }
  }

  #note(challenge: Challenge, used: Tokens | undefined): void {
    const source = this.#source;
    source.challenge = challenge;
    if (used !== undefined) this.#refused = used.access_token;
    if (challenge.status === 403) source.wanted = computeScopeUnion(source.wanted, used?.scope, challenge.scope) ?? '';
  }

  #cannotSignIn(): HoldfastError {
    return new HoldfastError(
      'auth_required',
      `Expected the grant "${this.#source.config.grant ?? ''}" to let this client in, and it did not. Nobody can sign in instead: check "oauth".`,
    );
  }
}

/** Only a person can give it more. */
function tooNarrow({ scope }: Challenge): HoldfastError {
  const wanted = scope === undefined ? 'other scopes' : `the scopes "${clip(scope)}"`;
  return new HoldfastError('auth_required', `Expected to be let in, got HTTP 403: the server wants ${wanted}.`, {
    outcome: 'not-sent',
  });
}

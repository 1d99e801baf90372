/**
 * Lets one server be used: puts credentials on what goes to it, renews them, and begins the sign-in of a person where only
 * that helps (SPEC AU-1 to AU-3).
 *
 * Owns what is known of the server's credentials, and the one sign-in that may be open. Invariants: `Z1` a refresh token is
 * used under the store's lock, after looking whether somebody else used it first; `Z2` tokens go to the server they are
 * for and nowhere else; `Z3` every secret is told before it is used.
 */
import { computeScopeUnion, withDpop } from '@modelcontextprotocol/client';
import type { DpopSession, OAuthTokens } from '@modelcontextprotocol/client';
import type {
  AuthorizationOptions,
  Authorizer,
  CallbackResult,
  CredentialStore,
  Fetch,
  SignIn,
  SignInRequest,
} from '../../domain/authorization.ts';
import { signInTimeoutMs } from '../../domain/authorization.ts';
import type { HttpServer, OAuthConfig } from '../../domain/config.ts';
import { HoldfastError, messageOf } from '../../domain/errors.ts';
import type { AuthState } from '../../domain/snapshot.ts';
import { clip } from '../wire.ts';
import { Neighbourhood } from './addresses.ts';
import { authorizationRequest } from './authorization-code.ts';
import { withBoundedFetch } from './bounded-fetch.ts';
import { challengeOf } from './challenge.ts';
import type { Challenge } from './challenge.ts';
import { clientFor, configuredClient } from './clients.ts';
import { credentialKey, CredentialEntry, currentTokens } from './credentials.ts';
import type { Credentials, KnownClient, Tokens } from './credentials.ts';
import { discover } from './discovery.ts';
import type { Discovered } from './discovery.ts';
import { dpopSession } from './dpop.ts';
import { clientAuthentication, tokensByGrant } from './grants.ts';
import { wayBack } from './way-back.ts';
import { refreshed } from './refresh.ts';
import { newState, RunningSignIn } from './running-sign-in.ts';
import type { RunningSignInOptions } from './running-sign-in.ts';
import { chooseScope, withOfflineAccess } from './scopes.ts';
import type { ChosenScope } from './scopes.ts';

export interface AuthorizerOptions {
  readonly server: string;
  readonly config: HttpServer;
  readonly host: AuthorizationOptions;
  /** Asked for once, when it is needed. */
  readonly store: () => Promise<CredentialStore>;
  readonly clock: RunningSignInOptions['clock'] & { now(): number };
  /** Told of every secret before it is used. */
  readonly onSecret: (secret: string) => void;
  readonly onWarning: (code: string, message: string) => void;
  /** Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
}

/** A token that ends within this time is renewed before it is used. */
export const refreshSkewMs = 30_000;
/** How often one request is sent again after its server wanted more scopes. */
const maxStepUps = 2;

/** Makes the authorizer of one server; nothing is read or sent before it is used. */
export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  return new ServerAuthorizer(options);
}

class ServerAuthorizer implements Authorizer {
  readonly #options: AuthorizerOptions;
  readonly #config: OAuthConfig;
  readonly #neighbourhood: Neighbourhood;
  readonly #closing = new AbortController();
  #entry: Promise<CredentialEntry> | undefined;
  #loading: Promise<void> | undefined;
  #isLoaded = false;
  #issuer: string | undefined;
  #tokens: Tokens | undefined;
  #dpop: DpopSession | undefined;
  #hadTokens = false;
  /** The token the server would not take. */
  #refused: string | undefined;
  #challenge: Challenge | undefined;
  /** What a step up asks for. */
  #wanted: string | undefined;
  #renewing: Promise<boolean> | undefined;
  #beginning: Promise<RunningSignIn> | undefined;
  #signIn: RunningSignIn | undefined;

  constructor(options: AuthorizerOptions) {
    this.#options = options;
    this.#config = options.config.oauth ?? {};
    const { issuer, identityProvider } = this.#config;
    this.#neighbourhood = new Neighbourhood(options.config.url, [issuer, identityProvider]);
  }

  get state(): AuthState {
    if (this.#tokens !== undefined && this.#tokens.access_token !== this.#refused) return 'oauth';
    if (this.#challenge === undefined) return 'unknown';
    return this.#hadTokens ? 'reauthenticate' : 'notLoggedIn';
  }

  async load(): Promise<AuthState> {
    await this.#load();
    return this.state;
  }

  get readsHeaders(): boolean {
    return this.#config.dpop === true;
  }

  authorize(next: Fetch): Fetch {
    return (url, init) => {
      // Nearly every server: no credentials, no challenge.
      if (this.#isLoaded && this.#tokens === undefined)
        return next(url, init).then((response) =>
          response.status === 401 || response.status === 403 ? this.#meet(response, next, url, init) : response,
        );
      return this.#send(next, url, init);
    };
  }

  async signIn(request: SignInRequest = {}): Promise<SignIn | undefined> {
    if (this.#isSilent) throw this.#cannotSignIn();
    if (this.#signIn?.isOver === false && request.scopes === undefined) return this.#signIn;
    if (request.anew !== true && request.scopes === undefined) {
      await this.#load();
      await this.#reload();
      if (this.#tokens !== undefined && this.#tokens.access_token !== this.#refused) return undefined;
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
    this.#closing.abort();
    this.#signIn?.end(new HoldfastError('aborted', 'The server was let go of.'));
  }

  get #isSilent(): boolean {
    return (this.#config.grant ?? 'authorization_code') !== 'authorization_code';
  }

  // Requests.

  async #send(next: Fetch, url: string | URL, init: RequestInit | undefined): Promise<Response> {
    await this.#load();
    await this.#freshen();
    return this.#meet(await this.#sendWith(this.#tokens, next, url, init), next, url, init, this.#tokens);
  }

  #sendWith(tokens: Tokens | undefined, next: Fetch, url: string | URL, init: RequestInit = {}): Promise<Response> {
    if (tokens === undefined) return next(url, init);
    const session = this.#dpop;
    if (session !== undefined && tokens.token_type.toLowerCase() === 'dpop')
      return withDpop(session, () => Promise.resolve(tokens.access_token))(next)(url, init);
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
      const isMeant = challenge !== undefined && (challenge.isNamed || this.#options.config.oauth !== undefined);
      if (!isMeant) return response;
      this.#note(challenge, used);
      const mayTry = challenge.status === 401 ? renewals++ < (this.#isSilent ? 1 : 2) : stepUps++ < maxStepUps;
      if (!mayTry || !(await this.#renew(challenge, used))) {
        if (challenge.status === 403) throw tooNarrow(challenge);
        return response;
      }
      await response.body?.cancel();
      used = this.#tokens;
      response = await this.#sendWith(used, next, url, init);
    }
  }

  #note(challenge: Challenge, used: Tokens | undefined): void {
    this.#challenge = challenge;
    if (used !== undefined) this.#refused = used.access_token;
    if (challenge.status === 403) this.#wanted = computeScopeUnion(this.#wanted, used?.scope, challenge.scope) ?? '';
  }

  /** Gets other tokens than those that were refused, if that needs no person. */
  async #renew(challenge: Challenge, used: Tokens | undefined): Promise<boolean> {
    if (this.#tokens !== undefined && this.#tokens.access_token !== used?.access_token) return true;
    await this.#reload();
    if (this.#tokens !== undefined && this.#tokens.access_token !== used?.access_token) return true;
    if (this.#isSilent) return this.#once(() => this.#grant());
    // A refresh gives no scope that was not given before.
    if (challenge.status === 403 || this.#tokens?.refresh_token === undefined) return false;
    return this.#once(() => this.#refresh());
  }

  /** Renews what ends soon. What cannot be renewed is tried as it is. */
  async #freshen(): Promise<void> {
    const { expiresAt, refresh_token } = this.#tokens ?? {};
    if (expiresAt === undefined || expiresAt - refreshSkewMs > this.#options.clock.now()) return;
    if (this.#isSilent) await this.#once(() => this.#grant());
    else if (refresh_token !== undefined) {
      const isOver = expiresAt <= this.#options.clock.now();
      await this.#once(() => this.#refresh()).catch((error: unknown) => {
        if (isOver) throw error;
      });
    }
  }

  #once(run: () => Promise<boolean>): Promise<boolean> {
    this.#renewing ??= run().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  // Credentials.

  #credentials(): Promise<CredentialEntry> {
    const { server, config, store } = this.#options;
    this.#entry ??= store().then((found) => new CredentialEntry(found, credentialKey(server, config.url)));
    return this.#entry;
  }

  async #load(): Promise<void> {
    this.#loading ??= this.#reload().finally(() => {
      this.#isLoaded = true;
    });
    await this.#loading;
  }

  /** Takes over what another process may have got. */
  async #reload(): Promise<void> {
    try {
      const entry = await this.#credentials();
      await this.#adopt(await entry.read());
    } catch (error) {
      this.#options.onWarning('credentials_unreadable', `The kept credentials cannot be read: ${messageOf(error)}`);
    }
  }

  async #adopt(credentials: Credentials): Promise<void> {
    const tokens = currentTokens(credentials);
    // Tokens that came without a person are not kept.
    if (tokens === undefined && this.#isSilent) return;
    const { issuer } = credentials;
    this.#issuer = issuer;
    this.#use(tokens);
    const key = issuer === undefined ? undefined : credentials.issuers[issuer]?.dpopKey;
    if (key !== undefined && this.#dpop === undefined) this.#dpop = (await dpopSession(key)).session;
  }

  #use(tokens: Tokens | undefined): void {
    if (tokens !== undefined) {
      this.#hadTokens = true;
      this.#options.onSecret(tokens.access_token);
      if (tokens.refresh_token !== undefined) this.#options.onSecret(tokens.refresh_token);
    }
    if (tokens?.access_token !== this.#tokens?.access_token) this.#tokens = tokens;
  }

  readonly #secret = (variable: string): string => {
    const value = (this.#options.env ?? process.env)[variable];
    if (value === undefined || value === '')
      throw new HoldfastError(
        'server_misconfigured',
        `Expected the environment variable "${variable}" for "oauth", but it is not set. Set it.`,
      );
    this.#options.onSecret(value);
    return value;
  };

  async #refresh(): Promise<boolean> {
    const entry = await this.#credentials();
    const tried = this.#tokens?.refresh_token;
    return entry.exclusively(this.#closing.signal, async (found, write) => {
      const kept = currentTokens(found);
      if (kept !== undefined && kept.refresh_token !== tried) {
        await this.#adopt(found);
        return true;
      }
      const next = await this.#withFetch(async (fetch) =>
        refreshed({
          credentials: found,
          discovered: await this.#discover(fetch),
          dpop: this.#dpop,
          now: this.#options.clock.now(),
          authentication: (client) => clientAuthentication({ config: this.#config, client, secret: this.#secret }),
          fetch,
          client: (discovered) => this.#configuredClient(found, discovered),
        }),
      );
      // Tried as it is: a challenge may tell where the metadata is.
      if (next === undefined) return false;
      // Told before it is kept: what a store says of it must not show it.
      await this.#adopt(next.credentials);
      await write(next.credentials);
      return next.isRenewed;
    });
  }

  async #grant(): Promise<boolean> {
    const entry = await this.#credentials();
    const found = await entry.read();
    await this.#withFetch(async (fetch) => {
      const discovered = await this.#discover(fetch);
      const client = this.#configuredClient(found, discovered) ?? { client_id: '' };
      const dpop = await this.#session(undefined);
      const scope = this.#scopeFor({}, discovered);
      const tokens = await tokensByGrant({
        config: this.#config,
        discovered,
        client,
        scope,
        dpop: dpop?.session,
        fetch,
        secret: this.#secret,
      });
      this.#issuer = discovered.issuer;
      this.#use(this.#timed(tokens, scope.scope));
      await this.#pin(entry, discovered, client);
    });
    return true;
  }

  /** Remembers which authorization server a client set up by hand was shown to. */
  async #pin(entry: CredentialEntry, { issuer }: Discovered, { client_id }: KnownClient): Promise<void> {
    if (client_id === '') return;
    await entry.change(issuer, this.#closing.signal, ({ client, ...rest }) =>
      client?.client_id === client_id ? undefined : { ...rest, client: { client_id } },
    );
  }

  #configuredClient(found: Credentials, discovered: Discovered): KnownClient | undefined {
    return configuredClient({
      config: this.#config,
      discovered,
      pinnedIssuer: pinnedIssuer(found, this.#config.clientId),
      secret: this.#secret,
    });
  }

  // Signing in.

  async #begin(request: SignInRequest): Promise<RunningSignIn> {
    this.#signIn?.end(new HoldfastError('aborted', 'Another sign-in was begun instead.'));
    const { host, clock } = this.#options;
    const state = newState();
    const entry = await this.#credentials();
    const found = await entry.read();
    const discovered = await this.#withFetch((fetch) => this.#discover(fetch));
    const scope = this.#scopeFor(request, discovered);
    const known = found.issuers[discovered.issuer];
    const back = await wayBack({
      config: this.#config,
      host,
      registered: known?.client?.redirect_uris,
      onCallback: (url) => this.finish(url),
    });
    try {
      const client = await this.#withFetch((fetch) =>
        clientFor({
          config: this.#config,
          host,
          discovered,
          known: known?.client,
          pinnedIssuer: pinnedIssuer(found, this.#config.clientId),
          redirectUrl: back.redirectUrl,
          scope: scope.scope,
          now: clock.now(),
          fetch,
          secret: this.#secret,
        }),
      );
      if (client.client_secret !== undefined) this.#options.onSecret(client.client_secret);
      const dpop = await this.#session(known?.dpopKey);
      const authorization = await authorizationRequest({
        discovered,
        client,
        redirectUrl: back.redirectUrl,
        state,
        scope,
        authentication: clientAuthentication({ config: this.#config, client, secret: this.#secret }),
        dpop: dpop?.session,
        withFetch: (run) => this.#withFetch(run),
        keep: (tokens, asked) => this.#keep(entry, discovered, client, this.#timed(tokens, asked), dpop?.key),
      });
      const signIn = new RunningSignIn(state, authorization, {
        timeoutMs: host.signInTimeoutMs ?? signInTimeoutMs,
        clock,
        onOver: () => {
          back.close();
        },
      });
      this.#signIn = signIn;
      if (this.#closing.signal.aborted) this.close();
      return signIn;
    } catch (error) {
      back.close();
      throw error;
    }
  }

  async #keep(
    entry: CredentialEntry,
    { issuer }: Discovered,
    client: KnownClient,
    tokens: Tokens,
    dpopKey: Readonly<Record<string, unknown>> | undefined,
  ): Promise<void> {
    this.#use(tokens);
    this.#issuer = issuer;
    this.#refused = undefined;
    this.#wanted = undefined;
    // The secret of a client set up by hand stays where it is.
    const { client_secret, ...publicPart } = client;
    const isOwn = this.#config.clientId === undefined && client_secret !== undefined;
    await entry.exclusively(this.#closing.signal, async (found, write) => {
      const kept = {
        client: isOwn ? { ...publicPart, client_secret } : publicPart,
        tokens,
        ...(dpopKey === undefined ? {} : { dpopKey: { ...dpopKey } }),
      };
      await write({ ...found, issuer, issuers: { ...found.issuers, [issuer]: kept } });
    });
  }

  // What all of them need.

  #scopeFor({ scopes }: SignInRequest, { scopesSupported, metadata }: Discovered): ChosenScope {
    const chosen = chooseScope({
      explicit: scopes,
      configured: this.#config.scopes,
      challenged: this.#challenge?.scope,
      supported: scopesSupported,
      before: this.#wanted,
    });
    const supported: unknown = metadata?.scopes_supported;
    return this.#isSilent ? chosen : withOfflineAccess(chosen, Array.isArray(supported) ? supported.map(String) : []);
  }

  async #session(
    kept: Record<string, unknown> | undefined,
  ): Promise<Awaited<ReturnType<typeof dpopSession>> | undefined> {
    if (this.#config.dpop !== true) return undefined;
    const made = await dpopSession(kept);
    this.#dpop = made.session;
    return made;
  }

  #timed(
    { access_token, token_type, refresh_token, scope, expires_in }: OAuthTokens,
    asked: string | undefined,
  ): Tokens {
    const granted = scope ?? asked;
    return {
      access_token,
      token_type,
      ...(refresh_token === undefined ? {} : { refresh_token }),
      ...(granted === undefined ? {} : { scope: granted }),
      ...(expires_in === undefined ? {} : { expiresAt: this.#options.clock.now() + expires_in * 1_000 }),
    };
  }

  #discover(fetch: Fetch): Promise<Discovered> {
    return discover({
      serverUrl: this.#options.config.url,
      config: this.#config,
      resourceMetadataUrl: this.#challenge?.resourceMetadataUrl,
      fetch,
    });
  }

  #withFetch<TResult>(run: (fetch: Fetch) => Promise<TResult>): Promise<TResult> {
    const { env } = this.#options;
    return withBoundedFetch(
      { neighbourhood: this.#neighbourhood, signal: this.#closing.signal, ...(env === undefined ? {} : { env }) },
      run,
    );
  }

  #cannotSignIn(): HoldfastError {
    return new HoldfastError(
      'auth_required',
      `Expected the grant "${this.#config.grant ?? ''}" to let this client in, and it did not. Nobody can sign in instead: check "oauth".`,
    );
  }
}

/** Only a person can give it more. */
function tooNarrow({ scope }: Challenge): HoldfastError {
  const wanted = scope === undefined ? 'other scopes' : `the scopes "${clip(scope)}"`;
  return new HoldfastError('auth_required', `Expected to be let in, got HTTP 403: the server wants ${wanted}.`);
}

/** The issuer a client set up by hand has been used with. */
function pinnedIssuer({ issuers }: Credentials, clientId: string | undefined): string | undefined {
  if (clientId === undefined) return undefined;
  return Object.entries(issuers).find(([, { client }]) => client?.client_id === clientId)?.[0];
}

/**
 * The tokens of one server: read from where they are kept, renewed without a person, kept again (SPEC AU-1, AU-2).
 *
 * Owns what is known of them. Invariants: `Z1` a refresh token is used under the store's lock, after looking whether
 * somebody else used it first, and a token somebody else got is never overwritten by the loss of an older one; `Z3` every
 * secret is told before it is used or kept.
 */
import { randomUUID } from 'node:crypto';
import type { DpopSession, OAuthTokens } from '@modelcontextprotocol/client';
import type { AuthorizationOptions, CredentialStore, Fetch } from '../../domain/authorization.ts';
import type { HttpServer, OAuthConfig } from '../../domain/config.ts';
import { HoldfastError, messageOf } from '../../domain/errors.ts';
import { Neighbourhood } from './addresses.ts';
import { withBoundedFetch } from './bounded-fetch.ts';
import type { Challenge } from './challenge.ts';
import { configuredClient } from './clients.ts';
import { CredentialEntry, credentialKey, currentTokens, timesOf } from './credentials.ts';
import type { Credentials, KnownClient, Tokens } from './credentials.ts';
import { discover } from './discovery.ts';
import type { Discovered } from './discovery.ts';
import { dpopSession } from './dpop.ts';
import { clientAuthentication, tokensByGrant } from './grants.ts';
import { refreshed } from './refresh.ts';
import { Registrations } from './registrations.ts';
import { givenUpError } from './running-sign-in.ts';
import type { RunningSignInOptions } from './running-sign-in.ts';
import { chooseScope } from './scopes.ts';
import { checkToken, withGuardedAnswers } from './token-answers.ts';
import { checkTokenType } from './token-type.ts';

/** What a server's tokens depend on. */
export interface TokenSourceOptions {
  readonly server: string;
  readonly config: HttpServer;
  readonly host: AuthorizationOptions;
  /** Asked for once, when it is needed. */
  readonly store: () => Promise<CredentialStore>;
  readonly clock: RunningSignInOptions['clock'] & { now(): number };
  /** Told of every secret before it is used. */
  readonly onSecret: (secret: string) => void;
  readonly onWarning: (code: string, message: string) => void;
  /** There are credentials of somebody else, or none any more; `isAdopted`: another process, or thread, changed what is kept. */
  readonly onChanged?: (isAdopted: boolean) => void;
  /** Others got the credentials that were missing here. */
  readonly onSignedInElsewhere?: () => void;
  /** Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
}

/** What is kept with tokens, and whether they are wanted still. */
export interface KeepOptions {
  readonly client: KnownClient;
  readonly dpopKey: Readonly<Record<string, unknown>> | undefined;
  /** Aborted when the sign-in is given up: nothing is kept then. */
  readonly signal: AbortSignal;
  /** Runs with the last look at `signal`, when they are kept and used. */
  readonly onKept: () => void;
}

export class TokenSource {
  readonly options: TokenSourceOptions;
  readonly config: OAuthConfig;
  /** Aborted when the server is let go of. */
  readonly closing = new AbortController();
  /** There were tokens once. */
  hadTokens = false;
  isLoaded = false;
  /** What the server said last when it let nobody in. */
  challenge: Challenge | undefined;
  /** What a step up asks for. */
  wanted: string | undefined;
  readonly #neighbourhood: Neighbourhood;
  #tokens: Tokens | undefined;
  #dpop: DpopSession | undefined;
  #entry: Promise<CredentialEntry> | undefined;
  #loading: Promise<void> | undefined;
  #renewing: Promise<boolean> | undefined;
  readonly #warned = new Set<string>();

  constructor(options: TokenSourceOptions) {
    this.options = options;
    this.config = options.config.oauth ?? {};
    const { issuer, identityProvider } = this.config;
    this.#neighbourhood = new Neighbourhood(options.config.url, [issuer, identityProvider]);
  }

  get tokens(): Tokens | undefined {
    return this.#tokens;
  }

  /** The key the tokens are bound to. */
  get dpop(): DpopSession | undefined {
    return this.#dpop;
  }

  /** Tokens come without a person. */
  get isSilent(): boolean {
    return (this.config.grant ?? 'authorization_code') !== 'authorization_code';
  }

  entry(): Promise<CredentialEntry> {
    const { server, config, store } = this.options;
    this.#entry ??= store().then(
      (found) =>
        new CredentialEntry(found, credentialKey(server, config.url), (message) => {
          this.#warnUnreadable(message);
        }),
    );
    return this.#entry;
  }

  async load(): Promise<void> {
    this.#loading ??= this.reload().finally(() => {
      this.isLoaded = true;
    });
    await this.#loading;
  }

  /** Takes over what another process may have got. */
  async reload(): Promise<void> {
    try {
      const entry = await this.entry();
      await this.#adopt(await entry.read());
    } catch (error) {
      this.#warnUnreadable(`The kept credentials cannot be read: ${messageOf(error)}`);
    }
  }

  /** Renews what ends soon. What cannot be renewed is tried as it is. */
  async freshen(): Promise<void> {
    const { expiresAt = Infinity, renewAt = expiresAt, refresh_token } = this.#tokens ?? {};
    if (renewAt > this.options.clock.now()) return;
    if (!this.isSilent && refresh_token === undefined) return;
    const isOver = expiresAt <= this.options.clock.now();
    await this.#renew().catch((error: unknown) => {
      if (isOver) throw error;
    });
  }

  /** Gets other tokens than those that were refused, if that needs no person. */
  async replace(challenge: Challenge, refused: Tokens | undefined): Promise<boolean> {
    if (this.#isOther(refused)) return true;
    await this.reload();
    if (this.#isOther(refused)) return true;
    // A refresh gives no scope that was not given before.
    if (!this.isSilent && (challenge.status === 403 || this.#tokens?.refresh_token === undefined)) return false;
    return this.#renew();
  }

  /** Uses what a sign-in brought, and keeps it. */
  async keep(
    { issuer }: Discovered,
    signedIn: Tokens,
    { client, dpopKey, signal, onKept }: KeepOptions,
  ): Promise<void> {
    const tokens: Tokens = { ...signedIn, family: randomUUID() };
    this.#tellSecrets(tokens);
    // The secret of a client set up by hand stays where it is.
    const { client_secret, ...publicPart } = client;
    const isOwn = this.config.clientId === undefined && client_secret !== undefined;
    const entry = await this.entry();
    await entry.exclusively(AbortSignal.any([signal, this.closing.signal]), async (found, write) => {
      const kept = {
        client: isOwn ? { ...publicPart, client_secret } : publicPart,
        tokens,
        ...(dpopKey === undefined ? {} : { dpopKey: { ...dpopKey } }),
      };
      if (signal.aborted) throw givenUpError();
      await write({ ...found, issuer, issuers: { ...found.issuers, [issuer]: kept } });
      if (isGivenUp(signal)) {
        await write(found);
        throw givenUpError();
      }
      this.#use(tokens);
      this.wanted = undefined;
      onKept();
    });
    entry.announceSignIn();
  }

  /** Tokens with the time they end. */
  timed({ access_token, token_type, refresh_token, scope, expires_in }: OAuthTokens, asked?: string): Tokens {
    const granted = scope ?? asked;
    return {
      access_token,
      token_type,
      ...(refresh_token === undefined ? {} : { refresh_token }),
      ...(granted === undefined ? {} : { scope: granted }),
      ...timesOf(this.options.clock.now(), expires_in),
    };
  }

  /** The key new tokens are bound to, if they are. */
  async session(kept?: Record<string, unknown>): Promise<Awaited<ReturnType<typeof dpopSession>> | undefined> {
    if (this.config.dpop !== true) return undefined;
    const made = await dpopSession(kept);
    this.#dpop = made.session;
    return made;
  }

  /** Finds out who signs in to the server. */
  discover(fetch: Fetch): Promise<Discovered> {
    return discover({
      serverUrl: this.options.config.url,
      config: this.config,
      resourceMetadataUrl: this.challenge?.resourceMetadataUrl,
      fetch,
    });
  }

  withFetch<TResult>(run: (fetch: Fetch) => Promise<TResult>, givenUp?: AbortSignal): Promise<TResult> {
    const { env, onSecret } = this.options;
    const signal = givenUp === undefined ? this.closing.signal : AbortSignal.any([givenUp, this.closing.signal]);
    const bounds = { neighbourhood: this.#neighbourhood, signal };
    return withBoundedFetch({ ...bounds, ...(env === undefined ? {} : { env }) }, (fetch) =>
      run(withGuardedAnswers(fetch, onSecret)),
    );
  }

  /** The value of an environment variable. @throws HoldfastError `server_misconfigured` */
  readonly secret = (variable: string): string => {
    const value = (this.options.env ?? process.env)[variable];
    if (value === undefined || value === '')
      throw new HoldfastError(
        'server_misconfigured',
        `Expected the environment variable "${variable}" for "oauth", but it is not set. Set it.`,
      );
    this.options.onSecret(value);
    return value;
  };

  #isOther(refused: Tokens | undefined): boolean {
    return this.#tokens !== undefined && this.#tokens.access_token !== refused?.access_token;
  }

  #renew(): Promise<boolean> {
    this.#renewing ??= (this.isSilent ? this.#grant() : this.#refresh()).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #refresh(): Promise<boolean> {
    const entry = await this.entry();
    const tried = this.#tokens?.refresh_token;
    return entry.exclusively(this.closing.signal, async (found, write) => {
      const kept = currentTokens(found);
      if (kept !== undefined && kept.refresh_token !== tried) {
        await this.#adopt(found);
        return true;
      }
      const next = await this.withFetch(async (fetch) =>
        refreshed({
          credentials: found,
          discovered: await this.discover(fetch),
          dpop: this.#dpop,
          now: this.options.clock.now(),
          authentication: (client) => clientAuthentication({ config: this.config, client, secret: this.secret }),
          fetch,
          client: (discovered) => this.#configuredClient(found, discovered),
        }),
      );
      // Tried as it is: a challenge may tell where the metadata is.
      if (next === undefined) return false;
      const newest = next.isRenewed ? found : await entry.read();
      if (currentTokens(newest)?.refresh_token !== tried) {
        // A store that does not lock: the one that came first is right.
        await this.#adopt(newest);
        return currentTokens(newest) !== undefined;
      }
      await this.#adopt(next.credentials);
      await write(next.credentials);
      await this.#forgetClient(found, next.credentials);
      return next.isRenewed;
    });
  }

  /** The authorization server said that it does not know its client any more: nobody else uses it either. */
  async #forgetClient({ issuer = '', issuers }: Credentials, { issuers: left }: Credentials): Promise<void> {
    const client = issuers[issuer]?.client;
    if (client === undefined || left[issuer]?.client !== undefined) return;
    await new Registrations(await this.options.store(), issuer, this.closing.signal).forget(client.client_id);
  }

  /** Tokens that came without a person are not kept: they can be had again. */
  async #grant(): Promise<boolean> {
    const entry = await this.entry();
    const found = await entry.read();
    await this.withFetch(async (fetch) => {
      const discovered = await this.discover(fetch);
      const client = this.#configuredClient(found, discovered) ?? { client_id: '' };
      const scope = chooseScope({
        explicit: undefined,
        configured: this.config.scopes,
        challenged: this.challenge?.scope,
        supported: discovered.scopesSupported,
        before: this.wanted,
      });
      const dpop = (await this.session())?.session;
      const { config, secret } = this;
      const tokens = await tokensByGrant({ config, discovered, client, scope, dpop, fetch, secret });
      checkToken(tokens, discovered.issuer);
      checkTokenType(tokens, discovered.issuer, { hasKey: dpop !== undefined });
      // The same program, or whoever the assertion is about this time.
      const family = config.grant === 'client_credentials' ? client.client_id : randomUUID();
      this.#use({ ...this.timed(tokens, scope.scope), family });
      await this.#pin(entry, discovered, client);
    });
    return true;
  }

  async #adopt(credentials: Credentials): Promise<void> {
    const tokens = currentTokens(credentials);
    if (tokens === undefined && this.isSilent) return;
    const { issuer, issuers } = credentials;
    const key = issuer === undefined ? undefined : issuers[issuer]?.dpopKey;
    if (key !== undefined && this.#dpop === undefined) this.#dpop = (await dpopSession(key)).session;
    this.#use(tokens, true);
  }

  #use(tokens: Tokens | undefined, isAdopted = false): void {
    if (tokens !== undefined) {
      this.hadTokens = true;
      this.#tellSecrets(tokens);
    }
    const before = this.#tokens;
    if (tokens?.access_token === before?.access_token) return;
    this.#tokens = tokens;
    const isSamePerson = tokens?.family !== undefined && tokens.family === before?.family;
    if (!isSamePerson) this.options.onChanged?.(isAdopted);
  }

  #tellSecrets({ access_token, refresh_token }: Tokens): void {
    this.options.onSecret(access_token);
    if (refresh_token !== undefined) this.options.onSecret(refresh_token);
  }

  /** Says each thing once: what is kept is read often. */
  #warnUnreadable(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.options.onWarning('credentials_unreadable', message);
  }

  /** Remembers which authorization server a client set up by hand was shown to. */
  async #pin(entry: CredentialEntry, { issuer }: Discovered, { client_id }: KnownClient): Promise<void> {
    if (client_id === '') return;
    await entry.change(issuer, this.closing.signal, ({ client, ...rest }) =>
      client?.client_id === client_id ? undefined : { ...rest, client: { client_id } },
    );
  }

  #configuredClient(found: Credentials, discovered: Discovered): KnownClient | undefined {
    const pinned = pinnedIssuer(found, this.config.clientId);
    return configuredClient({ config: this.config, discovered, pinnedIssuer: pinned, secret: this.secret });
  }
}

function isGivenUp({ aborted }: AbortSignal): boolean {
  return aborted;
}

/** The issuer a client set up by hand has been used with. */
export function pinnedIssuer({ issuers }: Credentials, clientId: string | undefined): string | undefined {
  if (clientId === undefined) return undefined;
  return Object.entries(issuers).find(([, { client }]) => client?.client_id === clientId)?.[0];
}

/** What is kept of one server: for each authorization server, the client it knows and the tokens it gave (SPEC AU-2). */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { CredentialStore } from '../../domain/authorization.ts';
import { clip } from '../wire.ts';
import { announceSignIn, hearOfSignIns } from './announcements.ts';

/** How a client is kept. */
export const clientSchema = z.looseObject({
  client_id: z.string(),
  client_secret: z.string().exactOptional(),
  client_secret_expires_at: z.number().exactOptional(),
  token_endpoint_auth_method: z.string().exactOptional(),
  redirect_uris: z.array(z.string()).exactOptional(),
  /** The scopes it was registered with here. */
  scope: z.string().exactOptional(),
  /** It was given no more than those, though more was asked for. */
  isHeldToScope: z.boolean().exactOptional(),
  /** What it was registered as here. */
  client_name: z.string().exactOptional(),
});

const tokensSchema = z.object({
  access_token: z.string(),
  /** Another kind cannot be used: it is not read. */
  token_type: z.string().regex(/^(?:bearer|dpop)$/i),
  refresh_token: z.string().exactOptional(),
  scope: z.string().exactOptional(),
  /** Names the sign-in they come from: others with the same are for the same person. */
  family: z.string().exactOptional(),
  /** Milliseconds since the epoch, as is `renewAt`: from then on it is renewed before it is used. */
  expiresAt: z.number().exactOptional(),
  renewAt: z.number().exactOptional(),
});

const issuerSchema = z.object({
  client: clientSchema.exactOptional(),
  tokens: tokensSchema.exactOptional(),
  /** The private key its tokens are bound to, as a JWK. */
  dpopKey: z.record(z.string(), z.unknown()).exactOptional(),
});

const entrySchema = z.object({
  version: z.literal(1),
  /** Whose tokens are used. */
  issuer: z.string().exactOptional(),
  issuers: z.record(z.string(), z.unknown()),
});

/** A client as an authorization server knows it. */
export type KnownClient = z.infer<typeof clientSchema>;
/** Tokens, with the time they end. */
export type Tokens = z.infer<typeof tokensSchema>;
/** What one authorization server gave. */
export type IssuerCredentials = z.infer<typeof issuerSchema>;
/** Everything kept of one server. */
export interface Credentials {
  version: 1;
  issuer?: string;
  issuers: Record<string, IssuerCredentials>;
}

/** The key of a server's entry: its name and where it is, so that a name that moves elsewhere takes nothing along. */
export function credentialKey(server: string, url: string): string {
  const { origin, pathname } = new URL(url);
  return `${server} ${origin}${pathname}`;
}

/** A short name for a key, for files and keyrings. */
export function keyDigest(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}

/** Hears of what is kept and cannot be read. */
export type UnreadableListener = (message: string) => void;

/** The credentials in an entry, without what of it is not readable. */
export function parseCredentials(text: string | undefined, onUnreadable: UnreadableListener): Credentials {
  const none: Credentials = { version: 1, issuers: {} };
  if (text === undefined) return none;
  const parsed = entrySchema.safeParse(parseJson(text));
  if (!parsed.success) {
    onUnreadable('Expected kept credentials, got an entry of another shape. Sign in again: it is replaced then.');
    return none;
  }
  const { issuers, ...rest } = parsed.data;
  const readable: Record<string, IssuerCredentials> = {};
  for (const [issuer, value] of Object.entries(issuers)) {
    const one = issuerSchema.safeParse(value);
    if (one.success) readable[issuer] = one.data;
    else
      onUnreadable(
        `Expected kept credentials of the authorization server "${clip(issuer)}", got some of another shape. Those of others are used. Sign in again to replace them.`,
      );
  }
  return { ...rest, issuers: readable };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One server's entry in a store. */
export class CredentialEntry {
  readonly #store: CredentialStore;
  readonly #key: string;
  readonly #onUnreadable: UnreadableListener;

  constructor(store: CredentialStore, key: string, onUnreadable: UnreadableListener) {
    this.#store = store;
    this.#key = key;
    this.#onUnreadable = onUnreadable;
  }

  /** Hears of sign-ins others in this process do for it, until what it returns is called. */
  hearOfSignIns(listener: () => void): () => void {
    return hearOfSignIns(this.#store, this.#key, listener);
  }

  /** Tells them of one. */
  announceSignIn(): void {
    announceSignIn(this.#store, this.#key);
  }

  async read(): Promise<Credentials> {
    return parseCredentials(await this.#store.get(this.#key), this.#onUnreadable);
  }

  /** Runs while no other process changes this entry; `write` replaces it, or removes it when nothing is left. */
  exclusively<TResult>(
    signal: AbortSignal,
    run: (found: Credentials, write: (next: Credentials) => Promise<void>) => Promise<TResult>,
  ): Promise<TResult> {
    const write = async (next: Credentials): Promise<void> => {
      const isEmpty = Object.keys(next.issuers).length === 0;
      await (isEmpty ? this.#store.delete(this.#key) : this.#store.set(this.#key, JSON.stringify(next)));
    };
    return this.#store.exclusively(this.#key, async () => run(await this.read(), write), { signal });
  }

  /** Changes what one authorization server gave, under the lock. */
  async change(
    issuer: string,
    signal: AbortSignal,
    how: (found: IssuerCredentials, all: Credentials) => IssuerCredentials | undefined,
  ): Promise<void> {
    await this.exclusively(signal, async (all, write) => {
      const next = how(all.issuers[issuer] ?? {}, all);
      if (next !== undefined) await write({ ...all, issuers: { ...all.issuers, [issuer]: next } });
    });
  }
}

/** A token that ends within this time is renewed before it is used; one that lives shorter than twice that, at half its life. */
export const refreshSkewMs = 30_000;

/** Sooner than this after it was got no token is renewed, unless its server refuses it. */
const minLifeMs = 10_000;
/** What is said to live longer is taken to live this long. */
const maxLifeMs = 10 * 365 * 24 * 60 * 60 * 1_000;

/** When a token ends, and when it is renewed, whatever an authorization server says of it. */
export function timesOf(now: number, expiresIn: number | undefined): Pick<Tokens, 'expiresAt' | 'renewAt'> {
  if (expiresIn === undefined || Number.isNaN(expiresIn)) return {};
  const lifeMs = Math.min(Math.max(expiresIn * 1_000, minLifeMs), maxLifeMs);
  return { expiresAt: now + lifeMs, renewAt: now + Math.max(lifeMs - Math.min(refreshSkewMs, lifeMs / 2), minLifeMs) };
}

/** Tokens of the authorization server in use. */
export function currentTokens({ issuer, issuers }: Credentials): Tokens | undefined {
  return issuer === undefined ? undefined : issuers[issuer]?.tokens;
}

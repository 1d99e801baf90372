/** What is kept of one server: for each authorization server, the client it knows and the tokens it gave (SPEC AU-2). */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { CredentialStore } from '../../domain/authorization.ts';

const clientSchema = z.looseObject({
  client_id: z.string(),
  client_secret: z.string().exactOptional(),
  client_secret_expires_at: z.number().exactOptional(),
  token_endpoint_auth_method: z.string().exactOptional(),
  redirect_uris: z.array(z.string()).exactOptional(),
  /** The scopes it was registered with here. */
  scope: z.string().exactOptional(),
});

const tokensSchema = z.object({
  access_token: z.string(),
  token_type: z.string(),
  refresh_token: z.string().exactOptional(),
  scope: z.string().exactOptional(),
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

const credentialsSchema = z.object({
  version: z.literal(1),
  /** Whose tokens are used. */
  issuer: z.string().exactOptional(),
  issuers: z.record(z.string(), issuerSchema),
});

/** A client as an authorization server knows it. */
export type KnownClient = z.infer<typeof clientSchema>;
/** Tokens, with the time they end. */
export type Tokens = z.infer<typeof tokensSchema>;
/** What one authorization server gave. */
export type IssuerCredentials = z.infer<typeof issuerSchema>;
/** Everything kept of one server. */
export type Credentials = z.infer<typeof credentialsSchema>;

/** The key of a server's entry: its name and where it is, so that a name that moves elsewhere takes nothing along. */
export function credentialKey(server: string, url: string): string {
  const { origin, pathname } = new URL(url);
  return `${server} ${origin}${pathname}`;
}

/** A short name for a key, for files and keyrings. */
export function keyDigest(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}

/** The credentials in an entry; none in one that is not readable. */
export function parseCredentials(text: string | undefined): Credentials {
  const none: Credentials = { version: 1, issuers: {} };
  if (text === undefined) return none;
  try {
    const parsed = credentialsSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : none;
  } catch {
    return none;
  }
}

/** One server's entry in a store. */
export class CredentialEntry {
  readonly #store: CredentialStore;
  readonly #key: string;

  constructor(store: CredentialStore, key: string) {
    this.#store = store;
    this.#key = key;
  }

  async read(): Promise<Credentials> {
    return parseCredentials(await this.#store.get(this.#key));
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

/** When a token ends, and when it is renewed. */
export function timesOf(now: number, expiresIn: number | undefined): Pick<Tokens, 'expiresAt' | 'renewAt'> {
  if (expiresIn === undefined) return {};
  const lifeMs = expiresIn * 1_000;
  return { expiresAt: now + lifeMs, renewAt: now + lifeMs - Math.min(refreshSkewMs, lifeMs / 2) };
}

/** Tokens of the authorization server in use. */
export function currentTokens({ issuer, issuers }: Credentials): Tokens | undefined {
  return issuer === undefined ? undefined : issuers[issuer]?.tokens;
}

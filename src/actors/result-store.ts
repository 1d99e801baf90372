/**
 * Keeps results as long as their server says they count (SPEC RE-2): private ones for one thread, public ones for its host.
 *
 * Owns copies: what is handed out is the caller's own. Bounded by number, size and time.
 *
 * - S1 a private result is found only by the thread that got it, and only for the same identity, credentials included.
 * - S2 a public one is found by who reaches the server at the same address.
 */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../domain/json.ts';
import { isRecord } from '../domain/json.ts';
import type { LiveConnection } from './servers.ts';

/** What is kept of results, at most. */
export const resultLimits = {
  ttlMs: 24 * 60 * 60 * 1_000,
  /** Characters of one result as JSON. */
  size: 1_048_576,
  totalSize: 16_777_216,
  entries: 512,
} as const;

interface Entry {
  readonly text: string;
  readonly expiresAt: number;
}

/** One store of results: the one that was used longest ago goes first. */
export class ResultStore {
  readonly #entries = new Map<string, Entry>();
  #size = 0;

  get(key: string, now: number): string | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#delete(key, entry);
    if (entry.expiresAt <= now) return undefined;
    this.#set(key, entry);
    return entry.text;
  }

  put(key: string, entry: Entry): void {
    const before = this.#entries.get(key);
    if (before !== undefined) this.#delete(key, before);
    this.#set(key, entry);
    for (const [oldest, each] of this.#entries) {
      if (this.#entries.size <= resultLimits.entries && this.#size <= resultLimits.totalSize) return;
      this.#delete(oldest, each);
    }
  }

  /** Forgets what begins with this, or those of them whose rest is meant. */
  forget(prefix: string, isMeant: (rest: string) => boolean = () => true): void {
    for (const [key, entry] of this.#entries)
      if (key.startsWith(prefix) && isMeant(key.slice(prefix.length))) this.#delete(key, entry);
  }

  #set(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#size += entry.text.length;
  }

  #delete(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#size -= entry.text.length;
  }
}

/** Which result: of which server, of which request. */
export interface ResultKey {
  readonly connection: LiveConnection;
  readonly method: string;
  readonly params: JsonObject;
}

/** What one thread finds: its own private results, and the public ones of its host. */
export class KeptResults {
  readonly #own = new ResultStore();
  readonly #shared: ResultStore;
  readonly #now: () => number;

  constructor(shared: ResultStore, now: () => number) {
    this.#shared = shared;
    this.#now = now;
  }

  get({ connection, method, params }: ResultKey): JsonObject | undefined {
    const rest = restOf(method, params);
    const now = this.#now();
    const text =
      this.#own.get(`${connection.identity} ${rest}`, now) ?? this.#shared.get(`${addressOf(connection)} ${rest}`, now);
    if (text === undefined) return undefined;
    const result: unknown = JSON.parse(text);
    return parseKept(result);
  }

  put({ connection, method, params }: ResultKey, result: JsonObject, ttlMs: number): void {
    const text = JSON.stringify(result);
    if (text.length > resultLimits.size) return;
    const entry = { text, expiresAt: this.#now() + Math.min(ttlMs, resultLimits.ttlMs) };
    const rest = restOf(method, params);
    if (result['cacheScope'] === 'public') this.#shared.put(`${addressOf(connection)} ${rest}`, entry);
    else this.#own.put(`${connection.identity} ${rest}`, entry);
  }

  /** Forgets what a notification says is old: all of a server, or what begins with a method. */
  forget(connection: LiveConnection, method = '', isMeant?: (rest: string) => boolean): void {
    this.#own.forget(`${connection.identity} ${method}`, isMeant);
    this.#shared.forget(`${addressOf(connection)} ${method}`, isMeant);
  }

  /** Forgets what was for whoever was let in until now; what is for everybody stays. */
  forgetPrivate(connection: LiveConnection): void {
    this.#own.forget(`${connection.identity} `);
  }

  /** Forgets a resource that changed, and those it may be a part of. */
  forgetReads(connection: LiveConnection, uri: string): void {
    const isMeant = (rest: string): boolean => {
      const params: unknown = JSON.parse(rest);
      return isRecord(params) && typeof params['uri'] === 'string' && uri.startsWith(params['uri']);
    };
    this.forget(connection, 'resources/read ', isMeant);
  }
}

/** Makes the public results of a host; gives what makes those of its threads. */
export function sharedResults(): (now: () => number) => KeptResults {
  const shared = new ResultStore();
  return (now) => new KeptResults(shared, now);
}

function restOf(method: string, params: JsonObject): string {
  return `${method} ${JSON.stringify(params)}`;
}

const addresses = new WeakMap<LiveConnection, string>();

/** Where a server is, whoever asks: the url over HTTP; anything else is its own. */
function addressOf(connection: LiveConnection): string {
  const known = addresses.get(connection);
  if (known !== undefined) return known;
  const { config, identity, place } = connection;
  const where =
    'url' in config && place === undefined ? JSON.stringify([config.url, config.protocol ?? 'auto']) : identity;
  const address = createHash('sha256').update(where).digest('hex');
  addresses.set(connection, address);
  return address;
}

/** What was written by `JSON.stringify` of a result is one. */
function parseKept(value: unknown): JsonObject | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the text was made here, of a result
  return isRecord(value) ? (value as JsonObject) : undefined;
}

/**
 * Results a modern server lets a client keep (SPEC RE-2): looked up here, kept by what is loaded with the first of them.
 *
 * - M1 nothing is kept that changed while it was on its way: a notification, or a new link, came in between.
 * - M2 a result that came before a request is found by it, also while what keeps results is being loaded.
 */
import type { ReadOptions } from './api.ts';
import type { Effects } from './actors/effects.ts';
import type { JsonObject } from './domain/json.ts';

/** A request whose result may be kept. */
export interface CacheableRequest {
  readonly server: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly options: ReadOptions;
  readonly send: () => Promise<JsonObject>;
}

/** Gives what is kept and still counts, else what the server answers, which is kept as long as it says. */
export async function throughCache(
  effects: Effects,
  generation: number,
  request: CacheableRequest,
): Promise<JsonObject> {
  const { server, method, params, options, send } = request;
  const planned = effects.servers.resolve(generation, server);
  const connection = planned?.connection;
  if (connection === undefined || options.signal?.aborted === true) return send();
  const { results } = effects;
  const key = { connection, method, params };
  if (options.fresh !== true) {
    if (results.loading !== undefined) await results.loading;
    const kept = results.kept?.get(key);
    if (kept !== undefined) return kept;
  }
  const { revision } = connection;
  const sent = send();
  const keep = async (result: JsonObject): Promise<void> => {
    const { ttlMs } = result;
    if (typeof ttlMs !== 'number' || !(ttlMs > 0) || connection.link?.info.era !== 'modern') return;
    await results.load();
    if (connection.revision === revision) results.kept?.put(key, result, ttlMs);
  };
  sent.then(keep).catch(() => undefined);
  return sent;
}

/** How long all pages of a listing count together: as long as the first that is old, and as private as the most private. */
export class PagesLife {
  #ttlMs = Number.POSITIVE_INFINITY;
  #isPublic = true;

  /** Notes one page, and gives it. */
  of(page: JsonObject): JsonObject {
    const { ttlMs, cacheScope } = page;
    this.#ttlMs = typeof ttlMs === 'number' ? Math.min(this.#ttlMs, ttlMs) : 0;
    this.#isPublic &&= cacheScope === 'public';
    return page;
  }

  /** The same for all pages; nothing when they count for no time at all. */
  all(): JsonObject {
    if (!Number.isFinite(this.#ttlMs) || this.#ttlMs <= 0) return {};
    return { ttlMs: this.#ttlMs, cacheScope: this.#isPublic ? 'public' : 'private' };
  }
}

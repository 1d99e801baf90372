/** How a thread uses what its host remembers of tools (SPEC RE-2). */
import type { ThreadOptions } from './api.ts';
import type { CachedToolsPorts } from './actors/known-tools.ts';
import { HoldfastError } from './domain/errors.ts';
import { shown } from './domain/json.ts';
import type { ToolCache } from './domain/tool-cache.ts';

const modes: readonly unknown[] = ['grace', 'immediate', 'off'];

/** @throws HoldfastError `invalid_argument` for a mode that is none. */
export function cachedToolsOf(
  { cachedTools = 'grace' }: ThreadOptions,
  cache: ToolCache | undefined,
): { readonly cachedTools?: CachedToolsPorts } {
  if (!modes.includes(cachedTools))
    throw new HoldfastError(
      'invalid_argument',
      `Expected cachedTools to be "grace", "immediate" or "off", got ${shown(cachedTools)}.`,
    );
  return cache === undefined ? {} : { cachedTools: { cache, mode: cachedTools } };
}

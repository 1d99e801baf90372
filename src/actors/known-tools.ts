/** Which tools of a connection are shown: its own, or while it starts for the first time those its host remembers (SPEC RE-2). */
import type { ServerConfig } from '../domain/config.ts';
import { frozenCopy } from '../domain/frozen.ts';
import { isRecord } from '../domain/json.ts';
import type { Inventory, LinkInfo } from '../domain/link.ts';
import type { ToolCache } from '../domain/tool-cache.ts';
import type { ListedTool } from '../domain/tool.ts';
import type { LiveConnection } from './servers.ts';

/** How a thread uses the tool lists of its host. */
export interface CachedToolsPorts {
  readonly cache: ToolCache;
  /** See `ThreadOptions.cachedTools`. */
  readonly mode: 'grace' | 'immediate' | 'off';
  /** Hears of a cache that throws: it costs only what it would have known. */
  readonly onError?: (error: unknown) => void;
}

/** The tools a new step shows of a connection. */
export function shownTools({ tools, state, cached }: LiveConnection): readonly ListedTool[] {
  return tools.length === 0 && state === 'starting' ? (cached ?? tools) : tools;
}

/** Whether what is shown comes from the cache. */
export function showsCached({ tools, state, cached }: LiveConnection): boolean {
  return tools.length === 0 && state === 'starting' && cached !== undefined;
}

/** What the host remembers of a server that begins to start. Its hints count for nothing before it has answered. */
export function rememberedTools(
  ports: CachedToolsPorts | undefined,
  identity: string,
  config: ServerConfig,
): readonly ListedTool[] | undefined {
  if (ports === undefined || ports.mode === 'off' || !mayBeCached(ports.cache, config)) return undefined;
  return attempt(ports, () => {
    const tools = ports.cache.get(identity);
    return tools === undefined ? undefined : frozenCopy(tools.map(withoutHints));
  });
}

/** The ticket of a fetch that begins. */
export function beginFetch(ports: CachedToolsPorts | undefined): number {
  return ports === undefined ? 0 : (attempt(ports, () => ports.cache.begin()) ?? 0);
}

/** Takes a listing: its tools if it could be had whole, else the ones known before. */
export function takeInventory(connection: LiveConnection, inventory: Inventory): void {
  if (inventory.failure !== undefined) return;
  connection.tools = frozenCopy(inventory.tools);
  connection.dropped = inventory.dropped ?? [];
  connection.cached = undefined;
}

/** Remembers a listing that was taken, unless its server wants otherwise. */
export function rememberTools(ports: CachedToolsPorts | undefined, connection: LiveConnection, ticket: number): void {
  const { identity, config, tools, link, authorizer } = connection;
  if (ports === undefined || !mayBeCached(ports.cache, config)) return;
  // A listing is let in with a token that calls are refused with, too.
  if (authorizer?.state === 'oauth' || authorizer?.state === 'reauthenticate') return;
  if (link === undefined || optsOut(link.info)) return;
  attempt(ports, () => ports.cache.put(identity, ticket, tools));
}

function withoutHints(tool: ListedTool): ListedTool {
  const { annotations: _, ...rest } = tool;
  return rest;
}

function attempt<TValue>({ onError }: CachedToolsPorts, ask: () => TValue): TValue | undefined {
  try {
    return ask();
  } catch (error) {
    onError?.(error);
    return undefined;
  }
}

/**
 * A given transport is used once. Who is signed in to a server by OAuth, or by headers a helper gives, is not part of its
 * identity: its tools are not shown to whom they may not be for.
 */
function mayBeCached({ isDurable = false }: ToolCache, config: ServerConfig): boolean {
  if ('inMemory' in config) return !isDurable;
  if ('transport' in config && typeof config.transport === 'object') return false;
  return !('url' in config) || (config.oauth === undefined && config.renewHeaders === undefined);
}

/** The experimental capability with which a server forbids the cache. */
const optOut = 'codex/tool-catalog-cache';

function optsOut({ capabilities }: LinkInfo): boolean {
  const { experimental } = capabilities;
  const said = isRecord(experimental) ? experimental[optOut] : undefined;
  return isRecord(said) && said['cacheable'] === false;
}

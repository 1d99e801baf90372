/** The tool lists a host keeps in memory: of 32 servers, for half an hour (SPEC RE-2). */
import type { ToolCache } from '../domain/tool-cache.ts';
import type { ListedTool } from '../domain/tool.ts';

/** What is kept, at most. */
export const inventoryLimits = { servers: 32, ttlMs: 30 * 60 * 1_000 } as const;

interface Entry {
  readonly ticket: number;
  readonly tools: readonly ListedTool[];
  readonly expiresAt: number;
}

/** Makes the cache of a host: the server that was used longest ago goes first. */
export function createToolInventories(now: () => number): ToolCache {
  const entries = new Map<string, Entry>();
  let tickets = 0;

  const find = (identity: string): Entry | undefined => {
    const entry = entries.get(identity);
    if (entry === undefined) return undefined;
    entries.delete(identity);
    if (entry.expiresAt <= now()) return undefined;
    entries.set(identity, entry);
    return entry;
  };

  return {
    get: (identity) => find(identity)?.tools,
    begin() {
      tickets += 1;
      return tickets;
    },
    put(identity, ticket, tools) {
      const known = find(identity);
      if (known !== undefined && known.ticket >= ticket) return known.tools;
      entries.set(identity, { ticket, tools, expiresAt: now() + inventoryLimits.ttlMs });
      const [oldest] = entries.keys();
      if (entries.size > inventoryLimits.servers && oldest !== undefined) entries.delete(oldest);
      return tools;
    },
  };
}

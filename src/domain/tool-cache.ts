/** The port of caches of tool lists: what is shown of a server before it has answered (SPEC RE-2). */
import type { ListedTool } from './tool.ts';

/**
 * Remembers the last tools of servers.
 *
 * `identity` is a digest of everything that makes a connection, credentials included: nothing is found with others. A fetch
 * that began earlier never replaces what a later one brought.
 */
export interface ToolCache {
  /** It outlives this process, in which servers that run in it have an identity. Default false. */
  readonly isDurable?: boolean;
  /** What a server listed last, as it listed it; undefined when nothing is known that still counts. */
  get(identity: string): readonly ListedTool[] | undefined;
  /** Begins a fetch; gives its ticket. A ticket is above all that were given before. */
  begin(): number;
  /** Takes what a fetch brought; gives the tools that count now, which are others when a newer fetch was faster. */
  put(identity: string, ticket: number, tools: readonly ListedTool[]): readonly ListedTool[];
}

/** Small files that configuration names: prompts, tokens, lists of variables. */
import { readFileSync, statSync } from 'node:fs';

const maxBytes = 1024 * 1024;

/** The text of a regular file of at most 1 MiB; `undefined` when it is none, or cannot be read. */
export function readSmallFile(path: string): string | undefined {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(path, 'utf8') : undefined;
  } catch {
    // A value that is not there: the server that needs it is misconfigured, by name.
    return undefined;
  }
}

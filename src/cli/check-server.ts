/** The name of a server a person typed. */
import type { ServerSnapshot } from '../index.ts';
import { UsageError } from './usage-error.ts';

/**
 * Checks that a server that is named exists.
 *
 * @throws UsageError naming those that do.
 */
export function checkServer(name: string | undefined, servers: readonly ServerSnapshot[]): void {
  if (name === undefined || servers.some((server) => server.name === name)) return;
  const known = servers.map((server) => `"${server.name}"`);
  throw new UsageError(
    `Expected the name of a server, got "${name}". ${known.length === 0 ? 'There is none.' : `There are ${known.join(', ')}.`}`,
  );
}

/** Waiting for a server that is on its way up (SPEC RT-7). */
import type { Clock } from '../api.ts';
import type { Link } from '../domain/link.ts';
import { isUsable } from './servers.ts';
import type { LiveConnection } from './servers.ts';

export interface UsableOptions {
  readonly clock: Clock;
  /** Absent: as long as it is on its way. */
  readonly limitMs?: number;
  /** There is a link; called once, or {@link UsableOptions.gone} is. */
  usable(link: Link): void;
  /** It is not coming, or not in time. */
  gone(): void;
}

/** Calls back at once when that can be said now. The returned function ends the wait. */
export function whenUsable(connection: LiveConnection, options: UsableOptions): () => void {
  const { clock, limitMs } = options;
  let timer: unknown;
  const stop = (): void => {
    connection.waiters.delete(check);
    if (timer !== undefined) clock.clearTimeout(timer);
    timer = undefined;
  };
  const check = (): void => {
    if (connection.link !== undefined && isUsable(connection)) {
      stop();
      options.usable(connection.link);
    } else if (connection.state !== 'starting' && connection.state !== 'reconnecting') {
      stop();
      options.gone();
    }
  };
  connection.waiters.add(check);
  if (limitMs !== undefined)
    timer = clock.setTimeout(() => {
      stop();
      options.gone();
    }, limitMs);
  check();
  return stop;
}

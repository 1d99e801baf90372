/** Connects one server of the current runtime anew: what `thread.restartServer` does (SPEC RT-7). */
import type { Effects } from './actors/effects.ts';
import { transportOf } from './actors/identity.ts';
import { HoldfastError } from './domain/errors.ts';
import { plannedServer } from './step.ts';

/** Resolves when the new start has come to an end, whichever. @throws HoldfastError `server_unavailable`, `unsupported` */
export async function restartServer(effects: Effects, name: string): Promise<void> {
  const { servers, publications, clock } = effects;
  const { connection, config } = plannedServer(effects, publications.current, name);
  if (connection === undefined) return;
  if (transportOf(config) === 'given') throw usedOnceError(name);
  effects.lookUp(connection.id)?.send({ type: 'connection.restart', at: clock.now() });
  await new Promise<void>((resolve) => {
    const check = (): void => {
      const isOnItsWay =
        connection.state === 'starting' ||
        (connection.state === 'reconnecting' && servers.connection(connection.id) !== undefined);
      if (isOnItsWay) return;
      connection.waiters.delete(check);
      resolve();
    };
    connection.waiters.add(check);
  });
}

function usedOnceError(name: string): HoldfastError {
  return new HoldfastError(
    'unsupported',
    `Expected server "${name}" to be one that can be started again, and it is a transport you gave, which is used once. Replace the runtime with a new transport.`,
  );
}

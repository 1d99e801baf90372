/** What follows when the state of a connection changes: the fact, the runtimes that wait for it, the calls that do. */
import type { AnyActorRef } from 'xstate';
import type { Failure } from '../domain/errors.ts';
import type { ServerState } from '../domain/snapshot.ts';
import type { ConnectionContext } from '../machines/connection.ts';
import { runtimeId } from '../machines/thread.ts';
import type { Effects } from './effects.ts';
import { startOf } from './servers.ts';
import type { LiveConnection } from './servers.ts';

/** Notes and tells a connection's new state. */
export function connectionChanged(effects: Effects, context: ConnectionContext, state: ServerState): void {
  const { servers, facts } = effects;
  const connection = servers.connection(context.input.connection);
  if (connection === undefined) return;
  const failure = context.failure ?? undefined;
  const isNews = !connection.told || connection.state !== state || connection.failure !== failure;
  connection.told = true;
  connection.state = state;
  connection.failure = failure;
  if (isNews)
    facts.tell({
      type: 'server.changed',
      server: connection.server,
      connection: connection.id,
      generations: [...connection.generations],
      state,
      ...(context.failure === null ? {} : { error: context.failure }),
    });
  tellRuntimes(effects, connection);
  for (const waiter of connection.waiters) waiter();
  if (state === 'closed') servers.forget(connection.id);
}

/** Servers that cannot be started, or must not, are told with the runtime that names them. */
export function tellMisconfigured({ servers, facts }: Effects, generation: number): void {
  const plan = servers.planOf(generation);
  const tell = (server: string, state: ServerState, error: Failure): void => {
    facts.tell({ type: 'server.changed', server, connection: '', generations: [generation], state, error });
  };
  for (const [server, { required: _, ...error }] of Object.entries(plan?.misconfigured ?? {}))
    tell(server, 'misconfigured', error);
  for (const [server, error] of Object.entries(plan?.disabled ?? {})) tell(server, 'disabled', error);
}

function tellRuntimes(effects: Effects, connection: LiveConnection): void {
  for (const generation of connection.generations) {
    const planned = effects.servers.resolve(generation, connection.server);
    const { state, failure } = startOf(connection, planned?.config.required ?? false);
    if (state === 'starting') continue;
    const runtime: AnyActorRef | undefined = effects.lookUp(runtimeId(generation));
    runtime?.send({
      type: 'runtime.serverSettled',
      server: connection.server,
      state,
      at: effects.clock.now(),
      ...(failure === undefined ? {} : { failure }),
    });
  }
}

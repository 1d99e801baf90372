/** The simulated servers: which runtime names which connection, and what follows when one changes. */
import type { Failure } from '../../src/domain/errors.ts';
import type { ServerState } from '../../src/domain/snapshot.ts';
import type { RuntimeServer } from '../../src/machines/runtime.ts';
import { runtimeId } from '../../src/machines/thread.ts';
import { callFailed, connectionChanged } from './calls.ts';
import { expireQuestions } from './questions.ts';
import { serverName } from './scope.ts';
import { actorOf, connectionOf } from './world.ts';
import type { Live } from './world.ts';

export const lost: Failure = { code: 'connection_lost', message: 'lost', retryable: true };

/** Attaches a runtime to its connection, started if it is new; then the runtime begins. */
export function beginRuntime(live: Live, generation: number): void {
  const { world, scope } = live;
  world.scheduled = world.scheduled.filter((other) => other !== generation);
  const known =
    scope.server === 'kept' ? Object.entries(world.connections).find(([, { isClosing }]) => !isClosing) : undefined;
  if (known === undefined) startConnection(live, generation);
  else {
    const [id, connection] = known;
    world.plans[generation] = id;
    connection.generations = [...connection.generations, generation];
    if (connection.state === 'failed' || connection.state === 'reconnecting')
      actorOf(live, id)?.send({ type: 'connection.retry', at: 0 });
  }
  const state = startOf(live, connectionOf(live, generation));
  const server: RuntimeServer = { server: serverName, required: true, awaited: true, state };
  actorOf(live, runtimeId(generation))?.send({ type: 'runtime.begin', servers: [server], at: 0 });
}

function startConnection(live: Live, generation: number): void {
  const id = `connection-${String(generation)}`;
  live.world.plans[generation] = id;
  live.world.connections[id] = { generations: [generation], state: 'starting', isLinked: false, isClosing: false };
  actorOf(live, 'connections')?.send({
    type: 'fleet.spawn',
    id,
    systemId: id,
    input: { connection: id, server: serverName, transport: 'stdio', retriesStart: false, reopens: true, at: 0 },
  });
}

/** A runtime lets go of its connections. */
export function detachRuntime({ world }: Live, generation: number): void {
  world.scheduled = world.scheduled.filter((other) => other !== generation);
  for (const connection of Object.values(world.connections))
    connection.generations = connection.generations.filter((other) => other !== generation);
  delete world.plans[generation];
  world.isSweepDue = Object.values(world.connections).some(
    ({ generations, isClosing }) => generations.length === 0 && !isClosing,
  );
}

/** Closes the connections no runtime names. */
export function sweep(live: Live): void {
  live.world.isSweepDue = false;
  for (const [id, connection] of Object.entries(live.world.connections)) {
    if (connection.generations.length > 0 || connection.isClosing) continue;
    connection.isClosing = true;
    actorOf(live, id)?.send({ type: 'connection.close' });
  }
}

/** The connection's machine entered another state. */
export function noteConnection(live: Live, id: string, state: ServerState): void {
  const { world } = live;
  const connection = world.connections[id];
  if (connection === undefined) return;
  connection.state = state;
  const start = startOf(live, id);
  if (start !== 'starting') {
    for (const generation of connection.generations)
      actorOf(live, runtimeId(generation))?.send({
        type: 'runtime.serverSettled',
        server: serverName,
        state: start,
        at: 0,
      });
  }
  connectionChanged(live, id);
  if (state === 'closed') delete world.connections[id];
}

/** The link is gone: what was on it ends first, then its questions. */
export function linkDown(live: Live, id: string, reason: string): void {
  const connection = live.world.connections[id];
  if (connection?.isLinked !== true) return;
  for (const [call, { state, generation }] of Object.entries(live.world.calls))
    if (state === 'onWire' && connectionOf(live, generation) === id)
      callFailed(live, call, { ...lost, outcome: 'unknown' });
  connection.isLinked = false;
  expireQuestions(live, id, reason);
}

function startOf({ world }: Live, id: string): RuntimeServer['state'] {
  switch (world.connections[id]?.state) {
    case 'ready':
    case 'degraded':
      return 'ready';
    case 'starting':
    case 'reconnecting':
      return 'starting';
    case 'authRequired':
    case 'failed':
    case 'closed':
    case 'disabled':
    case 'misconfigured':
    case undefined:
      return 'failed';
  }
}

/** The public picture of a thread, read from its actors (SPEC "Shapes"). */
import type { AnyActorRef } from 'xstate';
import type {
  CallSnapshot,
  CallState,
  RuntimeSnapshot,
  ServerSnapshot,
  StepSnapshot,
  ThreadSnapshot,
} from '../domain/snapshot.ts';
import { isoTime } from '../domain/question.ts';
import type { CallContext } from '../machines/call-context.ts';
import type { ConnectionContext } from '../machines/connection.ts';
import { fleetChildren } from '../machines/fleet.ts';
import type { RuntimeContext } from '../machines/runtime.ts';
import type { StepContext } from '../machines/step.ts';
import type { ThreadActorRef } from '../machines/thread.ts';
import { deadlineOf } from './calls.ts';
import type { Effects } from './effects.ts';
import type { LiveConnection } from './servers.ts';

/** Reads the snapshot of a thread. JSON, redacted. */
export function snapshotOf(id: string, root: ThreadActorRef, effects: Effects): ThreadSnapshot {
  const snapshot = root.getSnapshot();
  const { generation } = snapshot.context;
  const children = snapshot.children as Readonly<Record<string, AnyActorRef | undefined>>;
  const runtimes = Object.entries(children).flatMap(([name, ref]) =>
    ref !== undefined && name.startsWith('runtime-') ? runtimeOf(ref, effects) : [],
  );
  return effects.redactor.value({
    version: 1,
    id,
    state: stateOf(root),
    generation,
    runtimes: runtimes.toSorted((a, b) => a.generation - b.generation),
    servers: serversOf(generation, effects),
    steps: fleetChildren(children['steps']).map(stepOf),
    elicitations: effects.questions.shown.list(),
    worldState: {},
  } satisfies ThreadSnapshot);
}

function stateOf(root: ThreadActorRef): ThreadSnapshot['state'] {
  const snapshot = root.getSnapshot();
  if (snapshot.status !== 'active' || snapshot.matches('closed')) return 'closed';
  if (snapshot.matches('closing')) return 'closing';
  return snapshot.context.generation > 0 ? 'active' : 'starting';
}

function runtimeOf(ref: AnyActorRef, { servers }: Effects): readonly RuntimeSnapshot[] {
  const { value, context } = ref.getSnapshot() as { readonly value: unknown; readonly context: RuntimeContext };
  const plan = servers.planOf(context.generation);
  const names = plan === undefined ? [] : [...plan.servers.keys(), ...Object.keys(plan.misconfigured)];
  const holders = Object.entries(context.holders).map(([id, kind]) => ({ kind, id }));
  const state = value === 'current' ? 'current' : value === 'retired' ? 'retired' : 'starting';
  if (value === 'stopped' || value === 'failed' || value === 'discarded') return [];
  return [{ generation: context.generation, state, holders, servers: names }];
}

function serversOf(generation: number, effects: Effects): readonly ServerSnapshot[] {
  const { servers } = effects;
  const current: ServerSnapshot[] = [];
  const others: ServerSnapshot[] = [];
  for (const connection of servers.connections)
    (connection.generations.has(generation) ? current : others).push(serverOf(connection, effects));
  const plan = servers.planOf(generation);
  for (const { server, config } of plan?.servers.values() ?? []) {
    if (config.enabled === false) current.push(idle(server, generation, 'disabled'));
  }
  for (const [server, error] of Object.entries(plan?.misconfigured ?? {}))
    current.push({ ...idle(server, generation, 'misconfigured'), error });
  return [...current, ...others];
}

function idle(name: string, generation: number, state: 'disabled' | 'misconfigured'): ServerSnapshot {
  return { name, connection: '', generations: [generation], state, transport: 'stdio', toolCount: 0, auth: 'unknown' };
}

function serverOf(connection: LiveConnection, { lookUp }: Effects): ServerSnapshot {
  const context = lookUp(connection.id)?.getSnapshot().context as ConnectionContext | undefined;
  const opened = context?.opened;
  return {
    name: connection.server,
    connection: connection.id,
    generations: [...connection.generations].toSorted((a, b) => a - b),
    state: connection.state,
    transport: connection.link?.info.transport ?? context?.input.transport ?? 'stdio',
    toolCount: connection.tools.length,
    auth: authOf(connection),
    ...(connection.link === undefined || opened?.pid == null ? {} : { pid: opened.pid }),
    ...(opened == null
      ? {}
      : {
          era: opened.era,
          protocolVersion: opened.protocolVersion,
          ...(opened.serverInfo === null ? {} : { serverInfo: opened.serverInfo }),
        }),
    ...(connection.failure === undefined ? {} : { error: connection.failure }),
    ...(context === undefined ? {} : { startedAt: isoTime(context.startedAt) }),
    ...(context?.retryAt == null ? {} : { retryAt: isoTime(context.retryAt) }),
  };
}

function authOf({ config, state }: LiveConnection): ServerSnapshot['auth'] {
  if (!('url' in config)) return 'unsupported';
  if (config.bearerTokenVariable !== undefined) return 'bearerToken';
  if (Object.keys({ ...config.headers, ...config.headersFrom }).some((name) => name.toLowerCase() === 'authorization'))
    return 'bearerToken';
  return state === 'authRequired' ? 'notLoggedIn' : 'unknown';
}

function stepOf(ref: AnyActorRef): StepSnapshot {
  const { context, children } = ref.getSnapshot() as {
    readonly context: StepContext;
    readonly children: Readonly<Record<string, AnyActorRef | undefined>>;
  };
  return {
    id: context.step,
    generation: context.generation,
    state: 'open',
    calls: fleetChildren(children['calls']).flatMap(callOf),
  };
}

function callOf(ref: AnyActorRef): readonly CallSnapshot[] {
  const { context, value } = ref.getSnapshot() as { readonly context: CallContext; readonly value: unknown };
  const { input } = context;
  if (input.method !== 'tools/call') return [];
  const deadlineAt = deadlineOf(context);
  return [
    {
      id: input.call,
      name: input.name,
      server: input.server,
      tool: input.tool,
      state: callStateOf(value),
      pausedMs: context.pausedMs,
      ...(input.request === undefined ? {} : { request: input.request }),
      ...(deadlineAt === undefined ? {} : { deadlineAt }),
    },
  ];
}

function callStateOf(value: unknown): CallState {
  if (value === 'awaitingApproval' || value === 'queued') return value;
  if (value === 'answering') return 'paused';
  return typeof value === 'object' && value !== null && 'onWire' in value && value.onWire === 'paused'
    ? 'paused'
    : 'running';
}

/** The public picture of a thread, read from its actors (SPEC "Shapes"). */
import type { AnyActorRef } from 'xstate';
import type { ServerProvenance } from '../domain/catalog.ts';
import type { ServerSettings } from '../domain/config.ts';
import type { Failure } from '../domain/errors.ts';
import type {
  CallSnapshot,
  CallState,
  RuntimeSnapshot,
  ServerSnapshot,
  StepSnapshot,
  ThreadSnapshot,
} from '../domain/snapshot.ts';
import { frozenCopy } from '../domain/frozen.ts';
import { isoTime } from '../domain/question.ts';
import type { CallActorRef } from '../machines/call.ts';
import { fleetChildren } from '../machines/fleet.ts';
import { isCall, isConnection, isRuntime, isStep } from '../machines/refs.ts';
import type { RuntimeActorRef } from '../machines/runtime.ts';
import type { StepActorRef } from '../machines/step.ts';
import type { ThreadActorRef } from '../machines/thread.ts';
import { authStateOf } from './auth-state.ts';
import { deadlineOf } from './call-facts.ts';
import type { Effects } from './effects.ts';
import type { LiveConnection, Plan } from './servers.ts';

/** Reads the snapshot of a thread. JSON, redacted. */
export function snapshotOf(id: string, root: ThreadActorRef, effects: Effects): ThreadSnapshot {
  const snapshot = root.getSnapshot();
  const { generation } = snapshot.context;
  const plugins = effects.plugins();
  const children: readonly (AnyActorRef | undefined)[] = Object.values(snapshot.children);
  const runtimes = children.filter(isRuntime).flatMap((ref) => runtimeOf(ref, effects));
  const picture = {
    version: 1,
    id,
    state: stateOf(root),
    generation,
    runtimes: runtimes.toSorted((a, b) => a.generation - b.generation),
    servers: serversOf(generation, effects),
    steps: fleetChildren(snapshot.children['steps'])
      .filter(isStep)
      .map((ref) => stepOf(ref, effects.clock.now())),
    elicitations: effects.questions.shown.list(),
    ...(plugins.length === 0 ? {} : { plugins }),
    worldState: effects.worldState,
  } satisfies ThreadSnapshot;
  return frozenCopy<ThreadSnapshot>(effects.redactor.value(picture));
}

function stateOf(root: ThreadActorRef): ThreadSnapshot['state'] {
  const snapshot = root.getSnapshot();
  if (snapshot.status !== 'active' || snapshot.matches('closed')) return 'closed';
  if (snapshot.matches('closing')) return 'closing';
  return snapshot.context.generation > 0 ? 'active' : 'starting';
}

function runtimeOf(ref: RuntimeActorRef, { servers }: Effects): readonly RuntimeSnapshot[] {
  const { value, context } = ref.getSnapshot();
  const plan = servers.planOf(context.generation);
  const names =
    plan === undefined
      ? []
      : [...new Set([...plan.servers.keys(), ...Object.keys(plan.misconfigured), ...Object.keys(plan.disabled)])];
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
  return plan === undefined ? [...current, ...others] : [...current, ...idleOf(plan), ...others];
}

/** The servers a runtime names and does not start. */
function idleOf(plan: Plan): readonly ServerSnapshot[] {
  const idle = (name: string, state: 'disabled' | 'misconfigured', error?: Failure): ServerSnapshot => ({
    name,
    connection: '',
    generations: [plan.generation],
    state,
    transport: 'stdio',
    ...environmentOf(plan.servers.get(name)?.config),
    ...provenanceOf(plan.provenance.get(name)),
    toolCount: 0,
    auth: 'unknown',
    ...(error === undefined ? {} : { error }),
  });
  const reasons = new Map(Object.entries(plan.disabled));
  const unwanted = [...plan.servers.values()].filter(({ config }) => config.enabled === false);
  const off = new Set([...unwanted.map(({ server }) => server), ...reasons.keys()]);
  return [
    ...[...off].map((server) => idle(server, 'disabled', reasons.get(server))),
    ...Object.entries(plan.misconfigured).map(([server, failure]) => {
      const { required: _, ...error } = failure;
      return idle(server, 'misconfigured', error);
    }),
  ];
}

function environmentOf({ environment = 'local' }: Pick<ServerSettings, 'environment'> = {}): { environment?: string } {
  return environment === 'local' ? {} : { environment };
}

function provenanceOf(provenance: ServerProvenance | undefined): Pick<ServerSnapshot, 'provenance'> {
  return provenance === undefined || Object.keys(provenance).length === 0 ? {} : { provenance };
}

function serverOf(connection: LiveConnection, effects: Effects): ServerSnapshot {
  const ref = effects.lookUp(connection.id);
  const context = isConnection(ref) ? ref.getSnapshot().context : undefined;
  const opened = context?.opened;
  return {
    name: connection.server,
    ...environmentOf(connection.config),
    connection: connection.id,
    generations: [...connection.generations].toSorted((a, b) => a - b),
    state: connection.closing ? 'closed' : connection.state,
    transport: connection.link?.info.transport ?? context?.input.transport ?? 'stdio',
    ...provenanceOf(connection.provenance),
    toolCount: connection.tools.length,
    auth: authStateOf(connection),
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

function stepOf(ref: StepActorRef, now: number): StepSnapshot {
  const { context, children } = ref.getSnapshot();
  return {
    id: context.step,
    generation: context.generation,
    state: 'open',
    calls: fleetChildren(children['calls'])
      .filter(isCall)
      .flatMap((call) => callOf(call, now)),
  };
}

function callOf(ref: CallActorRef, now: number): readonly CallSnapshot[] {
  const { context, value } = ref.getSnapshot();
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
      pausedMs: context.pausedMs + (context.pausedSince === null ? 0 : now - context.pausedSince),
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

/** H1 to H8 (DESIGN §2) as predicates over one state of the actors and their world. */
import type { AnyActorRef } from 'xstate';
import { isRecord } from '../../src/domain/json.ts';
import { isRouter, isRuntime } from '../../src/machines/refs.ts';
import type { RuntimeContext } from '../../src/machines/runtime.ts';
import { runtimeId } from '../../src/machines/thread.ts';
import { actorOf, connectionOf } from './world.ts';
import type { Live } from './world.ts';

type Check = (live: Live) => string | undefined;

/** What was noted as it happened, and what the state itself shows. */
export const invariants: Readonly<Record<string, Check>> = {
  'H1 every request goes to the runtime its step captured': (live) => noted(live, 'H1'),
  'H2 exactly one runtime is current, and whole': (live) => noted(live, 'H2') ?? publication(live),
  'H3 a retired runtime lives exactly as long as it is held': (live) => noted(live, 'H3') ?? lifetime(live),
  'H4 an answer reaches the responder that asked, once': (live) => noted(live, 'H4'),
  'H5 every question ends once, and none outlives its asker': (live) => noted(live, 'H5') ?? orphans(live),
  'H6 a call is sent once': (live) => noted(live, 'H6'),
  'H7 every open token names one responder, and the router knows it': (live) => noted(live, 'H7') ?? tokens(live),
  'H8 a token of another thread changes nothing': (live) => noted(live, 'H8'),
  'H10 nothing is left of a closed thread': leftovers,
};

function noted({ world }: Live, id: string): string | undefined {
  return world.wrongs.find((what) => what.startsWith(`${id} `))?.slice(id.length + 1);
}

function publication(live: Live): string | undefined {
  const { world, root } = live;
  const { context } = root.getSnapshot();
  if (context.generation !== world.current)
    return `the thread says ${String(context.generation)} is current, and ${String(world.current)} was published`;
  const current = runtimesOf(live).filter(({ state }) => state === 'current');
  if (world.isClosing) return current.length > 1 ? 'two runtimes are current' : undefined;
  const [only] = current;
  if (context.generation === 0) return only === undefined ? undefined : 'a runtime is current before the first';
  if (only === undefined || current.length > 1) return `${String(current.length)} runtimes are current`;
  if (only.context.generation !== context.generation) return 'the current runtime is not the one the thread names';
  if (only.context.servers.length === 0) return 'the current runtime has no servers';
  if (world.connections[connectionOf(live, context.generation)] === undefined) return 'its server has no connection';
  return only.context.servers.some(({ state }) => state === 'starting') ? 'it was published half' : undefined;
}

function lifetime(live: Live): string | undefined {
  const { world } = live;
  const alive = new Map(runtimesOf(live).map((runtime) => [runtime.context.generation, runtime]));
  for (const [generation, { state, context }] of alive)
    if (state === 'retired' && Object.keys(context.holders).length === 0)
      return `runtime ${String(generation)} is retired, held by nobody, and alive`;
  const requests = Object.entries(world.calls).filter(([, { step }]) => step === '');
  for (const [holder, { generation, state }] of [...Object.entries(world.steps), ...requests]) {
    const runtime = alive.get(generation);
    const isHeld = runtime !== undefined && holder in runtime.context.holders;
    if (state === 'ended' && isHeld) return `runtime ${String(generation)} is held by ${holder}, which ended`;
    if (state === 'ended') continue;
    if (runtime === undefined) return `runtime ${String(generation)} is gone, and ${holder} is pinned to it`;
    if (!isHeld) return `runtime ${String(generation)} is not held by ${holder}`;
    const connection = world.connections[connectionOf(live, generation)];
    if (connection === undefined || connection.generations.length === 0)
      return `the connection of runtime ${String(generation)} was let go of, and ${holder} is pinned to it`;
  }
  return undefined;
}

function orphans(live: Live): string | undefined {
  const { world } = live;
  for (const [token, { state, asker, call, connection, candidates }] of Object.entries(world.questions)) {
    if (state !== 'open') continue;
    if (asker === 'request' && world.connections[connection]?.isLinked !== true)
      return `${token} is open, and the connection it came by is gone`;
    const isOfCall = asker === 'round' || (candidates.length === 0 && attributionOf(live, token) === 'call');
    if (isOfCall && world.calls[call]?.state === 'ended') return `${token} is open, and call ${call} has ended`;
    if (actorOf(live, token) === undefined) return `${token} is open, and has no responder`;
  }
  return undefined;
}

function tokens(live: Live): string | undefined {
  const { world, root } = live;
  if (world.isClosed) return undefined;
  const router = actorOf(live, 'router');
  const registered = isRouter(router) ? Object.keys(router.getSnapshot().context.open) : [];
  const open = Object.keys(world.questions).filter((token) => world.questions[token]?.state === 'open');
  const unknown = open.find((token) => !registered.includes(token));
  if (unknown !== undefined) return `${unknown} is open, and the router does not know it`;
  const responders = respondersBelow(root);
  if (responders.toSorted().join() !== open.toSorted().join())
    return `responders are [${responders.join()}], and open are [${open.join()}]`;
  return undefined;
}

function leftovers({ world, root }: Live): string | undefined {
  if (!world.isClosed) return undefined;
  if (root.getSnapshot().status !== 'done') return 'the thread said it is closed, and is not done';
  if (Object.keys(world.connections).length > 0) return 'a connection is left';
  if (Object.values(world.questions).some(({ state }) => state === 'open')) return 'a question is open';
  return Object.values(world.calls).some(({ state }) => state !== 'ended') ? 'a call was not answered' : undefined;
}

interface RuntimeState {
  readonly state: string;
  readonly context: RuntimeContext;
}

function runtimesOf(live: Live): readonly RuntimeState[] {
  return Object.keys(live.world.runtimes).flatMap((generation) => {
    const runtime = actorOf(live, runtimeId(Number(generation)));
    if (!isRuntime(runtime)) return [];
    const { value, context } = runtime.getSnapshot();
    return [{ state: typeof value === 'string' ? value : 'starting', context }];
  });
}

function attributionOf(live: Live, token: string): unknown {
  const context: unknown = actorOf(live, token)?.getSnapshot().context;
  return isRecord(context) && isRecord(context['elicitation']) ? context['elicitation']['attribution'] : undefined;
}

/** The ids of all responders in the tree: a responder's id is its token. */
function respondersBelow(actor: AnyActorRef): readonly string[] {
  const snapshot: unknown = actor.getSnapshot();
  const children = isRecord(snapshot) && isRecord(snapshot['children']) ? snapshot['children'] : {};
  return Object.entries(children).flatMap(([id, child]) => [
    ...(id.startsWith('elc_') ? [id] : []),
    ...(isActor(child) ? respondersBelow(child) : []),
  ]);
}

function isActor(value: unknown): value is AnyActorRef {
  return isRecord(value) && 'getSnapshot' in value;
}

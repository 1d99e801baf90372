/** The simulated wire: what calls send, what they hear, how they end. */
import type { Failure } from '../../src/domain/errors.ts';
import type { CallContext, CallInput } from '../../src/machines/call-context.ts';
import { isCall, isStep } from '../../src/machines/refs.ts';
import { stepSystemId } from '../../src/machines/thread.ts';
import { roundKey, serverName } from './scope.ts';
import { actorOf, connectionOf, wrong } from './world.ts';
import type { Live } from './world.ts';

/** The façade of a step makes a call on the runtime the step is pinned to. */
export function makeCall(live: Live, call: string, step: string): void {
  const generation = live.pinOf(live, step);
  const captured = live.world.steps[step]?.generation ?? 0;
  live.world.calls[call] = { step, generation: captured, state: 'new', sends: 0 };
  const input = callInput(call, generation, step);
  const actor = actorOf(live, stepSystemId(step));
  if (isStep(actor)) actor.getSnapshot().children.calls?.send({ type: 'fleet.spawn', id: call, systemId: call, input });
}

/** A request is made on the current runtime, outside a step. */
export function makeRequest(live: Live, call: string): void {
  const generation = live.world.current;
  live.world.calls[call] = { step: '', generation, state: 'new', sends: 0 };
  live.root.send({ type: 'request.begin', input: callInput(call, generation) });
}

/** Slot: sends the request, or holds it until the server is back. */
export function sendRequest(live: Live, context: CallContext): void {
  const { call, generation } = context.input;
  const record = live.world.calls[call];
  if (record === undefined || record.state === 'ended') {
    wrong(live, `H6 call ${call} was sent after its end`);
    return;
  }
  if (generation !== record.generation)
    wrong(
      live,
      `H1 call ${call} went to runtime ${String(generation)}; its step captured ${String(record.generation)}`,
    );
  const connection = live.world.connections[connectionOf(live, generation)];
  if (connection?.state === 'ready' && connection.isLinked) putOnWire(live, call, context);
  else if (connection?.state === 'starting' || connection?.state === 'reconnecting') record.state = 'held';
  else callFailed(live, call, { ...unavailable, outcome: 'not-sent' });
}

/** The request is no longer with the server: it was answered, failed or cancelled. */
export function offWire({ world }: Live, call: string): void {
  const record = world.calls[call];
  if (record !== undefined && record.state !== 'ended') record.state = 'new';
}

/** Slot: the caller is answered. */
export function settleCall(live: Live, { input, ending }: CallContext): void {
  const record = live.world.calls[input.call];
  if (record === undefined || record.state === 'ended') {
    wrong(live, `H6 the caller of ${input.call} was answered twice`);
    return;
  }
  if (ending === null) wrong(live, `H6 call ${input.call} ended without an outcome`);
  record.state = 'ended';
  record.sends = 0;
}

export function callFailed(live: Live, call: string, failure: Failure): void {
  offWire(live, call);
  actorOf(live, call)?.send({ type: 'call.failed', outcome: failure.outcome ?? 'failed', failure });
}

/** Calls that wait for a server hear that it is back, or will not be. */
export function connectionChanged(live: Live, id: string): void {
  const { world } = live;
  const state = world.connections[id]?.state;
  if (state === 'starting' || state === 'reconnecting') return;
  for (const [call, record] of Object.entries(world.calls)) {
    if (record.state !== 'held' || connectionOf(live, record.generation) !== id) continue;
    const actor = actorOf(live, call);
    if (state === 'ready' && isCall(actor)) putOnWire(live, call, actor.getSnapshot().context);
    else callFailed(live, call, { ...unavailable, outcome: 'not-sent' });
  }
}

const unavailable: Failure = { code: 'server_unavailable', message: 'unavailable', retryable: true };

function putOnWire(live: Live, call: string, { round, rounds }: CallContext): void {
  const record = live.world.calls[call];
  if (record === undefined) return;
  record.state = 'onWire';
  record.sends += 1;
  if (record.sends > rounds + 1)
    wrong(live, `H6 call ${call} was sent ${String(record.sends)} times in ${String(rounds + 1)} rounds`);
  if (rounds > 0 && round?.responses[roundKey] === undefined)
    wrong(live, `H5 call ${call} was sent again without the answer its server asked for`);
}

function callInput(call: string, generation: number, step?: string): CallInput {
  return {
    call,
    ...(step === undefined ? {} : { step }),
    name: 'work',
    server: serverName,
    tool: 'work',
    generation,
    method: 'tools/call',
    params: {},
    timeLimitMs: 1,
    admitted: true,
    at: 0,
  };
}

/** What user, servers, person and operator may do next. */
import { isRecord } from '../../src/domain/json.ts';
import { callsOf, requestsOf, stepsOf, tokenOf } from './scope.ts';
import { actorOf } from './world.ts';
import type { Live } from './world.ts';

export type Move =
  | { readonly type: 'step.begin' | 'step.end'; readonly step: string }
  | { readonly type: 'call.make' | 'call.abort'; readonly call: string; readonly step: string }
  | { readonly type: 'request.make' | 'server.answer' | 'server.ask'; readonly call: string }
  | { readonly type: 'server.withdraw'; readonly token: string }
  | { readonly type: 'person.answer'; readonly token: string; readonly action: 'accept' | 'decline' }
  /** Every question that is settled is answered once more, and one of another thread. */
  | { readonly type: 'person.answerLate' }
  | { readonly type: 'runtime.replace' }
  | { readonly type: 'runtime.begin'; readonly generation: number }
  | {
      readonly type: 'link.open' | 'link.fail' | 'link.crash' | 'link.retry' | 'link.close';
      readonly connection: string;
    }
  | { readonly type: 'connections.sweep' }
  | { readonly type: 'thread.close' };

/** Every move that is possible now. Equal steps and equal calls of a step move in the order of their names. */
export function possibleMoves(live: Live): readonly Move[] {
  const { world } = live;
  if (world.isClosed) return [];
  return [...stepMoves(live), ...callMoves(live), ...personMoves(live), ...operatorMoves(live), ...linkMoves(live)];
}

function* stepMoves({ world, scope }: Live): Iterable<Move> {
  if (world.isClosing || world.current === 0) return;
  const next = stepsOf(scope).find((step) => world.steps[step] === undefined);
  if (next !== undefined) yield { type: 'step.begin', step: next };
  const request = requestsOf(scope).find((name) => world.calls[name] === undefined);
  if (request !== undefined) yield { type: 'request.make', call: request };
  for (const [step, { state }] of Object.entries(world.steps)) {
    if (state !== 'open') continue;
    yield { type: 'step.end', step };
    const call = callsOf(scope, step).find((name) => world.calls[name] === undefined);
    if (call !== undefined) yield { type: 'call.make', call, step };
  }
}

function* callMoves({ world, scope }: Live): Iterable<Move> {
  for (const [call, { state, step }] of Object.entries(world.calls)) {
    if (state === 'ended') continue;
    yield { type: 'call.abort', call, step };
    if (state !== 'onWire') continue;
    yield { type: 'server.answer', call };
    if (world.questions[tokenOf(call)] === undefined && world.asked.questions < scope.questions)
      yield { type: 'server.ask', call };
  }
}

function* personMoves({ world }: Live): Iterable<Move> {
  yield { type: 'person.answerLate' };
  for (const [token, { state, call, asker, connection }] of Object.entries(world.questions)) {
    if (state !== 'open') continue;
    yield { type: 'person.answer', token, action: 'accept' };
    yield { type: 'person.answer', token, action: 'decline' };
    const isOrphan = asker === 'request' && world.calls[call]?.state === 'ended';
    if (isOrphan && world.connections[connection]?.isLinked === true) yield { type: 'server.withdraw', token };
  }
}

function* operatorMoves({ world, scope }: Live): Iterable<Move> {
  for (const generation of world.scheduled) yield { type: 'runtime.begin', generation };
  // A runtime that is scheduled attaches before connections are swept (V2 of src/actors/servers.ts).
  if (world.isSweepDue && world.scheduled.length === 0) yield { type: 'connections.sweep' };
  if (world.isClosing) return;
  if (world.asked.runtimes < scope.runtimes) yield { type: 'runtime.replace' };
  if (scope.closes) yield { type: 'thread.close' };
}

function* linkMoves(live: Live): Iterable<Move> {
  const { world, scope } = live;
  for (const [connection, { isLinked }] of Object.entries(world.connections)) {
    const snapshot: unknown = actorOf(live, connection)?.getSnapshot();
    const value = isRecord(snapshot) ? snapshot['value'] : undefined;
    const context = isRecord(snapshot) && isRecord(snapshot['context']) ? snapshot['context'] : {};
    if (value === 'closing' || value === 'restarting') yield { type: 'link.close', connection };
    else if (value === 'waiting') yield { type: 'link.retry', connection };
    else if (isLinked && world.asked.crashes < scope.crashes) yield { type: 'link.crash', connection };
    else if (isRecord(value) && value['linked'] === 'starting') {
      yield { type: 'link.open', connection };
      if (context['wasReady'] === false) yield { type: 'link.fail', connection };
    }
  }
}

/** A move in words. */
export function describeMove(move: Move): string {
  switch (move.type) {
    case 'step.begin':
      return `step ${move.step} begins`;
    case 'step.end':
      return `step ${move.step} is ended`;
    case 'call.make':
      return `step ${move.step} calls ${move.call}`;
    case 'request.make':
      return `request ${move.call} is made outside a step`;
    case 'call.abort':
      return `call ${move.call} is aborted`;
    case 'server.answer':
      return `the server answers call ${move.call}`;
    case 'server.ask':
      return `the server asks during call ${move.call}`;
    case 'server.withdraw':
      return `the server withdraws ${move.token}`;
    case 'person.answer':
      return `the person answers ${move.token}: ${move.action}`;
    case 'person.answerLate':
      return 'the person answers again what is settled, and a question of another thread';
    case 'runtime.replace':
      return 'a runtime is asked for';
    case 'runtime.begin':
      return `runtime ${String(move.generation)} begins`;
    case 'link.open':
      return `connection ${move.connection} opens`;
    case 'link.fail':
      return `connection ${move.connection} fails to open`;
    case 'link.crash':
      return `connection ${move.connection} crashes`;
    case 'link.retry':
      return `connection ${move.connection} is tried again`;
    case 'link.close':
      return `connection ${move.connection} has closed`;
    case 'connections.sweep':
      return 'connections that no runtime names are swept';
    case 'thread.close':
      return 'the thread is closed';
  }
}

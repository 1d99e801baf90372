/** Doing what is possible: one move, and everything that follows from it at once. */
import type { RespondOutcome } from '../../src/domain/elicitation.ts';
import { isCall } from '../../src/machines/refs.ts';
import { stepSystemId } from '../../src/machines/thread.ts';
import { makeCall, makeRequest, offWire } from './calls.ts';
import type { Move } from './moves.ts';
import { ask, withdraw } from './questions.ts';
import { foreignToken, roundKey, tokenOf } from './scope.ts';
import { beginRuntime, linkDown, lost, sweep } from './servers.ts';
import { actorOf, wrong } from './world.ts';
import type { Heard, Live } from './world.ts';

/** Does one move. */
export function makeMove(live: Live, move: Move): void {
  const { world, root } = live;
  switch (move.type) {
    case 'step.begin':
      root.send({ type: 'step.begin', step: move.step });
      return;
    case 'step.end':
      actorOf(live, stepSystemId(move.step))?.send({ type: 'step.end', reason: 'its step ended', at: 0 });
      return;
    case 'call.make':
      makeCall(live, move.call, move.step);
      return;
    case 'request.make':
      makeRequest(live, move.call);
      return;
    case 'call.abort':
      actorOf(live, move.call)?.send({ type: 'call.abort', reason: 'aborted', at: 0 });
      return;
    case 'server.answer':
      offWire(live, move.call);
      actorOf(live, move.call)?.send({ type: 'call.completed', result: {} });
      return;
    case 'server.ask':
      ask(live, move.call);
      return;
    case 'server.withdraw':
      withdraw(live, move.token);
      return;
    case 'person.answer':
      answer(live, move.token, move.action);
      return;
    case 'person.answerLate':
      answerLate(live);
      return;
    case 'runtime.replace':
      world.asked.runtimes += 1;
      root.send({ type: 'runtime.replace', generation: world.asked.runtimes, publish: 'settled' });
      return;
    case 'runtime.begin':
      beginRuntime(live, move.generation);
      return;
    case 'connections.sweep':
      sweep(live);
      return;
    case 'thread.close':
      world.isClosing = true;
      root.send({ type: 'thread.close', reason: 'closed', at: 0 });
      return;
    case 'link.open':
    case 'link.fail':
    case 'link.crash':
    case 'link.retry':
    case 'link.close':
      moveLink(live, move.type, move.connection);
  }
}

function moveLink(live: Live, type: Extract<Move, { connection: string }>['type'], id: string): void {
  const actor = actorOf(live, id);
  const connection = live.world.connections[id];
  if (actor === undefined || connection === undefined) return;
  switch (type) {
    case 'link.open':
      connection.isLinked = true;
      actor.send({ type: 'link.opened', facts: opened, at: 0 });
      return;
    case 'link.fail':
      actor.send({ type: 'link.failed', failure: lost, at: 0, jitter: 0 });
      return;
    case 'link.crash':
      live.world.asked.crashes += 1;
      linkDown(live, id, 'its server went away');
      actor.send({ type: 'link.lost', failure: lost, at: 0, jitter: 0 });
      return;
    case 'link.retry':
      actor.send({ type: 'deadline.passed', at: 0 });
      return;
    case 'link.close':
      actor.send({ type: 'xstate.done.actor.closeLink', output: undefined, actorId: 'closeLink' });
  }
}

const opened = { era: 'legacy', protocolVersion: '', serverInfo: null, pid: null, toolCount: 1, failure: null };

/** Answers, and checks what the answerer and the asker were told. */
function answer(live: Live, token: string, action: 'accept' | 'decline'): void {
  respond(live, token, 'open', action);
  const question = live.world.questions[token];
  const heard = question?.asker === 'round' ? heardByCall(live, question.call) : live.heard;
  if (heard !== undefined && !(heard.length === 1 && heard[0]?.token === token && heard[0].action === action))
    wrong(live, `H4 "${action}" for ${token} was heard as ${JSON.stringify(heard)}`);
}

/** What a call will tell its server with its next round; `undefined` when it ended for want of its server. */
function heardByCall(live: Live, call: string): readonly Heard[] | undefined {
  const actor = actorOf(live, call);
  if (!isCall(actor)) return undefined;
  const action = actor.getSnapshot().context.round?.responses[roundKey]?.['action'];
  return typeof action === 'string' ? [{ token: tokenOf(call), action }] : [];
}

function answerLate(live: Live): void {
  const settled = Object.entries(live.world.questions).filter(([, { state }]) => state === 'settled');
  const before = pictureOf(live);
  for (const [token] of settled) respond(live, token, 'settled', 'accept');
  if (settled.length > 0 && pictureOf(live) !== before)
    wrong(live, 'H4 an answer to a settled question changed something');
  respond(live, foreignToken, 'unknown', 'accept');
  if (pictureOf(live) !== before) wrong(live, 'H8 an answer to a token of another thread changed something');
}

function respond(live: Live, token: string, state: 'open' | 'settled' | 'unknown', action: 'accept' | 'decline'): void {
  live.replies = [];
  const answered = { action, ...(action === 'accept' ? { content: {} } : {}) };
  actorOf(live, 'router')?.send({ type: 'router.respond', token, answer: answered, at: 0, ticket: 1 });
  const [reply] = live.replies;
  const said = reply?.status ?? 'nothing';
  const id = state === 'unknown' ? 'H8' : 'H4';
  if (live.replies.length !== 1) wrong(live, `${id} the answer to ${token} got ${String(live.replies.length)} replies`);
  if (!fits(state, said)) wrong(live, `${id} the answer to ${token}, which was ${state}, was told "${said}"`);
}

function pictureOf({ root, world }: Live): string {
  return JSON.stringify([root.getPersistedSnapshot(), { ...world, wrongs: [] }]);
}

function fits(before: 'open' | 'settled' | 'unknown', said: RespondOutcome['status'] | 'nothing'): boolean {
  switch (before) {
    case 'open':
      return said === 'delivered';
    case 'settled':
      return said === 'settled' || said === 'expired';
    case 'unknown':
      return said === 'unknown';
  }
}

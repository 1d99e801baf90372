/** The simulated ways of asking: who a question is attributed to, and who hears its answer. */
import { attribute } from '../../src/domain/attribution.ts';
import { isoTime, replyOf } from '../../src/domain/question.ts';
import type { Question, Settlement } from '../../src/domain/question.ts';
import { roundKey, serverName, tokenOf } from './scope.ts';
import { actorOf, connectionOf, wrong } from './world.ts';
import type { Live, WorldQuestion } from './world.ts';

/** The server asks during a call, in the manner of the scope. */
export function ask(live: Live, call: string): void {
  const { world, scope } = live;
  const record = world.calls[call];
  if (record === undefined) return;
  world.asked.questions += 1;
  if (scope.asking === 'modern') {
    record.state = 'put';
    noteQuestion(live, call, 'round', []);
    const question: Question = { ...asked(live, call, 'call'), asker: { kind: 'round', key: roundKey } };
    actorOf(live, call)?.send({ type: 'call.inputRequired', questions: [question], responses: {}, at: 0 });
    return;
  }
  askByRequest(live, call, connectionOf(live, record.generation));
}

/** A server takes back what it asked for a call that is no more. */
export function withdraw(live: Live, token: string): void {
  actorOf(live, token)?.send({ type: 'elicitation.withdraw', reason: 'withdrawn', at: 0 });
}

/** The link of a connection is gone, and with it the way back. */
export function expireQuestions(live: Live, connection: string, reason: string): void {
  for (const [token, question] of Object.entries(live.world.questions))
    if (question.asker === 'request' && question.connection === connection && question.state === 'open')
      actorOf(live, token)?.send({ type: 'elicitation.expire', reason, at: 0 });
}

/** Slot: the asker, the router and the calls that wait hear how it ended. */
export function settleQuestion(live: Live, question: Question, settlement: Settlement): void {
  const { token } = settlement;
  const record = live.world.questions[token];
  if (record === undefined) wrong(live, `H7 ${token} was settled, and nobody asked it`);
  else if (record.state === 'settled') wrong(live, `H5 ${token} was settled twice`);
  else {
    record.state = 'settled';
    const isHeard = record.asker === 'request' && live.world.connections[record.connection]?.isLinked === true;
    const { action } = replyOf(question.elicitation.kind, settlement);
    if (isHeard && settlement.reason !== 'withdrawn' && typeof action === 'string') live.heard.push({ token, action });
  }
  actorOf(live, 'router')?.send({ type: 'router.settled', settlement });
  for (const candidate of record?.candidates ?? [])
    actorOf(live, candidate)?.send({ type: 'question.settled', settlement });
}

/** Slot: a call that goes cancels its questions; one that may be another call's stays. */
export function cancelQuestions(live: Live, tokens: readonly string[], reason: string, expired: boolean): void {
  for (const token of tokens) {
    if (!expired && (live.world.questions[token]?.candidates.length ?? 0) > 0) continue;
    actorOf(live, token)?.send({ type: expired ? 'elicitation.expire' : 'elicitation.cancel', reason, at: 0 });
  }
}

function askByRequest(live: Live, call: string, connection: string): void {
  const { world, scope } = live;
  const token = tokenOf(call);
  const inFlight = Object.entries(world.calls)
    .filter(([, { state, generation }]) => state === 'onWire' && connectionOf(live, generation) === connection)
    .map(([name, { step, generation }]) => ({ call: name, request: name, step, generation }));
  const attributed = attribute(scope.asking === 'streamed' ? { request: call } : {}, inFlight);
  const candidates =
    attributed.attribution === 'ambiguous' ? attributed.candidates.map((candidate) => candidate.call) : [];
  noteQuestion(live, call, 'request', candidates);
  const question: Question = {
    ...asked(live, call, attributed.attribution),
    asker: { kind: 'request', connection, id: token, method: 'elicitation/create' },
  };
  if (attributed.attribution === 'call') actorOf(live, call)?.send({ type: 'call.asked', question, at: 0 });
  if (actorOf(live, token) !== undefined) return;
  actorOf(live, connection)?.send({ type: 'connection.asked', question });
  for (const candidate of candidates) actorOf(live, candidate)?.send({ type: 'call.questionOpened', token, at: 0 });
}

function noteQuestion(live: Live, call: string, asker: WorldQuestion['asker'], candidates: readonly string[]): void {
  const connection = connectionOf(live, live.world.calls[call]?.generation ?? 0);
  live.world.questions[tokenOf(call)] = { call, asker, connection, candidates, state: 'open' };
}

function asked(
  { world }: Live,
  call: string,
  attribution: Question['elicitation']['attribution'],
): Pick<Question, 'elicitation'> {
  return {
    elicitation: {
      token: tokenOf(call),
      kind: 'form',
      server: serverName,
      message: '?',
      requestedSchema: { type: 'object', properties: {} },
      attribution,
      ...(attribution === 'call' ? { call } : {}),
      generation: world.calls[call]?.generation ?? 0,
      openedAt: isoTime(0),
    },
  };
}

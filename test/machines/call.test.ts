import { describe, expect, test } from 'vitest';
import { callMachine, elicitationMachine } from '../../src/machines/index.ts';
import { abort, asked, call, completed, inputRequired } from './call-support.ts';
import {
  ada,
  callInput,
  failure,
  logged,
  question,
  SlotLog,
  start,
  startChild,
  throughJson,
  withActors,
} from './support.ts';

describe('being sent', () => {
  test('H6 C1 an admitted call is sent once, and ends with the result it got', () => {
    const called = call();
    expect(called.slots()).toEqual(['announceStarted', 'sendRequest', 'armTimeLimit']);
    called.actor.send(completed);
    expect(called.context.ending).toEqual({ outcome: 'completed', result: { content: [] } });
    expect(called.slots().slice(3)).toEqual(['disarmTimeLimit', 'cancelQuestions', 'settleCall']);
    expect(called.heard).toMatchObject([{ output: { call: 'call-1', generation: 1 } }]);
  });

  test('RT-9 a call without a turn waits for it, and its clock begins with the turn', () => {
    const called = call({ admitted: false });
    expect(called.slots()).toEqual(['requestTurn']);
    expect(called.value()).toBe('queued');
    expect(called.context.runningSince).toBeNull();
    called.actor.send({ type: 'call.admitted', at: start + 700 });
    expect(called.value()).toEqual({ onWire: 'running' });
    expect(called.context).toMatchObject({ runningSince: start + 700, remainingMs: 1_000 });
  });

  test('RT-8 aborted in the queue, it was not sent', () => {
    const called = call({ admitted: false });
    called.actor.send(abort);
    expect(called.context.ending).toMatchObject({
      outcome: 'aborted',
      failure: { code: 'aborted', outcome: 'not-sent' },
    });
    expect(called.slots()).not.toContain('sendRequest');
  });

  test('RT-8 RT-10 aborted on the wire, its outcome is unknown and the server is told', () => {
    const called = call();
    called.actor.send(abort);
    expect(called.context.ending).toMatchObject({ outcome: 'aborted', failure: { outcome: 'unknown' } });
    expect(called.slots().slice(3)).toEqual(['disarmTimeLimit', 'cancelRequest', 'cancelQuestions', 'settleCall']);
  });

  test('EL-9 a call that runs out of time ends as timed out, and the server is told', () => {
    const called = call();
    called.actor.send({ type: 'call.timedOut', at: start + 1_000 });
    expect(called.context.ending).toMatchObject({ outcome: 'timedOut', failure: { code: 'timeout' } });
    expect(called.slots()).toContain('cancelRequest');
  });

  test('C3 it ends once: what comes after the end changes nothing', () => {
    const called = call();
    called.actor.send(completed);
    called.actor.send(abort);
    called.actor.send({ type: 'call.failed', outcome: 'failed', failure: failure('protocol_error') });
    expect(called.context.ending?.outcome).toBe('completed');
    expect(called.slots().filter((slot) => slot === 'settleCall')).toHaveLength(1);
  });

  test.each(['queued', 'onWire', 'answering'] as const)('a failure ends it while it is %s', (state) => {
    const called = call({ admitted: state !== 'queued' });
    if (state === 'answering') called.actor.send(inputRequired([question('elc_a')]));
    called.actor.send({ type: 'call.failed', outcome: 'unknown', failure: failure('connection_lost') });
    expect(called.context.ending).toEqual({ outcome: 'unknown', failure: failure('connection_lost') });
    expect(called.log.paramsOf('cancelQuestions')).toEqual([{ reason: 'its server went away', expired: true }]);
  });
});

describe('sending once more', () => {
  const resend = { type: 'call.resend', outcome: 'not-sent', failure: failure('session_lost') } as const;

  test('H6 RT-10 a loss that proves it did not run is answered by sending it once more, and only once', () => {
    const called = call();
    called.actor.send(resend);
    expect(called.value()).toEqual({ onWire: 'running' });
    expect(called.slots().filter((slot) => slot === 'sendRequest')).toHaveLength(2);
    called.actor.send(resend);
    expect(called.context.ending).toEqual({ outcome: 'not-sent', failure: failure('session_lost') });
    expect(called.slots().filter((slot) => slot === 'sendRequest')).toHaveLength(2);
  });

  test('RT-10 the time limit goes on over the second sending', () => {
    const called = call();
    called.actor.send(resend);
    expect(called.context).toMatchObject({ runningSince: start, remainingMs: 1_000, resent: true });
  });

  test('RT-10 a call that waits for an answer is not sent again', () => {
    const called = call();
    called.actor.send(asked('elc_a'));
    called.actor.send(resend);
    expect(called.context.ending?.outcome).toBe('not-sent');
    expect(called.slots().filter((slot) => slot === 'sendRequest')).toHaveLength(1);
  });
});

describe('its clock', () => {
  test('C2 EL-9 stands still while a question is open, and keeps what was left', () => {
    const called = call();
    called.actor.send(asked('elc_a', start + 300));
    expect(called.value()).toEqual({ onWire: 'paused' });
    expect(called.context).toMatchObject({ remainingMs: 700, runningSince: null, pausedSince: start + 300 });
    expect(called.slots().slice(3)).toEqual(['disarmTimeLimit', 'releaseTurn', 'armPauseLimit', 'announcePaused']);
    called.accept('elc_a', start + 90_300);
    expect(called.context).toMatchObject({
      remainingMs: 700,
      runningSince: start + 90_300,
      pausedSince: null,
      pausedMs: 90_000,
    });
    expect(called.slots().slice(7)).toEqual(['disarmTimeLimit', 'resumeTurn', 'announceResumed', 'armTimeLimit']);
    called.actor.send(asked('elc_b', start + 90_400));
    called.accept('elc_b', start + 90_500);
    expect(called.context).toMatchObject({ remainingMs: 600, pausedMs: 90_100 });
  });

  test('EL-9 several open questions pause it until the last one has settled', () => {
    const called = call();
    called.actor.send(asked('elc_a', start + 100));
    called.actor.send(asked('elc_b', start + 200));
    called.actor.send({ type: 'call.questionOpened', token: 'elc_shared', at: start + 300 });
    expect(called.context.questions).toEqual(['elc_a', 'elc_b', 'elc_shared']);
    called.accept('elc_a', start + 400);
    called.actor.send({
      type: 'question.settled',
      settlement: { token: 'elc_shared', outcome: 'accepted', at: start + 500 },
    });
    expect(called.value()).toEqual({ onWire: 'paused' });
    called.decline('elc_b', start + 1_100);
    expect(called.value()).toEqual({ onWire: 'running' });
    expect(called.context).toMatchObject({
      remainingMs: 900,
      runningSince: start + 1_100,
      pausedMs: 1_000,
      questions: [],
    });
  });

  test('EL-11 a question it may be waiting for pauses it without being its child', () => {
    const called = call();
    called.actor.send({ type: 'call.questionOpened', token: 'elc_shared', at: start + 300 });
    expect(called.value()).toEqual({ onWire: 'paused' });
    expect(called.actor.getSnapshot().children).toEqual({});
    called.actor.send({ type: 'question.settled', settlement: { token: 'elc_other', outcome: 'accepted', at: start } });
    expect(called.value()).toEqual({ onWire: 'paused' });
    called.actor.send({
      type: 'question.settled',
      settlement: { token: 'elc_shared', outcome: 'cancelled', at: start + 400 },
    });
    expect(called.value()).toEqual({ onWire: 'running' });
  });

  test('EL-9 when the pause has lasted too long its questions expire, and the clock goes on', () => {
    const called = call({ maxPauseMs: 500 });
    called.actor.send(asked('elc_a', start + 100));
    called.actor.send({ type: 'call.pauseEnded', at: start + 600 });
    expect(called.log.paramsOf('cancelQuestions')).toEqual([
      { reason: 'the pause took longer than maxPauseMs', expired: true },
    ]);
    const responder = called.actor.system.get('elc_a') as { send(event: unknown): void };
    responder.send({ type: 'elicitation.expire', reason: 'the pause took longer than maxPauseMs', at: start + 600 });
    expect(called.value()).toEqual({ onWire: 'running' });
    expect(called.context).toMatchObject({ remainingMs: 900, pausedMs: 500 });
  });

  test('EL-9 a modern call pauses between its rounds, and no longer than maxPauseMs', () => {
    const called = call({ maxPauseMs: 500 });
    called.actor.send(inputRequired([question('elc_a')], start + 100));
    expect(called.value()).toBe('answering');
    called.actor.send({ type: 'call.pauseEnded', at: start + 600 });
    expect(called.log.paramsOf('cancelQuestions')).toMatchObject([{ expired: true }]);
    called.actor.send(abort);
    expect(called.context.ending).toMatchObject({ failure: { outcome: 'unknown' } });
  });

  test('a result that comes while a question is open ends it, and the question with it', () => {
    const called = call();
    called.actor.send(asked('elc_a'));
    called.actor.send(completed);
    expect(called.context.ending?.outcome).toBe('completed');
    expect(called.log.paramsOf('cancelQuestions')).toEqual([{ reason: 'its call ended', expired: false }]);
  });
});

describe('broken and restored', () => {
  test('RT-12 a question that fails inside ends the call, and nothing else', () => {
    const log = new SlotLog();
    const elicitation = logged(elicitationMachine, log, {
      register: () => {
        throw new Error('No router.');
      },
    });
    const child = startChild(withActors(logged(callMachine, log), { elicitation }), { input: callInput() });
    child.actor.send(asked('elc_a'));
    expect(child.actor.getSnapshot().context.ending).toMatchObject({
      outcome: 'failed',
      failure: { code: 'internal' },
    });
    expect(child.actor.getSnapshot().status).toBe('done');
  });

  test('H9 its context is plain data in every state', () => {
    const called = call({ maxPauseMs: 5 });
    called.actor.send(inputRequired([question('elc_a')], start + 1, 'sealed'));
    called.accept('elc_a');
    called.actor.send(asked('elc_b'));
    called.actor.send(abort);
    for (const { context } of called.log.runs) expect(throughJson(JSON.parse(context))).toEqual(JSON.parse(context));
    expect(throughJson(called.context)).toEqual(called.context);
  });

  test('ER-2 one that waits for an answer is restored with its question and its state, and sent once it is answered', () => {
    const before = call();
    before.actor.send(inputRequired([question('elc_a')], start + 100, 'sealed'));
    const saved = throughJson(before.actor.getPersistedSnapshot());
    before.stop();
    const after = call({}, saved);
    expect(after.value()).toBe('answering');
    expect(after.log.names).toEqual([]);
    after.accept('elc_a', start + 5_000);
    expect(after.value()).toEqual({ onWire: 'running' });
    expect(after.context).toMatchObject({
      remainingMs: 900,
      pausedMs: 4_900,
      round: { requestState: 'sealed', responses: { elc_a: ada } },
    });
    expect(after.slots().filter((slot) => slot === 'sendRequest')).toHaveLength(1);
  });
});

import { describe, expect, test, vi } from 'vitest';
import { maxRounds } from '../../src/machines/index.ts';
import { abort, approval, call, inputRequired, sampling, signIn } from './call-support.ts';
import type { Called } from './call-support.ts';
import { ada, question, start } from './support.ts';

describe('rounds', () => {
  test('ER-2 every entry is answered, then one retry with all answers and the exact state', () => {
    const called = call();
    called.actor.send(inputRequired([question('elc_a'), question('elc_b')], start, 'sealed'));
    expect(called.value()).toBe('answering');
    called.accept('elc_a');
    expect(called.value()).toBe('answering');
    called.decline('elc_b');
    expect(called.value()).toEqual({ onWire: 'running' });
    expect(called.context).toMatchObject({
      rounds: 1,
      questions: [],
      round: { requestState: 'sealed', responses: { elc_a: ada, elc_b: { action: 'decline' } } },
    });
    expect(called.slots().filter((slot) => slot === 'sendRequest')).toHaveLength(2);
    expect(called.actor.getSnapshot().children).toEqual({});
  });

  test('ER-2 a round that asks nothing is sent again at once', () => {
    const called = call();
    called.actor.send(inputRequired([], start, 'next'));
    expect(called.value()).toEqual({ onWire: 'running' });
    expect(called.context).toMatchObject({ rounds: 1, round: { requestState: 'next' } });
    expect(called.slots().filter((slot) => slot === 'sendRequest')).toHaveLength(2);
  });

  test('ER-2 after 10 retries a server that asks again has used them up', () => {
    const called = call();
    for (let round = 0; round < maxRounds; round++) called.actor.send(inputRequired([], start, String(round)));
    expect(called.slots().filter((slot) => slot === 'sendRequest')).toHaveLength(11);
    called.actor.send(inputRequired([question('elc_a')], start));
    expect(called.context.ending).toMatchObject({ outcome: 'failed', failure: { code: 'limit_exceeded' } });
  });

  test('ER-4 sampling that is declined ends the call, and the other questions of its round', () => {
    const called = call();
    called.actor.send(inputRequired([sampling('elc_s'), question('elc_a')]));
    called.decline('elc_s');
    expect(called.context.ending).toMatchObject({ outcome: 'failed', failure: { code: 'not_approved' } });
    expect(called.context.questions).toEqual(['elc_a']);
    expect(called.log.paramsOf('cancelQuestions')).toHaveLength(1);
    expect(called.slots().filter((slot) => slot === 'sendRequest')).toHaveLength(1);
  });

  test('a settlement of a question that is none of its own fills nothing', () => {
    const called = call();
    called.actor.send(inputRequired([question('elc_a')]));
    called.actor.send({ type: 'question.settled', settlement: { token: 'elc_z', outcome: 'accepted', at: start } });
    expect(called.value()).toBe('answering');
    expect(called.context.questions).toEqual(['elc_a']);
  });
});

describe('authorization', () => {
  const required = (token: string) =>
    ({ type: 'call.authorizationRequired', questions: [signIn(token)], at: start }) as const;
  const visit = (called: Called, token: string): void => {
    const responder = called.actor.system.get(token) as { send(event: unknown): void };
    responder.send({ type: 'elicitation.answer', answer: { action: 'accept' }, at: start, ticket: 1 });
  };

  test('EL-5 after the sign-in it is tried once more; asked again, it is auth_required', () => {
    const called = call();
    called.actor.send(required('elc_u'));
    expect(called.value()).toBe('answering');
    visit(called, 'elc_u');
    expect(called.slots().filter((slot) => slot === 'sendRequest')).toHaveLength(2);
    expect(called.context.rounds).toBe(0);
    called.actor.send(required('elc_v'));
    expect(called.context.ending).toMatchObject({ outcome: 'failed', failure: { code: 'auth_required' } });
  });

  test('EL-5 one declined: authorization_declined, and the call did not run', () => {
    const called = call();
    called.actor.send({ type: 'call.authorizationRequired', questions: [signIn('elc_u'), signIn('elc_v')], at: start });
    visit(called, 'elc_u');
    expect(called.value()).toBe('answering');
    called.decline('elc_v');
    expect(called.context.ending).toMatchObject({
      outcome: 'not-sent',
      failure: { code: 'authorization_declined', outcome: 'not-sent' },
    });
  });
});

describe('approval', () => {
  test('PO-1 it is not sent before it is approved, then waits for its turn', () => {
    const called = call({ admitted: false, approval: approval('elc_p') });
    expect(called.value()).toBe('awaitingApproval');
    expect(called.slots()).toEqual(['noteActor']);
    const responder = called.actor.system.get('elc_p') as { send(event: unknown): void };
    const approve = (remember: string) => ({
      type: 'elicitation.answer',
      answer: { action: 'accept', content: { remember } },
      at: start,
      ticket: 1,
    });
    responder.send(approve('perhaps'));
    expect(called.value()).toBe('awaitingApproval');
    responder.send(approve('once'));
    expect(called.value()).toBe('queued');
    expect(called.context.questions).toEqual([]);
  });

  test.each([
    [{ type: 'elicitation.answer', answer: { action: 'decline' }, at: start, ticket: 1 }],
    [{ type: 'elicitation.expire', reason: 'nobody answered in time', at: start }],
  ])('PO-1 not approved by %j, it was not sent', (event) => {
    const called = call({ admitted: false, approval: approval('elc_p') });
    (called.actor.system.get('elc_p') as { send(event: unknown): void }).send(event);
    expect(called.context.ending).toMatchObject({
      outcome: 'not-sent',
      failure: { code: 'not_approved', outcome: 'not-sent' },
    });
    expect(called.slots()).not.toContain('sendRequest');
  });

  test('H5 a question that ends its call is done before it: nothing is sent to a call that has ended', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const waiting = call({ admitted: false, approval: approval('elc_p') });
    waiting.decline('elc_p');
    const asking = call();
    asking.actor.send(inputRequired([sampling('elc_s')]));
    asking.decline('elc_s');
    expect([waiting, asking].map(({ actor }) => actor.getSnapshot().status)).toEqual(['done', 'done']);
    expect(warn.mock.calls).toEqual([]);
    warn.mockRestore();
  });

  test('RT-8 EL-8 aborted while it waits for approval, its question is settled and it was not sent', () => {
    const called = call({ admitted: false, approval: approval('elc_p') });
    called.actor.send(abort);
    expect(called.context.ending).toMatchObject({ failure: { outcome: 'not-sent' } });
    expect(called.log.paramsOf('cancelQuestions')).toHaveLength(1);
  });
});

import { createActor, fromCallback, createMachine } from 'xstate';
import type { AnyEventObject } from 'xstate';
import { describe, expect, test } from 'vitest';
import type { ElicitationOutcome } from '../../src/domain/elicitation.ts';
import { outcomeOf, routerMachine } from '../../src/machines/index.ts';
import type { RouterActorRef } from '../../src/machines/index.ts';
import { ada, logged, SlotLog, start, throughJson } from './support.ts';

interface Routed {
  readonly log: SlotLog;
  readonly router: RouterActorRef;
  /** What responders were sent: token and event. */
  readonly answered: (readonly [string, AnyEventObject])[];
  readonly register: (token: string) => void;
  readonly respond: (token: string, ticket?: number) => void;
  readonly settle: (token: string, outcome?: ElicitationOutcome, reason?: string) => void;
}

/** A router with responders that only write down what reaches them. */
function routed(responders: readonly string[], settledLimit = 100, snapshot?: unknown): Routed {
  const log = new SlotLog();
  const answered: (readonly [string, AnyEventObject])[] = [];
  const responder = fromCallback<AnyEventObject, string>(({ input, receive }) => {
    receive((event) => answered.push([input, event]));
  });
  const system = createActor(
    createMachine(
      {
        invoke: [
          ...responders.map((token) => ({ id: token, systemId: token, src: 'responder', input: token })),
          { id: 'router', systemId: 'router', src: 'router', input: { settledLimit } },
        ],
      },
      { actors: { responder, router: logged(routerMachine, log) } },
    ),
    snapshot === undefined ? {} : { snapshot: snapshot as never },
  ).start();
  const router = system.system.get('router') as RouterActorRef;
  return {
    log,
    router,
    answered,
    register: (token) => {
      router.send({ type: 'router.register', token });
    },
    respond: (token, ticket = 1) => {
      router.send({ type: 'router.respond', token, answer: ada, at: start, ticket });
    },
    settle: (token, outcome = 'accepted', reason) => {
      router.send({
        type: 'router.settled',
        settlement: { token, outcome, at: start, ...(reason === undefined ? {} : { reason }) },
      });
    },
  };
}

const replies = (log: SlotLog): readonly unknown[] => log.paramsOf('reply');

describe('R1', () => {
  test('R1 H4 EL-2 an answer reaches the responder that registered its token, and no other', () => {
    const { register, respond, answered, log } = routed(['elc_a', 'elc_b']);
    register('elc_a');
    register('elc_b');
    respond('elc_b', 7);
    expect(answered).toEqual([['elc_b', { type: 'elicitation.answer', answer: ada, at: start, ticket: 7 }]]);
    expect(replies(log)).toEqual([]);
  });

  test('R1 EL-3 a token nobody registered is unknown, even where an actor has its name', () => {
    const { respond, answered, log } = routed(['elc_a']);
    respond('elc_a', 3);
    respond('router', 4);
    expect(answered).toEqual([]);
    expect(replies(log)).toEqual([
      { ticket: 3, outcome: { status: 'unknown' } },
      { ticket: 4, outcome: { status: 'unknown' } },
    ]);
  });

  test('R1 H4 a settled token is forwarded no more; its answer hears how it ended', () => {
    const { register, respond, settle, answered, log } = routed(['elc_a']);
    register('elc_a');
    settle('elc_a', 'declined');
    respond('elc_a', 2);
    expect(answered).toEqual([]);
    expect(replies(log)).toEqual([
      { ticket: 2, outcome: { status: 'settled', outcome: 'declined', at: new Date(start).toISOString() } },
    ]);
  });

  test('a registered token whose responder is gone is unknown, and nothing throws', () => {
    const { register, respond, log } = routed([]);
    register('elc_gone');
    respond('elc_gone', 5);
    expect(replies(log)).toEqual([{ ticket: 5, outcome: { status: 'unknown' } }]);
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'EL-3 the token "%s", which every object answers to, is unknown',
    (token) => {
      const { respond, log } = routed([]);
      respond(token, 1);
      expect(replies(log)).toEqual([{ ticket: 1, outcome: { status: 'unknown' } }]);
    },
  );
});

describe('what a late answer hears', () => {
  test.each([
    ['accepted', undefined, { status: 'settled', outcome: 'accepted', at: new Date(start).toISOString() }],
    ['declined', undefined, { status: 'settled', outcome: 'declined', at: new Date(start).toISOString() }],
    ['cancelled', 'withdrawn', { status: 'settled', outcome: 'cancelled', at: new Date(start).toISOString() }],
    ['expired', 'its server went away', { status: 'expired', reason: 'its server went away' }],
    ['lost', undefined, { status: 'lost', reason: 'lost' }],
  ] as const)('EL-3 of a question that was %s', (outcome, reason, expected) => {
    const { register, respond, settle, log } = routed([]);
    register('elc_a');
    settle('elc_a', outcome, reason);
    respond('elc_a', 1);
    expect(replies(log)).toEqual([{ ticket: 1, outcome: expected }]);
  });

  test('H5 only the first settlement of a token counts', () => {
    const { register, settle, router } = routed([]);
    register('elc_a');
    settle('elc_a', 'accepted');
    settle('elc_a', 'expired', 'late');
    settle('elc_never', 'declined');
    const { context } = router.getSnapshot();
    expect(outcomeOf(context, 'elc_a')).toMatchObject({ status: 'settled', outcome: 'accepted' });
    expect(outcomeOf(context, 'elc_never')).toEqual({ status: 'unknown' });
    expect(context.openCount).toBe(0);
  });
});

describe('R2', () => {
  test('R2 EL-12 100,000 tokens are registered, found, settled and partly remembered, at most as many as the limit', () => {
    const tokens = Array.from({ length: 100_000 }, (_, index) => `elc_${String(index)}`);
    const { register, settle, respond, router, answered } = routed(['elc_0', 'elc_99999'], 1_000);
    const table = router.getSnapshot().context.open;
    for (const token of tokens) register(token);
    expect(router.getSnapshot().context.open).toBe(table);
    expect(router.getSnapshot().context.openCount).toBe(100_000);
    respond('elc_0');
    respond('elc_99999');
    expect(answered.map(([token]) => token)).toEqual(['elc_0', 'elc_99999']);
    for (const token of tokens) settle(token);
    const { context } = router.getSnapshot();
    expect(context.openCount).toBe(0);
    expect(Object.keys(context.open)).toEqual([]);
    const remembered = [...Object.keys(context.recent), ...Object.keys(context.older)];
    expect(remembered.length).toBeLessThanOrEqual(1_000);
    expect(remembered.length).toBeGreaterThanOrEqual(500);
    expect(outcomeOf(context, 'elc_99999')).toMatchObject({ status: 'settled' });
    expect(outcomeOf(context, 'elc_0')).toEqual({ status: 'unknown' });
  });

  test('H9 its context survives JSON, and a restored router knows what is open and what was settled', () => {
    const before = routed(['elc_a']);
    before.register('elc_a');
    before.register('elc_b');
    before.settle('elc_b', 'expired', 'nobody answered in time');
    const { context } = before.router.getSnapshot();
    expect(throughJson(context)).toEqual(context);
    const saved = throughJson((before.router.getPersistedSnapshot as () => unknown).call(before.router));
    const log = new SlotLog();
    const after = createActor(logged(routerMachine, log), {
      snapshot: saved as never,
      input: { settledLimit: 1 },
    }).start();
    after.send({ type: 'router.respond', token: 'elc_b', answer: ada, at: start, ticket: 1 });
    expect(replies(log)).toEqual([{ ticket: 1, outcome: { status: 'expired', reason: 'nobody answered in time' } }]);
    expect(after.getSnapshot().context.open).toEqual({ elc_a: true });
    after.stop();
  });
});

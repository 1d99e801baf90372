import { fromPromise } from 'xstate';
import { describe, expect, test } from 'vitest';
import type { Settlement } from '../../src/domain/question.ts';
import { elicitationMachine } from '../../src/machines/index.ts';
import type { Decision } from '../../src/machines/index.ts';
import { SimulatedClock } from '../../src/testing/index.ts';
import {
  ada,
  deadlineOn,
  HeldSlot,
  logged,
  question,
  SlotLog,
  start,
  startChild,
  throughJson,
  turn,
  withActors,
} from './support.ts';
import type { Child } from './support.ts';

interface Asked extends Child<typeof elicitationMachine> {
  readonly log: SlotLog;
  readonly decide: HeldSlot<{ decision: Decision; at: number }>;
}

function asked(more: Parameters<typeof question>[2] = {}, snapshot?: unknown): Asked {
  const clock = new SimulatedClock();
  const log = new SlotLog();
  const decide = new HeldSlot<{ decision: Decision; at: number }>();
  const machine = withActors(logged(elicitationMachine, log), {
    decide: fromPromise(decide.start),
    deadline: deadlineOn(clock),
  });
  const input = question('elc_a', { kind: 'round', key: 'q' }, more);
  const child = startChild(machine, { input, clock, ...(snapshot === undefined ? {} : { snapshot }) });
  return { ...child, log, decide };
}

async function shown(more: Parameters<typeof question>[2] = {}): Promise<Asked> {
  const asker = asked(more);
  asker.decide.last.resolve({ decision: { kind: 'show' }, at: start });
  await turn();
  return asker;
}

const settlements = ({ heard }: Asked): readonly Settlement[] =>
  heard.flatMap((event) => (event.type === 'question.settled' ? [event['settlement'] as Settlement] : []));

const answer = (content: unknown, ticket = 1) =>
  ({
    type: 'elicitation.answer',
    answer: { action: 'accept', content: content as Record<string, never> },
    at: start + 5,
    ticket,
  }) as const;

describe('being decided', () => {
  test('EL-1 EL-6 it registers before it is shown, and is shown only when policy has nothing to say', async () => {
    const { log, decide, actor } = asked();
    expect(log.names).toEqual(['register']);
    expect(decide.runs[0]?.input).toEqual(question('elc_a', { kind: 'round', key: 'q' }));
    decide.last.resolve({ decision: { kind: 'show' }, at: start });
    await turn();
    expect(log.names).toEqual(['register', 'show']);
    expect(actor.getSnapshot().value).toEqual({ open: 'waiting' });
  });

  test.each([
    ['accept', 'accepted'],
    ['decline', 'declined'],
    ['cancel', 'cancelled'],
  ] as const)('EL-6 E1 a decision to %s settles it as %s without showing it', async (action, outcome) => {
    const question_ = asked();
    question_.decide.last.resolve({
      decision: { kind: 'answer', answer: { action }, reason: 'by policy' },
      at: start + 1,
    });
    await turn();
    expect(question_.log.names).toEqual(['register', 'settle']);
    expect(settlements(question_)).toEqual([
      { token: 'elc_a', outcome, answer: { action }, reason: 'by policy', at: start + 1 },
    ]);
    expect(question_.actor.getSnapshot().status).toBe('done');
  });

  test('EL-6 a decision that fails shows it: the person is never skipped', async () => {
    const { decide, log, actor } = asked();
    decide.last.reject(new Error('The reviewer is away.'));
    await turn();
    expect(log.names).toEqual(['register', 'show']);
    expect(actor.getSnapshot().value).toEqual({ open: 'waiting' });
  });

  test('E2 an answer that comes before it is shown counts if it fits, and ends the decision', async () => {
    const question_ = asked();
    question_.actor.send(answer({ name: 7 }, 1));
    expect(question_.log.paramsOf('reply')).toMatchObject([{ ticket: 1, outcome: { status: 'invalid' } }]);
    question_.actor.send(answer({ name: 'Ada' }, 2));
    expect(question_.log.paramsOf('reply')[1]).toEqual({ ticket: 2, outcome: { status: 'delivered' } });
    expect(settlements(question_)).toMatchObject([{ outcome: 'accepted', answer: ada }]);
    expect(question_.decide.runs[0]?.signal.aborted).toBe(true);
    question_.decide.last.resolve({
      decision: { kind: 'answer', answer: { action: 'decline' }, reason: 'late' },
      at: start,
    });
    await turn();
    expect(settlements(question_)).toHaveLength(1);
  });

  test.each(['elicitation.withdraw', 'elicitation.cancel', 'elicitation.expire'] as const)(
    'E1 EL-8 it settles on %s while it is decided, and was never shown',
    (type) => {
      const question_ = asked();
      question_.actor.send({ type, reason: 'its asker went', at: start });
      expect(question_.log.names).toEqual(['register', 'settle']);
      expect(settlements(question_)).toHaveLength(1);
    },
  );
});

describe('being open', () => {
  test('E2 EL-3 an answer that does not fit leaves it open and says what is wrong', async () => {
    const question_ = await shown();
    question_.actor.send(answer({ name: 7 }, 4));
    expect(question_.log.paramsOf('reply')).toMatchObject([
      { ticket: 4, outcome: { status: 'invalid', issues: [{ path: '/content/name' }] } },
    ]);
    expect(question_.actor.getSnapshot().value).toEqual({ open: 'waiting' });
    expect(settlements(question_)).toEqual([]);
  });

  test('H4 H5 an answer that fits is delivered, and its asker hears it once', async () => {
    const question_ = await shown();
    question_.actor.send(answer({ name: 'Ada' }, 4));
    expect(question_.log.paramsOf('reply')).toEqual([{ ticket: 4, outcome: { status: 'delivered' } }]);
    expect(settlements(question_)).toEqual([{ token: 'elc_a', outcome: 'accepted', answer: ada, at: start + 5 }]);
    expect(question_.log.paramsOf('settle')).toEqual(settlements(question_));
    expect(question_.log.names).toEqual(['register', 'show', 'reply', 'settle']);
    expect(question_.actor.getSnapshot().status).toBe('done');
  });

  test('EL-4 the asker hears the answer with the defaults the person left out', async () => {
    const question_ = await shown({
      requestedSchema: {
        type: 'object',
        properties: { name: { type: 'string' }, size: { type: 'integer', default: 3 } },
        required: ['name'],
      },
    });
    question_.actor.send(answer({ name: 'Ada' }));
    expect(settlements(question_)[0]?.answer).toEqual({ action: 'accept', content: { name: 'Ada', size: 3 } });
  });

  test.each([
    [
      { type: 'elicitation.withdraw', reason: 'x', at: start + 9 },
      { outcome: 'cancelled', reason: 'withdrawn' },
    ],
    [
      { type: 'elicitation.cancel', reason: 'its call ended', at: start + 9 },
      { outcome: 'cancelled', reason: 'its call ended' },
    ],
    [
      { type: 'elicitation.expire', reason: 'its server went away', at: start + 9 },
      { outcome: 'expired', reason: 'its server went away' },
    ],
  ] as const)('E1 EL-3 EL-8 $0.type settles it with its reason', async (event, settlement) => {
    const question_ = await shown();
    question_.actor.send(event);
    expect(settlements(question_)).toEqual([{ token: 'elc_a', at: start + 9, ...settlement }]);
  });

  test('E1 nothing that comes after it settled changes how it ended', async () => {
    const question_ = await shown();
    question_.actor.send({ type: 'elicitation.expire', reason: 'first', at: start });
    question_.actor.send({ type: 'elicitation.cancel', reason: 'second', at: start });
    question_.actor.send(answer({ name: 'Ada' }));
    expect(settlements(question_)).toMatchObject([{ outcome: 'expired', reason: 'first' }]);
    expect(question_.log.paramsOf('reply')).toEqual([]);
  });

  test('EL-7 one with a deadline expires at it, and not a millisecond before', async () => {
    const question_ = await shown({ expiresAt: new Date(start + 60_000).toISOString() });
    expect(question_.actor.getSnapshot().value).toEqual({ open: 'limited' });
    question_.clock.increment(59_999);
    expect(settlements(question_)).toEqual([]);
    question_.clock.increment(1);
    expect(settlements(question_)).toEqual([
      { token: 'elc_a', outcome: 'expired', reason: 'nobody answered in time', at: start + 60_000 },
    ]);
    expect(question_.clock.pendingCount).toBe(0);
  });

  test('H10 an answer before the deadline leaves no timer', async () => {
    const question_ = await shown({ expiresAt: new Date(start + 60_000).toISOString() });
    question_.actor.send(answer({ name: 'Ada' }));
    expect(question_.clock.pendingCount).toBe(0);
  });
});

describe('saved and restored', () => {
  test('H9 EL-7 one restored after its deadline has passed expires at once', async () => {
    const before = await shown({ expiresAt: new Date(start + 1_000).toISOString() });
    const saved = throughJson(before.actor.getPersistedSnapshot());
    expect(saved).toEqual(JSON.parse(JSON.stringify(saved)));
    before.stop();
    const after = asked({}, saved);
    expect(after.actor.getSnapshot().value).toEqual({ open: 'limited' });
    after.clock.increment(2_000);
    expect(settlements(after)).toMatchObject([{ outcome: 'expired' }]);
  });

  test('an open one is answered after it was restored, and is not shown or registered twice', async () => {
    const before = await shown();
    const saved = throughJson(before.actor.getPersistedSnapshot());
    before.stop();
    const after = asked({}, saved);
    expect(after.log.names).toEqual([]);
    after.actor.send(answer({ name: 'Ada' }));
    expect(settlements(after)).toMatchObject([{ outcome: 'accepted' }]);
  });

  test('one restored while it was decided is decided again', async () => {
    const before = asked();
    const saved = throughJson(before.actor.getPersistedSnapshot());
    before.stop();
    const after = asked({}, saved);
    expect(after.decide.runs).toHaveLength(1);
    after.decide.last.resolve({ decision: { kind: 'show' }, at: start });
    await turn();
    expect(after.actor.getSnapshot().value).toEqual({ open: 'waiting' });
  });

  test('H9 every context is plain data', async () => {
    const question_ = await shown();
    question_.actor.send(answer({ name: 'Ada' }));
    const { context } = question_.actor.getSnapshot();
    expect(throughJson(context)).toEqual(context);
    expect(context.settlement?.outcome).toBe('accepted');
  });
});

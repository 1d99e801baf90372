import { fromCallback, fromPromise } from 'xstate';
import { describe, expect, test } from 'vitest';
import type { Failure } from '../../src/domain/errors.ts';
import {
  backoffMs,
  connectionMachine,
  createFleet,
  elicitationMachine,
  fleetChildren,
  healthyMs,
} from '../../src/machines/index.ts';
import type { ConnectionInput, OpenedFacts } from '../../src/machines/index.ts';
import { SimulatedClock } from '../../src/testing/index.ts';
import {
  deadlineOn,
  failure,
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

interface Linked extends Child<typeof connectionMachine> {
  readonly log: SlotLog;
  readonly close: HeldSlot<void>;
  /** Every start and stop of the link, in order. */
  readonly links: string[];
  readonly states: () => readonly unknown[];
  readonly open: (failure?: Failure) => void;
  readonly fail: (failure: Failure, jitter?: number) => void;
  readonly lose: (failure?: Failure, jitter?: number) => void;
}

function connection(more: Partial<ConnectionInput> = {}, snapshot?: unknown): Linked {
  const clock = new SimulatedClock();
  const log = new SlotLog();
  const close = new HeldSlot<void>();
  const links: string[] = [];
  const elicitation = withActors(logged(elicitationMachine, log), {
    decide: fromPromise(new HeldSlot<never>().start),
  });
  const machine = withActors(logged(connectionMachine, log), {
    link: fromCallback(() => {
      links.push('opened');
      return () => {
        links.push('stopped');
      };
    }),
    closeLink: fromPromise(close.start),
    deadline: deadlineOn(clock),
    questions: createFleet(elicitation, { notify: false }),
  });
  const child = startChild(machine, {
    input: {
      connection: 'connection-1',
      server: 'docs',
      transport: 'http',
      retriesStart: true,
      reopens: true,
      at: start,
      ...more,
    },
    clock,
    ...(snapshot === undefined ? {} : { snapshot }),
  });
  const { actor } = child;
  return {
    ...child,
    log,
    close,
    links,
    states: () => log.paramsOf('announce').map((params) => (params as { state: unknown }).state),
    open: (wrong) => {
      actor.send({ type: 'link.opened', facts: { ...facts, failure: wrong ?? null }, at: clock.now() });
    },
    fail: (wrong, jitter = 1) => {
      actor.send({ type: 'link.failed', failure: wrong, at: clock.now(), jitter });
    },
    lose: (wrong = failure('connection_lost', true), jitter = 1) => {
      actor.send({ type: 'link.lost', failure: wrong, at: clock.now(), jitter });
    },
  };
}

const facts: OpenedFacts = {
  era: 'modern',
  protocolVersion: '2026-07-28',
  serverInfo: { name: 'docs', version: '1' },
  pid: 7,
  toolCount: 3,
  failure: null,
};

const unreachable = failure('server_unavailable', true);

describe('backoff', () => {
  test('RT-7 is 1 s doubling to 30 s, less up to a quarter of jitter', () => {
    const full = Array.from({ length: 8 }, (_, attempts) => backoffMs(attempts, 1));
    expect(full).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(full.map((_, attempts) => backoffMs(attempts, 0))).toEqual(full.map((ms) => ms * 0.75));
    expect(backoffMs(2_000, 0.5)).toBe(26_250);
  });

  test('RT-7 a start that fails over HTTP is tried again after 1, 2, 4 … 30 s', () => {
    const { fail, actor, clock, links } = connection();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 7; attempt++) {
      fail(unreachable);
      const { retryAt } = actor.getSnapshot().context;
      waits.push((retryAt ?? 0) - clock.now());
      clock.increment((waits.at(-1) ?? 0) - 1);
      expect(actor.getSnapshot().value).toBe('waiting');
      clock.increment(1);
      expect(actor.getSnapshot().value).toEqual({ linked: 'starting' });
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(links.filter((link) => link === 'opened')).toHaveLength(8);
  });

  test('RT-7 a lost link is opened again at once, and then with the same backoff', () => {
    const { open, lose, fail, actor, clock, states } = connection({ retriesStart: false });
    open();
    clock.increment(5_000);
    lose();
    expect(actor.getSnapshot().context.retryAt).toBe(clock.now());
    clock.increment(0);
    expect(actor.getSnapshot().value).toEqual({ linked: 'starting' });
    fail(unreachable);
    expect((actor.getSnapshot().context.retryAt ?? 0) - clock.now()).toBe(1_000);
    clock.increment(1_000);
    open();
    clock.increment(1_000);
    lose();
    expect((actor.getSnapshot().context.retryAt ?? 0) - clock.now()).toBe(2_000);
    expect(states()).toEqual([
      'starting',
      'ready',
      'reconnecting',
      'reconnecting',
      'reconnecting',
      'reconnecting',
      'ready',
      'reconnecting',
    ]);
  });

  test('RT-7 a link healthy for 60 s is opened again at once, as if it had never failed', () => {
    const { open, lose, fail, actor, clock } = connection();
    for (let attempt = 0; attempt < 5; attempt++) {
      fail(unreachable);
      clock.increment(60_000);
    }
    open();
    clock.increment(healthyMs);
    lose();
    expect(actor.getSnapshot().context).toMatchObject({ attempts: 0, retryAt: clock.now() });
    clock.increment(0);
    fail(unreachable);
    expect((actor.getSnapshot().context.retryAt ?? 0) - clock.now()).toBe(1_000);
  });

  test('RT-7 a link that opens and is lost over and over is opened at once only the first time', () => {
    const { open, lose, actor, clock } = connection();
    const waits: number[] = [];
    for (let loss = 0; loss < 5; loss++) {
      open();
      clock.increment(loss === 3 ? healthyMs : healthyMs - 1);
      lose();
      waits.push((actor.getSnapshot().context.retryAt ?? 0) - clock.now());
      clock.increment(waits.at(-1) ?? 0);
    }
    expect(waits).toEqual([0, 1_000, 2_000, 0, 1_000]);
  });
});

describe('a start', () => {
  test('CN-3 goes from starting to ready, or to degraded when a listing failed', () => {
    const fine = connection();
    fine.open();
    expect(fine.states()).toEqual(['starting', 'ready']);
    expect(fine.actor.getSnapshot().context).toMatchObject({ opened: facts, failure: null, wasReady: true });
    const poor = connection();
    poor.open(failure('limit_exceeded'));
    expect(poor.states()).toEqual(['starting', 'degraded']);
    expect(poor.actor.getSnapshot().context.failure?.code).toBe('limit_exceeded');
  });

  test('CN-4 a later listing moves it between ready and degraded', () => {
    const { open, actor, states } = connection();
    const list = (toolCount: number, wrong: Failure | null): void => {
      actor.send({ type: 'link.listed', toolCount, failure: wrong });
    };
    open();
    list(4, null);
    list(4, failure('limit_exceeded'));
    list(4, failure('protocol_error'));
    expect(actor.getSnapshot().context).toMatchObject({
      failure: { code: 'protocol_error' },
      opened: { toolCount: 4 },
    });
    list(5, null);
    expect(states()).toEqual(['starting', 'ready', 'degraded', 'ready']);
    expect(actor.getSnapshot().context).toMatchObject({ failure: null, opened: { toolCount: 5, failure: null } });
  });

  test.each([
    ['auth_required', 'authRequired'],
    ['server_misconfigured', 'failed'],
    ['unsupported', 'failed'],
  ] as const)('RT-7 that fails with %s is never tried again by itself', (code, state) => {
    const { fail, actor, clock, links } = connection();
    fail(failure(code, true));
    clock.increment(3_600_000);
    expect(actor.getSnapshot().value).toBe(state);
    expect(actor.getSnapshot().context.retryAt).toBeNull();
    expect(links).toEqual(['opened', 'stopped']);
    expect(clock.pendingCount).toBe(0);
  });

  test('RT-7 that fails over stdio is not tried again by itself, a loss is', () => {
    const never = connection({ retriesStart: false, transport: 'stdio' });
    never.fail(unreachable);
    expect(never.actor.getSnapshot().value).toBe('failed');
    const once = connection({ retriesStart: false, transport: 'stdio' });
    once.open();
    once.lose();
    once.clock.increment(0);
    once.fail(unreachable);
    expect(once.actor.getSnapshot().value).toBe('waiting');
  });

  test('RT-7 401 on a reconnect waits for a new credential', () => {
    const { open, lose, fail, clock, actor } = connection();
    open();
    lose();
    clock.increment(0);
    fail(failure('auth_required'));
    expect(actor.getSnapshot().value).toBe('authRequired');
    actor.send({ type: 'connection.restart', at: clock.now() });
    expect(actor.getSnapshot().value).toEqual({ linked: 'starting' });
    expect(actor.getSnapshot().context).toMatchObject({ attempts: 0, failure: null });
  });

  test('CN-1 a transport the caller gave is lost for good', () => {
    const { open, lose, actor, states } = connection({ transport: 'given', reopens: false, retriesStart: false });
    open();
    lose();
    expect(actor.getSnapshot().value).toBe('failed');
    expect(actor.getSnapshot().context.retryAt).toBeNull();
    expect(states()).toEqual(['starting', 'ready', 'failed']);
  });
});

describe('restart and close', () => {
  test('N1 RT-7 a restart of a live link closes it before the next one opens', async () => {
    const { open, actor, close, links, states } = connection();
    open();
    actor.send({ type: 'connection.restart', at: start });
    expect(actor.getSnapshot().value).toBe('restarting');
    expect(links).toEqual(['opened', 'stopped']);
    close.last.resolve();
    await turn();
    expect(links).toEqual(['opened', 'stopped', 'opened']);
    expect(states()).toEqual(['starting', 'ready', 'reconnecting', 'reconnecting']);
  });

  test('N1 a restart goes on even if the old link could not be closed', async () => {
    const { actor, close } = connection();
    actor.send({ type: 'connection.restart', at: start });
    close.last.reject(new Error('It stays.'));
    await turn();
    expect(actor.getSnapshot().value).toEqual({ linked: 'starting' });
  });

  test.each([
    ['restart', 'waiting'],
    ['restart', 'failed'],
    ['restart', 'authRequired'],
    ['retry', 'waiting'],
    ['retry', 'failed'],
    ['retry', 'authRequired'],
  ] as const)('RT-7 a %s of one that is %s tries at once, its backoff forgotten', (how, state) => {
    const { fail, actor, clock } = connection({ retriesStart: state === 'waiting' });
    fail(state === 'authRequired' ? failure('auth_required') : unreachable);
    expect(actor.getSnapshot().value).toBe(state);
    actor.send({ type: `connection.${how}`, at: clock.now() });
    expect(actor.getSnapshot().value).toEqual({ linked: 'starting' });
    expect(actor.getSnapshot().context).toMatchObject({ attempts: 0, retryAt: null, failure: null });
    expect(clock.pendingCount).toBe(0);
  });

  test('N1 a retry leaves an attempt that is being made, and a live link, alone', () => {
    const { open, actor, links } = connection();
    actor.send({ type: 'connection.retry', at: start });
    open();
    actor.send({ type: 'connection.retry', at: start });
    expect(links).toEqual(['opened']);
    expect(actor.getSnapshot().value).toEqual({ linked: 'ready' });
  });

  test.each(['resolve', 'reject'] as const)(
    'N2 H10 it is closed only once nothing is left of its link: %s',
    async (how) => {
      const { open, actor, close, links, states } = connection();
      open();
      actor.send({ type: 'connection.close' });
      expect(actor.getSnapshot().status).toBe('active');
      expect(links).toEqual(['opened', 'stopped']);
      actor.send({ type: 'connection.close' });
      actor.send({ type: 'connection.restart', at: start });
      expect(close.runs).toHaveLength(1);
      if (how === 'resolve') close.last.resolve();
      else close.last.reject(new Error('It stays.'));
      await turn();
      expect(actor.getSnapshot().status).toBe('done');
      expect(states().at(-1)).toBe('closed');
    },
  );

  test('H10 closing while it waits to try again leaves no timer', () => {
    const { fail, actor, clock } = connection();
    fail(unreachable);
    expect(clock.pendingCount).toBe(1);
    actor.send({ type: 'connection.close' });
    expect(clock.pendingCount).toBe(0);
  });
});

describe('questions', () => {
  test('EL-11 a question that belongs to no one call is its child, found by its token', () => {
    const { actor, open, log } = connection();
    actor.send({ type: 'connection.asked', question: question('elc_start') });
    open();
    actor.send({ type: 'connection.asked', question: question('elc_later') });
    const { questions } = actor.getSnapshot().children;
    expect(fleetChildren(questions).map(({ id }) => id)).toEqual(['elc_start', 'elc_later']);
    expect(actor.system.get('elc_start')).toBe(fleetChildren(questions)[0]);
    expect(log.names.filter((name) => name === 'register')).toHaveLength(2);
  });

  test('H5 a question survives the loss of the link in the chart: only its effects expire it', () => {
    const { actor, open, lose } = connection();
    open();
    actor.send({ type: 'connection.asked', question: question('elc_a') });
    lose();
    expect(fleetChildren(actor.getSnapshot().children['questions'])).toHaveLength(1);
  });

  test('N2 nothing is asked while it closes', () => {
    const { actor, open } = connection();
    open();
    actor.send({ type: 'connection.close' });
    actor.send({ type: 'connection.asked', question: question('elc_late') });
    expect(fleetChildren(actor.getSnapshot().children['questions'])).toEqual([]);
  });

  test('RT-12 a link that throws is reported, and the connection lives', async () => {
    const log = new SlotLog();
    const clock = new SimulatedClock();
    const machine = withActors(logged(connectionMachine, log), {
      link: fromCallback(() => {
        throw new Error('It never was.');
      }),
      closeLink: fromPromise(() => Promise.resolve()),
      deadline: deadlineOn(clock),
    });
    const { actor } = startChild(machine, {
      input: { connection: 'c', server: 's', transport: 'http', retriesStart: true, reopens: true, at: start },
      clock,
    });
    expect(log.names).toContain('reportError');
    actor.send({ type: 'connection.close' });
    await turn();
    expect(actor.getSnapshot().status).toBe('done');
  });
});

describe('saved and restored', () => {
  test('H9 RT-7 one that waits tries again at the time it said before, and its context is plain data', () => {
    const before = connection();
    before.fail(unreachable);
    before.clock.increment(400);
    const { context } = before.actor.getSnapshot();
    expect(throughJson(context)).toEqual(context);
    const saved = throughJson(before.actor.getPersistedSnapshot());
    before.stop();
    const { actor, clock } = connection({}, saved);
    clock.increment(999);
    expect(actor.getSnapshot().value).toBe('waiting');
    clock.increment(1);
    expect(actor.getSnapshot().value).toEqual({ linked: 'starting' });
  });

  test('H5 its open questions are restored, found by their tokens', () => {
    const before = connection();
    before.actor.send({ type: 'connection.asked', question: question('elc_a') });
    const saved = throughJson(before.actor.getPersistedSnapshot());
    before.stop();
    const { actor } = connection({}, saved);
    expect(fleetChildren(actor.getSnapshot().children['questions']).map(({ id }) => id)).toEqual(['elc_a']);
    expect(actor.system.get('elc_a')).toBeDefined();
  });
});

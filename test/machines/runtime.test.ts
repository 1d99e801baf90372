import { describe, expect, test } from 'vitest';
import { runtimeMachine } from '../../src/machines/index.ts';
import type { RuntimeServer } from '../../src/machines/index.ts';
import { SimulatedClock } from '../../src/testing/index.ts';
import { deadlineOn, failure, logged, SlotLog, start, startChild, throughJson, withActors } from './support.ts';
import type { Child } from './support.ts';

interface Begun extends Child<typeof runtimeMachine> {
  readonly log: SlotLog;
  readonly begin: (...servers: readonly RuntimeServer[]) => void;
  readonly settle: (server: string, state?: 'ready' | 'failed') => void;
  readonly reports: () => readonly string[];
}

interface Options {
  readonly publish?: 'settled' | 'immediate';
  readonly first?: boolean;
  readonly snapshot?: unknown;
}

function candidate({ publish = 'settled', first = false, snapshot }: Options = {}): Begun {
  const clock = new SimulatedClock();
  const log = new SlotLog();
  const child = startChild(withActors(logged(runtimeMachine, log), { deadline: deadlineOn(clock) }), {
    input: { generation: 2, publish, first, graceMs: 1_000 },
    clock,
    ...(snapshot === undefined ? {} : { snapshot }),
  });
  const { actor } = child;
  return {
    ...child,
    log,
    begin: (...servers) => {
      actor.send({ type: 'runtime.begin', servers, at: clock.now() });
    },
    settle: (server, state = 'ready') => {
      actor.send({
        type: 'runtime.serverSettled',
        server,
        state,
        ...(state === 'failed' ? { failure: failure('server_unavailable') } : {}),
        at: clock.now(),
      });
    },
    reports: () => child.heard.map(({ type }) => type).filter((type) => type.startsWith('runtime.')),
  };
}

const optional = (server: string, state: RuntimeServer['state'] = 'starting'): RuntimeServer => ({
  server,
  required: false,
  awaited: false,
  state,
});
const awaited = (server: string): RuntimeServer => ({ ...optional(server), awaited: true });
const required = (server: string, state: RuntimeServer['state'] = 'starting'): RuntimeServer => ({
  ...optional(server, state),
  required: true,
  awaited: true,
});

describe('a candidate', () => {
  test('RT-4 starts nothing before it is told to begin', () => {
    const { log, actor, reports } = candidate();
    expect(log.names).toEqual(['schedule', 'announceStarting']);
    expect(actor.getSnapshot().value).toBe('scheduled');
    expect(reports()).toEqual([]);
  });

  test('RT-3 without servers is settled at once', () => {
    const { begin, reports } = candidate();
    begin();
    expect(reports()).toEqual(['runtime.settled']);
  });

  test('RT-3 waits for required servers and successors for as long as they start, grace or not', () => {
    const { begin, settle, reports, clock } = candidate();
    begin(required('a'), awaited('b'), optional('c'));
    clock.increment(30_000);
    expect(reports()).toEqual([]);
    settle('a');
    expect(reports()).toEqual([]);
    settle('b', 'failed');
    expect(reports()).toEqual(['runtime.settled']);
  });

  test('RT-3 new optional servers share one grace, from the beginning', () => {
    const { begin, reports, clock } = candidate();
    begin(optional('a'), optional('b'));
    clock.increment(999);
    expect(reports()).toEqual([]);
    clock.increment(1);
    expect(reports()).toEqual(['runtime.settled']);
    expect(clock.pendingCount).toBe(0);
  });

  test('RT-3 is settled before the grace ends once every server has settled', () => {
    const { begin, settle, reports, clock } = candidate();
    begin(optional('a'), optional('b'));
    settle('a', 'failed');
    settle('b');
    expect(reports()).toEqual(['runtime.settled']);
    expect(clock.pendingCount).toBe(0);
  });

  test('RT-6 of a thread without a runtime begins its grace with its first ready server', () => {
    const { begin, settle, reports, clock, actor } = candidate({ first: true });
    begin(optional('a'), optional('b'), optional('c'));
    expect(actor.getSnapshot().value).toEqual({ starting: 'patient' });
    clock.increment(20_000);
    settle('a', 'failed');
    expect(actor.getSnapshot().value).toEqual({ starting: 'patient' });
    clock.increment(5_000);
    settle('b');
    expect(actor.getSnapshot().value).toEqual({ starting: 'limited' });
    clock.increment(999);
    expect(reports()).toEqual([]);
    clock.increment(1);
    expect(reports()).toEqual(['runtime.settled']);
  });

  test('RT-3 RT-6 of a thread without a runtime is settled when all its optional servers have failed', () => {
    const { begin, settle, reports } = candidate({ first: true });
    begin(optional('a'), optional('b'));
    settle('a', 'failed');
    settle('b', 'failed');
    expect(reports()).toEqual(['runtime.settled']);
  });

  test('G3 RT-3 fails when a required server has failed and every other is known, with all their reasons', () => {
    const { begin, settle, heard, log, actor, clock } = candidate();
    begin(required('a'), optional('b'), optional('c'));
    settle('a', 'failed');
    expect(actor.getSnapshot().value).toEqual({ starting: 'failing' });
    settle('b', 'failed');
    expect(heard).toEqual([]);
    settle('c');
    expect(heard[0]).toEqual({
      type: 'runtime.failed',
      generation: 2,
      servers: [
        { ...required('a', 'failed'), failure: failure('server_unavailable') },
        { ...optional('b', 'failed'), failure: failure('server_unavailable') },
        optional('c', 'ready'),
      ],
    });
    expect(log.names.slice(2)).toEqual(['detach', 'announceDiscarded']);
    expect(log.paramsOf('announceDiscarded')).toEqual([{ reason: 'a required server failed' }]);
    expect(actor.getSnapshot().status).toBe('done');
    expect(clock.pendingCount).toBe(0);
  });

  test('G3 RT-3 that fails gives the servers that still start one grace to say how they fare', () => {
    const { begin, settle, reports, clock } = candidate();
    begin(required('a'), required('b'), optional('c'));
    clock.increment(5_000);
    settle('a', 'failed');
    clock.increment(999);
    settle('b');
    expect(reports()).toEqual([]);
    clock.increment(1);
    expect(reports()).toEqual(['runtime.failed']);
    expect(clock.pendingCount).toBe(0);
  });

  test('G3 RT-3 whose required server had failed before it began fails, and never settles', () => {
    const { begin, settle, reports, clock, actor } = candidate({ first: true });
    begin(required('a', 'failed'), optional('b'));
    expect(actor.getSnapshot().value).toEqual({ starting: 'failing' });
    clock.increment(500);
    settle('b');
    expect(reports()).toEqual(['runtime.failed']);
  });

  test('RT-3 that is published at once does not wait, not even for a required server that failed', () => {
    const { begin, reports, actor } = candidate({ publish: 'immediate' });
    begin(required('a', 'failed'), required('b'));
    expect(reports()).toEqual(['runtime.settled']);
    expect(actor.getSnapshot().value).toBe('settled');
  });

  test.each(['scheduled', 'starting', 'settled'] as const)('G3 RT-4 is discarded while it is %s', (state) => {
    const { actor, begin, settle, log } = candidate();
    if (state !== 'scheduled') begin(required('a'));
    if (state === 'settled') settle('a');
    actor.send({ type: 'runtime.discard', reason: 'superseded' });
    expect(actor.getSnapshot().value).toBe('discarded');
    expect(log.names.slice(2)).toEqual(['announceDiscarded', 'detach']);
    expect(log.paramsOf('announceDiscarded')).toMatchObject([{ reason: 'superseded' }]);
  });

  test('H10 that is discarded during its grace leaves no timer', () => {
    const { actor, begin, clock } = candidate();
    begin(optional('a'));
    expect(clock.pendingCount).toBe(1);
    actor.send({ type: 'runtime.discard', reason: 'superseded' });
    expect(clock.pendingCount).toBe(0);
  });

  test('a server that was never named settles nothing', () => {
    const { begin, settle, reports, actor } = candidate();
    begin(required('a'));
    settle('z');
    expect(reports()).toEqual([]);
    expect(actor.getSnapshot().context.servers).toEqual([required('a')]);
  });

  test('CN-3 a server that fails and then starts loses its failure', () => {
    const { begin, settle, actor } = candidate();
    begin(required('b'), optional('a'));
    settle('a', 'failed');
    expect(actor.getSnapshot().context.servers[1]?.failure).toBeDefined();
    settle('a');
    expect(actor.getSnapshot().context.servers[1]).toEqual(optional('a', 'ready'));
  });
});

describe('a published runtime', () => {
  function published(options?: Options): Begun {
    const runtime = candidate(options);
    runtime.begin();
    runtime.actor.send({ type: 'runtime.publish' });
    return runtime;
  }

  test('G2 H3 without holders stops in the transition that retires it', () => {
    const { actor, log } = published();
    actor.send({ type: 'runtime.retire' });
    expect(actor.getSnapshot().value).toBe('stopped');
    expect(log.names.slice(2)).toEqual(['announceRetired', 'detach', 'announceStopped']);
  });

  test('G2 H3 stops with the release of its last holder, never before', () => {
    const { actor } = published();
    actor.send({ type: 'runtime.hold', id: 'step-1', kind: 'step' });
    actor.send({ type: 'runtime.hold', id: 'call-7', kind: 'request' });
    actor.send({ type: 'runtime.retire' });
    expect(actor.getSnapshot().value).toBe('retired');
    actor.send({ type: 'runtime.release', id: 'step-1' });
    actor.send({ type: 'runtime.release', id: 'step-1' });
    actor.send({ type: 'runtime.release', id: 'nobody' });
    expect(actor.getSnapshot().value).toBe('retired');
    actor.send({ type: 'runtime.release', id: 'call-7' });
    expect(actor.getSnapshot().value).toBe('stopped');
  });

  test('H3 is not stopped by a release while it is current', () => {
    const { actor } = published();
    actor.send({ type: 'runtime.hold', id: 'step-1', kind: 'step' });
    actor.send({ type: 'runtime.release', id: 'step-1' });
    expect(actor.getSnapshot().value).toBe('current');
  });

  test('G1 is not published, discarded or begun a second time', () => {
    const { actor, begin, log } = published();
    actor.send({ type: 'runtime.publish' });
    actor.send({ type: 'runtime.discard', reason: 'late' });
    begin(required('a'));
    expect(actor.getSnapshot().value).toBe('current');
    expect(actor.getSnapshot().context.servers).toEqual([]);
    expect(log.names).not.toContain('announceDiscarded');
  });

  test('RT-3 stays current when a required server fails later', () => {
    const { actor, begin, settle, heard } = candidate({ publish: 'immediate' });
    begin(required('a'));
    actor.send({ type: 'runtime.publish' });
    settle('a', 'failed');
    expect(actor.getSnapshot().value).toBe('current');
    expect(heard.map(({ type }) => type)).toEqual(['runtime.settled']);
    expect(actor.getSnapshot().context.servers[0]?.state).toBe('failed');
  });

  test('H9 keeps its holders over a restore, and stops with the last of them', () => {
    const before = published();
    before.actor.send({ type: 'runtime.hold', id: 'step-1', kind: 'step' });
    before.actor.send({ type: 'runtime.retire' });
    const { context } = before.actor.getSnapshot();
    expect(throughJson(context)).toEqual(context);
    const saved = throughJson(before.actor.getPersistedSnapshot());
    before.stop();
    const { actor, log } = candidate({ snapshot: saved });
    expect(actor.getSnapshot().value).toBe('retired');
    actor.send({ type: 'runtime.release', id: 'step-1' });
    expect(actor.getSnapshot().value).toBe('stopped');
    expect(log.names).toEqual(['detach', 'announceStopped']);
  });

  test('a candidate restored during its grace is settled when the grace is over, counted from before', () => {
    const before = candidate();
    before.begin(optional('a'));
    const saved = throughJson(before.actor.getPersistedSnapshot());
    before.stop();
    const { reports, clock } = candidate({ snapshot: saved });
    expect(clock.now()).toBe(start);
    clock.increment(1_000);
    expect(reports()).toEqual(['runtime.settled']);
  });
});

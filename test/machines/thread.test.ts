import { waitFor } from 'xstate';
import { describe, expect, test } from 'vitest';
import type { RuntimeServer } from '../../src/machines/index.ts';
import { callInput, failure, question, start, throughJson, turn } from './support.ts';
import { play } from './thread-support.ts';

const slow: RuntimeServer = { server: 'docs', required: true, awaited: true, state: 'starting' };
const link = {
  connection: 'connection-1',
  server: 'docs',
  transport: 'http',
  retriesStart: true,
  reopens: true,
  at: start,
} as const;

const spawnConnection = { type: 'fleet.spawn', id: 'connection-1', systemId: 'connection-1', input: link } as const;

describe('replacing', () => {
  test('T1 RT-6 before the first runtime nothing begins', () => {
    const { root, childrenOf } = play();
    root.send({ type: 'step.begin', step: 'step-1' });
    root.send({ type: 'request.begin', input: callInput() });
    expect(root.getSnapshot().value).toEqual({ open: 'starting' });
    expect(childrenOf('steps')).toEqual([]);
    expect(childrenOf('requests')).toEqual([]);
  });

  test('T1 H2 a settled candidate becomes current, and the one before it is retired, in one transition', () => {
    const { root, publish, replace, begin, value, log } = play();
    publish(1);
    expect(root.getSnapshot().context).toMatchObject({ generation: 1, candidate: null });
    expect(log.paramsOf('announcePublished')).toEqual([{ generation: 1, replaced: 0 }]);
    root.send({ type: 'step.begin', step: 'step-1' });
    replace(2);
    const seen: unknown[] = [];
    root.subscribe(({ context }) => seen.push([context.generation, context.candidate]));
    begin(2);
    expect(seen.filter((pair) => JSON.stringify(pair) !== '[1,2]')).toEqual([[2, null]]);
    expect([value('runtime-1'), value('runtime-2')]).toEqual(['retired', 'current']);
    expect(log.paramsOf('announcePublished')[1]).toEqual({ generation: 2, replaced: 1 });
  });

  test('T2 RT-4 a newer replacement drops the starting candidate at once, and its late report changes nothing', () => {
    const { root, publish, replace, begin, value, log, send } = play();
    publish(1);
    replace(2);
    begin(2, slow);
    replace(3);
    expect(log.paramsOf('dropCandidate')).toEqual([{ generation: 2, reason: 'superseded by a newer replacement' }]);
    expect(value('runtime-2')).toBeUndefined();
    expect(root.getSnapshot().context).toMatchObject({ generation: 1, candidate: 3 });
    root.send({ type: 'runtime.settled', generation: 2 });
    root.send({ type: 'runtime.failed', generation: 2, servers: [] });
    send('runtime-2', { type: 'runtime.publish' });
    expect(root.getSnapshot().context).toMatchObject({ generation: 1, candidate: 3 });
    expect(log.names).not.toContain('rejectCandidate');
  });

  test('RT-3 G3 a candidate that fails is rejected with every reason, and the current one stays', () => {
    const { root, publish, replace, begin, send, log, childrenOf } = play();
    publish(1);
    replace(2);
    begin(2, slow);
    send('runtime-2', {
      type: 'runtime.serverSettled',
      server: 'docs',
      state: 'failed',
      failure: failure('server_unavailable'),
      at: start,
    });
    expect(log.paramsOf('rejectCandidate')).toMatchObject([
      { generation: 2, servers: [{ server: 'docs', state: 'failed', failure: { code: 'server_unavailable' } }] },
    ]);
    expect(root.getSnapshot().context).toMatchObject({ generation: 1, candidate: null });
    expect(Object.keys(root.getSnapshot().children)).toEqual(expect.not.arrayContaining(['runtime-2']));
    root.send({ type: 'step.begin', step: 'step-1' });
    expect(childrenOf('steps')).toEqual(['step-1']);
  });

  test('RT-6 a first runtime that fails leaves the thread able to take another', () => {
    const { root, replace, begin, publish, send } = play();
    replace(1);
    begin(1, { ...slow });
    send('runtime-1', { type: 'runtime.serverSettled', server: 'docs', state: 'failed', at: start });
    expect(root.getSnapshot().value).toEqual({ open: 'starting' });
    publish(2);
    expect(root.getSnapshot().value).toEqual({ open: 'active' });
    expect(root.getSnapshot().context.generation).toBe(2);
  });

  test('RT-4 a replacement its caller aborts is dropped; one that is no candidate is left alone', () => {
    const { root, publish, replace, log } = play();
    publish(1);
    replace(2);
    root.send({ type: 'runtime.cancel', generation: 1, reason: 'late' });
    expect(root.getSnapshot().context.candidate).toBe(2);
    root.send({ type: 'runtime.cancel', generation: 2, reason: 'its caller aborted it' });
    expect(root.getSnapshot().context).toMatchObject({ generation: 1, candidate: null });
    expect(log.paramsOf('dropCandidate')).toEqual([{ generation: 2, reason: 'its caller aborted it' }]);
  });

  test('RT-3 published at once, it is current while its servers still start', () => {
    const { root, replace, begin, value } = play();
    replace(1, 'immediate');
    begin(1, slow);
    expect(root.getSnapshot().context.generation).toBe(1);
    expect(value('runtime-1')).toBe('current');
  });
});

describe('steps and requests', () => {
  test('T3 H1 a step takes and holds the runtime that is current, and keeps it through a replacement', () => {
    const { root, publish, value, get, send } = play();
    publish(1);
    root.send({ type: 'step.begin', step: 'step-1' });
    publish(2);
    root.send({ type: 'step.begin', step: 'step-2' });
    const generations = ['step/step-1', 'step/step-2'].map(
      (id) => (get(id)?.getSnapshot() as { context: { generation: number } } | undefined)?.context.generation,
    );
    expect(generations).toEqual([1, 2]);
    expect(value('runtime-1')).toBe('retired');
    send('step/step-1', { type: 'step.end', reason: 'done', at: start });
    expect(value('runtime-1')).toBeUndefined();
    expect(value('runtime-2')).toBe('current');
  });

  test('H3 RT-2 a request outside a step holds its runtime until it has ended', () => {
    const { root, publish, value, send } = play();
    publish(1);
    root.send({ type: 'request.begin', input: callInput({ call: 'call-1' }) });
    publish(2);
    expect(value('runtime-1')).toBe('retired');
    send('call-1', { type: 'call.completed', result: {} });
    expect(value('runtime-1')).toBeUndefined();
  });

  test('H3 a request that breaks lets go of its runtime like one that ends', () => {
    const { root, publish, childrenOf, value } = play({
      also: {
        announceStarted: () => {
          throw new Error('It broke.');
        },
      },
    });
    publish(1);
    root.send({ type: 'request.begin', input: callInput({ call: 'call-1' }) });
    expect(childrenOf('requests')).toEqual([]);
    publish(2);
    expect(value('runtime-1')).toBeUndefined();
    expect(root.getSnapshot().status).toBe('active');
  });

  test('H4 EL-2 an answer finds its question in a step of a retired runtime', async () => {
    const { root, publish, send, call, value, log } = play();
    publish(1);
    root.send({ type: 'step.begin', step: 'step-1' });
    call('step-1', 'call-1');
    send('call-1', { type: 'call.asked', question: question('elc_a'), at: start });
    send('router', { type: 'router.register', token: 'elc_a' });
    await turn();
    publish(2);
    send('router', {
      type: 'router.respond',
      token: 'elc_a',
      answer: { action: 'accept', content: { name: 'Ada' } },
      at: start,
      ticket: 9,
    });
    expect(log.paramsOf('reply')).toEqual([{ ticket: 9, outcome: { status: 'delivered' } }]);
    expect(value('call-1')).toEqual({ onWire: 'running' });
  });
});

describe('closing', () => {
  test('T4 H10 it ends its steps, then its requests, then its connections, then is closed', async () => {
    const { root, publish, send, close, log } = play();
    publish(1);
    root.send({ type: 'step.begin', step: 'step-1' });
    root.send({ type: 'request.begin', input: callInput({ call: 'call-1' }) });
    send('connections', spawnConnection);
    close();
    expect(root.getSnapshot().value).toEqual({ closing: 'endingConnections' });
    await waitFor(root, ({ status }) => status === 'done');
    const order = log.names.filter((name) => ['announceEnded', 'settleCall', 'announceClosed'].includes(name));
    expect(order).toEqual(['announceEnded', 'settleCall', 'announceClosed']);
    expect(log.paramsOf('announce').at(-1)).toEqual({ state: 'closed' });
    expect(root.system.get('connection-1')).toBeUndefined();
  });

  test('T4 N2 it waits for a connection that is not gone yet', async () => {
    const { root, publish, send, close, value } = play();
    publish(1);
    send('connections', spawnConnection);
    send('connection-1', { type: 'connection.asked', question: question('elc_a') });
    close();
    expect(root.getSnapshot().value).toEqual({ closing: 'endingConnections' });
    expect(value('connection-1')).toBe('closing');
    await waitFor(root, ({ status }) => status === 'done');
  });

  test('H5 RT-11 a starting candidate is dropped with the reason of the close', async () => {
    const { root, publish, replace, close, log } = play();
    publish(1);
    replace(2);
    close();
    await waitFor(root, ({ status }) => status === 'done');
    expect(log.paramsOf('dropCandidate')).toEqual([{ generation: 2, reason: 'the thread was closed' }]);
  });

  test('nothing begins once it closes', async () => {
    const { root, publish, send, close, childrenOf } = play();
    publish(1);
    send('connections', spawnConnection);
    close();
    root.send({ type: 'step.begin', step: 'late' });
    root.send({ type: 'runtime.replace', generation: 9, publish: 'settled' });
    root.send({ type: 'thread.close', reason: 'again', at: start });
    expect(childrenOf('steps')).toEqual([]);
    expect(root.getSnapshot().context.candidate).toBeNull();
    await waitFor(root, ({ status }) => status === 'done');
  });

  test('a thread without a runtime closes', async () => {
    const { root, close } = play();
    close();
    await waitFor(root, ({ status }) => status === 'done');
    expect(root.getSnapshot().value).toBe('closed');
  });
});

describe('failing and restoring', () => {
  test('RT-12 a runtime that fails inside is reported, and the thread lives', () => {
    const { root, replace, begin, log } = play({
      also: {
        detach: () => {
          throw new Error('It broke.');
        },
      },
    });
    replace(1);
    begin(1, { ...slow, state: 'failed' });
    expect(log.names).toContain('reportError');
    expect(root.getSnapshot().status).toBe('active');
  });

  test('H9 every context of a thread at work survives JSON, and holds no more than its number and candidate', () => {
    const { root, publish, replace } = play();
    publish(1);
    root.send({ type: 'step.begin', step: 'step-1' });
    replace(2);
    const { context } = root.getSnapshot();
    expect(throughJson(context)).toEqual(context);
    const saved = root.getPersistedSnapshot();
    expect(throughJson(saved)).toEqual(JSON.parse(JSON.stringify(saved)));
  });

  test('H1 H3 a restored thread has its runtimes, steps, calls and questions, and goes on', async () => {
    const before = play();
    before.publish(1);
    before.root.send({ type: 'step.begin', step: 'step-1' });
    before.call('step-1', 'call-1');
    before.send('call-1', {
      type: 'call.inputRequired',
      questions: [question('elc_a')],
      responses: {},
      at: start,
      requestState: 'sealed',
    });
    before.send('router', { type: 'router.register', token: 'elc_a' });
    await turn();
    before.publish(2);
    const saved = throughJson(before.root.getPersistedSnapshot());
    before.root.stop();

    const after = play({ snapshot: saved });
    expect(after.root.getSnapshot().context.generation).toBe(2);
    expect([after.value('runtime-1'), after.value('runtime-2')]).toEqual(['retired', 'current']);
    expect(after.childrenOf('steps')).toEqual(['step-1']);
    expect(after.value('call-1')).toBe('answering');
    after.send('router', {
      type: 'router.respond',
      token: 'elc_a',
      answer: { action: 'accept', content: { name: 'Ada' } },
      at: start + 10,
      ticket: 1,
    });
    expect(after.log.paramsOf('reply')).toEqual([{ ticket: 1, outcome: { status: 'delivered' } }]);
    expect(after.value('call-1')).toEqual({ onWire: 'running' });
    after.send('step/step-1', { type: 'step.end', reason: 'done', at: start });
    expect(after.value('runtime-1')).toBeUndefined();
    after.close();
    await waitFor(after.root, ({ status }) => status === 'done');
  });
});

import { describe, expect, test } from 'vitest';
import { createActor, fromCallback, fromPromise, fromTransition, setup } from 'xstate';
import type { AnyActorRef } from 'xstate';
import { createInspectorBridge } from '../../src/inspector/index.ts';
import { callMachine, outline, record, startThread } from './fixtures.ts';

describe('IN-1 frames', () => {
  test('IN-1 registers parents before children, under the path of their names', () => {
    const viewer = record();
    const { thread } = startThread({ send: viewer.send });
    thread.stop();
    const registrations = viewer.frames.filter((frame) => frame.type === '@xstate.actor');
    expect(registrations.map((frame) => [frame.sessionId, frame['parentId'], frame['name']])).toEqual([
      ['thread', undefined, 'thread'],
      ['thread/router', 'thread', 'router'],
      ['thread/call-1', 'thread', 'call-1'],
      ['thread/calls', 'thread', 'calls'],
    ]);
  });

  test('IN-1 has exactly the keys of the wire format', () => {
    const viewer = record();
    const { thread, child } = startThread({ send: viewer.send });
    thread.system.get('none');
    child('call-1').send({ type: 'call.ask', text: 'why' });
    const common = { rootId: 'thread', createdAt: '1700000000000', id: null, _version: '0.7.2' };
    const actor = viewer.frames.find((frame) => outline(frame) === 'actor thread/call-1');
    expect(actor).toEqual({
      ...common,
      type: '@xstate.actor',
      sessionId: 'thread/call-1',
      parentId: 'thread',
      name: 'call-1',
      definition: actor?.['definition'],
      snapshot: {
        status: 'active',
        value: 'running',
        context: { count: 0, note: '' },
        historyValue: {},
        tags: [],
        children: {},
      },
    });
    expect(JSON.parse(String(actor?.['definition']))).toMatchObject({ id: 'call', initial: 'running' });
    expect(viewer.frames.at(-2)).toEqual({
      ...common,
      type: '@xstate.event',
      sessionId: 'thread/call-1',
      event: { type: 'call.ask', text: 'why' },
    });
    expect(viewer.frames.at(-1)).toEqual({
      ...common,
      type: '@xstate.snapshot',
      sessionId: 'thread/call-1',
      event: { type: 'call.ask', text: 'why' },
      snapshot: {
        status: 'active',
        value: 'running',
        context: { count: 1, note: 'why' },
        historyValue: {},
        tags: [],
        children: {},
      },
    });
    thread.stop();
  });

  test('IN-1 frames of two runs of the same conversation are equal', () => {
    const runs = [record(), record()].map((viewer) => {
      const { thread, child } = startThread({ send: viewer.send });
      child('calls').send({ type: 'fleet.spawn', id: 'call-7', input: undefined });
      child('call-1').send({ type: 'call.ask', text: 'why' });
      child('call-1').send({ type: 'call.end' });
      thread.stop();
      return viewer.frames;
    });
    expect(runs[0]).toEqual(runs[1]);
    expect(runs[0]?.length).toBeGreaterThan(15);
  });

  test('IN-1 names an actor in a context by its stable id', () => {
    const viewer = record();
    const { thread } = startThread({ send: viewer.send });
    const root = viewer.frames.find((frame) => outline(frame) === 'snapshot thread xstate.init');
    expect(root?.['snapshot']).toMatchObject({
      context: { refs: { router: { xstate$$type: 1, id: 'thread/router' } } },
      children: { calls: { xstate$$type: 1, id: 'thread/calls' } },
    });
    thread.stop();
  });

  test('IN-1 replays the live actors first to a late viewer, with their snapshots of now', () => {
    const { bridge, thread, child } = startThread();
    child('calls').send({ type: 'fleet.spawn', id: 'call-7', input: undefined });
    child('calls').send({ type: 'fleet.send', id: 'call-7', event: { type: 'call.ask', text: 'late' } });
    child('call-1').send({ type: 'call.end' });
    const viewer = record();
    bridge.attach(viewer.send);
    expect(viewer.frames.map(outline)).toEqual([
      'actor thread',
      'actor thread/router',
      'actor thread/calls',
      'actor thread/calls/call-7',
    ]);
    expect(viewer.frames.at(-1)?.['snapshot']).toMatchObject({ context: { count: 1, note: 'late' } });
    child('router').send({ type: 'ping' });
    expect(viewer.frames.slice(4).map(outline)).toEqual(['event thread/router ping', 'snapshot thread/router ping']);
    thread.stop();
  });

  test('IN-1 tells the end of an actor once, before its parent hears of it', () => {
    const viewer = record();
    const { thread, child } = startThread({ send: viewer.send });
    viewer.frames.length = 0;
    child('call-1').send({ type: 'call.end' });
    expect(viewer.frames.map(outline)).toEqual([
      'event thread/call-1 call.end',
      'snapshot thread/call-1 call.end',
      'event thread xstate.done.actor.call-1',
      'snapshot thread xstate.done.actor.call-1',
    ]);
    expect(viewer.frames[1]?.['snapshot']).toMatchObject({ status: 'done' });
    thread.stop();
  });

  test('IN-1 shows logic that does not know of stopping as stopped', () => {
    const viewer = record();
    const { thread, bridge } = startThread({ send: viewer.send });
    thread.stop();
    const ends = viewer.frames.filter((frame) => outline(frame).endsWith(' xstate.stop'));
    expect(new Set(ends.map((frame) => frame.sessionId))).toEqual(
      new Set(['thread', 'thread/call-1', 'thread/calls', 'thread/router']),
    );
    expect(ends.map((frame) => (frame['snapshot'] as { status: string }).status)).toEqual(
      Array.from({ length: 4 }, () => 'stopped'),
    );
    expect(bridge.size).toBe(0);
  });

  test('IN-1 shows a failed actor as failed, with its error as plain data', async () => {
    const viewer = record();
    const bridge = createInspectorBridge({ send: viewer.send });
    const machine = setup({
      actors: { work: fromPromise(() => Promise.reject(new TypeError('no such tool'))) },
    }).createMachine({
      initial: 'working',
      states: { working: { invoke: { id: 'work', src: 'work', onError: 'failed' } }, failed: { type: 'final' } },
    });
    const actor = createActor(machine, { id: 'step', inspect: bridge.inspect });
    const done = new Promise<void>((resolve) => {
      actor.subscribe({ complete: resolve });
    });
    actor.start();
    await done;
    const ends = viewer.frames.filter((frame) => frame.type === '@xstate.snapshot' && frame.sessionId === 'step/work');
    expect(ends.at(-1)?.['snapshot']).toMatchObject({
      status: 'error',
      error: { name: 'TypeError', message: 'no such tool' },
    });
    expect(ends.filter((frame) => (frame['snapshot'] as { status: string }).status === 'error')).toHaveLength(1);
    expect(bridge.size).toBe(0);
  });

  test('IN-1 shows an actor that threw while it handled an event as failed', () => {
    const viewer = record();
    const bridge = createInspectorBridge({ send: viewer.send });
    const machine = setup({
      actors: {
        fragile: fromTransition((state: number, event: { type: string }) => {
          if (event.type === 'break') throw new Error('broken');
          return state;
        }, 0),
      },
    }).createMachine({ invoke: { id: 'fragile', src: 'fragile', onError: { actions: [] } } });
    const actor = createActor(machine, { id: 'step', inspect: bridge.inspect }).start();
    (actor.getSnapshot().children as Record<string, AnyActorRef>)['fragile']?.send({ type: 'break' });
    expect(viewer.frames.map(outline).slice(-4)).toEqual([
      'event step/fragile break',
      'snapshot step/fragile break',
      'event step xstate.error.actor.fragile',
      'snapshot step xstate.error.actor.fragile',
    ]);
    expect(bridge.size).toBe(1);
    actor.stop();
  });

  test('IN-1 gives two live actors of one name ids of their own', () => {
    const viewer = record();
    const bridge = createInspectorBridge({ send: viewer.send });
    const roots = [1, 2].map(() => createActor(callMachine, { id: 'a/b', inspect: bridge.inspect }).start());
    const unnamed = createActor(callMachine, { inspect: bridge.inspect }).start();
    const ids = viewer.frames.filter((frame) => frame.type === '@xstate.actor').map((frame) => frame.sessionId);
    expect(ids).toEqual(['a%2Fb', 'a%2Fb~2', 'call']);
    for (const actor of [...roots, unnamed]) actor.stop();
    expect(bridge.size).toBe(0);
  });
});

describe('RT-12 PE-4 viewers and memory', () => {
  test('RT-12 a viewer that throws or rejects is detached and disturbs neither actors nor other viewers', async () => {
    const { bridge, thread, child } = startThread();
    const good = record();
    let calls = 0;
    bridge.attach(() => {
      calls += 1;
      throw new Error('viewer broke');
    });
    // oxlint-disable-next-line typescript/no-misused-promises -- what users do, and what must not hurt
    bridge.attach(() => Promise.reject(new Error('viewer broke late')));
    bridge.attach(good.send);
    const replayed = good.frames.length;
    child('call-1').send({ type: 'call.ask', text: 'a' });
    await Promise.resolve();
    expect(calls).toBe(1);
    expect(good.frames).toHaveLength(replayed + 2);
    expect(child('call-1').getSnapshot()).toMatchObject({ status: 'active', context: { count: 1 } });
    thread.stop();
  });

  test('IN-1 every viewer sees one order, also when a viewer sends an event from within', () => {
    const { bridge, thread, child } = startThread();
    let sent = false;
    bridge.attach((frame) => {
      if (sent || outline(frame) !== 'event thread/call-1 call.ask') return;
      sent = true;
      child('router').send({ type: 'ping' });
    });
    const viewer = record();
    bridge.attach(viewer.send);
    child('call-1').send({ type: 'call.ask', text: 'a' });
    expect(viewer.frames.slice(-4).map(outline)).toEqual([
      'event thread/call-1 call.ask',
      'event thread/router ping',
      'snapshot thread/router ping',
      'snapshot thread/call-1 call.ask',
    ]);
    thread.stop();
  });

  test('IN-1 reads and serialises nothing while nobody watches', () => {
    let redactions = 0;
    const { bridge, thread, child } = startThread({
      redact: (value) => {
        redactions += 1;
        return value;
      },
    });
    const named = redactions;
    const event = {
      type: 'call.ask',
      get text(): string {
        return 'read by the machine only';
      },
    };
    for (let n = 0; n < 100; n += 1) child('call-1').send(event);
    expect(redactions).toBe(named);
    const detach = bridge.attach(() => {});
    detach();
    const replayed = redactions;
    child('call-1').send(event);
    expect(redactions).toBe(replayed);
    thread.stop();
  });

  test('PE-4 forgets each of many calls, ended, stopped or never started', () => {
    const { bridge, thread, child } = startThread();
    const before = bridge.size;
    for (let n = 0; n < 5_000; n += 1) {
      child('calls').send({ type: 'fleet.spawn', id: `call-${n}`, input: undefined });
      expect(bridge.size).toBe(before + 1);
      child('calls').send({ type: 'fleet.send', id: `call-${n}`, event: { type: 'call.end' } });
    }
    expect(bridge.size).toBe(before);
    const silent = fromCallback(() => undefined);
    for (let n = 0; n < 5_000; n += 1) {
      const never = createActor(silent, {
        id: `never-${n}`,
        inspect: bridge.inspect,
      });
      never.stop();
    }
    expect(bridge.size).toBeLessThan(2_100);
    const viewer = record();
    bridge.attach(viewer.send);
    expect(bridge.size).toBe(before);
    expect(viewer.frames).toHaveLength(before);
    thread.stop();
  });
});

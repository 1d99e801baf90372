/** The time limit of a call: only time in which none of its questions is open counts. */
import { describe, expect, test } from 'vitest';
import { rawServer, scriptedServer, serveHttp, SimulatedClock } from '../../../src/testing/index.ts';
import type { CallSnapshot, Thread } from '../../../src/index.ts';
import { ada, answerOf, eras, errorOf, modernPeer, textOf, watched } from './support.ts';

const tenMinutes = 600_000;

/** The open calls of all steps, by their callers' ids. */
function callOf(thread: Thread, request: string): CallSnapshot | undefined {
  return thread
    .snapshot()
    .steps.flatMap(({ calls }) => calls)
    .find((call) => call.request === request);
}

function left(clock: SimulatedClock, call: CallSnapshot | undefined): number {
  return Date.parse(call?.deadlineAt ?? '') - clock.now();
}

describe.each(eras)('the time limit of a call in the %s era', (era) => {
  test('EL-9 stands still while its question is open: a limit of 1 s survives an answer after 10 minutes', async () => {
    const clock = new SimulatedClock();
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: { ...server.config, callTimeoutMs: 1_000 } }, clock });
    const { thread } = watch;
    const step = await thread.beginStep();
    const result = step.callTool('mcp__docs__ask', {}, { callId: 'a' });
    const { token } = await watch.nextQuestion();
    clock.increment(tenMinutes);
    expect(callOf(thread, 'a')).toMatchObject({ state: 'paused' });
    expect(callOf(thread, 'a')).not.toHaveProperty('deadlineAt');
    await thread.respond(token, ada);
    expect(answerOf(await result)).toMatchObject(ada);
    expect(watch.of('call.paused')).toMatchObject([{ request: 'a' }]);
    expect(watch.of('call.resumed')).toMatchObject([{ request: 'a' }]);
  });

  test('EL-9 stands still for the call that asks alone: a sibling on the same connection times out', async () => {
    const clock = new SimulatedClock();
    await using server = scriptedServer({ era });
    await using watch = watched({
      servers: { docs: { ...server.config, callTimeoutMs: 1_000, parallel: true } },
      clock,
    });
    const { thread } = watch;
    const step = await thread.beginStep();
    const asking = step.callTool('mcp__docs__ask', {}, { callId: 'asks' });
    const { token } = await watch.nextQuestion();
    const sibling = errorOf(step.callTool('mcp__docs__park', { key: 'k' }, { callId: 'works' }));
    await server.untilParked('k');
    expect([callOf(thread, 'asks')?.state, callOf(thread, 'works')?.state]).toEqual(['paused', 'running']);
    clock.increment(1_000);
    expect(await sibling).toMatchObject({ code: 'timeout', outcome: 'unknown' });
    expect(callOf(thread, 'asks')).toMatchObject({ state: 'paused' });
    await thread.respond(token, ada);
    expect(answerOf(await asking)).toMatchObject(ada);
  });

  test('EL-9 pauses anew for each round, and counts its pauses together', async () => {
    const clock = new SimulatedClock();
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: { ...server.config, callTimeoutMs: 1_000 } }, clock });
    const { thread } = watch;
    const step = await thread.beginStep();
    // Two rounds: between the answers and the next question its clock runs, but no time passes there.
    const failed = errorOf(step.callTool('mcp__docs__ask', { rounds: 2 }, { callId: 'a' }));
    const first = await watch.nextQuestion();
    clock.increment(tenMinutes);
    await thread.respond(first.token, ada);
    const second = await watch.nextQuestion();
    clock.increment(tenMinutes);
    expect(callOf(thread, 'a')).toMatchObject({ state: 'paused', pausedMs: 2 * tenMinutes });
    await step.end();
    expect(await failed).toMatchObject({ code: 'aborted' });
    expect(await thread.respond(second.token, ada)).toMatchObject({ status: 'settled' });
  });

  test('EL-9 maxPauseMs expires the question, and the clock goes on', async () => {
    const clock = new SimulatedClock();
    await using server = scriptedServer({ era });
    await using watch = watched({
      servers: { docs: { ...server.config, callTimeoutMs: 1_000, maxPauseMs: 60_000 } },
      clock,
    });
    const { thread } = watch;
    const step = await thread.beginStep();
    const result = step.callTool('mcp__docs__ask', {}, { callId: 'a' });
    const { token } = await watch.nextQuestion();
    clock.increment(59_999);
    expect(callOf(thread, 'a')?.state).toBe('paused');
    clock.increment(1);
    expect(answerOf(await result)).toMatchObject({ action: 'cancel' });
    expect(watch.of('elicitation.settled')).toMatchObject([{ token, outcome: 'expired' }]);
    expect(watch.of('call.resumed')).toHaveLength(1);
    expect(await thread.respond(token, ada)).toMatchObject({ status: 'expired' });
    await step.end();
    expect(clock.pendingCount).toBe(0);
  });

  test('EL-9 several open questions pause it until the last one settles', async () => {
    const clock = new SimulatedClock();
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: { ...server.config, callTimeoutMs: 1_000 } }, clock });
    const { thread } = watch;
    const step = await thread.beginStep();
    const result = step.callTool('mcp__docs__ask', { questions: 3 }, { callId: 'a' });
    const tokens = [await watch.nextQuestion(), await watch.nextQuestion(), await watch.nextQuestion()].map(
      (question) => question.token,
    );
    for (const token of tokens) {
      clock.increment(tenMinutes);
      expect(callOf(thread, 'a')?.state).toBe('paused');
      await thread.respond(token, ada);
    }
    expect(answerOf(await result)).toMatchObject([ada, ada, ada]);
    expect(watch.of('call.paused')).toHaveLength(1);
    expect(watch.of('call.resumed')).toHaveLength(1);
  });

  test('EL-9 a smaller timeoutMs of the call itself pauses as well', async () => {
    const clock = new SimulatedClock();
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config }, clock });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__ask', {}, { timeoutMs: 5 });
    const { token } = await watch.nextQuestion();
    clock.increment(tenMinutes);
    await watch.thread.respond(token, ada);
    expect(answerOf(await result)).toMatchObject(ada);
  });
});

describe('what is left of a time limit', () => {
  test('EL-9 a legacy call keeps its remaining budget over a pause, to the millisecond', async () => {
    const clock = new SimulatedClock();
    await using peer = rawServer((message, self) => {
      if (message['method'] !== 'tools/call') return false;
      self.send({ jsonrpc: '2.0', method: 'notifications/progress', params: progressOf(message) });
      return true;
    });
    await using watch = watched({ servers: { docs: { ...peer.config, callTimeoutMs: 1_000 } }, clock });
    const { thread } = watch;
    const step = await thread.beginStep();
    const failed = errorOf(step.callTool('mcp__docs__echo', {}, { callId: 'a', onProgress: () => undefined }));
    await watch.until('call.progressed');
    expect(left(clock, callOf(thread, 'a'))).toBe(1_000);
    clock.increment(400);
    expect(left(clock, callOf(thread, 'a'))).toBe(600);
    peer.send({
      jsonrpc: '2.0',
      id: 1,
      method: 'elicitation/create',
      params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
    });
    const { token } = await watch.nextQuestion();
    clock.increment(tenMinutes);
    await thread.respond(token, { action: 'decline' });
    expect(callOf(thread, 'a')).toMatchObject({ state: 'running', pausedMs: tenMinutes });
    expect(left(clock, callOf(thread, 'a'))).toBe(600);
    clock.increment(599);
    expect(callOf(thread, 'a')?.state).toBe('running');
    clock.increment(1);
    expect(await failed).toMatchObject({ code: 'timeout' });
  });

  test('EL-9 ER-2 a modern call keeps its remaining budget over rounds, those that ask nothing included', async () => {
    const clock = new SimulatedClock();
    await using peer = modernPeer(() => true);
    await using watch = watched({
      servers: { docs: { ...peer.config, callTimeoutMs: 1_000 } },
      clock,
    });
    const { thread } = watch;
    const step = await thread.beginStep();
    const failed = errorOf(step.callTool('mcp__docs__echo', {}, { callId: 'a' }));
    const calls = () => peer.received.filter(({ method }) => method === 'tools/call');
    await peer.waitFor(() => calls().length === 1);
    clock.increment(400);
    for (let round = 1; round <= 3; round += 1) {
      peer.reply(calls().at(-1) ?? {}, { resultType: 'input_required', requestState: String(round) });
      await peer.waitFor(() => calls().length === round + 1);
      clock.increment(100);
    }
    expect(left(clock, callOf(thread, 'a'))).toBe(300);
    clock.increment(299);
    expect(callOf(thread, 'a')?.state).toBe('running');
    clock.increment(1);
    expect(await failed).toMatchObject({ code: 'timeout' });
  });

  test('EL-9 EL-11 an ambiguous question pauses every call it may belong to, and no later one', async () => {
    const clock = new SimulatedClock();
    await using server = scriptedServer();
    await using watch = watched({
      servers: { docs: { ...server.config, callTimeoutMs: 1_000, parallel: true } },
      clock,
    });
    const { thread } = watch;
    const step = await thread.beginStep();
    const before = step.callTool('mcp__docs__park', { key: 'before' }, { callId: 'before' });
    await server.untilParked('before');
    const asking = step.callTool('mcp__docs__ask', {}, { callId: 'asks' });
    const { token, attribution } = await watch.nextQuestion();
    const after = errorOf(step.callTool('mcp__docs__park', { key: 'after' }, { callId: 'after' }));
    await server.untilParked('after');
    expect(attribution).toBe('ambiguous');
    expect(['before', 'asks', 'after'].map((request) => callOf(thread, request)?.state)).toEqual([
      'paused',
      'paused',
      'running',
    ]);
    clock.increment(tenMinutes);
    expect(await after).toMatchObject({ code: 'timeout' });
    await thread.respond(token, ada);
    expect(callOf(thread, 'before')).toMatchObject({ state: 'running', pausedMs: tenMinutes });
    expect(answerOf(await asking)).toMatchObject(ada);
    server.release('before', 'still here');
    expect(textOf(await before)).toBe('still here');
  });

  test('EL-9 EL-11 over legacy HTTP the stream of the request tells which call asks: only that one is paused', async () => {
    const clock = new SimulatedClock();
    await using server = await serveHttp();
    await using watch = watched({
      servers: { docs: { ...server.config, callTimeoutMs: 1_000, parallel: true } },
      clock,
    });
    const { thread } = watch;
    const step = await thread.beginStep();
    const sibling = errorOf(step.callTool('mcp__docs__park', { key: 'k' }, { callId: 'works' }));
    await server.untilParked('k');
    const asking = step.callTool('mcp__docs__ask', {}, { callId: 'asks' });
    const { token, attribution } = await watch.nextQuestion();
    expect(attribution).toBe('call');
    clock.increment(1_000);
    expect(await sibling).toMatchObject({ code: 'timeout' });
    clock.increment(tenMinutes);
    await thread.respond(token, ada);
    expect(answerOf(await asking)).toMatchObject(ada);
  });
});

function progressOf(message: Readonly<Record<string, unknown>>) {
  const params = message['params'] as { readonly _meta?: { readonly progressToken?: unknown } };
  return { progressToken: params._meta?.progressToken, progress: 1 };
}

/** Who is asked before the person, and does not answer: the question is put to the person all the same. */
import { describe, expect, test } from 'vitest';
import type { ApprovalMemory, ElicitationAnswer, Policy } from '../../../src/index.ts';
import { deferred, scriptedServer, SimulatedClock } from '../../../src/testing/index.ts';
import { ada, answerOf, eras, textOf, turn, watched } from './support.ts';

const never = new Promise<never>(() => undefined);

describe.each(eras)('a reviewer that never answers in the %s era', (era) => {
  test.each([
    [{}, 60_000],
    [{ elicitation: { reviewerTimeoutMs: 5_000 } }, 5_000],
    [{ servers: { docs: { elicitation: { reviewerTimeoutMs: 2_000 } } } }, 2_000],
  ] satisfies readonly (readonly [Policy, number])[])(
    'EL-6 with %j has %i ms; then the question is shown, with a warning',
    async (policy, ms) => {
      const clock = new SimulatedClock();
      const asked = deferred<AbortSignal>();
      await using server = scriptedServer({ era });
      await using watch = watched({
        servers: { docs: server.config },
        clock,
        policy,
        reviewer: (_request, { signal }) => {
          asked.resolve(signal);
          return never;
        },
      });
      const step = await watch.thread.beginStep();
      const result = step.callTool('mcp__docs__ask');
      const signal = await asked.promise;
      clock.increment(ms - 1);
      await turn();
      expect(watch.thread.snapshot().elicitations).toEqual([]);
      clock.increment(1);
      const { token } = await watch.nextQuestion();
      expect(signal.aborted).toBe(true);
      expect(watch.of('warning')).toMatchObject([
        { code: 'reviewer_timed_out', message: expect.stringContaining(`${String(ms)} ms`) as string, server: 'docs' },
      ]);
      expect(await watch.thread.respond(token, ada)).toEqual({ status: 'delivered' });
      expect(answerOf(await result)).toMatchObject(ada);
      await step.end();
      expect(clock.pendingCount).toBe(0);
    },
  );
});

test.each([
  ['declines', (late: ReturnType<typeof deferred<ElicitationAnswer>>) => late.resolve({ action: 'decline' })],
  ['fails', (late: ReturnType<typeof deferred<ElicitationAnswer>>) => late.reject(new Error('late'))],
])('EL-6 a reviewer that %s too late is not heard', async (_title, end) => {
  const clock = new SimulatedClock();
  const late = deferred<ElicitationAnswer>();
  const asked = deferred<undefined>();
  await using server = scriptedServer();
  await using watch = watched({
    servers: { docs: server.config },
    clock,
    policy: { approval: 'prompt' },
    reviewer: () => {
      asked.resolve(undefined);
      return late.promise;
    },
  });
  const { thread } = watch;
  const step = await thread.beginStep();
  const result = step.callTool('mcp__docs__echo', { text: 'hi' }, { timeoutMs: 500 });
  await asked.promise;
  expect(thread.snapshot().steps[0]?.calls).toMatchObject([{ state: 'awaitingApproval' }]);
  clock.increment(60_000);
  const { token } = await watch.nextQuestion();
  end(late);
  await turn();
  expect(thread.snapshot().elicitations).toMatchObject([{ token }]);
  expect(thread.snapshot().steps[0]?.calls).toMatchObject([{ state: 'awaitingApproval' }]);
  await thread.respond(token, { action: 'accept' });
  expect(textOf(await result)).toBe('hi');
  expect(watch.of('warning')).toHaveLength(1);
});

describe('a memory of approvals that never answers', () => {
  const silent = (calls: string[] = []): ApprovalMemory => ({
    recall: ({ scope }) => {
      calls.push(scope.kind);
      return never;
    },
    keep: () => never,
    forget: () => never,
  });

  test('PO-2 has 10 s; then the person is asked, with a warning', async () => {
    const clock = new SimulatedClock();
    const asked: string[] = [];
    await using server = scriptedServer();
    await using watch = watched({
      servers: { docs: server.config },
      clock,
      policy: { approval: 'writes' },
      approvals: silent(asked),
    });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__destructive');
    while (asked.length < 2) await turn();
    expect(asked).toEqual(['thread', 'user']);
    clock.increment(9_999);
    await turn();
    expect(watch.thread.snapshot().elicitations).toEqual([]);
    clock.increment(1);
    const { token } = await watch.nextQuestion();
    expect(watch.of('warning')[0]).toMatchObject({
      code: 'approvals_failed',
      message: expect.stringContaining('10000 ms') as string,
    });
    await watch.thread.respond(token, { action: 'accept', content: { remember: 'session' } });
    await result;
    expect(server.calls()).toBe(1);
  });

  test('PO-2 H10 leaves no timer once its thread is closed', async () => {
    const clock = new SimulatedClock();
    await using server = scriptedServer();
    await using watch = watched({
      servers: { docs: server.config },
      clock,
      policy: { approval: 'writes' },
      approvals: { ...silent(), recall: () => undefined },
    });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__destructive');
    const { token } = await watch.nextQuestion();
    await watch.thread.respond(token, { action: 'accept', content: { remember: 'always' } });
    await result;
    expect(server.calls()).toBe(1);
    await watch.thread.close();
    expect(clock.pendingCount).toBe(0);
  });
});

/** Policy that changes while a thread runs, and who decides on approvals. */
import { expect, test } from 'vitest';
import { createHost, HoldfastError } from '../../../src/index.ts';
import type { ElicitationAnswer, ReviewRequest } from '../../../src/index.ts';
import { deferred, scriptedServer, SimulatedClock } from '../../../src/testing/index.ts';
import { ada, answerOf, errorOf, textOf, watched } from '../elicitations/support.ts';

test('EL-6 PO-1 a new policy holds for the calls and questions of steps that began before', async () => {
  await using server = scriptedServer();
  await using watch = watched({ servers: { docs: server.config } });
  const { thread } = watch;
  const step = await thread.beginStep();
  expect(textOf(await step.callTool('mcp__docs__echo', { text: 'free' }))).toBe('free');
  thread.setPolicy({ approval: 'prompt' });
  const asked = step.callTool('mcp__docs__echo', { text: 'asked' });
  const { token } = await watch.nextQuestion();
  thread.setPolicy({ approval: 'prompt', elicitation: { autoDeny: true } });
  expect(await errorOf(step.callTool('mcp__docs__echo'))).toMatchObject({ code: 'not_approved', outcome: 'not-sent' });
  // What was put to the person before stays theirs to answer.
  await thread.respond(token, { action: 'accept' });
  expect(textOf(await asked)).toBe('asked');
  thread.setPolicy({ elicitation: { forms: false } });
  expect(answerOf(await step.callTool('mcp__docs__ask'))).toMatchObject({ action: 'decline' });
  thread.setPolicy({});
  const answered = step.callTool('mcp__docs__ask');
  await thread.respond((await watch.nextQuestion()).token, ada);
  expect(answerOf(await answered)).toMatchObject(ada);
});

test('EL-6 a question is decided by the policy of the moment it was asked, whole', async () => {
  const verdict = deferred<ElicitationAnswer | undefined>();
  const reviewing = deferred<ReviewRequest>();
  await using server = scriptedServer();
  await using watch = watched({
    servers: { docs: server.config },
    policy: { approval: 'prompt' },
    reviewer: (request) => {
      reviewing.resolve(request);
      return verdict.promise;
    },
  });
  const { thread } = watch;
  const step = await thread.beginStep();
  const result = step.callTool('mcp__docs__echo', { text: 'hi' });
  await reviewing.promise;
  thread.setPolicy({ elicitation: { autoDeny: true } });
  verdict.resolve(undefined);
  await thread.respond((await watch.nextQuestion()).token, { action: 'accept' });
  expect(textOf(await result)).toBe('hi');
});

test('EL-6 the policy of a host lies under that of its threads, then and later', async () => {
  await using server = scriptedServer();
  await using host = createHost({ policy: { approval: 'prompt', elicitation: { autoDeny: true } } });
  await using thread = host.createThread({ servers: { docs: server.config }, policy: { approval: 'approve' } });
  const step = await thread.beginStep();
  expect(textOf(await step.callTool('mcp__docs__echo', { text: 'hi' }))).toBe('hi');
  thread.setPolicy({});
  expect(await errorOf(step.callTool('mcp__docs__echo'))).toMatchObject({ code: 'not_approved' });
  thread.setPolicy({ approval: 'approve' });
  expect(textOf(await step.callTool('mcp__docs__echo', { text: 'hi' }))).toBe('hi');
});

test('PO-1 a mode that is none is refused, then and later', async () => {
  await using server = scriptedServer();
  const wrong = { approval: 'aprove' as never };
  await using host = createHost();
  expect(() => host.createThread({ servers: {}, policy: wrong })).toThrow(HoldfastError);
  await using thread = host.createThread({ servers: { docs: server.config }, policy: { approval: 'prompt' } });
  expect(() => {
    thread.setPolicy(wrong);
  }).toThrow('Expected policy.approval to be one of "auto", "prompt", "approve", "writes", got "aprove".');
  // What held before holds on.
  thread.events$.subscribe((event) => {
    if (event.type === 'elicitation.opened') void thread.respond(event.elicitation.token, { action: 'decline' });
  });
  const step = await thread.beginStep();
  expect(await errorOf(step.callTool('mcp__docs__readOnly'))).toMatchObject({ code: 'not_approved' });
});

test('EL-6 PO-1 approvals are refused for themselves, for the thread or for a server', async () => {
  await using one = scriptedServer();
  await using two = scriptedServer();
  await using watch = watched({
    servers: { one: one.config, two: two.config },
    policy: {
      approval: 'prompt',
      elicitation: { approvals: false },
      servers: { two: { elicitation: { approvals: true, forms: false } } },
    },
  });
  const { thread } = watch;
  const step = await thread.beginStep();
  expect(await errorOf(step.callTool('mcp__one__ask'))).toMatchObject({ code: 'not_approved', outcome: 'not-sent' });
  expect(watch.of('elicitation.opened')).toEqual([]);
  const result = step.callTool('mcp__two__ask');
  const { kind, token } = await watch.nextQuestion();
  expect(kind).toBe('approval');
  await thread.respond(token, { action: 'accept' });
  expect(answerOf(await result)).toMatchObject({ action: 'decline' });
  expect([one.calls(), two.calls()]).toEqual([0, 1]);
});

test('EL-6 PO-2 PO-3 a reviewer sees what changed, and its answer lasts only where it says so', async () => {
  const seen: ReviewRequest['elicitation'][] = [];
  let answer: ElicitationAnswer = { action: 'accept' };
  await using server = scriptedServer({ tools: [] });
  await server.addTool('note');
  await using watch = watched({
    servers: { docs: server.config },
    policy: { approval: 'auto' },
    reviewer: ({ elicitation }) => {
      seen.push(elicitation);
      return answer;
    },
  });
  const { thread } = watch;
  const step = await thread.beginStep();
  await step.callTool('mcp__docs__note');
  answer = { action: 'accept', content: { remember: 'session' } };
  await step.callTool('mcp__docs__note');
  await step.callTool('mcp__docs__note');
  expect(seen).toHaveLength(2);
  await server.addTool({ name: 'note', description: 'Another.', inputSchema: { type: 'object' } });
  await watch.until('tools.changed');
  const next = await thread.beginStep();
  await next.callTool('mcp__docs__note');
  expect(seen[2]).toMatchObject({
    kind: 'approval',
    params: { changed: [{ field: 'description', after: 'Another.' }] },
  });
  expect(watch.of('elicitation.opened')).toEqual([]);
});

test('EL-6 PO-2 what was approved before is declined all the same where the policy declines', async () => {
  await using server = scriptedServer();
  await using watch = watched({ servers: { docs: server.config }, policy: { approval: 'auto' } });
  const { thread } = watch;
  const step = await thread.beginStep();
  const first = step.callTool('mcp__docs__destructive');
  await thread.respond((await watch.nextQuestion()).token, { action: 'accept', content: { remember: 'always' } });
  await first;
  thread.setPolicy({ approval: 'auto', elicitation: { autoDeny: true } });
  expect(await errorOf(step.callTool('mcp__docs__destructive'))).toMatchObject({ code: 'not_approved' });
  thread.setPolicy({ approval: 'auto', elicitation: { approvals: false } });
  expect(await errorOf(step.callTool('mcp__docs__destructive'))).toMatchObject({ code: 'not_approved' });
  expect(server.calls()).toBe(1);
});

test('EL-6 EL-7 a reviewer that never answers is given no more time than the person', async () => {
  const clock = new SimulatedClock();
  await using server = scriptedServer();
  const asked = [deferred(), deferred()] as const;
  let reviews = 0;
  let aborted = 0;
  await using watch = watched({
    servers: { docs: server.config },
    policy: { elicitation: { unattendedMs: 1_000 } },
    clock,
    reviewer: (_, { signal }) => {
      signal.addEventListener('abort', () => (aborted += 1));
      asked[reviews === 0 ? 0 : 1].resolve();
      reviews += 1;
      return new Promise(() => undefined);
    },
  });
  const { thread } = watch;
  const step = await thread.beginStep();
  const form = step.callTool('mcp__docs__ask');
  await asked[0].promise;
  clock.increment(1_000);
  expect(answerOf(await form)).toMatchObject({ action: 'cancel' });
  thread.setPolicy({ approval: 'prompt', elicitation: { unattendedMs: 1_000 } });
  const call = errorOf(step.callTool('mcp__docs__echo'));
  await asked[1].promise;
  clock.increment(1_000);
  expect(await call).toMatchObject({ code: 'not_approved', outcome: 'not-sent' });
  expect([aborted, watch.of('elicitation.opened').length]).toEqual([2, 0]);
  await step.end();
  expect(clock.pendingCount).toBe(0);
});

test('EL-7 H10 a question that goes while its reviewer thinks leaves no timer', async () => {
  const clock = new SimulatedClock();
  await using server = scriptedServer();
  const asked = deferred();
  await using watch = watched({
    servers: { docs: server.config },
    policy: { approval: 'prompt', elicitation: { unattendedMs: 1_000 } },
    clock,
    reviewer: () => {
      asked.resolve();
      return new Promise(() => undefined);
    },
  });
  const step = await watch.thread.beginStep();
  const call = errorOf(step.callTool('mcp__docs__echo'));
  await asked.promise;
  await step.end();
  expect(await call).toMatchObject({ code: 'aborted' });
  expect(clock.pendingCount).toBe(0);
});

/** Policy that changes while a thread runs, and who decides on approvals. */
import { expect, test } from 'vitest';
import { createHost, HoldfastError } from '../../../src/index.ts';
import type { ElicitationAnswer, ReviewRequest } from '../../../src/index.ts';
import { deferred, scriptedServer } from '../../../src/testing/index.ts';
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

test('PO-1 a mode that is none is refused, or asks: it never counts as one that asks less', async () => {
  await using server = scriptedServer();
  const wrong = { approval: 'aprove' as never };
  await using host = createHost();
  expect(() => host.createThread({ servers: {}, policy: wrong })).toThrow(HoldfastError);
  await using watch = watched({ servers: { docs: { ...server.config, ...wrong } } });
  const { thread } = watch;
  expect(() => {
    thread.setPolicy(wrong);
  }).toThrow('Expected policy.approval to be one of "auto", "prompt", "approve", "writes", got "aprove".');
  const step = await thread.beginStep();
  const failed = errorOf(step.callTool('mcp__docs__readOnly'));
  await thread.respond((await watch.nextQuestion()).token, { action: 'decline' });
  expect(await failed).toMatchObject({ code: 'not_approved' });
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

/** Who decides a question before the person does, and what becomes of one nobody sees. */
import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import type { ElicitationAnswer, PendingElicitation, Policy, ReviewRequest } from '../../../src/index.ts';
import { deferred, scriptedServer, SimulatedClock } from '../../../src/testing/index.ts';
import { ada, answerOf, eras, turn, watched } from './support.ts';

const emptySchema = { type: 'object', properties: {} };

describe.each(eras)('policy in the %s era', (era) => {
  /** What the server is answered to one call, and what was shown meanwhile. */
  async function decided(policy: Policy, tool: string, args = {}, answer: ElicitationAnswer = ada) {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config }, policy });
    watch.thread.events$.subscribe((event) => {
      if (event.type === 'elicitation.opened') void watch.thread.respond(event.elicitation.token, answer);
    });
    const step = await watch.thread.beginStep();
    const given = answerOf(await step.callTool(`mcp__docs__${tool}`, args));
    return { given, shown: watch.of('elicitation.opened').length };
  }

  test('EL-6 auto-deny declines before anything else', async () => {
    const policy = { elicitation: { autoDeny: true, acceptEmptyForms: true } };
    expect(await decided(policy, 'ask')).toMatchObject({ given: { action: 'decline' }, shown: 0 });
    expect(await decided(policy, 'ask', { schema: emptySchema })).toMatchObject({
      given: { action: 'decline' },
      shown: 0,
    });
    expect(await decided(policy, 'askUrl')).toMatchObject({ given: { action: 'decline' }, shown: 0 });
  });

  test('EL-6 an empty form is accepted where the policy says so, before forms are refused; others are shown', async () => {
    const policy = { elicitation: { acceptEmptyForms: true } };
    expect(await decided(policy, 'ask', { schema: emptySchema })).toMatchObject({
      given: { action: 'accept', content: {} },
      shown: 0,
    });
    expect(await decided(policy, 'ask')).toMatchObject({ given: ada, shown: 1 });
    expect(
      await decided({ elicitation: { acceptEmptyForms: true, forms: false } }, 'ask', { schema: emptySchema }),
    ).toMatchObject({ given: { action: 'accept', content: {} }, shown: 0 });
  });

  test('EL-6 each kind is refused for itself', async () => {
    expect(await decided({ elicitation: { forms: false } }, 'ask')).toMatchObject({
      given: { action: 'decline' },
      shown: 0,
    });
    expect(await decided({ elicitation: { forms: false } }, 'askUrl', {}, { action: 'accept' })).toMatchObject({
      given: { action: 'accept' },
      shown: 1,
    });
    expect(await decided({ elicitation: { urls: false } }, 'askUrl')).toMatchObject({
      given: { action: 'decline' },
      shown: 0,
    });
    expect(await decided({ elicitation: { urls: false } }, 'ask')).toMatchObject({ given: ada, shown: 1 });
  });

  test('EL-6 the policy of a server wins over that of the thread, for this server alone', async () => {
    await using one = scriptedServer({ era });
    await using two = scriptedServer({ era });
    const policy = { elicitation: { autoDeny: true }, servers: { two: { elicitation: { autoDeny: false } } } };
    await using watch = watched({ servers: { one: one.config, two: two.config }, policy });
    const step = await watch.thread.beginStep();
    expect(answerOf(await step.callTool('mcp__one__ask'))).toMatchObject({ action: 'decline' });
    const result = step.callTool('mcp__two__ask');
    const question = await watch.nextQuestion();
    expect(question.server).toBe('two');
    await watch.thread.respond(question.token, ada);
    expect(answerOf(await result)).toMatchObject(ada);
  });

  test('EL-6 a reviewer answers instead of the person, may be slow, and sees the question', async () => {
    await using server = scriptedServer({ era });
    const verdict = deferred<ElicitationAnswer>();
    const seen: ReviewRequest[] = [];
    await using watch = watched({
      servers: { docs: server.config },
      reviewer: (request) => {
        seen.push(request);
        return verdict.promise;
      },
    });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__ask');
    await server.until('asked');
    await turn();
    verdict.resolve(ada);
    expect(answerOf(await result)).toMatchObject(ada);
    expect(seen).toMatchObject([{ elicitation: { server: 'docs', kind: 'form', attribution: 'call' } }]);
    expect(watch.of('elicitation.opened')).toEqual([]);
    expect(await watch.thread.respond(seen[0]?.elicitation.token ?? '', ada)).toMatchObject({ status: 'settled' });
  });

  test('EL-6 a reviewer without an opinion leaves the question to the person', async () => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config }, reviewer: () => undefined });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__ask');
    const { token } = await watch.nextQuestion();
    await watch.thread.respond(token, ada);
    expect(answerOf(await result)).toMatchObject(ada);
  });

  test.each(['throws', 'rejects'] as const)('EL-6 RT-12 a reviewer that %s declines, and is reported', async (how) => {
    await using server = scriptedServer({ era });
    await using watch = watched({
      servers: { docs: server.config },
      reviewer: () => {
        if (how === 'throws') throw new Error('no idea');
        return Promise.reject(new Error('no idea'));
      },
    });
    const step = await watch.thread.beginStep();
    expect(answerOf(await step.callTool('mcp__docs__ask'))).toMatchObject({ action: 'decline' });
    expect(watch.of('warning')).toMatchObject([{ code: 'reviewer_failed', server: 'docs' }]);
    expect(watch.of('elicitation.opened')).toEqual([]);
  });

  test.each([
    { action: 'accept', content: { name: 4 } },
    { action: 'accept', content: { name: 'Ada', extra: 1 } },
    { action: 'accept' },
    { action: 'shrug' },
    'yes',
    null,
  ])('EL-4 EL-6 a reviewer whose answer does not fit (%j) declines, and is reported', async (answer) => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config }, reviewer: () => answer as never });
    const step = await watch.thread.beginStep();
    expect(answerOf(await step.callTool('mcp__docs__ask'))).toMatchObject({ action: 'decline' });
    expect(watch.of('warning')).toMatchObject([{ code: 'reviewer_failed', server: 'docs' }]);
  });

  test('EL-4 EL-6 the answer of a reviewer gets the defaults of what it left out', async () => {
    await using server = scriptedServer({ era });
    const schema = { type: 'object', properties: { name: { type: 'string', default: 'Grace' } } };
    await using watch = watched({
      servers: { docs: server.config },
      reviewer: () => ({ action: 'accept', content: {} }),
    });
    const step = await watch.thread.beginStep();
    expect(answerOf(await step.callTool('mcp__docs__ask', { schema }))).toMatchObject({ content: { name: 'Grace' } });
  });

  test('EL-6 EL-8 a reviewer is told by its signal that the question is gone', async () => {
    await using server = scriptedServer({ era });
    const asked = deferred();
    const told = deferred();
    await using watch = watched({
      servers: { docs: server.config },
      reviewer: (_, { signal }) => {
        signal.addEventListener('abort', () => told.resolve());
        asked.resolve();
        return new Promise(() => undefined);
      },
    });
    const step = await watch.thread.beginStep();
    const controller = new AbortController();
    const result = step.callTool('mcp__docs__ask', {}, { signal: controller.signal });
    await asked.promise;
    controller.abort();
    await expect(result).rejects.toMatchObject({ code: 'aborted' });
    await told.promise;
  });
});

describe.each(eras)('a question nobody listens for, in the %s era', (era) => {
  test('EL-7 stays pending, is in the snapshot, and is replayed to a late listener', async () => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config } });
    const { thread } = watch;
    const step = await thread.beginStep();
    const result = step.callTool('mcp__docs__ask');
    const question = await watch.nextQuestion();
    expect(thread.snapshot().elicitations).toEqual([question]);
    expect(question).not.toHaveProperty('expiresAt');

    const lists: (readonly PendingElicitation[])[] = [];
    const emptied = deferred();
    thread.elicitations$.subscribe((list) => {
      lists.push(list);
      if (lists.length > 1 && list.length === 0) emptied.resolve();
    });
    expect(lists).toEqual([[question]]);
    await thread.respond(question.token, ada);
    expect(answerOf(await result)).toMatchObject(ada);
    await emptied.promise;
    expect(lists.at(-1)).toEqual([]);
  });

  test('EL-7 H9 is kept while nothing listens at all, and what the snapshot shows is plain data', async () => {
    await using server = scriptedServer({ era });
    const decided = deferred();
    await using thread = createThread({
      servers: { docs: server.config },
      reviewer: () => {
        decided.resolve();
        return undefined;
      },
    });
    const step = await thread.beginStep();
    const result = step.callTool('mcp__docs__ask', { meta: { 'example.com/tag': 1 } });
    await decided.promise;
    await turn();
    const snapshot = thread.snapshot();
    expect(JSON.parse(JSON.stringify(snapshot))).toStrictEqual(snapshot);
    const [question] = snapshot.elicitations;
    expect(question).toMatchObject({ server: 'docs', message: 'What is your name?' });
    expect(await thread.respond(question?.token ?? '', ada)).toEqual({ status: 'delivered' });
    expect(answerOf(await result)).toMatchObject(ada);
  });

  test('EL-7 expires after unattendedMs, and its server hears a cancel', async () => {
    const clock = new SimulatedClock();
    await using server = scriptedServer({ era });
    await using watch = watched({
      servers: { docs: server.config },
      clock,
      policy: { elicitation: { unattendedMs: 30_000 } },
    });
    const { thread } = watch;
    const step = await thread.beginStep();
    const result = step.callTool('mcp__docs__ask');
    const { token, openedAt, expiresAt } = await watch.nextQuestion();
    expect(Date.parse(expiresAt ?? '') - Date.parse(openedAt)).toBe(30_000);
    clock.increment(29_999);
    expect(thread.snapshot().elicitations).toHaveLength(1);
    clock.increment(1);
    expect(answerOf(await result)).toMatchObject({ action: 'cancel' });
    expect(watch.of('elicitation.settled')).toMatchObject([{ token, outcome: 'expired' }]);
    expect(await thread.respond(token, ada)).toEqual({ status: 'expired', reason: expect.any(String) as unknown });
    expect(thread.snapshot().elicitations).toEqual([]);
  });

  test('EL-7 an answer in time ends its limit', async () => {
    const clock = new SimulatedClock();
    await using server = scriptedServer({ era });
    await using watch = watched({
      servers: { docs: server.config },
      clock,
      policy: { elicitation: { unattendedMs: 30_000 } },
    });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__ask');
    const { token } = await watch.nextQuestion();
    await watch.thread.respond(token, ada);
    expect(answerOf(await result)).toMatchObject(ada);
    clock.increment(60_000);
    await turn();
    expect(watch.of('elicitation.settled')).toMatchObject([{ token, outcome: 'accepted' }]);
    await step.end();
    expect(clock.pendingCount).toBe(0);
  });
});

test('EL-7 RT-12 a listener of elicitations$ that throws disturbs neither the thread nor the others', async () => {
  await using server = scriptedServer();
  await using watch = watched({ servers: { docs: server.config } });
  const { thread } = watch;
  const lists: number[] = [];
  thread.elicitations$.subscribe(() => {
    throw new Error('broken listener');
  });
  thread.elicitations$.subscribe((list) => lists.push(list.length));
  const step = await thread.beginStep();
  const result = step.callTool('mcp__docs__ask');
  const { token } = await watch.nextQuestion();
  await thread.respond(token, ada);
  expect(answerOf(await result)).toMatchObject(ada);
  expect(await watch.until('warning')).toMatchObject({ code: 'listener_failed' });
});

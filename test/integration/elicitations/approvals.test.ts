/** Approvals: questions of Holdfast's own, put before a call is sent, through the same router. */
import { describe, expect, test } from 'vitest';
import type { ApprovalMode, Policy, ServerSettings } from '../../../src/index.ts';
import { scriptedServer, SimulatedClock } from '../../../src/testing/index.ts';
import { ada, answerOf, eras, errorOf, textOf, turn, watched } from './support.ts';

const asks = { approval: 'prompt' } as const;

describe.each(eras)('a call that needs approval in the %s era', (era) => {
  test('PO-1 EL-11 is put as a question with server, tool and arguments, and runs when it is accepted', async () => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config }, policy: asks });
    const { thread } = watch;
    const step = await thread.beginStep();
    const result = step.callTool('mcp__docs__echo', { text: 'hi' }, { callId: 'mine' });
    const question = await watch.nextQuestion();
    expect(question).toMatchObject({
      kind: 'approval',
      server: 'docs',
      params: { server: 'docs', tool: 'echo', arguments: { text: 'hi' } },
      attribution: 'call',
      step: step.id,
      request: 'mine',
      generation: 1,
    });
    expect(thread.snapshot().steps[0]?.calls).toMatchObject([{ state: 'awaitingApproval', request: 'mine' }]);
    expect(watch.of('call.started')).toEqual([]);
    expect(server.calls()).toBe(0);
    expect(await thread.respond(question.token, { action: 'accept' })).toEqual({ status: 'delivered' });
    expect(textOf(await result)).toBe('hi');
    expect(watch.indexOf('elicitation.settled')).toBeLessThan(watch.indexOf('call.started'));
  });

  test.each([
    [{ action: 'decline' }, 'declined'],
    [{ action: 'cancel' }, 'cancelled'],
  ] as const)('PO-1 answered by %j fails as not_approved and is not sent', async (answer, outcome) => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config }, policy: asks });
    const step = await watch.thread.beginStep();
    const failed = errorOf(step.callTool('mcp__docs__echo'));
    const { token } = await watch.nextQuestion();
    await watch.thread.respond(token, answer);
    expect(await failed).toMatchObject({ code: 'not_approved', outcome: 'not-sent' });
    expect(watch.of('elicitation.settled')).toMatchObject([{ token, outcome }]);
    expect(watch.of('call.ended')).toMatchObject([{ outcome: 'not-sent', error: { code: 'not_approved' } }]);
    expect(server.calls()).toBe(0);
  });

  test('PO-1 EL-8 aborted while it waits is not sent, and its question is cancelled', async () => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config }, policy: asks });
    const { thread } = watch;
    const step = await thread.beginStep();
    const controller = new AbortController();
    const failed = errorOf(step.callTool('mcp__docs__echo', {}, { signal: controller.signal }));
    const { token } = await watch.nextQuestion();
    controller.abort();
    expect(await failed).toMatchObject({ code: 'aborted', outcome: 'not-sent' });
    expect(await thread.respond(token, { action: 'accept' })).toMatchObject({
      status: 'settled',
      outcome: 'cancelled',
    });
    const other = errorOf(step.callTool('mcp__docs__echo'));
    const next = await watch.nextQuestion();
    await step.end();
    expect(await other).toMatchObject({ code: 'aborted', outcome: 'not-sent' });
    expect(await thread.respond(next.token, { action: 'accept' })).toMatchObject({ status: 'settled' });
    expect(server.calls()).toBe(0);
  });

  test('PO-1 RT-2 H1 H3 survives a replacement: accepted afterwards, it runs where its step is pinned', async () => {
    await using old = scriptedServer({ era });
    await using next = scriptedServer({ era });
    await using watch = watched({ servers: { docs: old.config }, policy: asks });
    const { thread } = watch;
    const step = await thread.beginStep();
    const result = step.callTool('mcp__docs__echo', { text: 'old' });
    const { token } = await watch.nextQuestion();
    await thread.replaceRuntime({ servers: { docs: next.config } });
    await thread.respond(token, { action: 'accept' });
    expect(textOf(await result)).toBe('old');
    expect([old.calls(), next.calls()]).toEqual([1, 0]);
    await step.end();
    await watch.until('runtime.stopped');
  });

  test('PO-1 EL-2 then may ask itself: two questions of one call, one after the other', async () => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config }, policy: asks });
    const { thread } = watch;
    const step = await thread.beginStep();
    const result = step.callTool('mcp__docs__ask');
    const approval = await watch.nextQuestion();
    await thread.respond(approval.token, { action: 'accept' });
    const form = await watch.nextQuestion();
    expect([approval.kind, form.kind]).toEqual(['approval', 'form']);
    expect(approval.call).toBe(form.call);
    await thread.respond(form.token, ada);
    expect(answerOf(await result)).toMatchObject(ada);
  });
});

test('PO-1 EL-9 RT-9 a call that waits for approval spends no time and holds no turn', async () => {
  const clock = new SimulatedClock();
  await using server = scriptedServer();
  await using watch = watched({
    servers: { docs: { ...server.config, callTimeoutMs: 1_000, tools: { perTool: { slow: { approval: 'prompt' } } } } },
    limits: { callsPerThread: 1 },
    clock,
  });
  const { thread } = watch;
  const step = await thread.beginStep();
  const waiting = step.callTool('mcp__docs__slow', { ms: 0 });
  const { token } = await watch.nextQuestion();
  clock.increment(600_000);
  expect(textOf(await step.callTool('mcp__docs__echo', { text: 'goes on' }))).toBe('goes on');
  await thread.respond(token, { action: 'accept' });
  expect(textOf(await waiting)).toBe('slept 0 ms');
});

test('PO-1 EL-3 accepted with something other than what may be remembered is invalid', async () => {
  await using server = scriptedServer();
  await using watch = watched({ servers: { docs: server.config }, policy: asks });
  const { thread } = watch;
  const step = await thread.beginStep();
  const result = step.callTool('mcp__docs__echo', { text: 'x' });
  const { token } = await watch.nextQuestion();
  expect(await thread.respond(token, { action: 'accept', content: { remember: 'forever' } })).toMatchObject({
    status: 'invalid',
    issues: [{ path: '/content/remember' }],
  });
  expect(await thread.respond(token, { action: 'accept', content: { remember: 'once' } })).toEqual({
    status: 'delivered',
  });
  expect(textOf(await result)).toBe('x');
});

describe('who decides on approvals', () => {
  test('PO-1 EL-6 a reviewer approves or declines without the person', async () => {
    await using server = scriptedServer();
    await using watch = watched({
      servers: { docs: server.config },
      policy: asks,
      reviewer: ({ elicitation: { params } }) => ({ action: params?.['tool'] === 'echo' ? 'accept' : 'decline' }),
    });
    const step = await watch.thread.beginStep();
    expect(textOf(await step.callTool('mcp__docs__echo', { text: 'yes' }))).toBe('yes');
    expect(await errorOf(step.callTool('mcp__docs__readOnly'))).toMatchObject({
      code: 'not_approved',
      outcome: 'not-sent',
    });
    expect(watch.of('elicitation.opened')).toEqual([]);
  });

  test('PO-1 EL-6 auto-deny declines approvals as well', async () => {
    await using server = scriptedServer();
    await using watch = watched({
      servers: { docs: server.config },
      policy: { ...asks, elicitation: { autoDeny: true } },
    });
    const step = await watch.thread.beginStep();
    expect(await errorOf(step.callTool('mcp__docs__echo'))).toMatchObject({
      code: 'not_approved',
      outcome: 'not-sent',
    });
  });

  test('PO-1 EL-7 nobody answers in time: not approved', async () => {
    const clock = new SimulatedClock();
    await using server = scriptedServer();
    await using watch = watched({
      servers: { docs: server.config },
      policy: { ...asks, elicitation: { unattendedMs: 1_000 } },
      clock,
    });
    const step = await watch.thread.beginStep();
    const failed = errorOf(step.callTool('mcp__docs__echo'));
    const { token } = await watch.nextQuestion();
    clock.increment(1_000);
    expect(await failed).toMatchObject({ code: 'not_approved', outcome: 'not-sent' });
    expect(watch.of('elicitation.settled')).toMatchObject([{ token, outcome: 'expired' }]);
  });
});

describe('modes', () => {
  /** The tools whose call is put to the person. */
  async function asked(policy: Policy, settings: ServerSettings): Promise<readonly unknown[]> {
    const tools = ['echo', 'destructive', 'idempotent', 'count'] as const;
    await using server = scriptedServer({ tools });
    await using watch = watched({ servers: { docs: { ...server.config, ...settings } }, policy });
    const { thread } = watch;
    thread.events$.subscribe((event) => {
      if (event.type === 'elicitation.opened') void thread.respond(event.elicitation.token, { action: 'accept' });
    });
    const step = await thread.beginStep();
    for (const tool of tools) await step.callTool(`mcp__docs__${tool}`);
    await turn();
    return watch.of('elicitation.opened').map(({ elicitation }) => elicitation.params?.['tool']);
  }

  test.each([
    ['auto', ['destructive', 'idempotent']],
    ['prompt', ['echo', 'destructive', 'idempotent', 'count']],
    ['approve', []],
    ['writes', ['destructive', 'idempotent']],
  ] as const satisfies readonly (readonly [ApprovalMode, readonly string[]])[])(
    'PO-1 %s asks for %j',
    async (approval, tools) => {
      expect(await asked({ approval }, {})).toEqual(tools);
    },
  );

  test('PO-1 calls your own code makes are approved where no mode is set', async () => {
    expect(await asked({}, {})).toEqual([]);
  });

  test('PO-1 the mode of a tool wins over that of its server, and that over the mode of the thread', async () => {
    expect(await asked({ approval: 'prompt' }, { approval: 'approve' })).toEqual([]);
    expect(
      await asked(
        { approval: 'approve' },
        { approval: 'prompt', tools: { perTool: { echo: { approval: 'approve' } } } },
      ),
    ).toEqual(['destructive', 'idempotent', 'count']);
  });
});

/** Who is asked before the person, and gives or throws what is none of the answers there are. */
import { describe, expect, test } from 'vitest';
import type { ApprovalMemory, RememberedApproval } from '../../../src/index.ts';
import { scriptedServer } from '../../../src/testing/index.ts';
import { errorOf, watched } from './support.ts';

const throwsNothingReadable = (): never => {
  throw Object.create(null);
};
const circular: Record<string, unknown> = { remember: 'always' };
circular['tool'] = circular;

const given: readonly unknown[] = [
  null,
  {},
  5,
  { remember: 'always' },
  { remember: 'always', tool: null },
  { remember: 'always', tool: {} },
  { remember: 'forever', tool: { name: 'destructive', fingerprint: 'x', origin: 'y', inputSchema: {} } },
  { remember: 'always', tool: { name: 'destructive', fingerprint: 'x', origin: 'y' } },
  circular,
  { remember: 'once', tool: { inputSchema: 5n } },
  Promise.resolve(null),
];

describe('a memory of approvals', () => {
  test.each(given.map((value, index) => [index, value] as const))(
    'PO-2 RT-12 that gives what is no approval (%i) remembers nothing, with a warning',
    async (_index, value) => {
      await using server = scriptedServer();
      const kept: RememberedApproval[] = [];
      await using watch = watched({
        servers: { docs: server.config },
        policy: { approval: 'writes' },
        approvals: {
          recall: () => value as RememberedApproval,
          keep: (_key, approval) => void kept.push(approval),
          forget: () => undefined,
        },
      });
      const { thread } = watch;
      const step = await thread.beginStep();
      for (const _ of [1, 2]) {
        const result = step.callTool('mcp__docs__destructive');
        const { token } = await watch.nextQuestion();
        await thread.respond(token, { action: 'accept' });
        await result;
      }
      expect(server.calls()).toBe(2);
      expect(watch.of('warning').map(({ code }) => code)).toContain('approvals_failed');
      expect(kept.length).toBeGreaterThan(0);
    },
  );

  test('PO-2 RT-12 that throws a value without text costs a question', async () => {
    await using server = scriptedServer();
    const approvals: ApprovalMemory = {
      recall: throwsNothingReadable,
      keep: throwsNothingReadable,
      forget: throwsNothingReadable,
    };
    await using watch = watched({ servers: { docs: server.config }, policy: { approval: 'writes' }, approvals });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__destructive');
    const { token } = await watch.nextQuestion();
    await watch.thread.respond(token, { action: 'accept', content: { remember: 'always' } });
    await result;
    expect(watch.of('warning')[0]).toMatchObject({
      code: 'approvals_failed',
      message: expect.stringContaining('a value without text') as string,
    });
  });
});

test('EL-6 RT-12 a reviewer that throws a value without text declines', async () => {
  await using server = scriptedServer();
  await using watch = watched({
    servers: { docs: server.config },
    policy: { approval: 'prompt' },
    reviewer: throwsNothingReadable,
  });
  const step = await watch.thread.beginStep();
  expect(await errorOf(step.callTool('mcp__docs__echo'))).toMatchObject({ code: 'not_approved' });
  expect(server.calls()).toBe(0);
  expect(watch.of('warning')).toMatchObject([{ code: 'reviewer_failed' }]);
});

/** Approvals that hold for more than one call, and what becomes of them when the tool changes. */
import { describe, expect, test } from 'vitest';
import { createApprovalMemory, createHost } from '../../../src/index.ts';
import type {
  ApprovalMemory,
  ListedTool,
  PendingElicitation,
  RememberedApproval,
  ThreadOptions,
} from '../../../src/index.ts';
import { deferred, scriptedServer, stdioServerConfig } from '../../../src/testing/index.ts';
import { eras, errorOf, textOf, watched } from '../elicitations/support.ts';

const writes = { approval: 'writes' } as const;

const always = { action: 'accept', content: { remember: 'always' } } as const;
const session = { action: 'accept', content: { remember: 'session' } } as const;
const once = { action: 'accept' } as const;

function note(description: string, more: Partial<ListedTool> = {}): ListedTool {
  return { name: 'note', description, inputSchema: { type: 'object' }, ...more };
}

describe.each(eras)('an approval in the %s era', (era) => {
  test('PO-2 holds for one call when nothing else is said, or once', async () => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config }, policy: writes });
    const step = await watch.thread.beginStep();
    for (const answer of [once, { action: 'accept', content: { remember: 'once' } } as const, once]) {
      const result = step.callTool('mcp__docs__destructive');
      const { token, params } = await watch.nextQuestion();
      expect(params).toMatchObject({ remember: ['once', 'session', 'always'] });
      expect(params).not.toHaveProperty('changed');
      await watch.thread.respond(token, answer);
      await result;
    }
    expect(server.calls()).toBe(3);
  });

  test.each([session, always])(
    'PO-2 answered by %j holds for this tool in later steps and runtimes',
    async (answer) => {
      await using server = scriptedServer({ era });
      await using watch = watched({ servers: { docs: server.config }, policy: writes });
      const { thread } = watch;
      const step = await thread.beginStep();
      const result = step.callTool('mcp__docs__destructive');
      await thread.respond((await watch.nextQuestion()).token, answer);
      await result;
      await step.callTool('mcp__docs__destructive');
      await thread.replaceRuntime({ servers: { docs: { ...server.config, callTimeoutMs: 1_000 } } });
      const next = await thread.beginStep();
      await next.callTool('mcp__docs__destructive');
      expect(watch.of('elicitation.opened')).toHaveLength(1);
      const other = errorOf(next.callTool('mcp__docs__idempotent'));
      await thread.respond((await watch.nextQuestion()).token, { action: 'decline' });
      expect(await other).toMatchObject({ code: 'not_approved' });
      expect(server.calls()).toBe(3);
    },
  );

  test('PO-2 PO-3 of a tool that changed asks again, and says what changed', async () => {
    await using server = scriptedServer({ era, tools: [] });
    await server.addTool(note('Adds a note.'));
    await using watch = watched({ servers: { docs: server.config }, policy: writes });
    const { thread } = watch;
    const before = await thread.beginStep();
    const first = before.callTool('mcp__docs__note');
    await thread.respond((await watch.nextQuestion()).token, always);
    await first;
    await server.addTool(note('Adds a note. Also sends it away.', { annotations: { openWorldHint: true } }));
    await watch.until('tools.changed');
    // What a step was shown is what was approved: it goes on as it did.
    await before.callTool('mcp__docs__note');
    expect(watch.of('elicitation.opened')).toHaveLength(1);
    const after = await thread.beginStep();
    const second = after.callTool('mcp__docs__note');
    const question = await watch.nextQuestion();
    expect(question.message).toContain('Changed: description, annotations.');
    expect(question.params?.['changed']).toEqual([
      { field: 'description', before: 'Adds a note.', after: 'Adds a note. Also sends it away.' },
      { field: 'annotations', before: null, after: { openWorldHint: true } },
    ]);
    expect(thread.snapshot().elicitations[0]?.params?.['changed']).toHaveLength(2);
    await thread.respond(question.token, once);
    await second;
    const third = after.callTool('mcp__docs__note');
    const again = await watch.nextQuestion();
    expect(again.params).not.toHaveProperty('changed');
    await thread.respond(again.token, session);
    await third;
    await after.callTool('mcp__docs__note');
    expect(watch.of('elicitation.opened')).toHaveLength(3);
  });
});

test('PO-2 where every call is to be asked for, an answer holds once, and an earlier one does not hold', async () => {
  const approvals = createApprovalMemory();
  await using server = scriptedServer();
  await using watch = watched({ servers: { docs: server.config }, policy: writes, approvals });
  const { thread } = watch;
  const step = await thread.beginStep();
  const first = step.callTool('mcp__docs__destructive');
  await thread.respond((await watch.nextQuestion()).token, always);
  await first;
  thread.setPolicy({ approval: 'prompt' });
  const second = step.callTool('mcp__docs__destructive');
  const question = await watch.nextQuestion();
  expect(question.params).toMatchObject({ remember: ['once'] });
  await thread.respond(question.token, always);
  await second;
  const third = step.callTool('mcp__docs__echo');
  await thread.respond((await watch.nextQuestion()).token, always);
  await third;
  thread.setPolicy(writes);
  await step.callTool('mcp__docs__destructive');
  expect(watch.of('elicitation.opened')).toHaveLength(3);
  expect(await approvals.recall({ scope: { kind: 'user' }, server: 'docs', tool: 'echo' })).toMatchObject({
    remember: 'once',
    tool: { name: 'echo' },
  });
});

describe('how far an approval reaches', () => {
  /** Approves a call of `destructive` in a new thread, and tells whether the person was asked. */
  async function call(options: ThreadOptions, host: ReturnType<typeof createHost>, answer: typeof once = once) {
    await using thread = host.createThread(options);
    let asked = 0;
    thread.events$.subscribe((event) => {
      if (event.type !== 'elicitation.opened') return;
      asked += 1;
      void thread.respond(event.elicitation.token, answer);
    });
    const step = await thread.beginStep();
    await step.callTool('mcp__docs__destructive');
    return asked;
  }

  test('PO-2 always holds in the other threads of the host, and session ends with its thread', async () => {
    await using server = scriptedServer();
    await using host = createHost({ policy: writes });
    const options = { servers: { docs: server.config } };
    expect(await call(options, host, session)).toBe(1);
    expect(await call(options, host, always)).toBe(1);
    expect(await call(options, host)).toBe(0);
    expect(await call({ ...options, approvals: createApprovalMemory() }, host)).toBe(1);
    await using other = createHost({ policy: writes });
    expect(await call(options, other)).toBe(1);
  });

  test('PO-2 H8 a tool of the same name and definition on another server is another one', async () => {
    await using server = scriptedServer();
    await using host = createHost({ policy: writes });
    expect(await call({ servers: { docs: server.config } }, host, always)).toBe(1);
    await using thread = host.createThread({ servers: { other: server.config } });
    const step = await thread.beginStep();
    const result = step.callTool('mcp__other__destructive');
    const question = await new Promise<string>((resolve) => {
      thread.elicitations$.subscribe(([first]) => {
        if (first !== undefined) resolve(first.token);
      });
    });
    await thread.respond(question, once);
    await result;
  });

  test('PO-2 a memory that is told to forget makes the person be asked again', async () => {
    const approvals = createApprovalMemory();
    await using server = scriptedServer();
    await using host = createHost({ policy: writes, approvals });
    const options = { servers: { docs: server.config } };
    expect(await call(options, host, always)).toBe(1);
    await approvals.forget({ kind: 'user' });
    expect(await call(options, host)).toBe(1);
  });
});

describe('a memory of your own', () => {
  test('PO-2 may take its time: the next call is not asked for meanwhile', async () => {
    const kept = deferred<undefined>();
    const inner = createApprovalMemory();
    const approvals: ApprovalMemory = {
      ...inner,
      keep: async (key, approval) => {
        await kept.promise;
        await inner.keep(key, approval);
      },
    };
    await using server = scriptedServer();
    await using watch = watched({ servers: { docs: server.config }, policy: writes, approvals });
    const step = await watch.thread.beginStep();
    const first = step.callTool('mcp__docs__destructive');
    await watch.thread.respond((await watch.nextQuestion()).token, always);
    await first;
    await step.callTool('mcp__docs__destructive');
    kept.resolve(undefined);
    expect(watch.of('elicitation.opened')).toHaveLength(1);
  });

  test.each(['throws', 'rejects'] as const)(
    'PO-2 RT-12 that %s is reported; the person is asked, and always holds as long as the thread',
    async (how) => {
      const fail = (): Promise<never> => {
        if (how === 'throws') throw new Error('the disk is gone');
        return Promise.reject(new Error('the disk is gone'));
      };
      await using server = scriptedServer();
      await using watch = watched({
        servers: { docs: server.config },
        policy: writes,
        approvals: { recall: fail, keep: fail, forget: fail },
      });
      const step = await watch.thread.beginStep();
      const first = step.callTool('mcp__docs__destructive');
      await watch.thread.respond((await watch.nextQuestion()).token, always);
      await first;
      await step.callTool('mcp__docs__destructive');
      expect(watch.of('elicitation.opened')).toHaveLength(1);
      const warning = watch.of('warning').find(({ code }) => code === 'approvals_failed');
      expect(warning).toMatchObject({
        server: 'docs',
        message: expect.stringContaining('the disk is gone') as unknown,
      });
    },
  );

  test('PO-2 H9 is given plain data, and may bring it back as such', async () => {
    const kept = new Map<string, string>();
    const approvals: ApprovalMemory = {
      recall: (key) => {
        const text = kept.get(JSON.stringify(key));
        return text === undefined ? undefined : parseApproval(text);
      },
      keep: (key, approval) => void kept.set(JSON.stringify(key), JSON.stringify(approval)),
      forget: (scope) => {
        for (const key of kept.keys()) if (key.includes(JSON.stringify(scope))) kept.delete(key);
      },
    };
    await using server = scriptedServer();
    for (const [answer, asked] of [
      [session, 1],
      [always, 1],
      [once, 0],
    ] as const) {
      await using watch = watched({ id: 'mine', servers: { docs: server.config }, policy: writes, approvals });
      watch.thread.events$.subscribe((event) => {
        if (event.type === 'elicitation.opened') void watch.thread.respond(event.elicitation.token, answer);
      });
      const step = await watch.thread.beginStep();
      expect(textOf(await step.callTool('mcp__docs__destructive'))).not.toBe('');
      expect(watch.of('elicitation.opened')).toHaveLength(asked);
    }
    expect([...kept.keys()]).toEqual([
      JSON.stringify({ scope: { kind: 'user' }, server: 'docs', tool: 'destructive' }),
    ]);
  });
});

test('PO-2 PO-3 another program behind the same stdio server asks again, and says what runs now', async () => {
  const approvals = createApprovalMemory();
  const docs = stdioServerConfig();
  const other = { ...docs, command: '/usr/bin/env', args: ['MODE=evil', docs.command, ...(docs.args ?? [])] };
  const askedOf = async (config: typeof docs): Promise<readonly PendingElicitation[]> => {
    await using watch = watched({ servers: { docs: config }, policy: writes, approvals });
    watch.thread.events$.subscribe((event) => {
      if (event.type === 'elicitation.opened') void watch.thread.respond(event.elicitation.token, always);
    });
    const step = await watch.thread.beginStep();
    await step.callTool('mcp__docs__destructive');
    return watch.of('elicitation.opened').map(({ elicitation }) => elicitation);
  };
  expect(await askedOf(docs)).toHaveLength(1);
  expect(await askedOf(docs)).toEqual([]);
  const [question] = await askedOf(other);
  expect(question?.message).toContain('Changed: origin.');
  expect(question?.params?.['changed']).toEqual([
    {
      field: 'origin',
      before: expect.stringMatching(/^stdio: .*node/) as string,
      after: expect.stringMatching(/^stdio: \/usr\/bin\/env MODE=evil /) as string,
    },
  ]);
});

function parseApproval(text: string): RememberedApproval {
  const approval: RememberedApproval = JSON.parse(text) as never;
  return approval;
}

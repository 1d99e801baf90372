/** Tasks of servers that are not ours, and tasks whose connection is lost. */
import { createRequire } from 'node:module';
import { InMemoryTransport, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ServerConfig, Thread } from '../../../src/index.ts';
import { createHost, createThread } from '../../../src/index.ts';
import { scriptedServer, serveHttp, stdioServerConfig } from '../../../src/testing/index.ts';
import { errorOf, eventually, textOf, Watch } from '../runtimes/support.ts';

const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

/** A thread on one server, that is closed when the test ends. */
async function on(config: ServerConfig) {
  const thread = createThread({ servers: { docs: config } });
  const watch = new Watch(thread);
  const step = await thread.beginStep();
  return { thread, watch, step, [Symbol.asyncDispose]: () => thread.close() };
}

/** Waits for the one open question and gives it an answer. */
async function answer(thread: Thread, content: Readonly<Record<string, string>>): Promise<void> {
  await eventually(() => thread.snapshot().elicitations.length === 1);
  await thread.respond(thread.snapshot().elicitations[0]?.token ?? '', { action: 'accept', content });
}

describe('server-everything, 2025-11-25 over stdio', () => {
  const config = { command: process.execPath, args: [everything] };
  const name = 'mcp__docs__simulate-research-query';

  test('ER-3 a tool that has to be called as a task is one call, with the stages of its work as progress', async () => {
    await using own = await on(config);
    const result = await own.step.callTool(name, { topic: 'statecharts' });
    expect(textOf(result)).toContain('Research Report: statecharts');
    expect(own.watch.of('call.progressed').map(({ message }) => message)).toEqual(
      expect.arrayContaining(['Gathering sources...', 'Generating report...']),
    );
    expect(own.watch.of('call.ended')).toMatchObject([{ outcome: 'completed' }]);
  });

  test('ER-3 EL-11 what it asks inside the task is put for the call, and the answer gets into the result', async () => {
    await using own = await on(config);
    const result = own.step.callTool(name, { topic: 'python', ambiguous: true }, { callId: 'research' });
    await eventually(() => own.thread.snapshot().elicitations.length === 1);
    expect(own.thread.snapshot().elicitations).toMatchObject([{ attribution: 'call', request: 'research' }]);
    await answer(own.thread, { interpretation: 'snake' });
    expect(textOf(await result)).toContain('python (snake)');
    expect(own.watch.of('call.paused')).toHaveLength(1);
  });

  test('ER-3 RT-8 aborted, its task is cancelled and the server goes on', async () => {
    await using own = await on(config);
    const controller = new AbortController();
    const result = own.step.callTool(name, { topic: 'owls' }, { signal: controller.signal });
    await own.watch.until(({ type }) => type === 'call.progressed');
    controller.abort();
    expect(await errorOf(result)).toMatchObject({ code: 'aborted', outcome: 'unknown' });
    expect(textOf(await own.step.callTool('mcp__docs__echo', { message: 'still here' }))).toContain('still here');
  });
});

test('ER-3 a server of the SDK that lets its tool return a task works as it is', async () => {
  const polls: string[] = [];
  const make = (): McpServer => {
    const server = new McpServer(
      { name: 'sdk', version: '1.0.0' },
      { capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } } },
    );
    const record = { taskId: 'one', createdAt: '2026-01-01T00:00:00Z', lastUpdatedAt: '2026-01-01T00:00:00Z' };
    const time = { ttlMs: null, pollIntervalMs: 100 };
    server.server.setRequestHandler('tools/list', () => ({
      tools: [{ name: 'work', inputSchema: { type: 'object' as const } }],
    }));
    server.server.setRequestHandler('tools/call', () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the SDK's types know no tasks, its code lets them through
      return { resultType: 'task', ...record, ...time, status: 'working' } as never;
    });
    server.server.setRequestHandler('tasks/get', { params: z.looseObject({ taskId: z.string() }) }, ({ taskId }) => {
      polls.push(taskId);
      if (polls.length < 3) return { ...record, ...time, status: 'working' };
      return { ...record, ...time, status: 'completed', result: { content: [{ type: 'text', text: 'from the SDK' }] } };
    });
    return server;
  };
  const [client, served] = InMemoryTransport.createLinkedPair();
  const handle = serveStdio(() => make(), { transport: served, legacy: 'reject' });
  await using own = await on({ transport: client });
  expect(textOf(await own.step.callTool('mcp__docs__work', {}))).toBe('from the SDK');
  expect(polls).toEqual(['one', 'one', 'one']);
  await handle.close();
});

describe.each(['legacy', 'modern'] as const)('a %s server whose connection is lost', (era) => {
  const name = 'mcp__docs__task';

  test('ER-3 H6 RT-7 after the reconnect its task is asked after again, and the call is not sent again', async () => {
    await using server = scriptedServer({ era });
    await using own = await on(server.config);
    const result = own.step.callTool(name, { key: 'k', text: 'unused' });
    await eventually(() => server.journal.some(({ tool }) => tool === 'tasks/get'));
    await server.crash();
    await own.watch.untilServer('docs', 'reconnecting');
    const ready = own.watch.facts.length;
    server.release('k', 'after all');
    expect(textOf(await result)).toBe('after all');
    expect(server.calls('task')).toBe(1);
    expect(own.watch.of('call.started')).toHaveLength(1);
    expect(own.watch.facts.length).toBeGreaterThan(ready);
  });

  test('ER-3 H6 RT-7 over HTTP sockets may break and streams may be cut while it is asked after', async () => {
    await using server = await serveHttp({ era });
    await using own = await on(server.config);
    const result = own.step.callTool(name, { key: 'k' });
    await eventually(() => server.journal.some(({ tool }) => tool === 'tasks/get'));
    server.setStatus(503, { rpcMethod: 'tasks/get' });
    await eventually(() => server.journal.filter(({ tool }) => tool === 'tasks/get').length > 1);
    server.dropConnections();
    server.release('k', 'after all');
    expect(textOf(await result)).toBe('after all');
    expect(server.calls('task')).toBe(1);
  });

  test('ER-3 H6 a question answered while the server is away is delivered when it is back', async () => {
    if (era === 'legacy') return;
    await using server = scriptedServer({ era });
    await using own = await on(server.config);
    const result = own.step.callTool(name, { questions: 1 });
    await eventually(() => own.thread.snapshot().elicitations.length === 1);
    await server.crash();
    await answer(own.thread, { name: 'Ada' });
    expect(JSON.parse(textOf(await result))).toMatchObject([{ action: 'accept', content: { name: 'Ada' } }]);
    expect(server.calls('task')).toBe(1);
  });

  test('ER-3 RT-10 a process that took its task with it ends the call as lost, and it may have run', async () => {
    await using own = await on(stdioServerConfig({ era }));
    const result = own.step.callTool(name, { key: 'k', message: 'Begun.' });
    await own.watch.until(({ type }) => type === 'call.progressed');
    const { pid } = own.thread.snapshot().servers[0] ?? {};
    if (pid === undefined) expect.fail('Expected the server to have a process.');
    process.kill(pid, 'SIGKILL');
    const error = await errorOf(result);
    expect(error).toMatchObject({ code: 'connection_lost', outcome: 'unknown' });
  });
});

test('ER-3 H8 threads of one host that share a modern server each have their own tasks and questions', async () => {
  await using server = await serveHttp({ era: 'modern' });
  await using host = createHost();
  const threads = [1, 2].map(() => host.createThread({ servers: { docs: server.config } }));
  const results = await Promise.all(
    threads.map(async (thread, index) => {
      const step = await thread.beginStep();
      const result = step.callTool('mcp__docs__task', { questions: 1, steps: 1 });
      await answer(thread, { name: `thread ${String(index)}` });
      return textOf(await result);
    }),
  );
  expect(results[0]).toContain('thread 0');
  expect(results[1]).toContain('thread 1');
  expect(server.calls('task')).toBe(2);
});

test('ER-3 RT-7 a server that does not come back ends the call of its task', async () => {
  await using server = scriptedServer({ era: 'modern' });
  let isGone = false;
  const { inMemory } = server.config;
  const config: ServerConfig = {
    inMemory: () => {
      if (isGone) throw new Error('There is no such server.');
      return inMemory();
    },
    callTimeoutMs: 3_000,
  };
  await using own = await on(config);
  const result = own.step.callTool('mcp__docs__task', { key: 'k' });
  await eventually(() => server.journal.some(({ tool }) => tool === 'tasks/get'));
  isGone = true;
  await server.crash();
  expect(await errorOf(result)).toMatchObject({ outcome: 'unknown' });
});

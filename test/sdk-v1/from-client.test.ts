/** Clients of the MCP SDK 1.x, handed over as servers. */
import { ListRootsRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { createThread, HoldfastError } from '../../src/index.ts';
import { fromClient } from '../../src/sdk-v1/index.ts';
import { deferred } from '../../src/testing/index.ts';
import { answerOf, errorOf, textOf, watched } from '../integration/elicitations/support.ts';
import { connect, connected, everything, v1Server } from './support.ts';

describe('ER-6 a connected v1 client is a server', () => {
  test('its tools, resources and what it says of itself are those of the server', async () => {
    await using v1 = await connected();
    await using thread = createThread({ servers: { old: fromClient(v1.client) } });
    const step = await thread.beginStep();
    expect(step.tools.map(({ tool }) => tool)).toEqual(['echo', 'ask', 'roots', 'steps', 'park', 'add']);
    expect(thread.snapshot().servers).toMatchObject([
      { name: 'old', state: 'ready', era: 'legacy', transport: 'given', serverInfo: { name: 'v1', version: '1.2.3' } },
    ]);
    expect(textOf(await step.callTool('mcp__old__echo', { text: 'hi' }))).toBe('hi');
    expect(await step.readResource('old', 'test://static')).toMatchObject({ contents: [{ text: 'hi' }] });
  });

  test('its questions are put by the thread, and answered through it', async () => {
    await using v1 = await connected();
    await using watch = watched({ servers: { old: fromClient(v1.client) } });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__old__ask');
    const { token, message } = await watch.nextQuestion();
    expect(message).toBe('Who?');
    await watch.thread.respond(token, { action: 'accept', content: { name: 'Ada' } });
    expect(answerOf(await result)).toEqual({ action: 'accept', content: { name: 'Ada' } });
  });

  test('progress of each call reaches who made it, the client included', async () => {
    await using v1 = await connected();
    await using thread = createThread({ servers: { old: fromClient(v1.client) } });
    const step = await thread.beginStep();
    const here: unknown[] = [];
    const there: unknown[] = [];
    await Promise.all([
      step.callTool('mcp__old__steps', {}, { onProgress: (progress) => here.push(progress) }),
      v1.client.callTool({ name: 'steps' }, undefined, { onprogress: (progress) => there.push(progress) }),
    ]);
    expect(here).toEqual([{ progress: 1, total: 2 }]);
    expect(there).toEqual([{ progress: 1, total: 2 }]);
  });

  test('requests of both go over one connection, each with its own result', async () => {
    await using v1 = await connected();
    await using thread = createThread({ servers: { old: { ...fromClient(v1.client), parallel: true } } });
    const step = await thread.beginStep();
    const both = Array.from({ length: 50 }, (_, at) => [
      step.callTool('mcp__old__echo', { text: `h${String(at)}` }),
      v1.client.callTool({ name: 'echo', arguments: { text: `c${String(at)}` } }),
    ]).flat();
    const texts = (await Promise.all(both)).map((result) => JSON.stringify(result.content));
    expect(texts).toEqual(
      Array.from({ length: 50 }, (_, at) =>
        ['h', 'c'].map((of) => JSON.stringify([{ type: 'text', text: `${of}${String(at)}` }])),
      ).flat(),
    );
  });

  test('an aborted call tells the server, under the right id', async () => {
    await using v1 = await connected();
    await using thread = createThread({ servers: { old: fromClient(v1.client) } });
    const step = await thread.beginStep();
    const controller = new AbortController();
    const call = errorOf(step.callTool('mcp__old__park', {}, { signal: controller.signal }));
    const other = v1.client.callTool({ name: 'park' });
    await step.callTool('mcp__old__echo', { text: 'after' });
    controller.abort();
    expect(await call).toMatchObject({ code: 'aborted' });
    await v1.cancelled;
    v1.release();
    expect(await other).toMatchObject({ content: [{ text: 'released' }] });
  });

  test('both hear of changed lists', async () => {
    await using v1 = await connected();
    const heard = deferred();
    v1.client.setNotificationHandler(ToolListChangedNotificationSchema, () => heard.resolve());
    await using watch = watched({ servers: { old: fromClient(v1.client) } });
    const step = await watch.thread.beginStep();
    await step.callTool('mcp__old__add');
    await Promise.all([heard.promise, watch.until('tools.changed')]);
    expect((await watch.thread.beginStep()).tools.map(({ tool }) => tool)).toContain('added');
  });
});

describe('ER-6 who answers what the server asks', () => {
  const mine = [{ uri: 'file:///mine', name: 'mine' }];
  const rootsOf = (result: Parameters<typeof textOf>[0]): unknown => JSON.parse(textOf(result));

  test('roots are those of the thread, where the client has none', async () => {
    await using v1 = await connected();
    await using thread = createThread({ servers: { old: fromClient(v1.client) }, roots: [{ uri: 'file:///thread' }] });
    const step = await thread.beginStep();
    expect(rootsOf(await step.callTool('mcp__old__roots'))).toEqual([{ uri: 'file:///thread' }]);
  });

  test('roots are the client’s where it has a handler', async () => {
    await using v1 = await connected();
    v1.client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: mine }));
    await using thread = createThread({ servers: { old: fromClient(v1.client) }, roots: [{ uri: 'file:///thread' }] });
    const step = await thread.beginStep();
    expect(rootsOf(await step.callTool('mcp__old__roots'))).toEqual(mine);
  });

  test('with questions "client" the thread is asked nothing', async () => {
    await using v1 = await connected();
    await using watch = watched({ servers: { old: fromClient(v1.client, { questions: 'client' }) } });
    const step = await watch.thread.beginStep();
    expect(await step.callTool('mcp__old__ask')).toMatchObject({ isError: true });
    expect(watch.of('elicitation.opened')).toEqual([]);
  });
});

describe('ER-6 whose the client is', () => {
  test('it stays open, and as it was, when the thread is closed; then it can be handed over again', async () => {
    await using v1 = await connected();
    const { transport } = v1.client;
    const before = { ...transport };
    const first = createThread({ servers: { old: fromClient(v1.client) } });
    await first.ready();
    await first.close();
    expect({ ...transport }).toEqual(before);
    expect(await v1.client.callTool({ name: 'echo', arguments: { text: 'mine' } })).toMatchObject({
      content: [{ text: 'mine' }],
    });
    await using second = createThread({ servers: { old: fromClient(v1.client) } });
    expect(textOf(await (await second.beginStep()).callTool('mcp__old__echo', { text: 'again' }))).toBe('again');
  });

  test('with close it is closed with its server', async () => {
    await using v1 = await connected();
    const thread = createThread({ servers: { old: fromClient(v1.client, { close: true }) } });
    await thread.ready();
    await thread.close();
    expect(v1.client.transport).toBeUndefined();
  });

  test('a client its owner closes fails its server, the calls on it, and cannot be restarted', async () => {
    await using v1 = await connected();
    await using watch = watched({ servers: { old: fromClient(v1.client) } });
    const step = await watch.thread.beginStep();
    const call = errorOf(step.callTool('mcp__old__park'));
    await watch.until('call.started');
    await v1.client.close();
    expect(await call).toMatchObject({ code: 'connection_lost', outcome: 'unknown' });
    await watch.until('server.changed', ({ state }) => state === 'failed');
    expect(await errorOf(watch.thread.restartServer('old'))).toMatchObject({ code: 'unsupported' });
    await using fresh = await connected();
    await watch.thread.replaceRuntime({ servers: { old: fromClient(fresh.client) } });
    const next = await watch.thread.beginStep();
    expect(textOf(await next.callTool('mcp__old__echo', { text: 'back' }))).toBe('back');
  });

  test('one that is not connected is refused at once; one handed over twice fails the second server', async () => {
    await using v1 = await connected();
    await using thread = createThread({ servers: { a: fromClient(v1.client), b: fromClient(v1.client) } });
    await thread.ready();
    const states = thread.snapshot().servers.map(({ name, state, error }) => [name, state, error?.message]);
    expect(states).toEqual([
      ['a', 'ready', undefined],
      ['b', 'failed', expect.stringContaining('in use by another server')],
    ]);
    await v1.client.close();
    expect(() => fromClient(v1.client)).toThrow(HoldfastError);
    expect(() => fromClient(v1.client)).toThrow('Expected a client that is connected');
  });

  test('a client closed between being handed over and its start fails its server with the reason', async () => {
    await using v1 = await connected();
    const config = fromClient(v1.client);
    await v1.client.close();
    await using thread = createThread({ servers: { old: config } });
    await thread.ready();
    expect(thread.snapshot().servers).toMatchObject([
      { state: 'failed', error: { message: expect.stringContaining('to be connected, and it is not') as string } },
    ]);
  });
});

test('ER-6 RT-11 over stdio: calls and questions of a real v1 server, and its process ends with the client', async () => {
  const transport = everything();
  const client = await connect(transport);
  const { pid } = transport;
  const gone = deferred();
  client.onclose = () => gone.resolve();
  const thread = createThread({ servers: { all: fromClient(client, { close: true }) } });
  const step = await thread.beginStep();
  expect(step.tools.length).toBeGreaterThan(5);
  expect(textOf(await step.callTool('mcp__all__echo', { message: 'hi' }))).toContain('hi');
  await thread.close();
  await gone.promise;
  expect(() => process.kill(pid ?? 0, 0)).toThrow('ESRCH');
});

test('ER-6 a server that is gone before the client is handed over costs no other', async () => {
  await using v1 = await connected();
  const other = v1Server();
  await using thread = createThread({
    servers: { old: fromClient(v1.client), plain: { inMemory: () => other.server } },
  });
  await v1.server.close();
  const step = await thread.beginStep();
  expect(textOf(await step.callTool('mcp__plain__echo', { text: 'hi' }))).toBe('hi');
});

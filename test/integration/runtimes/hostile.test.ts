import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import type { Thread } from '../../../src/index.ts';
import { rawServer, scriptedServer, serveHttp, stdioServerConfig } from '../../../src/testing/index.ts';
import type { RawMessage, RawServer } from '../../../src/testing/index.ts';
import { Watch, errorOf, eventually, serverOf, textOf, turns } from './support.ts';

const uncaught: unknown[] = [];
const note = (error: unknown): void => {
  uncaught.push(error);
};

beforeEach(() => {
  process.on('uncaughtException', note);
  process.on('unhandledRejection', note);
});

afterEach(async () => {
  await turns(2);
  process.off('uncaughtException', note);
  process.off('unhandledRejection', note);
  if (uncaught.length > 0) throw new AggregateError(uncaught.splice(0), 'The process would have died.');
});

/** What no SDK would send: each must be survived, with the next call answered. */
const garbage: readonly [string, readonly unknown[]][] = [
  ['values that are no messages', [null, 7, 'text', [], true, {}]],
  ['messages without a version', [{ method: 'notifications/message' }, { id: 1, result: {} }]],
  [
    'results for unknown ids',
    [
      { jsonrpc: '2.0', id: 4711, result: {} },
      { jsonrpc: '2.0', id: 'x', result: {} },
    ],
  ],
  ['errors for unknown ids', [{ jsonrpc: '2.0', id: 4711, error: { code: 1, message: 'no' } }]],
  [
    'an id that is null',
    [
      { jsonrpc: '2.0', id: null, result: {} },
      { jsonrpc: '2.0', id: null, error: {} },
    ],
  ],
  [
    'ids of odd types',
    [
      { jsonrpc: '2.0', id: {}, result: {} },
      { jsonrpc: '2.0', id: [1], result: {} },
    ],
  ],
  ['an id named like a property of objects', [{ jsonrpc: '2.0', id: '__proto__', result: {} }]],
  [
    'unknown methods',
    [
      { jsonrpc: '2.0', id: 1, method: 'no/such' },
      { jsonrpc: '2.0', method: 'no/such' },
    ],
  ],
  ['questions without params', [{ jsonrpc: '2.0', id: 5, method: 'elicitation/create' }]],
  [
    'questions of odd params',
    [null, 7, [], { message: 7 }, { message: 'x', requestedSchema: 'no' }, { mode: 'url', url: 'javascript:1' }].map(
      (params, id) => ({ jsonrpc: '2.0', id, method: 'elicitation/create', params }),
    ),
  ],
  ['sampling nobody offered', [{ jsonrpc: '2.0', id: 9, method: 'sampling/createMessage', params: {} }]],
  ['roots nobody offered', [{ jsonrpc: '2.0', id: 10, method: 'roots/list' }]],
  [
    'notifications of odd params',
    ['progress', 'message', 'cancelled', 'resources/updated', 'elicitation/complete', 'tools/list_changed'].flatMap(
      (name) =>
        [undefined, null, 7, [], { progressToken: {}, progress: 'x', requestId: {}, uri: 7 }].map((params) => ({
          jsonrpc: '2.0',
          method: `notifications/${name}`,
          params,
        })),
    ),
  ],
  [
    'withdrawals of what was never asked',
    [{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }],
  ],
];

describe('a peer that sends', () => {
  test.each(garbage)('RT-12 %s disturbs nothing', async (_, messages) => {
    await using peer = rawServer(answering);
    await using thread = createThread({ servers: { a: { ...peer.config, protocol: 'legacy' } } });
    const step = await thread.beginStep();
    for (const message of messages) peer.send(message);
    await turns(3);
    expect(textOf(await step.callTool('mcp__a__echo', { text: 'after' }))).toBe('after');
    expect(serverOf(thread, 'a').state).toMatch(/ready|degraded/);
  });

  test.each<[string, (request: RawMessage, peer: RawServer) => void]>([
    ['twice', (request, peer) => [0, 1].forEach(() => answer(request, peer))],
    [
      'with a result and then an error',
      (request, peer) => {
        answer(request, peer);
        peer.fail(request, -1, 'late');
      },
    ],
    [
      'with both in one',
      (request, peer) =>
        peer.send({ jsonrpc: '2.0', id: request['id'], result: content('x'), error: { code: 1, message: 'both' } }),
    ],
    ['with neither', (request, peer) => peer.send({ jsonrpc: '2.0', id: request['id'] })],
    ['with a result that is no object', (request, peer) => peer.reply(request, 'text')],
    ['with null', (request, peer) => peer.reply(request, null)],
    ['with a list', (request, peer) => peer.reply(request, [])],
    ['with no content', (request, peer) => peer.reply(request, {})],
    ['with content of odd blocks', (request, peer) => peer.reply(request, { content: [null, 7, { type: 7 }] })],
    ['with an error without code', (request, peer) => peer.send({ jsonrpc: '2.0', id: request['id'], error: {} })],
    ['with an error that is a text', (request, peer) => peer.send({ jsonrpc: '2.0', id: request['id'], error: 'no' })],
    ['with a kind nobody knows', (request, peer) => peer.reply(request, { resultType: 'task', content: [] })],
    [
      'with odd requests for input',
      (request, peer) =>
        peer.reply(request, {
          resultType: 'input_required',
          inputRequests: { a: null, b: 7, c: { method: 'no/such' } },
        }),
    ],
    [
      'with its id as a text',
      (request, peer) => {
        peer.send({ jsonrpc: '2.0', id: String(request['id']), result: content('as text') });
        answer(request, peer);
      },
    ],
    [
      'and closes',
      (request, peer) => {
        answer(request, peer);
        void peer.close();
      },
    ],
    ['by closing', (_, peer) => void peer.close()],
  ])('RT-12 an answer %s settles its call, once', async (_, odd) => {
    await using peer = rawServer((message, raw) => {
      if (message['method'] !== 'tools/call') return false;
      odd(message, raw);
      return true;
    });
    await using thread = createThread({ servers: { a: { ...peer.config, protocol: 'legacy' } } });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    await Promise.allSettled([step.callTool('mcp__a__echo', {}, { timeoutMs: 2_000 })]);
    await turns(3);
    expect(watch.of('call.ended')).toHaveLength(1);
    expect(watch.of('call.ended')[0]?.outcome).not.toBe('timedOut');
    expect(thread.snapshot().steps[0]?.calls).toEqual([]);
  });

  test('RT-12 a flood of notifications and questions slows nothing down for good', async () => {
    await using peer = rawServer(answering);
    await using thread = createThread({
      servers: { a: { ...peer.config, protocol: 'legacy' } },
      policy: { elicitation: { autoDeny: true } },
    });
    const step = await thread.beginStep();
    for (let count = 0; count < 5_000; count++) {
      peer.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: count } });
      peer.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
      if (count % 50 === 0) peer.send(question(`q-${String(count)}`));
    }
    expect(textOf(await step.callTool('mcp__a__echo', { text: 'after' }))).toBe('after');
    await eventually(
      () =>
        peer.received.filter(({ id, result }) => String(id).startsWith('q-') && result !== undefined).length === 100,
    );
  });

  test('RT-12 the same question id twice is two questions, or one refused; both are answered', async () => {
    await using peer = rawServer(answering);
    await using thread = createThread({ servers: { a: { ...peer.config, protocol: 'legacy' } } });
    await thread.ready();
    peer.send(question('same'));
    peer.send(question('same'));
    await eventually(() => thread.snapshot().elicitations.length > 0);
    await turns(3);
    for (const { token } of thread.snapshot().elicitations) await thread.respond(token, { action: 'decline' });
    await peer.waitFor(({ id }) => id === 'same');
    expect(thread.snapshot().elicitations).toEqual([]);
  });
});

test('RT-12 a child that writes noise, closes in the middle of a line, and dies is lived with', async () => {
  const noisy = stdioServerConfig({
    tools: ['echo', 'flood', 'crash'],
    stdoutOnStart: ['no json', '{"half":', '\u0000\u0001'],
  });
  await using thread = createThread({ servers: { a: { ...noisy, parallel: true } } });
  const watch = new Watch(thread);
  const step = await thread.beginStep();
  expect(watch.of('warning').some(({ server }) => server === 'a')).toBe(true);
  expect(textOf(await step.callTool('mcp__a__flood', { lines: 5_000, bytes: 200 }))).toBe('flooded');
  expect(textOf(await step.callTool('mcp__a__flood', { lines: 5_000, bytes: 200, stderr: true }))).toBe('flooded');
  const from = watch.facts.length;
  const lost = [errorOf(step.callTool('mcp__a__crash')), errorOf(step.callTool('mcp__a__crash', { code: 3 }))];
  for (const error of await Promise.all(lost)) expect(error.outcome).toMatch(/unknown|not-sent/);
  await watch.untilServer('a', 'ready', from);
  expect(textOf(await step.callTool('mcp__a__echo', { text: 'after' }))).toBe('after');
});

describe('a listener that throws', () => {
  const throws = (): never => {
    throw new Error('The listener broke.');
  };

  test('RT-12 on events$ is reported to the others, and stops nothing', async () => {
    await using peer = scriptedServer({ tools: ['echo'] });
    await using thread = createThread({ servers: { a: peer.config } });
    thread.events$.subscribe(throws);
    thread.events$.subscribe({ next: throws, complete: throws, error: throws });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    expect(textOf(await step.callTool('mcp__a__echo', { text: 'works' }))).toBe('works');
    await thread.replaceRuntime({ servers: {} });
    await thread.close();
    expect(watch.of('runtime.published').map(({ generation }) => generation)).toEqual([1, 2]);
    expect(watch.of('warning').some(({ code }) => code === 'listener_failed')).toBe(true);
    expect(watch.of('thread.closed')).toHaveLength(1);
  });

  test('RT-12 on elicitations$ stops no question', async () => {
    await using peer = scriptedServer({ tools: ['ask'] });
    await using thread = createThread({ servers: { a: peer.config } });
    thread.elicitations$.subscribe(throws);
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    const call = step.callTool('mcp__a__ask');
    await watch.until(({ type }) => type === 'elicitation.opened');
    await turns(2);
    const [open] = thread.snapshot().elicitations;
    await thread.respond(open?.token ?? '', { action: 'accept', content: { name: 'Ada' } });
    expect(JSON.parse(textOf(await call))).toMatchObject({ action: 'accept' });
  });

  test('RT-12 as onProgress fails no call', async () => {
    await using peer = scriptedServer({ tools: ['progress'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    expect(textOf(await step.callTool('mcp__a__progress', {}, { onProgress: throws }))).toBe('done');
    expect(watch.of('warning').filter(({ code }) => code === 'listener_failed')).toHaveLength(3);
  });

  test('RT-12 as inspect stops nothing', async () => {
    await using peer = scriptedServer({ tools: ['echo'] });
    await using thread = createThread({ servers: { a: peer.config }, inspect: throws });
    const step = await thread.beginStep();
    expect(textOf(await step.callTool('mcp__a__echo', { text: 'works' }))).toBe('works');
    await thread.replaceRuntime({ servers: {} });
  });

  test('RT-12 as a reviewer declines and is reported', async () => {
    await using peer = scriptedServer({ tools: ['ask'] });
    await using thread = createThread({ servers: { a: peer.config }, reviewer: throws });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    expect(JSON.parse(textOf(await step.callTool('mcp__a__ask')))).toMatchObject({ action: 'decline' });
    expect(watch.of('warning')).not.toEqual([]);
  });

  test('RT-12 on a signal stops nothing', async () => {
    await using peer = scriptedServer({ tools: ['hang', 'echo'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const step = await thread.beginStep();
    const controller = new AbortController();
    const call = errorOf(step.callTool('mcp__a__hang', {}, { signal: controller.signal }));
    controller.abort(new Error('my own reason'));
    expect((await call).code).toBe('aborted');
    expect(textOf(await step.callTool('mcp__a__echo', { text: 'works' }))).toBe('works');
  });
});

test('RT-12 a listener that closes the thread, replaces it and calls again from inside a fact is served', async () => {
  await using peer = scriptedServer({ tools: ['echo'] });
  const thread: Thread = createThread({ servers: { a: peer.config } });
  const done: Promise<unknown>[] = [];
  thread.events$.subscribe((fact) => {
    if (fact.type === 'runtime.published' && fact.generation === 1)
      done.push(thread.replaceRuntime({ servers: { a: peer.config, b: peer.config } }));
    if (fact.type === 'runtime.published' && fact.generation === 2) done.push(thread.close());
  });
  await thread.ready();
  await eventually(() => done.length === 2);
  await Promise.all(done);
  expect(thread.snapshot().state).toBe('closed');
});

test('RT-12 an http server that answers with anything else than MCP fails alone', async () => {
  await using good = scriptedServer({ tools: ['echo'] });
  await using odd = await serveHttp({ tools: ['echo'] });
  odd.setStatus(200, { times: 100, body: '<html>hello</html>', headers: { 'content-type': 'text/html' } });
  await using thread = createThread({ servers: { good: good.config, odd: { ...odd.config, startTimeoutMs: 2_000 } } });
  await thread.ready();
  await eventually(() => serverOf(thread, 'odd').state === 'failed');
  const step = await thread.beginStep();
  expect(textOf(await step.callTool('mcp__good__echo', { text: 'works' }))).toBe('works');
});

test('RT-12 factories that throw, reject, never resolve or make no server fail alone', async () => {
  await using good = scriptedServer({ tools: ['echo'] });
  const odd: Record<string, () => never> = {
    throws: () => {
      throw new Error('No server today.');
    },
    rejects: () => Promise.reject(new Error('No server today.')) as never,
    hangs: () => new Promise(() => undefined) as never,
    nothing: () => undefined as never,
    wrong: () => ({ connect: 7 }) as never,
  };
  await using thread = createThread({
    servers: {
      good: good.config,
      ...Object.fromEntries(Object.entries(odd).map(([name, inMemory]) => [name, { inMemory, startTimeoutMs: 300 }])),
    },
  });
  const step = await thread.beginStep();
  expect(textOf(await step.callTool('mcp__good__echo', { text: 'works' }))).toBe('works');
  for (const name of Object.keys(odd)) await eventually(() => serverOf(thread, name).state === 'failed');
});

test.each(['__proto__', 'constructor', 'toString', 'a b', '', 'ü/\\"', 'x'.repeat(300)])(
  'RT-12 a server named %j works like any other',
  async (name) => {
    await using peer = scriptedServer({ tools: ['echo'] });
    const servers = Object.fromEntries([[name, peer.config]]);
    await using thread = createThread({ servers });
    const step = await thread.beginStep();
    expect(step.tools.map(({ server, tool }) => [server, tool])).toEqual([[name, 'echo']]);
    expect(textOf(await step.callTool(step.tools[0]?.name ?? '', { text: 'works' }))).toBe('works');
    await thread.replaceRuntime({ servers });
    expect(thread.snapshot().servers).toHaveLength(1);
    expect(JSON.parse(JSON.stringify(thread.snapshot()))).toEqual(thread.snapshot());
  },
);

function answering(message: RawMessage, peer: RawServer): boolean {
  if (message['method'] !== 'tools/call') return false;
  answer(message, peer);
  return true;
}

function answer(request: RawMessage, peer: RawServer): void {
  const { arguments: args } = request['params'] as { readonly arguments?: { readonly text?: string } };
  peer.reply(request, content(args?.text ?? ''));
}

function content(text: string): { readonly content: readonly unknown[] } {
  return { content: [{ type: 'text', text }] };
}

function question(id: string): unknown {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
  return { jsonrpc: '2.0', id, method: 'elicitation/create', params: { message: 'Who?', requestedSchema } };
}

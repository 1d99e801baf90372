/** Modern requests for input: every entry a question, one retry with all answers and the exact state. */
import { describe, expect, test } from 'vitest';
import { isRecord } from '../../../src/domain/json.ts';
import { scriptedServer } from '../../../src/testing/index.ts';
import type { RawMessage } from '../../../src/testing/index.ts';
import { ada, answerOf, errorOf, modernPeer, place, places, watched } from './support.ts';

describe.each(places)('a modern call %s', (where) => {
  test('ER-2 asks round after round, and ends with the answers of all', async () => {
    await using server = await place(where, { era: 'modern' });
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__ask', { rounds: 3, stateOnlyRounds: 2 });
    for (const name of ['Ada', 'Grace', 'Edsger']) {
      const { token } = await watch.nextQuestion();
      await watch.thread.respond(token, { action: 'accept', content: { name } });
    }
    expect(answerOf(await result)).toMatchObject([
      { content: { name: 'Ada' } },
      { content: { name: 'Grace' } },
      { content: { name: 'Edsger' } },
    ]);
    expect(watch.of('call.paused')).toHaveLength(3);
    expect(watch.of('call.started')).toHaveLength(1);
    expect(watch.of('call.ended')).toMatchObject([{ outcome: 'completed' }]);
  });

  test('ER-2 H5 puts every entry of one round, and is sent again once all of them are settled', async () => {
    await using server = await place(where, { era: 'modern' });
    await using watch = watched({ servers: { docs: server.config } });
    const { thread } = watch;
    const step = await thread.beginStep();
    const result = step.callTool('mcp__docs__ask', { questions: 3 });
    const tokens = [await watch.nextQuestion(), await watch.nextQuestion(), await watch.nextQuestion()].map(
      ({ token }) => token,
    );
    expect(thread.snapshot().elicitations.map(({ token }) => token)).toEqual(tokens);
    await thread.respond(tokens[2] ?? '', { action: 'cancel' });
    await thread.respond(tokens[0] ?? '', ada);
    await thread.respond(tokens[1] ?? '', { action: 'decline' });
    const answers = answerOf(await result);
    expect(answers).toHaveLength(3);
    expect(answers).toEqual(expect.arrayContaining([ada, { action: 'decline' }, { action: 'cancel' }]));
  });
});

test('ER-2 at most ten retries: the eleventh request for input is limit_exceeded', async () => {
  await using server = scriptedServer({ era: 'modern' });
  await using watch = watched({ servers: { docs: server.config } });
  const step = await watch.thread.beginStep();
  expect(answerOf(await answering(watch, step.callTool('mcp__docs__ask', { rounds: 10 })))).toHaveLength(10);
  const before = server.calls('ask');
  expect(await errorOf(answering(watch, step.callTool('mcp__docs__ask', { rounds: 11 })))).toMatchObject({
    code: 'limit_exceeded',
    outcome: 'failed',
  });
  expect(server.calls('ask') - before).toBe(11);
  expect(watch.thread.snapshot().elicitations).toEqual([]);
});

test('ER-2 rounds that ask nothing count as retries too', async () => {
  await using server = scriptedServer({ era: 'modern' });
  await using watch = watched({ servers: { docs: server.config } });
  const step = await watch.thread.beginStep();
  expect(await errorOf(step.callTool('mcp__docs__ask', { stateOnlyRounds: 1_000 }))).toMatchObject({
    code: 'limit_exceeded',
  });
  expect(server.calls('ask')).toBe(11);
  expect(watch.of('elicitation.opened')).toEqual([]);
});

test('ER-2 H1 a retry goes to the runtime its step is pinned to', async () => {
  await using first = scriptedServer({ era: 'modern' });
  await using second = scriptedServer({ era: 'modern' });
  await using watch = watched({ servers: { docs: first.config } });
  const { thread } = watch;
  const step = await thread.beginStep();
  const result = step.callTool('mcp__docs__ask', { rounds: 2 });
  for (const servers of [{ docs: second.config }, {}]) {
    const { token } = await watch.nextQuestion();
    await thread.replaceRuntime({ servers });
    await thread.respond(token, ada);
  }
  expect(answerOf(await result)).toMatchObject([ada, ada]);
  expect([first.calls('ask'), second.calls('ask')]).toEqual([3, 0]);
});

/** Answers the questions of a call until it ends. */
async function answering<TResult>(watch: ReturnType<typeof watched>, result: Promise<TResult>): Promise<TResult> {
  const answered = watch.thread.events$.subscribe((event) => {
    if (event.type === 'elicitation.opened') void watch.thread.respond(event.elicitation.token, ada);
  });
  try {
    return await result;
  } finally {
    answered.unsubscribe();
  }
}

describe('what a retry carries', () => {
  /** Answers calls with these results, one after the other; the last is an empty one. */
  function scriptedRounds(...rounds: readonly Readonly<Record<string, unknown>>[]) {
    const left = [...rounds];
    return modernPeer((message, self) => {
      if (message['method'] !== 'tools/call') return false;
      self.reply(message, left.shift() ?? { resultType: 'complete', content: [] });
      return true;
    });
  }

  const calls = (received: readonly RawMessage[]): readonly Record<string, unknown>[] =>
    received.flatMap(({ method, params }) => (method === 'tools/call' && isRecord(params) ? [params] : []));

  const form = {
    method: 'elicitation/create',
    params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
  };

  test.each([
    'plain',
    '',
    ' {"looks":"like json", "spaced" : true} \n',
    'ünïcødé   \u2028\u0000 \\" 🦀',
    'x'.repeat(100_000),
  ])('ER-2 the requestState, character for character (%#)', async (requestState) => {
    await using peer = scriptedRounds(
      { resultType: 'input_required', requestState, inputRequests: { a: form } },
      { resultType: 'input_required', requestState: `${requestState}2` },
    );
    await using watch = watched({ servers: { docs: peer.config } });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__echo', { text: 'same' });
    const { token } = await watch.nextQuestion();
    await watch.thread.respond(token, { action: 'accept', content: {} });
    expect((await result).content).toEqual([]);
    const sent = calls(peer.received);
    expect(sent.map(({ name, arguments: args }) => ({ name, args }))).toEqual(
      Array.from({ length: 3 }, () => ({ name: 'echo', args: { text: 'same' } })),
    );
    expect(sent[0]).not.toHaveProperty('requestState');
    expect(sent[1]).toMatchObject({ requestState, inputResponses: { a: { action: 'accept', content: {} } } });
    expect(sent[2]).toMatchObject({ requestState: `${requestState}2` });
    // A round that asks nothing is answered with nothing.
    expect(sent[2]).not.toHaveProperty('inputResponses');
  });

  test('ER-2 no requestState where the server gave none', async () => {
    await using peer = scriptedRounds({ resultType: 'input_required', inputRequests: { a: form } });
    await using watch = watched({ servers: { docs: peer.config } });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__echo');
    const { token } = await watch.nextQuestion();
    await watch.thread.respond(token, { action: 'decline' });
    await result;
    expect(calls(peer.received)[1]).not.toHaveProperty('requestState');
    expect(calls(peer.received)[1]).toMatchObject({ inputResponses: { a: { action: 'decline' } } });
  });

  test('ER-2 ER-4 every entry under its own key: forms, urls, roots, sampling', async () => {
    await using peer = scriptedRounds({
      resultType: 'input_required',
      requestState: 's',
      inputRequests: {
        who: form,
        where: { method: 'elicitation/create', params: { mode: 'url', message: 'Open.', url: 'https://a.example/' } },
        refused: { method: 'elicitation/create', params: { mode: 'url', message: 'Open.', url: 'http://a.example/' } },
        roots: { method: 'roots/list' },
        model: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
        // No name of its own is special.
        constructor: form,
      },
    });
    const roots = [{ uri: 'file:///work', name: 'work' }];
    const completion = { role: 'assistant', model: 'none', content: { type: 'text', text: 'hi' } } as const;
    await using watch = watched({
      servers: { docs: peer.config },
      roots,
      sampling: (params) => Promise.resolve({ ...completion, got: params }),
    });
    const { thread } = watch;
    const step = await thread.beginStep();
    const result = step.callTool('mcp__docs__echo');
    const questions = [await watch.nextQuestion(), await watch.nextQuestion(), await watch.nextQuestion()];
    expect(questions.map(({ kind }) => kind).toSorted()).toEqual(['form', 'form', 'url']);
    for (const { token, kind } of questions)
      await thread.respond(token, kind === 'form' ? { action: 'accept', content: {} } : { action: 'accept' });
    await result;
    expect(calls(peer.received)[1]?.['inputResponses']).toEqual({
      who: { action: 'accept', content: {} },
      where: { action: 'accept' },
      refused: { action: 'decline' },
      roots: { roots },
      model: { ...completion, got: { messages: [], maxTokens: 1 } },
      constructor: { action: 'accept', content: {} },
    });
  });

  test.each([
    ['no entries and no state', { inputRequests: {} }],
    ['nothing at all', {}],
    ['a list of entries', { requestState: 's', inputRequests: [] }],
    ['a text for entries', { requestState: 's', inputRequests: 'text' }],
    ['an entry that is null', { requestState: 's', inputRequests: { a: null } }],
    ['an entry that is a number', { inputRequests: { a: 5 } }],
    ['an entry without a method', { requestState: 's', inputRequests: { a: {} } }],
    [
      'a method nobody knows',
      { requestState: 's', inputRequests: { b: form, a: { method: 'unheard/of', params: {} } } },
    ],
  ])('ER-2 H6 a request for input with %s is a fault of its server, and nothing is sent again', async (_, asked) => {
    await using peer = scriptedRounds({ resultType: 'input_required', ...asked });
    await using watch = watched({ servers: { docs: peer.config } });
    const step = await watch.thread.beginStep();
    expect(await errorOf(step.callTool('mcp__docs__echo'))).toMatchObject({
      code: 'protocol_error',
      outcome: 'failed',
    });
    expect(calls(peer.received)).toHaveLength(1);
    expect(watch.of('elicitation.opened')).toEqual([]);
  });
});

test('ER-2 RT-2 prompts and resources are asked for again with the answers, by a step and by the thread', async () => {
  const isRetry = (message: RawMessage): boolean =>
    isRecord(message['params']) && message['params']['inputResponses'] !== undefined;
  const results: Readonly<Record<string, unknown>> = {
    'resources/read': { contents: [] },
    'prompts/get': { messages: [] },
  };
  await using peer = modernPeer((message, self) => {
    const result = results[String(message['method'])];
    if (result === undefined) return false;
    const ask = {
      resultType: 'input_required',
      requestState: 's',
      inputRequests: {
        a: {
          method: 'elicitation/create',
          params: {
            mode: 'form',
            message: String(message['method']),
            requestedSchema: { type: 'object', properties: {} },
          },
        },
      },
    };
    self.reply(
      message,
      isRetry(message) ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...(result as object) } : ask,
    );
    return true;
  });
  await using watch = watched({ servers: { docs: peer.config } });
  const { thread } = watch;
  const step = await thread.beginStep();
  for (const asker of [step, thread]) {
    for (const [method, ask] of [
      ['resources/read', () => asker.readResource('docs', 'test://x')],
      ['prompts/get', () => asker.getPrompt('docs', 'greet')],
    ] as const) {
      const result = ask();
      const question = await watch.nextQuestion();
      expect(question).toMatchObject({ message: method, attribution: 'call' });
      if (asker === thread) {
        expect(question).not.toHaveProperty('step');
        expect(thread.snapshot().runtimes[0]?.holders).toEqual([
          { kind: 'step', id: step.id },
          { kind: 'request', id: question.call },
        ]);
      } else expect(question.step).toBe(step.id);
      await thread.respond(question.token, { action: 'accept', content: {} });
      expect(await result).toMatchObject(results[method] as object);
    }
  }
});

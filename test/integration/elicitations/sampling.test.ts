/** What servers ask of the host itself: a model, and its roots. */
import { describe, expect, test } from 'vitest';
import { isRecord } from '../../../src/domain/json.ts';
import type { JsonObject, ThreadOptions } from '../../../src/index.ts';
import { deferred, scriptedServer } from '../../../src/testing/index.ts';
import { answerOf, eras, errorOf, modernPeer, watched } from './support.ts';

const completion = {
  role: 'assistant',
  model: 'scripted',
  content: { type: 'text', text: 'hello' },
} as const satisfies JsonObject;

const accepted = { action: 'accept', content: completion } as const;

/** How the call of a server ends whose request for sampling was declined. */
const declinedBy = {
  legacy: { code: 'protocol_error', outcome: 'failed' },
  modern: { code: 'not_approved', outcome: 'failed' },
} as const;

describe.each(eras)('sampling in the %s era', (era) => {
  function asking(options: Partial<ThreadOptions>) {
    const server = scriptedServer({ era });
    const watch = watched({ servers: { docs: server.config }, ...options });
    return {
      server,
      watch,
      [Symbol.asyncDispose]: async () => {
        await watch.thread.close();
        await server.close();
      },
    };
  }

  test('ER-4 goes to the callback, with the params of the request and the name of the server', async () => {
    const seen: unknown[] = [];
    await using scene = asking({
      sampling: (params, { server, signal }) => {
        seen.push([params, server, signal.aborted]);
        return Promise.resolve(completion);
      },
    });
    const step = await scene.watch.thread.beginStep();
    expect(answerOf(await step.callTool('mcp__docs__sample', { prompt: 'Hi?' }))).toMatchObject(completion);
    expect(seen).toMatchObject([
      [{ messages: [{ role: 'user', content: { type: 'text', text: 'Hi?' } }], maxTokens: 100 }, 'docs', false],
    ]);
    expect(scene.watch.of('elicitation.opened')).toEqual([]);
  });

  test("ER-4 with 'ask' is a question of kind sampling with the params, answered by the result", async () => {
    await using scene = asking({ sampling: 'ask' });
    const { thread } = scene.watch;
    const step = await thread.beginStep();
    const result = step.callTool('mcp__docs__sample', { prompt: 'Hi?' });
    const question = await scene.watch.nextQuestion();
    expect(question).toMatchObject({
      kind: 'sampling',
      attribution: 'call',
      params: { messages: [{ content: { text: 'Hi?' } }], maxTokens: 100 },
    });
    expect(await thread.respond(question.token, { action: 'accept' })).toMatchObject({ status: 'invalid' });
    expect(await thread.respond(question.token, accepted)).toEqual({ status: 'delivered' });
    expect(answerOf(await result)).toMatchObject(completion);
  });

  test.each(['decline', 'cancel'] as const)(
    'ER-2 ER-4 answered by a %s: a legacy server hears an error, a modern call fails as not_approved',
    async (action) => {
      await using scene = asking({ sampling: 'ask' });
      const { thread } = scene.watch;
      const step = await thread.beginStep();
      const failed = errorOf(step.callTool('mcp__docs__sample'));
      const { token } = await scene.watch.nextQuestion();
      await thread.respond(token, { action });
      expect(await failed).toMatchObject(declinedBy[era]);
      expect(scene.server.calls('sample')).toBe(1);
    },
  );

  test.each([
    ['throws', () => Promise.reject(new Error('no model'))],
    ['gives no result', () => Promise.resolve(undefined)],
    ['gives a text', () => Promise.resolve('hello')],
  ] as const)('ER-4 RT-12 a callback that %s declines, and is reported', async (_, sampling) => {
    await using scene = asking({ sampling: sampling as never });
    const step = await scene.watch.thread.beginStep();
    expect(await errorOf(step.callTool('mcp__docs__sample'))).toMatchObject(declinedBy[era]);
    expect(scene.watch.of('warning')).toMatchObject([{ code: 'sampling_failed', server: 'docs' }]);
  });

  test('ER-4 EL-6 passes the policy before the callback', async () => {
    let asked = 0;
    await using scene = asking({
      policy: { elicitation: { autoDeny: true } },
      sampling: () => {
        asked += 1;
        return Promise.resolve(completion);
      },
    });
    const step = await scene.watch.thread.beginStep();
    expect(await errorOf(step.callTool('mcp__docs__sample'))).toMatchObject(declinedBy[era]);
    expect(asked).toBe(0);
  });

  test('ER-4 EL-6 a reviewer comes before the callback, and its answer is the result', async () => {
    await using scene = asking({
      reviewer: ({ elicitation }) => (elicitation.kind === 'sampling' ? accepted : undefined),
      sampling: () => Promise.reject(new Error('not to be asked')),
    });
    const step = await scene.watch.thread.beginStep();
    expect(answerOf(await step.callTool('mcp__docs__sample'))).toMatchObject(completion);
  });

  test('ER-4 EL-8 EL-9 a callback at work pauses its call, and is told by its signal that the call is gone', async () => {
    const begun = deferred();
    const told = deferred();
    await using scene = asking({
      sampling: (_, { signal }) => {
        signal.addEventListener('abort', () => told.resolve());
        begun.resolve();
        return new Promise(() => undefined);
      },
    });
    const { thread } = scene.watch;
    const step = await thread.beginStep();
    const controller = new AbortController();
    const failed = errorOf(step.callTool('mcp__docs__sample', {}, { signal: controller.signal }));
    await begun.promise;
    expect(thread.snapshot().steps[0]?.calls).toMatchObject([{ state: 'paused' }]);
    controller.abort();
    expect(await failed).toMatchObject({ code: 'aborted' });
    await told.promise;
  });

  test('ER-4 roots are those of the thread, and those set later', async () => {
    const roots = [{ uri: 'file:///one', name: 'one' }];
    await using scene = asking({ roots });
    const { thread } = scene.watch;
    const step = await thread.beginStep();
    expect(answerOf(await step.callTool('mcp__docs__roots'))).toMatchObject({ roots });
    thread.setRoots([{ uri: 'file:///two' }]);
    expect(answerOf(await step.callTool('mcp__docs__roots'))).toMatchObject({ roots: [{ uri: 'file:///two' }] });
    expect(scene.watch.of('elicitation.opened')).toEqual([]);
  });
});

test('ER-4 a modern server that asks for sampling nobody offered is not put to the person: its call fails', async () => {
  const offered: unknown[] = [];
  await using peer = modernPeer((message, self) => {
    if (message['method'] !== 'tools/call') return false;
    const meta = isRecord(message['params']) ? message['params']['_meta'] : undefined;
    offered.push(meta);
    self.reply(message, {
      resultType: 'input_required',
      requestState: 's',
      inputRequests: {
        who: {
          method: 'elicitation/create',
          params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
        },
        model: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
      },
    });
    return true;
  });
  await using watch = watched({ servers: { docs: peer.config } });
  const step = await watch.thread.beginStep();
  expect(await errorOf(step.callTool('mcp__docs__echo'))).toMatchObject({ code: 'not_approved', outcome: 'failed' });
  expect(watch.of('elicitation.opened')).toEqual([]);
  expect(watch.of('warning')).toMatchObject([{ code: 'elicitation_refused', server: 'docs' }]);
  expect(JSON.stringify(offered)).not.toContain('sampling');
  expect(offered).toHaveLength(1);
});

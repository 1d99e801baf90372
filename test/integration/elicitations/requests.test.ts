/** What servers ask before they give a prompt or a resource: as during a call, for a step and for the current runtime. */
import { describe, expect, test } from 'vitest';
import type { JsonObject, Step, Thread } from '../../../src/index.ts';
import { rawServer } from '../../../src/testing/index.ts';
import type { RawMessage, RawServer } from '../../../src/testing/index.ts';
import { errorOf, modernPeer, watched } from './support.ts';

const requests = [
  ['prompts/get', (asker: Step | Thread) => asker.getPrompt('docs', 'greet'), { messages: [] }],
  ['resources/read', (asker: Step | Thread) => asker.readResource('docs', 'test://x'), { contents: [] }],
] as const;
const cases = requests.flatMap(([method, ask, result]) =>
  (['step', 'thread'] as const).map((by) => [method, by, ask, result] as const),
);

const whole = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } as const;

/** Answers each request of a method by its number, beginning with 1. */
function answering(method: string, say: (nth: number, message: RawMessage, self: RawServer) => void): RawServer {
  let count = 0;
  return modernPeer((message, self) => {
    if (message['method'] !== method) return false;
    count += 1;
    say(count, message, self);
    return true;
  });
}

describe.each(cases)('%s by a %s', (method, by, ask, result) => {
  const askerOf = async (thread: Thread): Promise<Step | Thread> => (by === 'step' ? thread.beginStep() : thread);
  const sent = (peer: RawServer) => peer.received.filter((message) => message['method'] === method);

  test('ER-2 rounds that only carry a state are sent again at once, with exactly that state', async () => {
    await using peer = answering(method, (nth, message, self) => {
      if (nth <= 3) self.reply(message, { resultType: 'input_required', requestState: `state ${String(nth)}` });
      else self.reply(message, { ...whole, ...result });
    });
    await using watch = watched({ servers: { docs: peer.config } });
    expect(await ask(await askerOf(watch.thread))).toMatchObject(result);
    expect(sent(peer).map(({ params }) => (params as JsonObject)['requestState'])).toEqual([
      undefined,
      'state 1',
      'state 2',
      'state 3',
    ]);
  });

  test('ER-2 after ten retries it has asked enough', async () => {
    await using peer = answering(method, (nth, message, self) => {
      self.reply(message, { resultType: 'input_required', requestState: String(nth) });
    });
    await using watch = watched({ servers: { docs: peer.config } });
    const failed = await errorOf(ask(await askerOf(watch.thread)));
    expect(failed).toMatchObject({ code: 'limit_exceeded', outcome: 'failed' });
    expect(sent(peer)).toHaveLength(11);
  });

  test('ER-2 ER-4 roots and sampling are answered by the host', async () => {
    const sample = { role: 'assistant', model: 'test', content: { type: 'text', text: 'Hi.' } } as const;
    const roots = [{ uri: 'file:///work' }];
    await using peer = answering(method, (nth, message, self) => {
      if (nth > 1) self.reply(message, { ...whole, ...result });
      else
        self.reply(message, {
          resultType: 'input_required',
          requestState: 's',
          inputRequests: {
            where: { method: 'roots/list' },
            what: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
          },
        });
    });
    await using watch = watched({ servers: { docs: peer.config }, roots, sampling: () => Promise.resolve(sample) });
    expect(await ask(await askerOf(watch.thread))).toMatchObject(result);
    expect(sent(peer)[1]?.['params']).toMatchObject({ inputResponses: { where: { roots }, what: sample } });
  });

  test('ER-3 a task in its place is a fault of the server', async () => {
    await using peer = answering(method, (_, message, self) => {
      self.reply(message, { resultType: 'task', taskId: 'task-1', status: 'working', ttlMs: null });
    });
    await using watch = watched({ servers: { docs: peer.config } });
    expect(await errorOf(ask(await askerOf(watch.thread)))).toMatchObject({
      code: 'protocol_error',
      outcome: 'failed',
    });
  });

  test.each([
    ['then given', 1],
    ['refused again', 2],
  ])('EL-5 refused with -32042, it is tried once more after the sign-in, and %s', async (_, refusals) => {
    let count = 0;
    const url = { mode: 'url', message: 'Sign in.', url: 'https://example.com/in', elicitationId: 'in' };
    await using peer = rawServer((message, self) => {
      if (message['method'] === 'initialize') {
        const capabilities = { prompts: {}, resources: {} };
        const serverInfo = { name: 'raw', version: '1.0.0' };
        self.reply(message, { protocolVersion: '2025-11-25', capabilities, serverInfo });
        return true;
      }
      if (message['method'] !== method) return false;
      count += 1;
      if (count > refusals) self.reply(message, result);
      else self.fail(message, -32_042, 'Sign in first.', { elicitations: [url] });
      return true;
    });
    await using watch = watched({ servers: { docs: { ...peer.config, protocol: 'legacy' } } });
    const given = ask(await askerOf(watch.thread));
    given.catch(() => undefined);
    const question = await watch.nextQuestion();
    expect(question).toMatchObject({ kind: 'url', url: 'https://example.com/in', attribution: 'call' });
    await watch.thread.respond(question.token, { action: 'accept' });
    if (refusals === 1) expect(await given).toMatchObject(result);
    else expect(await errorOf(given)).toMatchObject({ code: 'auth_required' });
    expect(count).toBe(2);
  });
});

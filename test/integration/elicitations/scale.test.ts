/** Very many open questions in one process: all stay, each gets its own answer. Nothing here is timed. */
import { expect, test } from 'vitest';
import { isRecord } from '../../../src/domain/json.ts';
import { createThread } from '../../../src/index.ts';
import { maxOpenQuestions } from '../../../src/mcp/questions.ts';
import { deferred, rawServer, scriptedServer } from '../../../src/testing/index.ts';
import type { RawMessage } from '../../../src/testing/index.ts';
import { answerOf, errorOf, modernPeer, seeded, shuffled, watched } from './support.ts';

/** Legacy servers that ask as many questions as each may have open. */
function askers(count: number, onAnswer: (message: RawMessage) => void) {
  const peers = Array.from({ length: Math.ceil(count / maxOpenQuestions) }, () =>
    rawServer((message) => {
      if (message['method'] !== undefined || !isRecord(message['result'])) return false;
      onAnswer(message);
      return true;
    }),
  );
  const ask = (): void => {
    for (let id = 0; id < count; id += 1) {
      const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
      const params = { message: String(id), requestedSchema };
      peers[id % peers.length]?.send({ jsonrpc: '2.0', id: `q${String(id)}`, method: 'elicitation/create', params });
    }
  };
  const servers = Object.fromEntries(
    peers.map(({ config }, index) => [`docs${String(index)}`, { ...config, protocol: 'legacy' as const }]),
  );
  return {
    servers,
    ask,
    [Symbol.asyncDispose]: async () => {
      for (const peer of peers) await peer[Symbol.asyncDispose]();
    },
  };
}

test('EL-12 H4 H5 100,000 questions are open at once in one thread, and each is answered for itself, in random order', async () => {
  const count = 100_000;
  const answers = new Map<unknown, unknown>();
  const allAnswered = deferred();
  await using peers = askers(count, ({ id, result }) => {
    if (!isRecord(result)) return;
    answers.set(id, isRecord(result['content']) ? result['content']['name'] : result['action']);
    if (answers.size === count) allAnswered.resolve();
  });
  await using thread = createThread({ servers: peers.servers, limits: { settledTokens: 2 * count } });
  const tokens: string[] = [];
  const allShown = deferred();
  thread.events$.subscribe((event) => {
    if (event.type !== 'elicitation.opened') return;
    tokens.push(event.elicitation.token);
    if (tokens.length === count) allShown.resolve();
  });
  await thread.ready();
  peers.ask();
  await allShown.promise;
  const open = thread.snapshot().elicitations;
  expect(open).toHaveLength(count);
  expect(new Set(tokens).size).toBe(count);

  let delivered = 0;
  for (const { token, message } of shuffled(open, seeded(12))) {
    const { status } = await thread.respond(token, { action: 'accept', content: { name: `for ${message}` } });
    if (status === 'delivered') delivered += 1;
  }
  await allAnswered.promise;
  expect(delivered).toBe(count);
  let right = 0;
  for (let id = 0; id < count; id += 1) if (answers.get(`q${String(id)}`) === `for ${String(id)}`) right += 1;
  expect(right).toBe(count);
  expect(thread.snapshot().elicitations).toEqual([]);
  const late = await thread.respond(tokens[0] ?? '', { action: 'decline' });
  expect(late).toMatchObject({ status: 'settled', outcome: 'accepted' });
}, 300_000);

test('EL-12 H4 RT-9 10,000 calls wait for an answer each, count in no limit, and end with their own', async () => {
  const count = 10_000;
  await using server = scriptedServer({ era: 'modern', tools: ['ask'] });
  await using thread = createThread({ servers: { docs: { ...server.config, parallel: true } } });
  let shown = 0;
  let wave = deferred();
  thread.events$.subscribe((event) => {
    if (event.type !== 'elicitation.opened') return;
    shown += 1;
    if (shown % 1_000 === 0) wave.resolve();
  });
  const step = await thread.beginStep();
  const results: Promise<unknown>[] = [];
  while (results.length < count) {
    wave = deferred();
    for (let index = 0; index < 1_000; index += 1) {
      const message = String(results.length);
      results.push(step.callTool('mcp__docs__ask', { message }).then(answerOf));
    }
    await wave.promise;
  }
  const open = thread.snapshot().elicitations;
  expect(open).toHaveLength(count);
  for (const { token, message } of shuffled(open, seeded(10)))
    await thread.respond(token, { action: 'accept', content: { name: message } });
  const answers = await Promise.all(results);
  expect(answers).toEqual(
    Array.from({ length: count }, (_, index) => ({ action: 'accept', content: { name: String(index) } })),
  );
});

test('EL-12 H10 a thread closes with 20,000 questions open: each is settled once', async () => {
  const count = 20_000;
  await using peers = askers(count, () => undefined);
  const thread = createThread({ servers: peers.servers });
  const settled = new Map<string, number>();
  let shown = 0;
  const allShown = deferred();
  thread.events$.subscribe((event) => {
    if (event.type === 'elicitation.opened' && ++shown === count) allShown.resolve();
    if (event.type === 'elicitation.settled') settled.set(event.token, (settled.get(event.token) ?? 0) + 1);
  });
  await thread.ready();
  peers.ask();
  await allShown.promise;
  await thread.close();
  expect(settled.size).toBe(count);
  expect([...settled.values()].every((times) => times === 1)).toBe(true);
  expect(thread.snapshot().elicitations).toEqual([]);
});

test.each(['form', 'url'] as const)(
  'SE-2 RT-12 a server that asks more than a person could answer for one call fails it, and nothing is shown (%s)',
  async (kind) => {
    const many = Array.from({ length: 50_000 }, (_, index) => index);
    await using peer =
      kind === 'form'
        ? modernPeer((message, self) => {
            if (message['method'] !== 'tools/call') return false;
            const inputRequests = Object.fromEntries(many.map((index) => [`q${String(index)}`, formRequest]));
            self.reply(message, { resultType: 'input_required', requestState: 's', inputRequests });
            return true;
          })
        : rawServer((message, self) => {
            if (message['method'] !== 'tools/call') return false;
            const elicitations = many.map((index) => ({
              url: 'https://a.example/',
              elicitationId: String(index),
              message: '',
            }));
            self.fail(message, -32_042, 'Open these.', { elicitations });
            return true;
          });
    await using watch = watched({ servers: { docs: peer.config } });
    const step = await watch.thread.beginStep();
    expect(await errorOf(step.callTool('mcp__docs__echo'))).toMatchObject({
      code: 'limit_exceeded',
      outcome: 'failed',
    });
    expect(watch.of('elicitation.opened')).toEqual([]);
  },
);

test.each([1, 2])(
  'EL-8 EL-12 RT-12 2,000 questions while %i calls of a legacy server are in flight are all put, paused for and answered',
  async (calls) => {
    const count = 2_000;
    let answered = 0;
    const waiting: RawMessage[] = [];
    const cancelled = deferred();
    let rest = 0;
    await using peer = rawServer((message, self) => {
      if (message['method'] === 'tools/call') {
        waiting.push(message);
        if (waiting.length === calls)
          for (let id = 0; id < count; id += 1) self.send({ jsonrpc: '2.0', id, ...formRequest });
        return true;
      }
      if (message['method'] !== undefined || !isRecord(message['result'])) return false;
      if (message['result']['action'] === 'accept') answered += 1;
      else if (++rest === 500) cancelled.resolve();
      return true;
    });
    await using watch = watched({ servers: { docs: { ...peer.config, parallel: true } } });
    const { thread } = watch;
    const step = await thread.beginStep();
    const results = Array.from({ length: calls }, () => step.callTool('mcp__docs__echo'));
    await watch.until('elicitation.opened', undefined, count);
    const open = thread.snapshot().elicitations;
    expect(new Set(open.map(({ attribution }) => attribution))).toEqual(new Set([calls === 1 ? 'call' : 'ambiguous']));
    for (const { token } of open.slice(0, 1_500)) await thread.respond(token, { action: 'accept', content: {} });
    expect(thread.snapshot().steps[0]?.calls.map(({ state }) => state)).toEqual(results.map(() => 'paused'));
    // The calls end with the others open: they are cancelled, and their server hears it.
    for (const message of waiting) peer.reply(message, { content: [] });
    await Promise.all(results);
    await cancelled.promise;
    expect([answered, thread.snapshot().elicitations.length]).toEqual([1_500, 0]);
    expect(watch.of('warning')).toEqual([]);
  },
);

test('SE-2 RT-12 a legacy server that floods questions hears an error for each above the bound, with one warning', async () => {
  const refused: unknown[] = [];
  const answered = deferred();
  const allRefused = deferred();
  await using peer = rawServer(({ id, method, error }) => {
    if (method !== undefined) return false;
    if (!isRecord(error)) answered.resolve();
    else if (refused.push([id, error['code']]) === 5_000) allRefused.resolve();
    return true;
  });
  await using watch = watched({ servers: { docs: { ...peer.config, protocol: 'legacy' } } });
  const step = await watch.thread.beginStep();
  for (let id = 0; id < maxOpenQuestions + 5_000; id += 1) peer.send({ jsonrpc: '2.0', id, ...formRequest });
  await allRefused.promise;
  await watch.until('elicitation.opened', undefined, maxOpenQuestions);
  expect(refused[0]).toEqual([maxOpenQuestions, -32_000]);
  expect(watch.of('warning')).toMatchObject([{ code: 'questions_refused', server: 'docs' }]);
  // An answer makes room for one more.
  const [first] = watch.thread.snapshot().elicitations;
  await watch.thread.respond(first?.token ?? '', { action: 'decline' });
  await answered.promise;
  peer.send({ jsonrpc: '2.0', id: 'more', ...formRequest });
  await watch.until('elicitation.opened', undefined, maxOpenQuestions + 1);
  expect(watch.thread.snapshot().elicitations).toHaveLength(maxOpenQuestions);
  await step.end();
});

test('EL-11 EL-12 RT-9 300 calls of a legacy server that each ask are all put, though each question may be of any of them', async () => {
  const count = 300;
  await using server = scriptedServer({ tools: ['ask'] });
  await using watch = watched({
    servers: { docs: { ...server.config, parallel: true } },
    limits: { callsPerThread: count, callsPerServer: count },
  });
  const { thread } = watch;
  const step = await thread.beginStep();
  const results = Array.from({ length: count }, (_, index) =>
    step.callTool('mcp__docs__ask', { message: String(index) }).then(answerOf),
  );
  await watch.until('elicitation.opened', undefined, count);
  for (const { token, message } of shuffled(thread.snapshot().elicitations, seeded(3)))
    await thread.respond(token, { action: 'accept', content: { name: message } });
  expect(await Promise.all(results)).toEqual(
    Array.from({ length: count }, (_, index) => ({ action: 'accept', content: { name: String(index) } })),
  );
  expect(watch.of('warning')).toEqual([]);
});

const formRequest = {
  method: 'elicitation/create',
  params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
} as const;

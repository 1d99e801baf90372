/** An answer finds the responder that asked, and every other answer hears why it did not. */
import { describe, expect, test } from 'vitest';
import { createHost } from '../../../src/index.ts';
import type { PendingElicitation } from '../../../src/index.ts';
import { rawServer, scriptedServer } from '../../../src/testing/index.ts';
import type { RawMessage, RawServer } from '../../../src/testing/index.ts';
import { ada, answerOf, eras, seeded, shuffled, watched } from './support.ts';

/** A legacy peer whose every call asks one question, always under the same native id; the answer is the result. */
function asksAsSeven(): RawServer {
  let call: RawMessage | undefined;
  return rawServer((message, peer) => {
    if (message['method'] === 'tools/call') {
      call = message;
      peer.send({
        jsonrpc: '2.0',
        id: 7,
        method: 'elicitation/create',
        params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
      });
      return true;
    }
    if (message['id'] !== 7 || call === undefined) return false;
    peer.reply(call, { content: [{ type: 'text', text: JSON.stringify(message['result']) }] });
    return true;
  });
}

describe('tokens', () => {
  test.each(eras)(
    'EL-1 H7 a token has 128 random bits or more, is new for each question, and is registered before it is shown, in the %s era',
    async (era) => {
      await using server = scriptedServer({ era });
      await using watch = watched({ servers: { docs: { ...server.config, parallel: true } } });
      const { thread } = watch;
      // Answered from inside the very fact that shows it.
      const outcomes: Promise<unknown>[] = [];
      const tokens: string[] = [];
      thread.events$.subscribe((event) => {
        if (event.type !== 'elicitation.opened') return;
        tokens.push(event.elicitation.token);
        outcomes.push(thread.respond(event.elicitation.token, ada));
      });
      const step = await thread.beginStep();
      await Promise.all(Array.from({ length: 20 }, () => step.callTool('mcp__docs__ask')));
      expect(tokens).toHaveLength(20);
      expect(new Set(tokens).size).toBe(20);
      for (const token of tokens) expect(token).toMatch(/^elc_[A-Za-z0-9_-]{22,}$/u);
      expect(await Promise.all(outcomes)).toEqual(tokens.map(() => ({ status: 'delivered' })));
    },
  );
});

describe('two runtimes', () => {
  test('EL-2 H4 two servers of the same name that ask under the same native id get their own answers, crosswise', async () => {
    await using first = asksAsSeven();
    await using second = asksAsSeven();
    await using watch = watched({ servers: { docs: first.config } });
    const { thread } = watch;

    const old = await thread.beginStep();
    const oldResult = old.callTool('mcp__docs__echo');
    const oldQuestion = await watch.nextQuestion();
    await thread.replaceRuntime({ servers: { docs: second.config } });
    const current = await thread.beginStep();
    const newResult = current.callTool('mcp__docs__echo');
    const newQuestion = await watch.nextQuestion();
    expect([oldQuestion.generation, newQuestion.generation]).toEqual([1, 2]);

    expect(await thread.respond(newQuestion.token, { action: 'decline' })).toEqual({ status: 'delivered' });
    expect(answerOf(await newResult)).toEqual({ action: 'decline' });
    expect(thread.snapshot().elicitations).toEqual([oldQuestion]);
    expect(await thread.respond(oldQuestion.token, { action: 'accept', content: {} })).toEqual({ status: 'delivered' });
    expect(answerOf(await oldResult)).toEqual({ action: 'accept', content: {} });
    const answers = [first, second].map((peer) =>
      peer.received.filter(({ id }) => id === 7).map(({ result }) => result),
    );
    expect(answers).toEqual([[{ action: 'accept', content: {} }], [{ action: 'decline' }]]);
  });

  test.each(eras)(
    'EL-2 H4 H5 200 questions answered in random order across 5 replacements each reach their own call, once, in the %s era',
    async (era) => {
      const random = seeded(20_261_130);
      const servers = Array.from({ length: 5 }, (_, index) => scriptedServer({ era, name: `server-${String(index)}` }));
      const results = new Map<string, Promise<unknown>>();
      const open: PendingElicitation[] = [];
      await using watch = watched({ servers: {} });
      const { thread } = watch;
      await thread.ready();

      const answer = async ({ token, message }: PendingElicitation): Promise<void> => {
        expect(await thread.respond(token, { action: 'accept', content: { name: `for ${message}` } })).toEqual({
          status: 'delivered',
        });
        expect(await results.get(message)).toEqual({ action: 'accept', content: { name: `for ${message}` } });
      };
      for (const server of servers) {
        await thread.replaceRuntime({ servers: { docs: { ...server.config, parallel: true } } });
        const step = await thread.beginStep();
        for (let index = 0; index < 40; index += 1) {
          const message = `${server.script.name ?? ''}/${String(index)}`;
          results.set(message, step.callTool('mcp__docs__ask', { message }).then(answerOf));
          open.push(await watch.nextQuestion());
        }
        // Some are answered at once, the others after the next replacements.
        for (const question of shuffled(open, random).slice(0, 20)) {
          open.splice(open.indexOf(question), 1);
          await answer(question);
        }
      }
      expect(thread.snapshot().elicitations).toHaveLength(100);
      for (const question of shuffled(open, random)) await answer(question);

      expect(results.size).toBe(200);
      expect(thread.snapshot().elicitations).toEqual([]);
      const settled = watch.of('elicitation.settled');
      expect(settled).toHaveLength(200);
      expect(new Set(settled.map(({ token }) => token)).size).toBe(200);
      expect(settled.every(({ outcome }) => outcome === 'accepted')).toBe(true);
    },
  );
});

describe('outcomes of respond', () => {
  test.each(eras)(
    'EL-3 an answer that does not fit leaves the question open, in the %s era, and one that fits is delivered once',
    async (era) => {
      await using server = scriptedServer({ era });
      await using watch = watched({ servers: { docs: server.config } });
      const { thread } = watch;
      const step = await thread.beginStep();
      const result = step.callTool('mcp__docs__ask');
      const { token } = await watch.nextQuestion();

      const misfits: readonly unknown[] = [
        undefined,
        null,
        'accept',
        [],
        {},
        { action: 'perhaps' },
        { action: 'accept' },
        { action: 'accept', content: [] },
        { action: 'accept', content: { name: 4 } },
        { action: 'accept', content: { name: 'Ada', extra: true } },
        { action: 'decline', _meta: 'no object' },
      ];
      for (const misfit of misfits) {
        const outcome = await thread.respond(token, misfit as never);
        expect(outcome).toMatchObject({ status: 'invalid', issues: [{ message: expect.any(String) as unknown }] });
      }
      expect(thread.snapshot().elicitations).toMatchObject([{ token }]);
      expect(await thread.respond(token, ada)).toEqual({ status: 'delivered' });
      // A fact comes before the reply that depends on it.
      expect(watch.of('elicitation.settled')).toMatchObject([{ token, outcome: 'accepted' }]);
      expect(answerOf(await result)).toMatchObject(ada);
      expect(watch.of('call.ended')).toHaveLength(1);
      expect(server.journal.filter(({ kind }) => kind === 'answered')).toHaveLength(1);
    },
  );

  test.each([
    { answer: ada, outcome: 'accepted' },
    { answer: { action: 'decline' }, outcome: 'declined' },
    { answer: { action: 'cancel' }, outcome: 'cancelled' },
  ] as const)(
    'EL-3 H4 H5 a second answer hears that the question was $outcome, and when',
    async ({ answer, outcome }) => {
      await using server = scriptedServer();
      await using watch = watched({ servers: { docs: server.config } });
      const { thread } = watch;
      const step = await thread.beginStep();
      const result = step.callTool('mcp__docs__ask');
      const { token } = await watch.nextQuestion();
      const outcomes = await Promise.all([thread.respond(token, answer), thread.respond(token, ada)]);
      const settled = await watch.until('elicitation.settled');
      expect(outcomes).toEqual([
        { status: 'delivered' },
        { status: 'settled', outcome, at: expect.any(String) as unknown },
      ]);
      expect(settled).toMatchObject({ token, outcome });
      expect(answerOf(await result)).toMatchObject({ action: answer.action });
      expect(await thread.respond(token, { action: 'cancel' })).toMatchObject({ status: 'settled', outcome });
      expect(watch.of('elicitation.settled')).toHaveLength(1);
    },
  );

  test('EL-3 a token nobody issued is unknown, whatever it looks like', async () => {
    await using watch = watched({ servers: {} });
    const { thread } = watch;
    await thread.ready();
    const strangers: readonly unknown[] = [
      '',
      'elc_AAAAAAAAAAAAAAAAAAAAAAAA',
      '__proto__',
      'constructor',
      'router',
      'steps',
      7,
      null,
      undefined,
      {},
    ];
    for (const token of strangers) expect(await thread.respond(token as never, ada)).toEqual({ status: 'unknown' });
    await thread.close();
    expect(await thread.respond('elc_AAAAAAAAAAAAAAAAAAAAAAAA', ada)).toEqual({ status: 'unknown' });
  });

  test('EL-1 H8 a token of another thread of the same host is unknown, and that thread is not disturbed', async () => {
    await using server = scriptedServer();
    await using host = createHost();
    const asking = host.createThread({ servers: { docs: server.config } });
    const other = host.createThread({ servers: { docs: server.config } });
    const seenByOther: unknown[] = [];
    other.events$.subscribe((event) => seenByOther.push(event));
    const asked = new Promise<PendingElicitation>((resolve) => {
      asking.events$.subscribe((event) => {
        if (event.type === 'elicitation.opened') resolve(event.elicitation);
      });
    });
    await other.ready();
    const step = await asking.beginStep();
    const result = step.callTool('mcp__docs__ask', { message: 'a word for one thread' });
    const { token } = await asked;

    expect(await other.respond(token, ada)).toEqual({ status: 'unknown' });
    expect(other.snapshot().elicitations).toEqual([]);
    expect(JSON.stringify(seenByOther)).not.toContain('a word for one thread');
    expect(await asking.respond(token, ada)).toEqual({ status: 'delivered' });
    expect(answerOf(await result)).toMatchObject(ada);
    expect(await other.respond(token, ada)).toEqual({ status: 'unknown' });
  });

  test('EL-3 the memory of settled tokens is bounded: the oldest become unknown', async () => {
    await using server = scriptedServer();
    await using watch = watched({ servers: { docs: server.config }, limits: { settledTokens: 4 } });
    const { thread } = watch;
    const step = await thread.beginStep();
    const tokens: string[] = [];
    for (let count = 0; count < 10; count += 1) {
      const result = step.callTool('mcp__docs__ask');
      const { token } = await watch.nextQuestion();
      tokens.push(token);
      await thread.respond(token, ada);
      await result;
    }
    const statuses = await Promise.all(tokens.map(async (token) => (await thread.respond(token, ada)).status));
    expect(statuses.slice(0, 6)).toEqual(Array.from({ length: 6 }, () => 'unknown'));
    expect(statuses.slice(-2)).toEqual(['settled', 'settled']);
  });
});

/** Which call a question belongs to, said as far as it can be known, and never guessed. */
import { describe, expect, test } from 'vitest';
import { rawServer, scriptedServer, serveHttp, stdioServerConfig } from '../../../src/testing/index.ts';
import type { RawMessage } from '../../../src/testing/index.ts';
import { ada, answerOf, eras, errorOf, textOf, watched } from './support.ts';

describe('a question while several calls are in flight', () => {
  test.each(['in memory', 'over stdio'] as const)(
    'EL-11 of a legacy server %s is ambiguous, names the candidates, and its generation is the oldest of the connection',
    async (where) => {
      await using memory = where === 'in memory' ? scriptedServer() : undefined;
      const config = { ...(memory?.config ?? stdioServerConfig()), parallel: true };
      await using watch = watched({ servers: { docs: config } });
      const { thread } = watch;
      const old = await thread.beginStep();
      const parked = old.callTool('mcp__docs__park', { key: 'k' }, { callId: 'parked' });
      await thread.replaceRuntime({ servers: { docs: { ...config, callTimeoutMs: 1_000_000 } } });
      const step = await thread.beginStep();
      await step.callTool('mcp__docs__awaitParked', { key: 'k' });
      const asking = step.callTool('mcp__docs__ask', {}, { callId: 'asks' });
      const question = await watch.nextQuestion();
      const calls = thread.snapshot().steps.flatMap((each) => each.calls);
      expect(calls.map(({ request, state }) => [request, state])).toEqual([
        ['parked', 'paused'],
        ['asks', 'paused'],
      ]);
      expect(question).toMatchObject({
        attribution: 'ambiguous',
        candidates: calls.map(({ id }) => id),
        generation: 1,
      });
      expect(question).not.toHaveProperty('call');
      expect(question).not.toHaveProperty('step');
      expect(question).not.toHaveProperty('request');

      expect(await thread.respond(question.token, ada)).toEqual({ status: 'delivered' });
      expect(answerOf(await asking)).toMatchObject(ada);
      await step.callTool('mcp__docs__release', { key: 'k', value: 'released' });
      expect(textOf(await parked)).toBe('released');
      await old.end();
      await step.end();
    },
  );

  test('EL-11 of a modern server belongs to its call, whatever else is in flight', async () => {
    await using server = scriptedServer({ era: 'modern' });
    await using watch = watched({ servers: { docs: { ...server.config, parallel: true } } });
    const step = await watch.thread.beginStep();
    const parked = step.callTool('mcp__docs__park', { key: 'k' });
    await server.untilParked('k');
    const asking = step.callTool('mcp__docs__ask', {}, { callId: 'asks' });
    const question = await watch.nextQuestion();
    expect(question).toMatchObject({ attribution: 'call', request: 'asks', step: step.id, generation: 1 });
    expect(question).not.toHaveProperty('candidates');
    await watch.thread.respond(question.token, ada);
    expect(answerOf(await asking)).toMatchObject(ada);
    server.release('k');
    await parked;
  });

  test('EL-11 over legacy HTTP belongs to the call on whose stream it came; asked elsewhere, it is ambiguous', async () => {
    await using server = await serveHttp();
    await using watch = watched({ servers: { docs: { ...server.config, parallel: true } } });
    const step = await watch.thread.beginStep();
    const parked = step.callTool('mcp__docs__park', { key: 'k' }, { callId: 'parked' });
    await server.untilParked('k');
    const asking = step.callTool('mcp__docs__ask', {}, { callId: 'asks' });
    const question = await watch.nextQuestion();
    expect(question).toMatchObject({ attribution: 'call', request: 'asks' });
    await watch.thread.respond(question.token, ada);
    expect(answerOf(await asking)).toMatchObject(ada);

    const elsewhere = step.callTool('mcp__docs__ask', { standalone: true }, { callId: 'elsewhere' });
    const second = await watch.nextQuestion();
    expect(second.attribution).toBe('ambiguous');
    expect(second.candidates).toHaveLength(2);
    await watch.thread.respond(second.token, ada);
    expect(answerOf(await elsewhere)).toMatchObject(ada);
    server.release('k');
    await parked;
  });

  test.each(['in memory', 'over stdio'] as const)(
    'EL-11 RT-9 serialize makes it exact on a legacy server %s: one call at a time, questions included, of all steps',
    async (where) => {
      await using memory = where === 'in memory' ? scriptedServer() : undefined;
      const config = { ...(memory?.config ?? stdioServerConfig()), parallel: true, serialize: true };
      await using watch = watched({ servers: { docs: config } });
      const { thread } = watch;
      const steps = [await thread.beginStep(), await thread.beginStep()];
      const results = steps.map((step, index) =>
        step.callTool('mcp__docs__ask', { message: String(index) }, { callId: index }),
      );
      for (const index of [0, 1]) {
        const question = await watch.nextQuestion();
        expect(question).toMatchObject({ attribution: 'call', request: index, message: String(index) });
        const states = thread.snapshot().steps.map(({ calls }) => calls.map(({ state }) => state));
        expect(states).toEqual(index === 0 ? [['paused'], ['queued']] : [[], ['paused']]);
        await thread.respond(question.token, ada);
        expect(answerOf((await results[index]) ?? { content: [] })).toMatchObject(ada);
      }
    },
  );

  test('EL-11 RT-9 a serialized call that is aborted while it asks lets the next one go', async () => {
    await using server = scriptedServer();
    await using watch = watched({ servers: { docs: { ...server.config, serialize: true } } });
    const step = await watch.thread.beginStep();
    const controller = new AbortController();
    const failed = errorOf(step.callTool('mcp__docs__ask', {}, { signal: controller.signal }));
    await watch.nextQuestion();
    const next = step.callTool('mcp__docs__echo', { text: 'next' });
    controller.abort();
    expect(await failed).toMatchObject({ code: 'aborted' });
    expect(textOf(await next)).toBe('next');
  });
});

describe('a question while one call is in flight', () => {
  test.each(eras)('EL-11 belongs to it, with its own generation, in the %s era', async (era) => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config } });
    const { thread } = watch;
    await thread.ready();
    // The connection is held by runtimes 1 and 2; the call is pinned to 2.
    const old = await thread.beginStep();
    await thread.replaceRuntime({ servers: { docs: { ...server.config, callTimeoutMs: 1_000_000 } } });
    const step = await thread.beginStep();
    const result = step.callTool('mcp__docs__ask', {}, { callId: 'one' });
    const question = await watch.nextQuestion();
    expect(thread.snapshot().servers).toMatchObject([{ generations: [1, 2] }]);
    expect(question).toMatchObject({ attribution: 'call', request: 'one', step: step.id, generation: 2 });
    await thread.respond(question.token, ada);
    expect(answerOf(await result)).toMatchObject(ada);
    await old.end();
  });
});

describe('a question while no call is in flight', () => {
  test('EL-11 RT-3 during a start belongs to the server, and is routable before the runtime is published', async () => {
    await using server = scriptedServer({ askOnStart: { message: 'May I start?' } });
    await using watch = watched({ servers: { docs: server.config } });
    const { thread } = watch;
    const question = await watch.nextQuestion();
    expect(question).toMatchObject({ attribution: 'server', server: 'docs', message: 'May I start?', generation: 1 });
    expect(question).not.toHaveProperty('call');
    expect(thread.snapshot().elicitations).toEqual([question]);
    expect(await thread.respond(question.token, ada)).toEqual({ status: 'delivered' });
    expect(await server.until('answered')).toMatchObject({ value: ada });
  });

  test.each(['in memory', 'over stdio'] as const)(
    'EL-11 RT-3 during the start of a candidate %s belongs to the server, with the number of the candidate',
    async (where) => {
      const script = { askOnStart: { message: 'May I start?' } } as const;
      await using memory = where === 'in memory' ? scriptedServer(script) : undefined;
      const config = memory?.config ?? stdioServerConfig(script);
      await using current = scriptedServer();
      await using watch = watched({ servers: { docs: current.config } });
      const { thread } = watch;
      await thread.ready();
      const publication = thread.replaceRuntime({ servers: { docs: { ...config, required: true } } });
      const question = await watch.nextQuestion();
      expect(question).toMatchObject({ attribution: 'server', generation: 2 });
      expect(await thread.respond(question.token, ada)).toEqual({ status: 'delivered' });
      expect(await publication).toMatchObject({ status: 'published', generation: 2 });
      expect(watch.of('elicitation.settled')).toMatchObject([{ token: question.token, outcome: 'accepted' }]);
    },
  );

  test('EL-11 RT-3 before its start is done is answered while it starts: the listing waits for the answer', async () => {
    let listing: RawMessage | undefined;
    await using peer = rawServer((message, self) => {
      if (message['method'] === 'tools/list') {
        listing = message;
        self.send({
          jsonrpc: '2.0',
          id: 'q',
          method: 'elicitation/create',
          params: { message: 'May I start?', requestedSchema: { type: 'object', properties: {} } },
        });
        return true;
      }
      if (message['id'] !== 'q' || listing === undefined) return false;
      self.reply(listing, { tools: [{ name: JSON.stringify(message['result']), inputSchema: { type: 'object' } }] });
      return true;
    });
    await using watch = watched({ servers: { docs: peer.config } });
    const { thread } = watch;
    const { token, attribution } = await watch.nextQuestion();
    expect(attribution).toBe('server');
    expect(thread.snapshot().state).toBe('starting');
    expect(await thread.respond(token, { action: 'accept', content: {} })).toEqual({ status: 'delivered' });
    const { tools } = await thread.beginStep();
    expect(tools.map(({ tool }) => tool)).toEqual(['{"action":"accept","content":{}}']);
  });
});

/** Questions whose asker goes: each settles once, says why, and a late answer hears it. */
import { describe, expect, test } from 'vitest';
import { deferred, rawServer, scriptedServer, serveHttp, stdioServerConfig } from '../../../src/testing/index.ts';
import { ada, answerOf, eras, errorOf, watched } from './support.ts';

const someReason = expect.any(String) as unknown;

describe.each(eras)('an asker that goes in the %s era', (era) => {
  test('EL-8 EL-3 H5 the question of an aborted call is cancelled, and a late answer hears it', async () => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config } });
    const { thread } = watch;
    const step = await thread.beginStep();
    const controller = new AbortController();
    const result = step.callTool('mcp__docs__ask', {}, { signal: controller.signal });
    const { token } = await watch.nextQuestion();
    controller.abort();
    await expect(result).rejects.toMatchObject({ code: 'aborted' });
    expect(watch.of('elicitation.settled')).toMatchObject([{ token, outcome: 'cancelled', reason: someReason }]);
    expect(watch.indexOf('elicitation.settled')).toBeLessThan(watch.indexOf('call.ended'));
    expect(await thread.respond(token, ada)).toMatchObject({ status: 'settled', outcome: 'cancelled' });
    expect(thread.snapshot().elicitations).toEqual([]);
    if (era === 'legacy') await server.until('cancelled');
    expect(answerOf(await answeredCall(step, watch))).toMatchObject(ada);
  });

  test('EL-8 EL-3 H5 the question of a step that ends is cancelled', async () => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config } });
    const { thread } = watch;
    const step = await thread.beginStep();
    const failed = errorOf(step.callTool('mcp__docs__ask'));
    const { token } = await watch.nextQuestion();
    await step.end();
    expect(await failed).toMatchObject({ code: 'aborted' });
    expect(watch.of('elicitation.settled')).toMatchObject([{ token, outcome: 'cancelled', reason: someReason }]);
    expect(await thread.respond(token, ada)).toMatchObject({ status: 'settled', outcome: 'cancelled' });
  });

  test('EL-8 EL-3 H5 H10 the questions of a closed thread are cancelled, and a late answer still hears it', async () => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: { ...server.config, parallel: true } } });
    const { thread } = watch;
    const step = await thread.beginStep();
    const failed = [errorOf(step.callTool('mcp__docs__ask')), errorOf(step.callTool('mcp__docs__askUrl'))];
    const tokens = [(await watch.nextQuestion()).token, (await watch.nextQuestion()).token];
    await thread.close();
    for (const error of await Promise.all(failed)) expect(error).toMatchObject({ code: 'aborted' });
    const settled = watch.of('elicitation.settled');
    expect(settled.map(({ token }) => token).toSorted()).toEqual(tokens.toSorted());
    for (const fact of settled) expect(fact).toMatchObject({ outcome: 'cancelled', reason: someReason });
    for (const token of tokens)
      expect(await thread.respond(token, ada)).toMatchObject({ status: 'settled', outcome: 'cancelled' });
    expect(watch.indexOf('thread.closed')).toBe(watch.events.length - 1);
    expect(thread.snapshot().elicitations).toEqual([]);
  });

  test('EL-8 EL-9 a question its reviewer holds back pauses the call, and is cancelled when the step ends', async () => {
    // The reviewer holds it back; its call is paused all the same.
    await using server = scriptedServer({ era });
    const reviewing = deferred<string>();
    await using watch = watched({
      servers: { docs: server.config },
      reviewer: ({ elicitation }) => {
        reviewing.resolve(elicitation.token);
        return new Promise(() => undefined);
      },
    });
    const step = await watch.thread.beginStep();
    const failed = errorOf(step.callTool('mcp__docs__ask'));
    const token = await reviewing.promise;
    expect(watch.thread.snapshot().steps[0]?.calls).toMatchObject([{ state: 'paused' }]);
    await step.end();
    expect(await failed).toMatchObject({ code: 'aborted' });
    expect(await watch.thread.respond(token, ada)).toMatchObject({ status: 'settled', outcome: 'cancelled' });
    expect(watch.of('elicitation.settled')).toEqual([]);
  });
});

/** A call after another was given up: the connection is as good as before. */
async function answeredCall(
  step: Awaited<ReturnType<ReturnType<typeof watched>['thread']['beginStep']>>,
  watch: ReturnType<typeof watched>,
) {
  const result = step.callTool('mcp__docs__ask');
  const { token } = await watch.nextQuestion();
  await watch.thread.respond(token, ada);
  return result;
}

describe('a legacy server that takes its question back', () => {
  test('EL-8 EL-3 settles it as cancelled, withdrawn; the call goes on and hears no answer to it', async () => {
    const withdrawn = deferred();
    await using peer = rawServer((message, self) => {
      if (message['method'] !== 'tools/call') return false;
      self.send({
        jsonrpc: '2.0',
        id: 'q',
        method: 'elicitation/create',
        params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
      });
      void withdrawn.promise.then(() => {
        self.send({
          jsonrpc: '2.0',
          method: 'notifications/cancelled',
          params: { requestId: 'q', reason: 'never mind' },
        });
        self.reply(message, { content: [{ type: 'text', text: 'done without you' }] });
      });
      return true;
    });
    await using watch = watched({ servers: { docs: peer.config } });
    const { thread } = watch;
    const step = await thread.beginStep();
    const result = step.callTool('mcp__docs__echo');
    const { token } = await watch.nextQuestion();
    withdrawn.resolve();
    expect((await result).content).toEqual([{ type: 'text', text: 'done without you' }]);
    expect(watch.of('elicitation.settled')).toMatchObject([{ token, outcome: 'cancelled', reason: 'withdrawn' }]);
    expect(watch.of('call.resumed')).toHaveLength(1);
    expect(await thread.respond(token, ada)).toMatchObject({ status: 'settled', outcome: 'cancelled' });
    await step.end();
    expect(peer.received.filter(({ id }) => id === 'q')).toEqual([]);
  });

  test('EL-8 a call that ends with its question open cancels it, and the server hears that', async () => {
    await using peer = rawServer((message, self) => {
      if (message['method'] !== 'tools/call') return false;
      self.send({
        jsonrpc: '2.0',
        id: 'q',
        method: 'elicitation/create',
        params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
      });
      void isShown.promise.then(() => self.reply(message, { content: [] }));
      return true;
    });
    const isShown = deferred();
    await using watch = watched({ servers: { docs: peer.config } });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__echo');
    const { token } = await watch.nextQuestion();
    isShown.resolve();
    expect((await result).content).toEqual([]);
    expect(watch.of('elicitation.settled')).toMatchObject([{ token, outcome: 'cancelled' }]);
    expect(await peer.waitFor(({ id }) => id === 'q')).toMatchObject({ result: { action: 'cancel' } });
  });
});

describe('a connection that goes', () => {
  test.each(['in memory', 'over stdio', 'over HTTP'] as const)(
    'EL-8 EL-3 H5 RT-7 a legacy server killed %s with a question open: the question expires, the call says unknown',
    async (where) => {
      await using http = where === 'over HTTP' ? await serveHttp() : undefined;
      await using memory = where === 'in memory' ? scriptedServer() : undefined;
      const config = http?.config ?? memory?.config ?? stdioServerConfig();
      await using watch = watched({ servers: { docs: config } });
      const { thread } = watch;
      const step = await thread.beginStep();
      const failed = errorOf(step.callTool('mcp__docs__ask'));
      const { token } = await watch.nextQuestion();
      const [server] = thread.snapshot().servers;
      if (server?.pid !== undefined) process.kill(server.pid, 'SIGKILL');
      await http?.crash();
      await memory?.crash();

      expect(await failed).toMatchObject({ code: 'connection_lost', outcome: 'unknown' });
      expect(watch.of('elicitation.settled')).toMatchObject([{ token, outcome: 'expired', reason: someReason }]);
      expect(await thread.respond(token, ada)).toMatchObject({ status: 'expired', reason: someReason });
      expect(thread.snapshot().elicitations).toEqual([]);
    },
  );

  test('EL-8 H5 a modern question outlives its server process: the answer goes to the one that took its place', async () => {
    await using watch = watched({ servers: { docs: stdioServerConfig({ era: 'modern' }) } });
    const { thread } = watch;
    const step = await thread.beginStep();
    const result = step.callTool('mcp__docs__ask');
    const { token } = await watch.nextQuestion();
    const [server] = thread.snapshot().servers;
    process.kill(server?.pid ?? 0, 'SIGKILL');
    await watch.until('server.changed', ({ state }) => state === 'reconnecting');
    await watch.until('server.changed', ({ state }) => state === 'ready', 2);
    expect(thread.snapshot().elicitations).toMatchObject([{ token }]);
    expect(await thread.respond(token, ada)).toEqual({ status: 'delivered' });
    expect(answerOf(await result)).toMatchObject(ada);
    expect(thread.snapshot().servers[0]?.pid).not.toBe(server?.pid);
  });

  test('EL-8 EL-3 restartServer expires the legacy questions on it', async () => {
    await using server = scriptedServer();
    await using watch = watched({ servers: { docs: server.config } });
    const { thread } = watch;
    const step = await thread.beginStep();
    const failed = errorOf(step.callTool('mcp__docs__ask'));
    const { token } = await watch.nextQuestion();
    await thread.restartServer('docs');
    expect(await failed).toMatchObject({ outcome: 'unknown' });
    expect(watch.of('elicitation.settled')).toMatchObject([{ token, outcome: 'expired' }]);
    expect(await thread.respond(token, ada)).toMatchObject({ status: 'expired' });
  });
});

describe('a question during a start', () => {
  test('EL-3 EL-8 the question of a superseded candidate is cancelled', async () => {
    await using current = scriptedServer();
    await using asking = scriptedServer({ askOnStart: true, listing: { hangs: true } });
    await using watch = watched({ servers: { docs: current.config } });
    const { thread } = watch;
    await thread.ready();
    const first = thread.replaceRuntime({ servers: { docs: { ...asking.config, required: true } } });
    const { token } = await watch.nextQuestion();
    expect(await thread.replaceRuntime({ servers: { docs: current.config } })).toMatchObject({ status: 'published' });
    expect(await first).toMatchObject({ status: 'superseded' });
    expect(await watch.until('elicitation.settled')).toMatchObject({ token, outcome: 'cancelled', reason: someReason });
    expect(await thread.respond(token, ada)).toMatchObject({ status: 'settled', outcome: 'cancelled' });
  });

  test('EL-3 EL-8 H10 a question of no call is cancelled when the thread closes', async () => {
    await using server = scriptedServer({ askOnStart: true });
    await using watch = watched({ servers: { docs: server.config } });
    const { thread } = watch;
    await thread.ready();
    const { token } = await watch.nextQuestion();
    await thread.close();
    expect(watch.of('elicitation.settled')).toMatchObject([{ token, outcome: 'cancelled' }]);
    expect(await thread.respond(token, ada)).toMatchObject({ status: 'settled', outcome: 'cancelled' });
  });

  test('EL-3 EL-8 a question of no call expires when the last runtime that names its server is gone', async () => {
    await using server = scriptedServer({ askOnStart: true });
    await using watch = watched({ servers: { docs: server.config } });
    const { thread } = watch;
    await thread.ready();
    const { token } = await watch.nextQuestion();
    await thread.replaceRuntime({ servers: {} });
    expect(await watch.until('elicitation.settled')).toMatchObject({ token, outcome: 'expired', reason: someReason });
    expect(await thread.respond(token, ada)).toMatchObject({ status: 'expired' });
  });
});

describe('a question that may be one of several calls', () => {
  test('EL-8 EL-11 outlives one of them, and is cancelled with the last', async () => {
    await using server = scriptedServer();
    await using watch = watched({ servers: { docs: { ...server.config, parallel: true } } });
    const { thread } = watch;
    const step = await thread.beginStep();
    const asking = new AbortController();
    const parked = new AbortController();
    const other = errorOf(step.callTool('mcp__docs__park', { key: 'k' }, { signal: parked.signal }));
    await server.untilParked('k');
    const failed = errorOf(step.callTool('mcp__docs__ask', {}, { signal: asking.signal }));
    const question = await watch.nextQuestion();
    expect(question.attribution).toBe('ambiguous');
    parked.abort();
    expect(await other).toMatchObject({ code: 'aborted' });
    expect(thread.snapshot().elicitations).toHaveLength(1);
    asking.abort();
    expect(await failed).toMatchObject({ code: 'aborted' });
    expect(await watch.until('elicitation.settled')).toMatchObject({ token: question.token, outcome: 'cancelled' });
  });

  test('EL-8 EL-11 RT-12 is cancelled with the last even if its server says nothing', async () => {
    await using peer = rawServer((message, self) => {
      if (message['method'] !== 'tools/call') return false;
      const args = (message['params'] as { arguments?: { ask?: boolean } }).arguments;
      if (args?.ask === true)
        self.send({
          jsonrpc: '2.0',
          id: 'q',
          method: 'elicitation/create',
          params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
        });
      return true;
    });
    await using watch = watched({ servers: { docs: { ...peer.config, parallel: true } } });
    const { thread } = watch;
    const step = await thread.beginStep();
    const controllers = [new AbortController(), new AbortController()];
    const failed = controllers.map(({ signal }, index) =>
      errorOf(step.callTool('mcp__docs__echo', { ask: index === 1 }, { signal })),
    );
    const { token, attribution } = await watch.nextQuestion();
    expect(attribution).toBe('ambiguous');
    for (const [index, controller] of controllers.entries()) {
      expect(watch.of('elicitation.settled')).toEqual([]);
      controller.abort();
      expect(await failed[index]).toMatchObject({ code: 'aborted' });
    }
    expect(watch.of('elicitation.settled')).toMatchObject([{ token, outcome: 'cancelled' }]);
    expect(await peer.waitFor(({ id }) => id === 'q')).toMatchObject({ result: { action: 'cancel' } });
    expect(await thread.respond(token, ada)).toMatchObject({ status: 'settled', outcome: 'cancelled' });
  });
});

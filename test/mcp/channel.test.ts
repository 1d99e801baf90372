import { describe, expect, test } from 'vitest';
import { rawServer } from '../../src/testing/index.ts';
import type { RawHandler, RawMessage, RawServer } from '../../src/testing/index.ts';
import { call, failureOf, open, send, turn } from './support.ts';

/** Leaves calls open until the test answers them. */
function parking(): { readonly server: RawServer; readonly nextCall: () => Promise<RawMessage> } {
  let seen = 0;
  const server = rawServer((message) => message['method'] === 'tools/call');
  const nextCall = (): Promise<RawMessage> => {
    const index = seen++;
    return server.waitFor(
      (message) => server.received.filter((each) => each['method'] === 'tools/call')[index] === message,
    );
  };
  return { server, nextCall };
}

const onCall =
  (answer: (message: RawMessage, peer: RawServer) => void): RawHandler =>
  (message, peer) => {
    if (message['method'] !== 'tools/call') return false;
    answer(message, peer);
    return true;
  };

describe('requests', () => {
  test('RT-8 brings each result to its own request, whatever the order of the answers', async () => {
    const { server, nextCall } = parking();
    await using opened = await open(server.config);
    const first = call(opened.link, 'echo', { n: 1 });
    const second = call(opened.link, 'echo', { n: 2 });
    const [one, two] = [await nextCall(), await nextCall()];

    server.reply(two, { content: [], n: 2 });
    server.reply(one, { content: [], n: 1 });

    expect(await first.result).toEqual({ content: [], n: 1 });
    expect(await second.result).toEqual({ content: [], n: 2 });
  });

  test('ER-2 ER-3 hands over results as they came, input_required and tasks among them', async () => {
    const { server, nextCall } = parking();
    await using opened = await open(server.config);
    const asked = call(opened.link, 'echo');
    server.reply(await nextCall(), { resultType: 'input_required', inputRequests: { a: {} }, requestState: 'sealed' });
    const task = call(opened.link, 'echo');
    server.reply(await nextCall(), { resultType: 'task', task: { taskId: 't1' } });

    expect(await asked.result).toEqual({
      resultType: 'input_required',
      inputRequests: { a: {} },
      requestState: 'sealed',
    });
    expect(await task.result).toEqual({ resultType: 'task', task: { taskId: 't1' } });
  });

  test('RT-8 calls no sink before send returns, even when the server answers at once', async () => {
    const server = rawServer(onCall((message, peer) => peer.reply(message, { content: [] })));
    await using opened = await open(server.config);
    const order: string[] = [];
    const done = new Promise<void>((resolve) => {
      opened.link.send(
        { method: 'tools/call', params: { name: 'echo' } },
        {
          onResult: () => {
            order.push('result');
            resolve();
          },
          onFailure: () => order.push('failure'),
        },
      );
    });
    order.push('sent');

    await done;
    expect(order).toEqual(['sent', 'result']);
  });

  test('RT-12 SE-3 makes a protocol_error of a result that is no object', async () => {
    const values = [null, 'text', 7, [], undefined];
    const server = rawServer(onCall((message, peer) => peer.reply(message, values.shift())));
    await using opened = await open(server.config);

    for (let left = values.length; left > 0; left--) {
      const { failure } = await failureOf(call(opened.link, 'echo'));
      expect(failure.code).toBe('protocol_error');
      expect(failure.message).toMatch(/^Server "docs": expected a result of "tools\/call", got /);
    }
  });

  test('RT-10 carries the JSON-RPC error of a refused request', async () => {
    const server = rawServer(
      onCall((message, peer) => peer.fail(message, -32_042, 'Open these.', { elicitations: [] })),
    );
    await using opened = await open(server.config);

    const { failure, rpc } = await failureOf(call(opened.link, 'echo'));

    expect(rpc).toEqual({ code: -32_042, message: 'Open these.', data: { elicitations: [] } });
    expect(failure).toMatchObject({ code: 'protocol_error', retryable: false });
    expect(failure.message).toContain('-32042 (Open these.)');
  });

  test('RT-12 survives an error member of any type', async () => {
    const errors = ['no', 5, [], { code: 'x', message: 3 }];
    const server = rawServer(
      onCall((message, peer) => peer.send({ jsonrpc: '2.0', id: message['id'], error: errors.shift() })),
    );
    await using opened = await open(server.config);

    for (let left = errors.length; left > 0; left--) {
      const { rpc } = await failureOf(call(opened.link, 'echo'));
      expect(rpc).toMatchObject({ code: -32_000 });
    }
  });

  test('RT-8 drops a second answer and one for an unknown id, and counts them', async () => {
    const { server, nextCall } = parking();
    await using opened = await open(server.config);
    const sent = call(opened.link, 'echo');
    const request = await nextCall();
    server.reply(request, { content: [] });
    server.reply(request, { content: [], again: true });
    server.send({ jsonrpc: '2.0', id: 'nobody', result: {} });
    server.send({ jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'parse' } });

    expect(await sent.result).toEqual({ content: [] });
    await opened.told.until('onWarning', 2);
    expect(opened.link.stats).toEqual({ lateResults: 1, unknownResults: 2, lateProgress: 0 });
    expect(opened.told.warnings('unknown_response')[0]).toContain('"nobody"');
  });

  test('RT-8 echoes of an id as text settle nothing', async () => {
    const { server, nextCall } = parking();
    await using opened = await open(server.config);
    const sent = call(opened.link, 'echo');
    const request = await nextCall();
    server.send({ jsonrpc: '2.0', id: String(request['id']), result: { wrong: true } });
    server.reply(request, { right: true });

    expect(await sent.result).toEqual({ right: true });
  });

  test('RT-12 a sink that throws disturbs nothing and is reported', async () => {
    const server = rawServer(onCall((message, peer) => peer.reply(message, { content: [] })));
    await using opened = await open(server.config);
    opened.link.send(
      { method: 'tools/call', params: { name: 'echo' } },
      {
        onResult: () => {
          throw new Error('broken sink');
        },
        onFailure: () => undefined,
      },
    );

    const [code, message] = await opened.told.until('onWarning');
    expect([code, message]).toEqual(['internal', 'Expected the sink of a request to return, got broken sink.']);
    expect(await call(opened.link, 'echo').result).toEqual({ content: [] });
  });

  test('RT-12 counts nothing and warns of no listeners over 10,000 requests', async () => {
    const warnings: string[] = [];
    const note = (warning: Error): void => void warnings.push(warning.name);
    process.on('warning', note);
    const server = rawServer(onCall((message, peer) => peer.reply(message, { content: [] })));
    await using opened = await open(server.config);

    for (let done = 0; done < 10_000; done += 100) {
      await Promise.all(Array.from({ length: 100 }, () => call(opened.link, 'echo').result));
    }
    await turn();

    process.off('warning', note);
    expect(warnings).toEqual([]);
    expect(opened.link.stats).toEqual({ lateResults: 0, unknownResults: 0, lateProgress: 0 });
  });
});

describe('progress', () => {
  test('CN-5 brings progress to the request it belongs to, and asks for it only where somebody listens', async () => {
    const { server, nextCall } = parking();
    await using opened = await open(server.config);
    const watched = call(opened.link, 'echo', {}, { progress: true });
    const other = call(opened.link, 'echo', {}, { progress: true });
    const quiet = call(opened.link, 'echo');
    const [first, second, third] = [await nextCall(), await nextCall(), await nextCall()];
    const token = (message: RawMessage): unknown => Object(message['params'])['_meta']?.progressToken;
    const progress = (progressToken: unknown, n: unknown): void =>
      server.send({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress: n, total: 2, message: 'half' },
      });

    progress(token(first), 1);
    progress(token(first), 'far');
    progress('stranger', 1);
    progress(undefined, 1);
    server.reply(first, {});
    progress(token(first), 2);
    server.reply(second, {});
    server.reply(third, {});
    await Promise.all([watched.result, other.result, quiet.result]);
    await turn();

    expect(watched.progress).toEqual([{ progress: 1, total: 2, message: 'half' }]);
    expect(other.progress).toEqual([]);
    expect(token(third)).toBeUndefined();
    expect(opened.link.stats.lateProgress).toBe(3);
  });
});

describe('cancelling', () => {
  test('RT-8 tells a legacy server with the right id and a neutral reason, and drops the late result', async () => {
    const { server, nextCall } = parking();
    await using opened = await open(server.config);
    const sent = call(opened.link, 'echo', {}, { progress: true });
    const request = await nextCall();

    opened.link.cancel(sent.key);
    opened.link.cancel(sent.key);
    const told = await server.waitFor('notifications/cancelled');
    server.send({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: request['id'], progress: 1 },
    });
    server.reply(request, { content: [] });
    await turn();

    expect(told['params']).toEqual({ requestId: request['id'], reason: 'cancelled' });
    expect(server.received.filter((message) => message['method'] === 'notifications/cancelled')).toHaveLength(1);
    expect(sent.progress).toEqual([]);
    expect(opened.link.stats).toEqual({ lateResults: 1, unknownResults: 0, lateProgress: 1 });
  });

  test('RT-8 cancels nothing for a key it does not know', async () => {
    const { server } = parking();
    await using opened = await open(server.config);
    opened.link.cancel('1');
    opened.link.cancel('no number');
    await send(opened.link, 'ping').result;

    expect(server.received.some((message) => message['method'] === 'notifications/cancelled')).toBe(false);
  });
});

describe('the end', () => {
  test('RT-7 fails every open request with connection_lost before it tells of the end', async () => {
    const { server, nextCall } = parking();
    await using opened = await open(server.config);
    const closedBefore: number[] = [];
    const codes: string[] = [];
    for (let each = 0; each < 2; each++) {
      opened.link.send(
        { method: 'tools/call', params: { name: 'echo' } },
        {
          onResult: () => codes.push('result'),
          onFailure: (failed) => {
            codes.push(failed.failure.code);
            closedBefore.push(opened.told.of('onClosed').length);
          },
        },
      );
    }
    await nextCall();

    await server.close();
    const [failure] = await opened.told.until('onClosed');

    expect(codes).toEqual(['connection_lost', 'connection_lost']);
    expect(closedBefore).toEqual([0, 0]);
    expect(failure).toMatchObject({ code: 'connection_lost', retryable: true });
  });

  test('H10 close settles open requests, tells nobody of an end, and later requests fail', async () => {
    const { server, nextCall } = parking();
    const opened = await open(server.config);
    const sent = call(opened.link, 'echo');
    await nextCall();
    await opened.link.close();

    const { failure } = await failureOf(sent);
    const { failure: later } = await failureOf(call(opened.link, 'echo'));
    expect(failure).toMatchObject({ code: 'connection_lost', outcome: 'unknown' });
    expect(later).toMatchObject({ code: 'connection_lost', outcome: 'not-sent' });
    expect(server.closed).toBe(true);
    expect(opened.told.of('onClosed')).toEqual([]);
  });

  test('H10 tells nothing after close, and closing twice is closing once', async () => {
    const { server } = parking();
    const opened = await open(server.config);
    server.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    await Promise.all([opened.link.close(), opened.link.close()]);
    const before = opened.told.facts.length;
    opened.link.cancel('1000000');
    opened.link.answer(1, { result: {} });
    opened.link.notify('notifications/roots/list_changed');
    await turn();

    expect(opened.told.facts).toHaveLength(before);
    expect(await opened.link.list()).toMatchObject({ tools: [], failure: { code: 'aborted' } });
  });
});

describe('notifications', () => {
  test('CN-5 tells of list changes once a burst, and of updates, logs and finished url questions', async () => {
    const { server } = parking();
    await using opened = await open(server.config);
    const notify = (method: string, params?: unknown): void => server.send({ jsonrpc: '2.0', method, params });

    for (let index = 0; index < 1_000; index++) notify('notifications/tools/list_changed');
    notify('notifications/prompts/list_changed');
    notify('notifications/resources/list_changed');
    notify('notifications/resources/updated', { uri: 'file:///a' });
    notify('notifications/message', { level: 'error', logger: 'db', data: { a: 1 } });
    notify('notifications/message', { data: 'plain' });
    notify('notifications/elicitation/complete', { elicitationId: 'e1' });
    await opened.told.until('onListChanged', 3);

    expect(opened.told.of('onListChanged')).toEqual([['tools'], ['prompts'], ['resources']]);
    expect(opened.told.of('onResourceUpdated')).toEqual([['file:///a']]);
    expect(opened.told.of('onLog').map((args) => args.slice(0, 2))).toEqual([
      ['error', { a: 1 }],
      ['info', 'plain'],
    ]);
    expect(opened.told.of('onElicitationComplete')).toEqual([['e1']]);
  });

  test('RT-12 SE-3 ill-shaped messages disturb nothing and are reported a bounded number of times', async () => {
    const { server, nextCall } = parking();
    await using opened = await open(server.config);
    const shapes: unknown[] = [
      null,
      'text',
      7,
      [],
      [{ jsonrpc: '2.0', id: 1_000_000, result: {} }],
      {},
      { id: {} },
      { id: 5 },
      { id: [], method: 'ping' },
      { method: 7 },
      { method: 'notifications/progress', params: null },
      { method: 'notifications/progress', params: 'x' },
      { method: 'notifications/cancelled' },
      { method: 'notifications/cancelled', params: { requestId: {} } },
      { method: 'notifications/resources/updated', params: { uri: 1 } },
      { method: 'notifications/elicitation/complete', params: {} },
      { method: '__proto__' },
      { method: 'constructor', params: {} },
    ];
    for (let round = 0; round < 100; round++) for (const shape of shapes) server.send(shape);
    const sent = call(opened.link, 'echo');
    server.reply(await nextCall(), { content: [] });

    expect(await sent.result).toEqual({ content: [] });
    expect(opened.told.of('onWarning').length).toBeLessThanOrEqual(64);
    expect(opened.told.of('onClosed')).toEqual([]);
  });

  test('RT-12 handlers that throw disturb nothing', async () => {
    const { server, nextCall } = parking();
    const broken = (): never => {
      throw new Error('broken handler');
    };
    const handlers = {
      onQuestion: broken,
      onQuestionWithdrawn: broken,
      onListChanged: broken,
      onResourceUpdated: broken,
      onLog: broken,
      onWarning: broken,
      onElicitationComplete: broken,
      onVerdict: broken,
      onClosed: broken,
    };
    const { openLink } = await import('../../src/mcp/open-link.ts');
    const link = await openLink({
      server: 'docs',
      config: server.config,
      offer: { sampling: false, roots: false },
      signal: new AbortController().signal,
      timeoutMs: 5_000,
      handlers,
    });
    server.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    server.send({ jsonrpc: '2.0', method: 'notifications/message', params: {} });
    server.send({ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: { message: 'm', requestedSchema: {} } });
    server.send('noise');
    await turn();
    const sent = call(link, 'echo');
    server.reply(await nextCall(), { content: [] });

    expect(await sent.result).toEqual({ content: [] });
    await link.close();
  });
});

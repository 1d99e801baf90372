import { afterEach, describe, expect, test, vi } from 'vitest';
import { deferred } from '../../../src/testing/index.ts';
import { createSseTransport } from '../../../src/mcp/transports/sse.ts';
import { Outbox, answerLimitMs, outboxLimits } from '../../../src/mcp/transports/outbox.ts';
import { HoldfastError } from '../../../src/domain/errors.ts';
import { atEnd, initialize, open, raw, result } from './http-fixture.ts';
import { eventStream, json } from './raw-http.ts';
import { Recorder } from './recorder.ts';

afterEach(() => {
  vi.useRealTimers();
});

const answer = (id: number) => ({ jsonrpc: '2.0' as const, id, result: {} });

describe('answers nobody takes', () => {
  test('SE-2 keep no more than so many sockets of a Streamable HTTP server open', async () => {
    const full = deferred();
    let answers = 0;
    const server = await raw(({ rpc }, response) => {
      if (rpc['method'] === 'initialize') response.writeHead(200, json).end(JSON.stringify(result(rpc['id'])));
      else if ((answers += 1) === outboxLimits.onTheWay) full.resolve();
    });
    const { transport, recorder } = await open(server.url, { farewellMs: 20 });
    await transport.send(initialize);
    await recorder.result(0);
    const sent = Array.from({ length: outboxLimits.onTheWay * 3 }, (_, id) => transport.send(answer(id)));
    const outcomes = Promise.allSettled(sent);
    await full.promise;

    expect(server.sockets.size).toBeLessThanOrEqual(outboxLimits.onTheWay + 1);
    await transport.close();
    expect(answers).toBe(outboxLimits.onTheWay);
    expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true);
  });

  test('SE-2 keep no more than so many sockets of a legacy SSE server open', async () => {
    const full = deferred();
    let answers = 0;
    const server = await raw(({ method }, response) => {
      if (method === 'GET') response.writeHead(200, eventStream).write('event: endpoint\ndata: /messages\n\n');
      else if ((answers += 1) === outboxLimits.onTheWay) full.resolve();
    });
    const transport = createSseTransport({ url: server.url, listener: new Recorder(), env: {} });
    atEnd(() => transport.close());
    await transport.start();
    const outcomes = Promise.allSettled(
      Array.from({ length: outboxLimits.onTheWay * 3 }, (_, id) => transport.send(answer(id))),
    );
    await full.promise;

    expect(server.sockets.size).toBeLessThanOrEqual(outboxLimits.onTheWay + 1);
    await transport.close();
    expect(answers).toBe(outboxLimits.onTheWay);
    expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true);
  });

  test('SE-2 make room for the next once their time is over', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const outbox = new Outbox();
    const stuck = (signal: AbortSignal): Promise<void> =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new HoldfastError('aborted', 'Too late.')));
      });
    const first = Promise.allSettled(Array.from({ length: outboxLimits.onTheWay }, () => outbox.send(stuck)));
    const next = outbox.send(() => Promise.resolve());
    vi.advanceTimersByTime(answerLimitMs);

    await next;
    expect((await first).every(({ status }) => status === 'rejected')).toBe(true);
    await outbox.empty();
  });

  test('SE-2 are dropped when too many wait, and say so', async () => {
    const outbox = new Outbox();
    const gate = deferred();
    const sent = Array.from({ length: outboxLimits.onTheWay + outboxLimits.waiting }, () =>
      outbox.send(() => gate.promise),
    );

    await expect(outbox.send(() => gate.promise)).rejects.toMatchObject({
      code: 'limit_exceeded',
      outcome: 'not-sent',
    });
    gate.resolve();
    await Promise.all(sent);
    await outbox.empty();
  });
});

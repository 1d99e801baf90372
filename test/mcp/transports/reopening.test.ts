/** A server that ends its streams early, again and again, is not asked again and again without a pause. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Reopening } from '../../../src/mcp/transports/reopening.ts';
import { deferred } from '../../../src/testing/deferred.ts';
import { initialize, notification, open, raw, request, result } from './http-fixture.ts';
import { event, eventStream, json } from './raw-http.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Resolves with how often something was asked for at once before the first wait of a second. */
function firstWait(): Promise<number> {
  const waited = deferred<number>();
  const real = setTimeout;
  let atOnce = 0;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((callback, ms = 0) => {
    if (ms === 0) atOnce += 1;
    if (ms === 1_000 && atOnce > 0) waited.resolve(atOnce);
    return real(callback, ms);
  });
  return waited.promise;
}

describe('streams that end after one event, with "retry: 0"', () => {
  test("SE-2 CN-1 the server's own stream is opened at once three times, then after a second", async () => {
    let count = 0;
    const server = await raw(({ method, rpc }, response) => {
      if (method === 'GET') {
        count += 1;
        response.writeHead(200, eventStream);
        response.end(`retry: 0\n${event(notification('notifications/message'), String(count))}`);
      } else if (rpc['method'] === 'initialize') {
        const capabilities = {
          protocolVersion: '2025-11-25',
          capabilities: {},
          serverInfo: { name: 'x', version: '1' },
        };
        response.writeHead(200, json).end(JSON.stringify(result(0, capabilities)));
      } else response.writeHead(202).end();
    });
    const { transport, recorder } = await open(server.url);
    const waits = firstWait();
    await transport.send(initialize);
    await recorder.result(0);
    transport.setProtocolVersion('2025-11-25');
    await transport.send(notification('notifications/initialized'));
    expect(await waits).toBe(3);
    expect(count).toBe(4);
  });

  test('SE-2 RT-8 the stream of a request is resumed at once three times, then after a second, and is answered', async () => {
    let count = 0;
    const server = await raw((_request, response) => {
      count += 1;
      response.writeHead(200, eventStream);
      response.end(`retry: 0\n${event(count === 5 ? result(1, { at: count }) : '', String(count))}`);
    });
    const { transport, recorder } = await open(server.url);
    const waits = firstWait();
    await transport.send(request(1));
    expect(await waits).toBe(3);
    expect(await recorder.result(1)).toEqual({ at: 5 });
  });
});

test('SE-2 the pause grows to five seconds, never undercuts what is asked for, and ends with a stream that holds', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  const reopening = new Reopening();
  const delays = Array.from({ length: 8 }, () => {
    reopening.opened();
    reopening.ended();
    return reopening.delayMs(0);
  });
  expect(delays).toEqual([0, 0, 0, 1_000, 2_000, 4_000, 5_000, 5_000]);
  expect(reopening.delayMs(60_000)).toBe(60_000);
  reopening.opened();
  now.mockReturnValue(5_000);
  expect([reopening.ended(), reopening.delayMs(0)]).toEqual([true, 0]);
});

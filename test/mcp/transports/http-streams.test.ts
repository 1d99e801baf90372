import { describe, expect, test } from 'vitest';
import { deferred } from '../../../src/testing/deferred.ts';
import { initialize, notification, open, raw, request, result } from './http-fixture.ts';
import type { serveRaw } from './raw-http.ts';
import { event, eventStream, json } from './raw-http.ts';

describe('streams that end early', () => {
  test.each(['end', 'destroy'] as const)(
    'RT-8 fails the request whose stream comes to its %s before the result',
    async (how) => {
      const server = await raw((_request, response) => {
        response.writeHead(200, eventStream);
        response.write(event(notification('notifications/message')), () => response[how]());
      });
      const { transport, recorder } = await open(server.url);
      let ended = 0;
      await transport.send(request(1), { onRequestStreamEnd: () => (ended += 1) });
      expect(await recorder.until((heard) => heard.failed[0])).toMatchObject({
        id: 1,
        error: { code: 'connection_lost', outcome: 'unknown' },
      });
      expect(ended).toBe(1);
    },
  );

  test('RT-8 resumes a stream that numbered its events, and gives the answer to its request', async () => {
    const server = await raw(({ method, headers }, response) => {
      response.writeHead(200, eventStream);
      if (method === 'POST') response.end(`retry: 1\n${event('', 'e1')}`);
      else if (headers['last-event-id'] === 'e1') response.end(event(notification('notifications/message'), 'e2'));
      else response.end(event(result(1, { from: headers['last-event-id'] }), 'e3'));
    });
    const { transport, recorder } = await open(server.url);
    await transport.send(request(1));
    expect(await recorder.result(1)).toEqual({ from: 'e2' });
    expect(recorder.heard.messages.map(({ requestId }) => requestId)).toEqual([1, 1]);
    expect(recorder.heard.failed).toEqual([]);
  });

  test('RT-8 gives up after three resumptions that bring nothing', async () => {
    const server = await raw(({ method }, response) => {
      if (method === 'POST') response.writeHead(200, eventStream).end(`retry: 1\n${event('', 'e1')}`);
      else response.writeHead(500).end();
    });
    const { transport, recorder } = await open(server.url);
    await transport.send(request(1));
    expect(await recorder.until((heard) => heard.failed[0])).toMatchObject({
      id: 1,
      error: { code: 'connection_lost' },
    });
    expect(server.received.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'GET']);
  });

  test('RT-8 aborts the exchange of one request and reports nothing of it', async () => {
    const cut = deferred();
    const server = await raw(({ rpc }, response) => {
      if (rpc['id'] === 2) return response.writeHead(200, json).end(JSON.stringify(result(2)));
      response.once('close', () => {
        cut.resolve();
      });
      response.writeHead(200, eventStream).flushHeaders();
      return undefined;
    });
    const { transport, recorder } = await open(server.url);
    const abort = new AbortController();
    await transport.send(request(1), { requestSignal: abort.signal });
    abort.abort();
    await cut.promise;
    await transport.send(request(2));
    await recorder.result(2);
    expect(recorder.heard.failed).toEqual([]);
  });

  test('RT-8 rejects the send that was aborted before the answer, or before it began', async () => {
    const arrived = deferred();
    const server = await raw(() => {
      arrived.resolve();
    });
    const { transport } = await open(server.url);
    const abort = new AbortController();
    const sent = transport.send(request(1), { requestSignal: abort.signal });
    await arrived.promise;
    abort.abort();
    await expect(sent).rejects.toMatchObject({ code: 'aborted' });
    await expect(transport.send(request(2), { requestSignal: abort.signal })).rejects.toMatchObject({
      code: 'aborted',
    });
    expect(server.received).toHaveLength(1);
  });
});

describe("the server's own stream", () => {
  async function initialized(get: (response: Parameters<Parameters<typeof serveRaw>[0]>[1], count: number) => unknown) {
    let gets = 0;
    const server = await raw(({ method, rpc }, response) => {
      if (method === 'GET') return get(response, (gets += 1));
      if (rpc['id'] === undefined) return response.writeHead(202).end();
      return response.writeHead(200, json).end(JSON.stringify(result(rpc['id'])));
    });
    const opened = await open(server.url);
    await opened.transport.send(initialize);
    await opened.recorder.result(0);
    await opened.transport.send(notification('notifications/initialized'));
    return { ...opened, server, gets: () => gets };
  }

  test.each([404, 405, 406, 200])('CN-1 goes on without it when the GET is answered with %i', async (status) => {
    const answered = deferred();
    const { transport, recorder, gets } = await initialized((response) =>
      response.writeHead(status, { 'content-type': 'text/plain' }).end('no', () => {
        answered.resolve();
      }),
    );
    await answered.promise;
    await transport.send(request(1));
    await recorder.result(1);
    expect(gets()).toBe(1);
    expect(recorder.heard.warnings).toEqual([]);
  });

  test('CN-1 opens it again after its end, from the last event', async () => {
    const { recorder, server } = await initialized((response, count) => {
      response.writeHead(200, eventStream);
      if (count === 1) response.end(`retry: 1\n${event(notification('notifications/tools/list_changed'), 'a')}`);
      else response.write(event(notification('notifications/prompts/list_changed')));
    });
    await recorder.params('notifications/prompts/list_changed');
    const gets = server.received.filter(({ method }) => method === 'GET');
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'a']);
    expect(
      recorder.heard.messages.every(({ message, requestId }) => 'result' in message || requestId === undefined),
    ).toBe(true);
  });

  test('CN-1 does not open a stream for ever that ends at once', async () => {
    const { recorder, gets } = await initialized((response) =>
      response.writeHead(200, eventStream).end('retry: 1\n\n'),
    );
    const warning = await recorder.until((heard) => heard.warnings[0]);
    expect(warning.code).toBe('stream_unavailable');
    expect(gets()).toBe(4);
  });
});

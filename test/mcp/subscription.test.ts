import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isRecord } from '../../src/domain/json.ts';
import { rawServer } from '../../src/testing/index.ts';
import type { RawMessage, RawServer } from '../../src/testing/index.ts';
import { failureOf, open, send, turn } from './support.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function modernServer(listChanged: JsonCapabilities): RawServer {
  return rawServer((message, peer) => {
    if (message['method'] === 'server/discover') {
      peer.reply(message, {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: listChanged,
        ttlMs: 0,
        cacheScope: 'private',
      });
      return true;
    }
    if (message['method'] === 'tools/list') {
      peer.reply(message, { resultType: 'complete', tools: [], ttlMs: 0, cacheScope: 'private' });
      return true;
    }
    return message['method'] === 'subscriptions/listen';
  });
}

type JsonCapabilities = Readonly<Record<string, { readonly listChanged?: boolean; readonly subscribe?: boolean }>>;

function listens(server: RawServer): readonly RawMessage[] {
  return server.received.filter((message) => message['method'] === 'subscriptions/listen');
}

function acknowledge(server: RawServer, listen: RawMessage | undefined): void {
  server.send({
    jsonrpc: '2.0',
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: {}, _meta: { 'io.modelcontextprotocol/subscriptionId': listen?.['id'] } },
  });
}

test('CN-5 subscribes to exactly the list changes a modern server advertises', async () => {
  const server = modernServer({ tools: { listChanged: true }, prompts: {}, resources: { listChanged: true } });
  await using opened = await open(server.config);
  const [listen] = listens(server);

  expect(opened.link.info.era).toBe('modern');
  expect(Object(listen?.['params']).notifications).toEqual({ toolsListChanged: true, resourcesListChanged: true });
});

test('CN-5 subscribes to nothing where nothing is advertised', async () => {
  const server = modernServer({ tools: {} });
  await using opened = await open(server.config);

  expect(opened.link.info.era).toBe('modern');
  expect(listens(server)).toEqual([]);
});

test('CN-5 opens a subscription again when it ends, later each time, and says that the list may have changed', async () => {
  const server = modernServer({ tools: { listChanged: true } });
  await using opened = await open(server.config);
  acknowledge(server, listens(server)[0]);
  await turn();
  expect(opened.told.of('onListChanged')).toEqual([]);
  server.reply(listens(server)[0] ?? {}, { resultType: 'complete' });
  await turn();
  await vi.advanceTimersByTimeAsync(999);
  expect(listens(server)).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(listens(server)).toHaveLength(2);
  acknowledge(server, listens(server)[1]);
  expect(await opened.told.until('onListChanged')).toEqual(['tools']);
  server.fail(listens(server)[1] ?? {}, -32_603, 'Subscription limit reached');
  await turn();
  await vi.advanceTimersByTimeAsync(1_999);
  expect(listens(server)).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(listens(server)).toHaveLength(3);
});

test('CN-5 a refused subscription is told and tried again; H10 closing ends the trying', async () => {
  const server = modernServer({ tools: { listChanged: true } });
  const opened = await open(server.config);
  server.fail(listens(server)[0] ?? {}, -32_603, 'Subscription limit reached');
  const [code] = await opened.told.until('onWarning');
  expect(code).toBe('stream_unavailable');
  await opened.link.close();
  await vi.advanceTimersByTimeAsync(60_000);

  expect(listens(server)).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});

const withResources = { resources: { subscribe: true } } as const;

/** The newest `subscriptions/listen`, acknowledged with all it asks for. */
function honour(server: RawServer): unknown {
  const listen = listens(server).at(-1);
  const params = listen?.['params'];
  const wanted: unknown = isRecord(params) ? params['notifications'] : undefined;
  server.send({
    jsonrpc: '2.0',
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: wanted, _meta: { 'io.modelcontextprotocol/subscriptionId': listen?.['id'] } },
  });
  return isRecord(wanted) ? wanted['resourceSubscriptions'] : undefined;
}

async function untilListens(server: RawServer, count: number): Promise<void> {
  while (listens(server).length < count) await turn();
}

test('CN-5 subscriptions to resources of a modern server share one stream, and an older one ends', async () => {
  const server = modernServer({ ...withResources, tools: { listChanged: true } });
  await using opened = await open(server.config);
  acknowledge(server, listens(server)[0]);
  await turn();
  const subscribed = ['a:1', 'a:2'].map((uri) => send(opened.link, 'resources/subscribe', { uri }).result);
  await untilListens(server, 2);
  expect(honour(server)).toEqual(['a:1', 'a:2']);
  await Promise.all(subscribed);
  expect([...opened.link.subscribed]).toEqual(['a:1', 'a:2']);
  const cancelled = await server.waitFor('notifications/cancelled');
  expect(cancelled['params']).toMatchObject({ requestId: listens(server)[0]?.['id'] });

  const ended = send(opened.link, 'resources/unsubscribe', { uri: 'a:1' }).result;
  await untilListens(server, 3);
  expect(honour(server)).toEqual(['a:2']);
  await ended;
  expect([...opened.link.subscribed]).toEqual(['a:2']);
});

test('CN-5 a modern server that leaves a resource out of its acknowledgement has refused it', async () => {
  const server = modernServer(withResources);
  await using opened = await open(server.config);
  const sent = send(opened.link, 'resources/subscribe', { uri: 'a:1' });
  await untilListens(server, 1);
  acknowledge(server, listens(server)[0]);
  const { failure } = await failureOf(sent);

  expect(failure).toMatchObject({ code: 'unsupported', retryable: false });
  expect(failure.message).toContain('"a:1"');
  expect(opened.link.subscribed.size).toBe(0);
});

test('CN-5 a stream to a modern server that was lost tells of each resource again, for its changes were missed', async () => {
  const server = modernServer(withResources);
  await using opened = await open(server.config);
  const { result } = send(opened.link, 'resources/subscribe', { uri: 'a:1' });
  await untilListens(server, 1);
  honour(server);
  await result;
  for (let times = 0; times < 3; times++)
    server.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a:1' } });
  expect(await opened.told.until('onResourceUpdated')).toEqual(['a:1']);
  server.reply(listens(server)[0] ?? {}, { resultType: 'complete' });
  await turn();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(honour(server)).toEqual(['a:1']);
  expect(await opened.told.until('onResourceUpdated', 2)).toEqual(['a:1']);
  await turn();
  expect(opened.told.of('onResourceUpdated')).toHaveLength(2);
});

test('RE-1 a request for what a server does not announce is not sent, and one it then refuses is its fault', async () => {
  const server = modernServer({ resources: {} });
  await using opened = await open(server.config);
  const refused = async (method: string) => {
    const { failure } = await failureOf(send(opened.link, method, { uri: 'a:1', name: 'x' }));
    return failure;
  };
  for (const method of ['tools/list', 'prompts/list', 'prompts/get', 'completion/complete', 'resources/subscribe'])
    expect(await refused(method)).toMatchObject({ code: 'unsupported', outcome: 'not-sent' });
  expect(server.received.map(({ method }) => method)).toEqual(['server/discover']);
  expect(await refused('resources/list')).toMatchObject({
    code: 'protocol_error',
    message: expect.stringContaining('it announces "resources"') as unknown,
  });
});

test('RE-1 a request that was settled here is forgotten when it is cancelled', async () => {
  const server = modernServer({});
  await using opened = await open(server.config);
  const told: unknown[] = [];
  const note = (value: unknown): void => void told.push(value);
  const key = opened.link.send({ method: 'prompts/list' }, { onResult: note, onFailure: note });
  opened.link.cancel(key);
  await turn();

  expect(told).toEqual([]);
});

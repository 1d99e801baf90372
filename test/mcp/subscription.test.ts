import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { rawServer } from '../../src/testing/index.ts';
import type { RawMessage, RawServer } from '../../src/testing/index.ts';
import { open, turn } from './support.ts';

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

type JsonCapabilities = Readonly<Record<string, { readonly listChanged?: boolean }>>;

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

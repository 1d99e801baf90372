import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { HoldfastError } from '../../src/domain/errors.ts';
import { followPages, listPages } from '../../src/mcp/listing.ts';
import { rawServer, scriptedServer, serveHttp } from '../../src/testing/index.ts';
import { open, Told, turn } from './support.ts';

const listing = { server: 'docs', method: 'tools/list', key: 'tools' };

/** Answers page after page. */
function pages(...results: readonly JsonObject[]): (request: unknown) => Promise<JsonObject> {
  let next = 0;
  return () => Promise.resolve(results[next++] ?? {});
}

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error instanceof HoldfastError ? error.code : error;
  }
  return 'resolved';
}

describe('pages', () => {
  test('CN-4 follows every page in order', async () => {
    await using server = scriptedServer({ tools: [], manyTools: 250, listing: { pageSize: 7 } });
    await using opened = await open(server.config);

    expect(opened.link.inventory.failure).toBeUndefined();
    expect(opened.link.inventory.tools.map((tool) => tool.name)).toEqual(
      Array.from({ length: 250 }, (_, index) => `tool-${index}`),
    );
  });

  test.each([
    ['endless pages', { endless: true }, 'limit_exceeded'],
    ['a repeated cursor', { repeatedCursor: true, pageSize: 1 }, 'protocol_error'],
    ['an error', { fails: true as const }, 'protocol_error'],
  ])('CN-4 makes a failure of %s, never a part of a list', async (_, script, code) => {
    await using server = scriptedServer({ tools: [], manyTools: 5, listing: script });
    await using opened = await open(server.config);

    expect(opened.link.inventory.tools).toEqual([]);
    expect(opened.link.inventory.failure).toMatchObject({ code });
    expect(opened.link.inventory.failure?.message).toContain('Server "docs"');
  });

  test('CN-4 takes exactly 2,048 items and 100 pages, and not one more', async () => {
    const page = (size: number, nextCursor?: string): JsonObject => ({
      tools: Array.from({ length: size }, () => ({})),
      ...(nextCursor === undefined ? {} : { nextCursor }),
    });
    const many = (count: number): readonly JsonObject[] =>
      Array.from({ length: count }, (_, index) => page(1, index === count - 1 ? undefined : String(index)));

    expect(await followPages(pages(page(2_048)), listing)).toHaveLength(2_048);
    expect(await codeOf(followPages(pages(page(2_048, 'more'), page(1)), listing))).toBe('limit_exceeded');
    expect(await followPages(pages(...many(100)), listing)).toHaveLength(100);
    expect(await codeOf(followPages(pages(...many(101)), listing))).toBe('limit_exceeded');
  });

  test('CN-4 takes a cursor of 64 KiB and none larger, counted in bytes', async () => {
    const ask = (nextCursor: string): Promise<readonly unknown[]> =>
      followPages(pages({ tools: [], nextCursor }, { tools: [1] }), listing);

    expect(await ask('x'.repeat(65_536))).toEqual([1]);
    expect(await codeOf(ask('x'.repeat(65_537)))).toBe('limit_exceeded');
    expect(await codeOf(ask('ü'.repeat(32_769)))).toBe('limit_exceeded');
  });

  test.each([
    ['no items', { nextCursor: 'a' }],
    ['items of another type', { tools: { length: 1 } }],
    ['a cursor that is a number', { tools: [], nextCursor: 5 }],
  ])('CN-4 SE-3 makes a failure of a page with %s', async (_, page) => {
    expect(await codeOf(followPages(pages(page), listing))).toBe('protocol_error');
  });

  test('CN-4 takes an empty cursor for one, and null for none', async () => {
    expect(await followPages(pages({ tools: [1], nextCursor: '' }, { tools: [2], nextCursor: null }), listing)).toEqual(
      [1, 2],
    );
  });

  test('RE-1 lists everything of another kind over an open link', async () => {
    await using server = scriptedServer({ tools: [] });
    await using opened = await open(server.config);
    const found = await listPages(opened.link, { server: 'docs', method: 'resources/list', key: 'resources' });
    const missing = listPages(opened.link, { server: 'docs', method: 'holdfast/none', key: 'none' });

    expect(found.length).toBeGreaterThan(0);
    expect(await codeOf(missing)).toBe('protocol_error');
  });

  test('RT-8 a listing over an open link ends with its signal, and the server hears of it', async () => {
    const server = rawServer((message) => message['method'] === 'prompts/list', { capabilities: { prompts: {} } });
    await using opened = await open(server.config);
    const stop = new AbortController();
    const found = listPages(opened.link, {
      server: 'docs',
      method: 'prompts/list',
      key: 'prompts',
      signal: stop.signal,
    });
    await server.waitFor('prompts/list');
    stop.abort();

    expect(await codeOf(found)).toBe('aborted');
    await server.waitFor('notifications/cancelled');
  });

  test('CN-2 a listing over HTTP is tried three times', async () => {
    await using server = await serveHttp({ tools: ['echo'] });
    await using opened = await open(server.config);
    server.setStatus(503, { times: 2, rpcMethod: 'tools/list', headers: { 'retry-after': '0' } });
    const twice = await opened.link.list();
    server.setStatus(503, { times: 3, rpcMethod: 'tools/list', headers: { 'retry-after': '0' } });
    const thrice = await opened.link.list();

    expect(twice.tools).toHaveLength(1);
    expect(thrice).toMatchObject({ tools: [], failure: { code: 'server_unavailable', retryable: true } });
  });

  test('CN-4 a server without tools is asked for none', async () => {
    const server = rawServer((message, peer) => {
      if (message['method'] !== 'initialize') return false;
      peer.reply(message, { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'r', version: '1' } });
      return true;
    });
    await using opened = await open(server.config);

    expect(opened.link.inventory).toEqual({ tools: [] });
    expect(server.received.some((message) => message['method'] === 'tools/list')).toBe(false);
  });
});

describe('tools', () => {
  const tool = (name: unknown, rest: object = {}): object => ({ name, inputSchema: { type: 'object' }, ...rest });

  function deep(levels: number): JsonObject {
    let schema: JsonObject = {};
    for (let level = 0; level < levels; level++) schema = { properties: { a: schema } };
    return schema;
  }

  test('NM-3 SE-3 drops a tool that cannot be used, says so, and keeps the others', async () => {
    const tools = [
      tool('good', { title: 'Good', annotations: { readOnlyHint: true }, _meta: { a: 1 }, icons: [{ src: 'x' }] }),
      null,
      'tool',
      tool(''),
      tool(7),
      { name: 'no-schema' },
      { name: 'list-schema', inputSchema: [] },
      tool('bad-output', { outputSchema: 'x' }),
      tool('deep', { inputSchema: deep(5_000) }),
      tool('deep-meta', { _meta: deep(5_000) }),
      tool('huge', { outputSchema: { description: 'x'.repeat(1_100_000) } }),
      tool('last'),
    ];
    const server = rawServer(undefined, { tools });
    await using opened = await open(server.config);

    expect(opened.link.inventory.failure).toBeUndefined();
    expect(opened.link.inventory.tools).toEqual([tools[0], tools.at(-1)]);
    expect(opened.told.warnings('tool_dropped')).toHaveLength(10);
    expect(opened.told.warnings('tool_dropped')[3]).toBe(
      'Server "docs": expected a tool to have a name. The tool is not offered.',
    );
  });

  test('NM-1 drops a tool whose name is longer than 1,024 characters', async () => {
    const tools = [tool('x'.repeat(1_025)), tool('x'.repeat(1_024))];
    const server = rawServer(undefined, { tools });
    await using opened = await open(server.config);

    expect(opened.link.inventory.tools).toEqual([tools[1]]);
    expect(opened.told.warnings('tool_dropped')).toEqual([
      expect.stringContaining('expected a tool name of at most 1024 characters, got one of 1025'),
    ]);
  });

  test('NM-1 keeps the first of two tools with one name', async () => {
    const tools = [tool('same', { description: 'first' }), tool('same', { description: 'second' })];
    const server = rawServer(undefined, { tools });
    await using opened = await open(server.config);

    expect(opened.link.inventory.tools).toEqual([tools[0]]);
    expect(opened.told.warnings('tool_dropped')).toHaveLength(1);
  });

  test('PO-1 SE-3 a hint of a wrong type says nothing', async () => {
    const annotations = { readOnlyHint: 'true', idempotentHint: true, title: 5, extra: 1 };
    const server = rawServer(undefined, {
      tools: [tool('odd', { annotations, title: {}, description: [], _meta: null })],
    });
    await using opened = await open(server.config);

    expect(opened.link.inventory.tools).toEqual([tool('odd', { annotations: { idempotentHint: true, extra: 1 } })]);
  });
});

describe('changes', () => {
  test.each(['legacy', 'modern'] as const)(
    'CN-5 a changed list of a %s server is told, and listed anew',
    async (era) => {
      await using http = await serveHttp({ era, tools: ['echo'] });
      await using inMemory = scriptedServer({ era, tools: ['echo'] });
      for (const server of [http, inMemory]) {
        await using opened = await open(server.config);
        // The stream opens in the background: the change is told as soon as it is there.
        while (opened.told.of('onListChanged').length === 0) {
          await server.addTool('added');
          await turn();
        }
        expect(await opened.told.until('onListChanged')).toEqual(['tools']);
        expect(opened.link.inventory.tools).toHaveLength(1);
        expect((await opened.link.list()).tools.map((each) => each.name)).toEqual(['echo', 'added']);
      }
    },
  );

  test('CN-5 a list that changed while the link opened is told once the link is there', async () => {
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
    const server = rawServer((message, peer) => {
      if (message['method'] === 'notifications/initialized' || message['method'] === 'tools/list') peer.send(changed);
    });
    const told = new Told();
    const opening = open(server.config, { told });
    await server.waitFor('tools/list');
    expect(told.of('onListChanged')).toEqual([]);
    await using opened = await opening;

    expect(opened.told.of('onListChanged')).toEqual([]);
    expect(await told.until('onListChanged')).toEqual(['tools']);
    await turn();
    expect(told.of('onListChanged')).toHaveLength(1);
  });

  test('CN-5 a change the first listing has is not told again', async () => {
    const server = rawServer((message, peer) => {
      if (message['method'] !== 'notifications/initialized') return;
      peer.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    });
    await using opened = await open(server.config);
    await turn();

    expect(opened.told.of('onListChanged')).toEqual([]);
  });
});

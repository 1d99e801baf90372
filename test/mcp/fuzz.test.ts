import {
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  integer,
  jsonValue,
  oneof,
  record,
  string,
  tuple,
} from 'fast-check';
import { expect, test } from 'vitest';
import { HoldfastError, messageOf } from '../../src/domain/errors.ts';
import { rawServer } from '../../src/testing/index.ts';
import type { RawServer } from '../../src/testing/index.ts';
import { call, failureOf, open, SinkError, turn } from './support.ts';

const methods = [
  'notifications/progress',
  'notifications/cancelled',
  'notifications/message',
  'notifications/tools/list_changed',
  'notifications/resources/updated',
  'notifications/elicitation/complete',
  'notifications/subscriptions/acknowledged',
  'notifications/initialized',
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
  'ping',
  'initialize',
  'tools/list',
];

const id = oneof(
  constantFrom(0, 1, 1_000_000, 1_000_001, 1_000_002, 'listen:0', '1000000', null, -1, 1e300),
  jsonValue({ maxDepth: 1 }),
);

const params = oneof(
  jsonValue({ maxDepth: 3 }),
  record(
    {
      progressToken: id,
      progress: oneof(integer(), jsonValue({ maxDepth: 1 })),
      requestId: id,
      message: jsonValue({ maxDepth: 1 }),
      requestedSchema: jsonValue({ maxDepth: 2 }),
      mode: constantFrom('form', 'url', 'other', 7),
      uri: jsonValue({ maxDepth: 1 }),
      _meta: jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: [] },
  ),
);

const frame = oneof(
  jsonValue({ maxDepth: 2 }),
  record(
    {
      jsonrpc: constantFrom('2.0', '1.0', 2),
      id,
      method: oneof(constantFrom(...methods), jsonValue({ maxDepth: 1 })),
      params,
      result: jsonValue({ maxDepth: 2 }),
      error: oneof(jsonValue({ maxDepth: 1 }), record({ code: integer(), message: string() })),
    },
    { requiredKeys: [] },
  ),
);

function parking(): RawServer {
  return rawServer((message) => message['method'] === 'tools/call');
}

test('RT-12 SE-3 whatever a server sends, an open link stays usable and every request settles', async () => {
  await assert(
    asyncProperty(array(frame, { maxLength: 40 }), async (frames) => {
      const server = parking();
      const opened = await open(server.config, { offer: { sampling: true, roots: true } });
      const first = call(opened.link, 'echo', {}, { progress: true });
      await server.waitFor('tools/call');
      for (const each of frames) server.send(each);
      await turn();
      const last = call(opened.link, 'echo');
      const asked = await server.waitFor(
        (message) => message['method'] === 'tools/call' && String(message['id']) === last.key,
      );
      server.reply(asked, { content: [] });

      expect(await last.result).toEqual({ content: [] });
      expect(opened.told.of('onClosed')).toEqual([]);
      await opened.link.close();
      const [settled] = await Promise.allSettled([first.result]);
      expect(settled.status === 'fulfilled' || settled.reason instanceof SinkError).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('RT-12 SE-3 whatever a server answers to the handshake, the start ends with a link or a typed error', async () => {
  await assert(
    asyncProperty(array(tuple(boolean(), jsonValue({ maxDepth: 3 })), { minLength: 3 }), async (answers) => {
      const script = [...answers];
      const server = rawServer((message, peer) => {
        const next = script.shift();
        if (message['id'] === undefined || next === undefined) return false;
        const [isError, value] = next;
        peer.send({ jsonrpc: '2.0', id: message['id'], ...(isError ? { error: value } : { result: value }) });
        return true;
      });
      const [opening] = await Promise.allSettled([open(server.config, { timeoutMs: 2_000 })]);
      if (opening.status === 'fulfilled') await opening.value.link.close();
      const isTyped = opening.status === 'fulfilled' || opening.reason instanceof HoldfastError;
      const said = opening.status === 'fulfilled' ? 'Server "docs": ' : messageOf(opening.reason);

      expect(isTyped).toBe(true);
      expect(said).toContain('Server "docs": ');
      expect(server.closed).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('RT-12 a server that floods 100,000 frames costs no more than their handling', async () => {
  const server = parking();
  await using opened = await open(server.config);
  const sent = call(opened.link, 'echo');
  const request = await server.waitFor('tools/call');
  for (let index = 0; index < 100_000; index++) {
    server.send({ jsonrpc: '2.0', id: `stranger-${index}`, result: {} });
  }
  server.send({ jsonrpc: '2.0', id: request['id'], error: { code: -32_000, message: 'enough' } });

  expect((await failureOf(sent)).rpc?.message).toBe('enough');
  expect(opened.link.stats.unknownResults).toBe(100_000);
  expect(opened.told.warnings('unknown_response')).toHaveLength(16);
});

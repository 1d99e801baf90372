import { describe, expect, test } from 'vitest';
import { readQuestion } from '../../src/actors/read-question.ts';
import { checkResult } from '../../src/actors/results.ts';
import { parseObject } from '../../src/mcp/wire.ts';
import { rawServer } from '../../src/testing/index.ts';
import type { RawHandler } from '../../src/testing/index.ts';
import { errorOf, watched } from '../integration/elicitations/support.ts';
import { open, turn } from './support.ts';

/** JSON that can be read and not written. */
const deep = parseObject(JSON.parse('{"a":'.repeat(7_000) + '1' + '}'.repeat(7_000))) ?? {};
const list: unknown = JSON.parse('['.repeat(7_000) + ']'.repeat(7_000));

const form = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };

const onCall =
  (answer: RawHandler): RawHandler =>
  (message, peer) => {
    if (message['method'] !== 'tools/call') return false;
    answer(message, peer);
    return true;
  };

describe('what is nested too deep', () => {
  test('SE-2 RT-12 a log is replaced by a warning', async () => {
    const server = rawServer();
    await using opened = await open(server.config);
    server.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: deep } });
    await turn();

    expect(opened.told.of('onLog')).toEqual([]);
    expect(opened.told.warnings('invalid_message')).toHaveLength(1);
  });

  test('SE-2 RT-12 an id of a request or an answer is only a warning', async () => {
    const server = rawServer();
    await using opened = await open(server.config);
    server.send({ jsonrpc: '2.0', id: list, method: 'ping' });
    server.send({ jsonrpc: '2.0', id: list, result: {} });
    await turn();

    expect(opened.told.warnings('invalid_message')).toHaveLength(1);
    expect(opened.told.warnings('unknown_response')).toHaveLength(1);
  });

  test('SE-2 CN-1 a handshake ends the start', async () => {
    const server = rawServer((message, peer) => {
      if (message['method'] !== 'initialize') return false;
      const serverInfo = { name: 'deep', version: '1' };
      peer.reply(message, { protocolVersion: '2025-11-25', capabilities: { experimental: { deep } }, serverInfo });
      return true;
    });

    await expect(open(server.config)).rejects.toMatchObject({ code: 'protocol_error' });
  });

  test('SE-2 ER-1 a discovery counts as none', async () => {
    const server = rawServer((message, peer) => {
      if (message['method'] !== 'server/discover') return false;
      const capabilities = { experimental: { deep } };
      peer.reply(message, { supportedVersions: ['2026-07-28'], capabilities, ttlMs: 0, cacheScope: 'private' });
      return true;
    });
    await using opened = await open(server.config);

    expect(opened.link.info.era).toBe('legacy');
  });

  test.each([
    ['content', { content: [{ type: 'text', text: 'x', _meta: deep }] }],
    ['structured content', { content: [], structuredContent: deep }],
    ['a list', { content: [], extra: list }],
    ['the state of a request for input', { resultType: 'input_required', inputRequests: {}, requestState: deep }],
    ['its type', { resultType: list, content: [] }],
  ])('SE-2 RT-12 a result fails its call with invalid_result: %s', async (_where, result) => {
    const server = rawServer(
      onCall((message, peer) => {
        peer.reply(message, result);
      }),
    );
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();

    expect(await errorOf(step.callTool('mcp__docs__echo'))).toMatchObject({
      code: 'invalid_result',
      outcome: 'failed',
      retryable: false,
    });
  });

  test.each([
    ['its schema', { ...form, requestedSchema: { type: 'object', properties: { a: deep } } }],
    ['its _meta', { ...form, _meta: deep }],
    ['what nobody reads', { ...form, more: list }],
    ['its mode', { ...form, mode: deep }],
    ['its url', { mode: 'url', message: 'm', url: 'https://a.example/', elicitationId: 'e', more: deep }],
  ])('SE-2 EL-4 a question is refused and never shown: %s', async (where, params) => {
    const server = rawServer(
      onCall((message, peer) => {
        peer.send({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params });
        void peer
          .waitFor((answer) => answer['id'] === 'q')
          .then((answer) => {
            peer.reply(message, { content: [], structuredContent: { answer: answer['result'] ?? answer['error'] } });
          });
      }),
    );
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const { structuredContent } = await step.callTool('mcp__docs__echo');

    const refusedAtEdge = where === 'its mode';
    expect(structuredContent).toMatchObject({ answer: refusedAtEdge ? { code: -32_602 } : { action: 'decline' } });
    expect(watch.of('elicitation.opened')).toEqual([]);
    expect(watch.of('warning').map(({ code }) => code)).toEqual(refusedAtEdge ? [] : ['elicitation_refused']);
  });

  test('SE-2 ER-2 a question of a modern result is refused alone', () => {
    const asked = { a: { method: 'elicitation/create', params: { ...form, _meta: deep } } };
    expect(checkResult('tools/call', 'docs', { resultType: 'input_required', inputRequests: asked })).toEqual({
      kind: 'inputRequired',
    });
    expect(readQuestion('docs', 'elicitation/create', asked.a.params)).toContain('at most 200 levels');
    expect(readQuestion('docs', 'sampling/createMessage', { messages: [], _meta: deep })).toContain('200 levels');
  });
});

import { describe, expect, test } from 'vitest';
import { rawServer, scriptedServer, serveHttp, stdioServerConfig } from '../../src/testing/index.ts';
import type { RawMessage, RawServer } from '../../src/testing/index.ts';
import { call, open, send, Told, turn } from './support.ts';

const form = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };

function ask(server: RawServer, id: unknown, method: string, params?: unknown): void {
  server.send({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });
}

function answerTo(server: RawServer, id: unknown): Promise<RawMessage> {
  return server.waitFor((message) => message['id'] === id && message['method'] === undefined);
}

describe('questions of legacy servers', () => {
  test('EL-4 EL-10 brings a form with its params as sent, and answers it by its id', async () => {
    const server = rawServer();
    await using opened = await open(server.config);
    ask(server, 'q-1', 'elicitation/create', { ...form, _meta: { tag: 1 } });
    await opened.told.until('onQuestion');

    opened.link.answer('q-1', { result: { action: 'accept', content: {} } });

    expect(opened.told.questions).toEqual([
      { id: 'q-1', method: 'elicitation/create', params: { ...form, _meta: { tag: 1 } } },
    ]);
    expect(await answerTo(server, 'q-1')).toEqual({
      jsonrpc: '2.0',
      id: 'q-1',
      result: { action: 'accept', content: {} },
    });
  });

  test('H5 answers a question once; unknown and answered ids are ignored', async () => {
    const server = rawServer();
    await using opened = await open(server.config);
    ask(server, 1, 'elicitation/create', form);
    await opened.told.until('onQuestion');
    opened.link.answer('1', { result: { action: 'cancel' } });
    opened.link.answer(1, { error: { code: -1, message: 'declined' } });
    opened.link.answer(1, { result: { action: 'accept' } });
    await turn();

    const answers = server.received.filter((message) => message['method'] === undefined);
    expect(answers).toEqual([{ jsonrpc: '2.0', id: 1, error: { code: -1, message: 'declined' } }]);
  });

  test.each([
    ['no params', 'elicitation/create', undefined],
    ['params of another type', 'elicitation/create', [1]],
    ['no message', 'elicitation/create', { requestedSchema: {} }],
    ['a schema that is no object', 'elicitation/create', { message: 'm', requestedSchema: 'x' }],
    ['an unknown mode', 'elicitation/create', { ...form, mode: 'voice' }],
    ['a url question without url', 'elicitation/create', { mode: 'url', message: 'm', elicitationId: 'e' }],
    ['a url question without id', 'elicitation/create', { mode: 'url', message: 'm', url: 'https://a.example' }],
    ['sampling without messages', 'sampling/createMessage', { maxTokens: 1 }],
    ['roots with a list as params', 'roots/list', []],
  ])('EL-5 SE-3 answers invalid params itself: %s', async (_, method, params) => {
    const server = rawServer();
    await using opened = await open(server.config, { offer: { sampling: true, roots: true } });
    ask(server, 9, method, params);

    expect(await answerTo(server, 9)).toMatchObject({ error: { code: -32_602 } });
    expect(opened.told.questions).toEqual([]);
  });

  test('ER-4 passes on sampling and roots where they are offered, and refuses them where not', async () => {
    const offering = rawServer();
    const silent = rawServer();
    await using offered = await open(offering.config, { offer: { sampling: true, roots: true } });
    await using withheld = await open(silent.config);
    for (const server of [offering, silent]) {
      ask(server, 1, 'sampling/createMessage', { messages: [], maxTokens: 1 });
      ask(server, 2, 'roots/list');
      ask(server, 3, 'ping');
      ask(server, 4, 'holdfast/unknown', {});
    }
    await offered.told.until('onQuestion', 2);

    expect(offered.told.questions.map(({ method, params }) => [method, params])).toEqual([
      ['sampling/createMessage', { messages: [], maxTokens: 1 }],
      ['roots/list', {}],
    ]);
    expect(await answerTo(silent, 1)).toMatchObject({ error: { code: -32_601 } });
    expect(await answerTo(silent, 2)).toMatchObject({ error: { code: -32_601 } });
    expect(await answerTo(offering, 3)).toMatchObject({ result: {} });
    expect(await answerTo(offering, 4)).toMatchObject({ error: { code: -32_601 } });
    expect(withheld.told.questions).toEqual([]);
  });

  test('ER-4 offers exactly what there is', async () => {
    const offering = rawServer();
    const silent = rawServer();
    await using offered = await open(offering.config, { offer: { sampling: true, roots: true } });
    await using withheld = await open(silent.config);
    const capabilities = async (server: RawServer): Promise<unknown> =>
      Object((await server.waitFor('initialize'))['params'])['capabilities'];

    expect(await capabilities(offering)).toEqual({
      elicitation: { form: {}, url: {} },
      sampling: {},
      roots: { listChanged: true },
    });
    expect(await capabilities(silent)).toEqual({ elicitation: { form: {}, url: {} } });
    expect([offered.link.info.era, withheld.link.info.era]).toEqual(['legacy', 'legacy']);
  });

  test('EL-2 keeps the first of two questions with one id and refuses the second', async () => {
    const server = rawServer();
    await using opened = await open(server.config);
    ask(server, 5, 'elicitation/create', form);
    ask(server, 5, 'elicitation/create', { ...form, message: 'Again?' });

    expect(await answerTo(server, 5)).toMatchObject({ error: { code: -32_600 } });
    opened.link.answer(5, { result: { action: 'decline' } });
    await turn();
    expect(opened.told.questions).toHaveLength(1);
    expect(server.received.at(-1)).toMatchObject({ id: 5, result: { action: 'decline' } });
  });

  test('EL-3 tells of a question its server takes back, once, and answers it no more', async () => {
    const server = rawServer();
    await using opened = await open(server.config);
    ask(server, 6, 'elicitation/create', form);
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 6, reason: 'late' } };
    server.send(cancelled);
    server.send(cancelled);
    await opened.told.until('onQuestionWithdrawn');
    opened.link.answer(6, { result: { action: 'accept' } });
    await turn();

    expect(opened.told.of('onQuestionWithdrawn')).toEqual([[6, 'late']]);
    expect(server.received.some((message) => message['id'] === 6)).toBe(false);
  });

  test('EL-11 RT-3 a question asked while the link opens can be answered before it is open', async () => {
    const server = rawServer((message, peer) => {
      if (message['method'] === 'tools/list') ask(peer, 'early', 'elicitation/create', form);
      if (message['id'] === 'early') {
        const listing = peer.received.find((each) => each['method'] === 'tools/list');
        peer.reply(listing ?? {}, { tools: [{ name: 'after', inputSchema: { type: 'object' } }] });
      }
      return message['method'] === 'tools/list';
    });
    const told = new Told();
    const opening = open(server.config, { told });
    await told.until('onQuestion');
    told.answers[0]?.({ result: { action: 'cancel' } });

    await using opened = await opening;
    expect(opened.link.inventory.tools.map((tool) => tool.name)).toEqual(['after']);
  });

  test('RT-12 takes 1,000 open questions and forgets them with the connection', async () => {
    const server = rawServer();
    await using opened = await open(server.config);
    for (let id = 0; id < 1_000; id++) ask(server, id, 'elicitation/create', form);
    await opened.told.until('onQuestion', 1_000);
    await server.close();
    await opened.told.until('onClosed');
    opened.link.answer(3, { result: { action: 'accept' } });

    expect(opened.told.of('onQuestion')).toHaveLength(1_000);
  });
});

describe('whose question it is', () => {
  test('EL-11 over legacy HTTP a question names the request whose stream carried it', async () => {
    await using server = await serveHttp({ tools: ['ask'] });
    await using opened = await open(server.config);
    const first = call(opened.link, 'ask', { message: 'one' });
    const second = call(opened.link, 'ask', { message: 'two' });
    await opened.told.until('onQuestion', 2);
    const byMessage = new Map(opened.told.questions.map((question) => [question.params['message'], question]));

    expect(byMessage.get('one')?.request).toBe(first.key);
    expect(byMessage.get('two')?.request).toBe(second.key);
    for (const { id, params } of opened.told.questions) {
      opened.link.answer(id, { result: { action: 'accept', content: { name: ['for', params['message'] ?? null] } } });
    }
    expect(JSON.stringify(await first.result)).toContain('one');
    expect(JSON.stringify(await second.result)).toContain('two');
  });

  test('EL-11 a question outside the stream of a call names none', async () => {
    await using server = await serveHttp({ tools: ['ask'] });
    await using opened = await open(server.config);
    const sent = call(opened.link, 'ask', { standalone: true });
    await opened.told.until('onQuestion');
    const [question] = opened.told.questions;
    opened.link.answer(question?.id ?? '', { result: { action: 'decline' } });
    await sent.result;

    expect(question).not.toHaveProperty('request');
  });

  test('EL-11 over stdio and in memory a legacy question names no request', async () => {
    await using inMemory = scriptedServer({ tools: ['ask'] });
    for (const config of [inMemory.config, stdioServerConfig({ tools: ['ask'] })]) {
      await using opened = await open({ ...config, protocol: 'legacy' });
      const sent = call(opened.link, 'ask');
      await opened.told.until('onQuestion');
      const [question] = opened.told.questions;
      opened.link.answer(question?.id ?? '', { result: { action: 'cancel' } });

      expect(question).not.toHaveProperty('request');
      expect(JSON.stringify(await sent.result)).toContain('cancel');
    }
  });

  test('EL-8 RT-8 cancelling a call withdraws the question it asked', async () => {
    await using server = scriptedServer({ tools: ['ask'] });
    await using opened = await open(server.config);
    const sent = call(opened.link, 'ask');
    await opened.told.until('onQuestion');
    opened.link.cancel(sent.key);

    await opened.told.until('onQuestionWithdrawn');
    expect(await server.until('cancelled')).toMatchObject({ tool: 'ask', value: 'cancelled' });
  });
});

describe('modern servers', () => {
  test('ER-2 a call that needs input brings its requests and its state, and goes on with both', async () => {
    await using server = scriptedServer({ era: 'modern', tools: ['ask'] });
    await using opened = await open(server.config);
    const first = await call(opened.link, 'ask').result;
    const { link } = opened;
    const requestState = first['requestState'];

    expect(first).toMatchObject({
      resultType: 'input_required',
      inputRequests: { 'question-1': { method: 'elicitation/create', params: { message: 'What is your name?' } } },
    });
    expect(typeof requestState).toBe('string');
    const inputResponses = { 'question-1': { action: 'accept', content: { name: 'Ada' } } };
    const retry = send(link, 'tools/call', { name: 'ask', arguments: {}, inputResponses, requestState });

    expect(JSON.stringify(await retry.result)).toContain('Ada');
  });

  test('SE-3 requests of a modern server are dropped with a warning and never answered', async () => {
    const server = rawServer((message, peer) => {
      if (message['method'] !== 'server/discover') return message['method'] === 'tools/call';
      peer.reply(message, {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: {},
        ttlMs: 0,
        cacheScope: 'private',
      });
      return true;
    });
    await using opened = await open(server.config);
    ask(server, 1, 'elicitation/create', form);
    ask(server, 2, 'ping');
    await opened.told.until('onWarning', 2);

    expect(opened.link.info.era).toBe('modern');
    expect(opened.told.warnings('request_dropped')).toHaveLength(2);
    expect(server.received.some((message) => message['method'] === undefined)).toBe(false);
  });
});

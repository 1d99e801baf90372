/** Forms on the wire: what an answer must look like, and what the server gets of it. */
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/index.ts';
import { rawServer, scriptedServer } from '../../../src/testing/index.ts';
import { answerOf, eras, errorOf, watched } from './support.ts';

const everyField = {
  type: 'object',
  properties: {
    email: { type: 'string', format: 'email' },
    site: { type: 'string', format: 'uri' },
    day: { type: 'string', format: 'date' },
    moment: { type: 'string', format: 'date-time' },
    code: { type: 'string', minLength: 2, maxLength: 4, pattern: '^[a-z]+$' },
    ratio: { type: 'number', minimum: 0, maximum: 1 },
    count: { type: 'integer', minimum: 1, default: 3 },
    sure: { type: 'boolean', default: true },
    plain: { type: 'string', enum: ['red', 'green'], default: 'green' },
    titled: {
      type: 'string',
      oneOf: [
        { const: 'r', title: 'Red' },
        { const: 'g', title: 'Green' },
      ],
    },
    named: { type: 'string', enum: ['a', 'b'], enumNames: ['Ah', 'Bee'] },
    several: { type: 'array', items: { type: 'string', enum: ['x', 'y', 'z'] }, minItems: 1, maxItems: 2 },
    titles: {
      type: 'array',
      items: {
        anyOf: [
          { const: 'p', title: 'Pea' },
          { const: 'q', title: 'Cue' },
        ],
      },
    },
  },
  required: ['email'],
} as const satisfies JsonObject;

describe.each(eras)('a form in the %s era', (era) => {
  test('EL-4 is answered with what was given and the defaults of what was left out', async () => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__ask', { schema: everyField });
    const { token, requestedSchema } = await watch.nextQuestion();
    expect(requestedSchema).toEqual(everyField);
    const content = {
      email: 'ada@example.com',
      site: 'https://example.com/',
      day: '2026-02-28',
      moment: '2026-02-28T10:00:00Z',
      code: 'abc',
      ratio: 0.5,
      titled: 'r',
      named: 'b',
      several: ['x', 'z'],
      titles: ['q'],
    };
    expect(await watch.thread.respond(token, { action: 'accept', content })).toEqual({ status: 'delivered' });
    expect(answerOf(await result)).toMatchObject({
      action: 'accept',
      content: { ...content, count: 3, sure: true, plain: 'green' },
    });
  });

  test('EL-4 refuses each field that does not fit, says where, and stays open', async () => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__ask', { schema: everyField });
    const { token } = await watch.nextQuestion();
    const misfits: readonly (readonly [string, unknown])[] = [
      ['email', 'nobody'],
      ['site', 'not a uri'],
      ['day', '2026-02-30'],
      ['moment', 'yesterday'],
      ['code', 'a'],
      ['code', 'abcde'],
      ['code', 'AB'],
      ['ratio', '0.5'],
      ['ratio', 2],
      ['count', 1.5],
      ['count', 0],
      ['sure', 'yes'],
      ['plain', 'blue'],
      ['titled', 'Red'],
      ['named', 'Bee'],
      ['several', []],
      ['several', ['x', 'y', 'z']],
      ['several', ['w']],
      ['titles', 'p'],
      ['extra', 'nobody asked'],
    ];
    for (const [field, value] of misfits) {
      const content = { email: 'ada@example.com', [field]: value } as JsonObject;
      const outcome = await watch.thread.respond(token, { action: 'accept', content });
      expect(outcome, `${field}: ${JSON.stringify(value)}`).toMatchObject({ status: 'invalid' });
      expect(JSON.stringify(outcome)).toContain(`/content/${field}`);
    }
    expect(await watch.thread.respond(token, { action: 'accept', content: {} })).toMatchObject({ status: 'invalid' });
    expect(watch.thread.snapshot().elicitations).toHaveLength(1);
    expect(server.journal.filter(({ kind }) => kind === 'answered')).toEqual([]);
    await watch.thread.respond(token, { action: 'decline' });
    expect(answerOf(await result)).toMatchObject({ action: 'decline' });
  });

  test('EL-10 shows _meta without the progress token, and carries the _meta of the answer to the server', async () => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__ask', { meta: { 'example.com/tag': { deep: [1] }, progressToken: 'p' } });
    const question = await watch.nextQuestion();
    expect(question._meta).toEqual({ 'example.com/tag': { deep: [1] } });
    await watch.thread.respond(question.token, {
      action: 'accept',
      content: { name: 'Ada' },
      _meta: { 'example.com/by': 'keyboard' },
    });
    expect(answerOf(await result)).toMatchObject({ action: 'accept', _meta: { 'example.com/by': 'keyboard' } });
  });

  test.each(['decline', 'cancel'] as const)('EL-10 carries the _meta of an answer that is a %s', async (action) => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__ask');
    const { token } = await watch.nextQuestion();
    await watch.thread.respond(token, { action, _meta: { 'example.com/why': 'busy' } });
    expect(answerOf(await result)).toMatchObject({ action, _meta: { 'example.com/why': 'busy' } });
  });

  test('EL-4 that could not be shown is declined with a warning, and the call goes on', async () => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const schema = { type: 'object', properties: { nested: { type: 'object', properties: {} } } };
    expect(answerOf(await step.callTool('mcp__docs__ask', { schema }))).toMatchObject({ action: 'decline' });
    expect(watch.of('elicitation.opened')).toEqual([]);
    expect(watch.of('warning')).toMatchObject([{ code: 'elicitation_refused', server: 'docs' }]);
  });
});

test('EL-4 a legacy question without a mode is a form', async () => {
  await using server = scriptedServer();
  await using watch = watched({ servers: { docs: server.config } });
  const step = await watch.thread.beginStep();
  const result = step.callTool('mcp__docs__ask', { modeless: true });
  const question = await watch.nextQuestion();
  expect(question.kind).toBe('form');
  await watch.thread.respond(question.token, { action: 'accept', content: { name: 'Ada' } });
  expect(answerOf(await result)).toMatchObject({ content: { name: 'Ada' } });
});

test('EL-4 RT-12 a legacy peer that asks nonsense hears an error for each, and its call still ends', async () => {
  const asks: readonly unknown[] = [
    { method: 'elicitation/create', params: [] },
    { method: 'elicitation/create', params: {} },
    { method: 'elicitation/create', params: { message: 'x' } },
    { method: 'elicitation/create', params: { message: 'x', mode: 'dance', requestedSchema: {} } },
    { method: 'elicitation/create', params: { message: 4, requestedSchema: { type: 'object', properties: {} } } },
    { method: 'sampling/createMessage', params: { messages: [] } },
    { method: 'unheard/of' },
  ];
  await using peer = rawServer((message, self) => {
    if (message['method'] !== 'tools/call') return false;
    for (const [id, ask] of asks.entries()) self.send({ jsonrpc: '2.0', id, ...(ask as object) });
    void Promise.all(
      asks.map((_, id) => self.waitFor((each) => each['id'] === id && each['method'] === undefined)),
    ).then((replies) => {
      self.reply(message, {
        content: [{ type: 'text', text: JSON.stringify(replies.map((each) => 'error' in each)) }],
      });
    });
    return true;
  });
  await using watch = watched({ servers: { docs: peer.config } });
  const step = await watch.thread.beginStep();
  expect(answerOf(await step.callTool('mcp__docs__echo'))).toEqual(asks.map(() => true));
  expect(watch.of('elicitation.opened')).toEqual([]);
});

describe('an answer that is no JSON', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`) as unknown;
  const throws = {
    get now(): string {
      throw new Error('not to be read');
    },
  };

  test.each([
    ['a big integer', { a: 1n }],
    ['a circle', circular],
    ['a function', { a: () => 1 }],
    ['a number that is none', { a: [Number.NaN] }],
    ['a class', { a: new Map() }],
    ['a date', { a: new Date(0) }],
    ['a depth nobody asked for', deep],
    ['a trap', throws],
  ])('EL-3 RT-12 (%s) is invalid, in its content and in its _meta, and leaves the question open', async (_, value) => {
    await using server = scriptedServer();
    await using watch = watched({ servers: { docs: server.config }, sampling: 'ask' });
    const { thread } = watch;
    const step = await thread.beginStep();
    const sampled = errorOf(step.callTool('mcp__docs__sample'));
    const first = await watch.nextQuestion();
    for (const answer of [
      { action: 'accept', content: value },
      { action: 'accept', content: {}, _meta: value },
      { action: 'decline', _meta: value },
    ]) {
      expect(await thread.respond(first.token, answer as never)).toMatchObject({ status: 'invalid' });
    }
    expect(await thread.respond(first.token, { action: 'decline' })).toEqual({ status: 'delivered' });
    expect(await sampled).toMatchObject({ outcome: 'failed' });
  });
});

/** Results that are checked against what their tool declares, and content that comes through as it is. */
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/index.ts';
import { rawServer } from '../../../src/testing/index.ts';
import type { RawServer } from '../../../src/testing/index.ts';
import { errorOf, watched } from '../elicitations/support.ts';

const person = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] };
const said = [{ type: 'text', text: 'She is 36.' }];

/** A server whose one tool, `echo`, answers what its argument `result` says. */
function echoing(outputSchema?: JsonObject): RawServer {
  const tool = {
    name: 'echo',
    inputSchema: { type: 'object' },
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
  return rawServer(
    (message, self) => {
      if (message['method'] !== 'tools/call') return false;
      const { arguments: args } = message['params'] as { arguments: { result: unknown } };
      self.reply(message, args.result);
      return true;
    },
    { tools: [tool, { name: 'free', inputSchema: { type: 'object' } }] },
  );
}

describe('structured content', () => {
  test('NM-4 what fits comes back as it was sent', async () => {
    await using server = echoing(person);
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const result = { content: said, structuredContent: { age: 36, more: [null] }, _meta: { trace: 'a' } };
    expect(await step.callTool('mcp__docs__echo', { result })).toEqual(result);
    expect(watch.of('call.ended')).toMatchObject([{ outcome: 'completed', isError: false }]);
  });

  test.each<readonly [string, JsonObject, string]>([
    ['wrong', { content: said, structuredContent: { age: 'old' } }, 'data/age must be integer'],
    ['missing', { content: said }, 'no "structuredContent"'],
    ['null', { content: said, structuredContent: null }, 'data must be object'],
  ])('NM-4 %s structured content is invalid_result, with the raw result in the issues', async (_, result, why) => {
    await using server = echoing(person);
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const error = await errorOf(step.callTool('mcp__docs__echo', { result }));
    expect(error).toMatchObject({ code: 'invalid_result', outcome: 'failed', retryable: false });
    expect(error.message).toContain(why);
    expect(error.issues?.at(-1)).toMatchObject({ path: '', value: result });
    expect(watch.of('call.ended')).toMatchObject([{ outcome: 'failed', error: { code: 'invalid_result' } }]);
    // The next call of the same step is not disturbed.
    const good = { content: said, structuredContent: { age: 36 } };
    expect(await step.callTool('mcp__docs__echo', { result: good })).toEqual(good);
  });

  test('NM-4 error results are never checked, and neither are those of tools that declare nothing', async () => {
    await using server = echoing(person);
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const bad = { content: said, isError: true, structuredContent: { age: 'old' } };
    expect(await step.callTool('mcp__docs__echo', { result: bad })).toEqual(bad);
    const free = { content: said, structuredContent: [1, 'two'] };
    expect(await step.callTool('mcp__docs__free', { result: free })).toEqual(free);
  });

  test('NM-3 NM-4 a hostile schema costs its own tool a check, and is told of once', async () => {
    await using server = echoing({ type: 'object', properties: { name: { type: 'string', pattern: '^(a+)+$' } } });
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const result = { content: said, structuredContent: { name: `${'a'.repeat(60)}b` } };
    expect(await step.callTool('mcp__docs__echo', { result })).toEqual(result);
    expect(await step.callTool('mcp__docs__echo', { result })).toEqual(result);
    expect(watch.of('warning').filter(({ code }) => code === 'output_unchecked')).toHaveLength(1);
  });

  test('NM-4 H5 a call aborted while its result is checked is aborted, once', async () => {
    const controller = new AbortController();
    await using server = echoing(person);
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const result = { content: said, structuredContent: { age: 36 } };
    const call = step.callTool('mcp__docs__echo', { result }, { signal: controller.signal });
    await server.waitFor('tools/call');
    const ended = errorOf(call);
    await step.end();
    expect(await ended).toMatchObject({ code: 'aborted' });
    expect(watch.of('call.ended')).toHaveLength(1);
  });
});

test('NM-4 content of every kind comes through as it was sent, kinds nobody knows included', async () => {
  await using server = echoing();
  await using watch = watched({ servers: { docs: server.config } });
  const step = await watch.thread.beginStep();
  const result = {
    content: [
      { type: 'text', text: 'a', annotations: { audience: ['user'], priority: 0.5 }, _meta: { a: 1 } },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'test://a', text: 'hi', mimeType: 'text/plain' } },
      { type: 'resource', resource: { uri: 'test://b', blob: 'aGk=' } },
      { type: 'resource_link', uri: 'test://c', name: 'c', icons: [{ src: 'data:,' }] },
      { type: 'hologram', layers: [{ depth: 1 }, null], x: true },
    ],
    more: { of: 'the result' },
  };
  expect(await step.callTool('mcp__docs__echo', { result })).toEqual(result);
});

import { expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import { serveHttp, stdioServerConfig } from '../../../src/testing/index.ts';
import { errorOf } from './support.ts';

test.each(['legacy', 'modern'] as const)(
  'RT-10 a %s server that answers a read with 5xx may have done it; with 429 it did not',
  async (era) => {
    await using peer = await serveHttp({ era, tools: ['echo'] });
    await using thread = createThread({ servers: { a: peer.config } });
    await thread.ready();
    for (const [status, outcome] of [
      [500, 'unknown'],
      [503, 'unknown'],
      [408, 'unknown'],
      [429, 'not-sent'],
      [403, 'not-sent'],
    ] as const) {
      peer.setStatus(status, { rpcMethod: 'prompts/get' });
      const error = await errorOf(thread.getPrompt('a', 'any'));
      expect(error).toMatchObject({ code: 'server_unavailable', outcome });
      expect(error.message).not.toContain('The call may have run');
    }
  },
);

test('RT-8 arguments that are no JSON are refused in one way over every wire', async () => {
  await using legacy = await serveHttp({ tools: ['echo'] });
  await using modern = await serveHttp({ era: 'modern', tools: ['echo'] });
  const servers = {
    stdio: stdioServerConfig({ tools: ['echo'] }),
    legacy: legacy.config,
    modern: modern.config,
  };
  await using thread = createThread({ servers });
  const step = await thread.beginStep();
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  for (const name of Object.keys(servers)) {
    for (const args of [circular, { big: 1n }]) {
      // @ts-expect-error -- a caller without types can pass anything
      const error = await errorOf(step.callTool(`mcp__${name}__echo`, args));
      expect(error).toMatchObject({ code: 'invalid_arguments', outcome: 'not-sent' });
    }
  }
  expect([legacy.calls(), modern.calls()]).toEqual([0, 0]);
});

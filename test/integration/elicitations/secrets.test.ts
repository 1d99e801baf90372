/** Seeded secrets: what a configuration hides shows on no surface of a thread, whatever its server says. */
import { describe, expect, test } from 'vitest';
import type { InspectionFrame, JsonObject, PendingElicitation, ServerConfig } from '../../../src/index.ts';
import { rawServer, serveHttp, stdioServerConfig } from '../../../src/testing/index.ts';
import { ada, eras, errorOf, turn, watched } from './support.ts';

const secret = 'S3CR3T-7f1e"9b\\c4/d2=a0';
/** The ways a secret may be written. */
const spellings = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];

function findIn(surface: unknown): readonly string[] {
  const text = typeof surface === 'string' ? surface : JSON.stringify(surface);
  return spellings.filter(
    (spelling) => text.includes(spelling) || text.includes(JSON.stringify(spelling).slice(1, -1)),
  );
}

describe.each(eras)('SE-1 a secret in the %s era', (era) => {
  test.each(['environment', 'argument', 'header', 'query'] as const)(
    'SE-1 H9 of the configuration (%s) shows in no event, record, snapshot, list, frame or error',
    async (where) => {
      await using http = where === 'header' || where === 'query' ? await serveHttp({ era }) : undefined;
      const stdio = stdioServerConfig({ era });
      const configs: Readonly<Record<typeof where, ServerConfig>> = {
        environment: { ...stdio, env: { API_KEY: secret } },
        argument: { ...stdio, args: [...(stdio.args ?? []), '--token', secret] },
        header: { url: http?.url ?? '', headers: { authorization: `Bearer ${secret}` } },
        query: { url: `${http?.url ?? ''}?key=${encodeURIComponent(secret)}` },
      };
      const frames: InspectionFrame[] = [];
      const lists: (readonly PendingElicitation[])[] = [];
      const snapshots: unknown[] = [];
      await using watch = watched({
        servers: { docs: { ...configs[where], parallel: true } },
        inspect: (frame) => frames.push(frame),
        policy: { servers: {} },
      });
      const { thread } = watch;
      thread.elicitations$.subscribe((list) => lists.push(list));
      thread.events$.subscribe(() => snapshots.push(JSON.stringify(thread.snapshot())));
      const step = await thread.beginStep();

      // The server knows its secret, and says it wherever it can.
      const schema = { type: 'object', properties: { name: { type: 'string', description: secret, title: secret } } };
      const asking = step.callTool('mcp__docs__ask', { message: `Is it ${secret}?`, schema, meta: { leak: secret } });
      const question = await watch.nextQuestion();
      expect(question.message).toBe('Is it [redacted]?');
      await thread.respond(question.token, ada);
      await asking;
      const url = step.callTool('mcp__docs__askUrl', { message: secret, url: 'https://example.com/' });
      const second = await watch.nextQuestion();
      expect(second.message).toBe('[redacted]');
      await thread.respond(second.token, { action: 'decline' });
      await url;
      await step.callTool('mcp__docs__log', { data: { leak: [secret] }, logger: secret });
      const error = await errorOf(step.callTool('mcp__docs__throwError', { message: `no ${secret}`, data: secret }));
      const bad = await errorOf(step.callTool('mcp__docs__badResult', { result: { content: secret } }));
      // What a caller asked for is given as it is.
      expect(JSON.stringify(await step.callTool('mcp__docs__echo', { text: secret }))).toContain('S3CR3T');
      await step.end();
      await turn();

      expect(frames.length).toBeGreaterThan(10);
      expect(snapshots.length).toBeGreaterThan(5);
      for (const surface of [watch.events, frames, lists, snapshots, thread.snapshot(), question, second]) {
        expect(findIn(surface)).toEqual([]);
      }
      for (const each of [error, bad])
        expect(findIn([each.message, each.stack, each.data, each.issues, each.stderr])).toEqual([]);
    },
  );
});

test('SE-1 a secret in the stderr and the reason of a server that does not start shows in no event, frame or error', async () => {
  const stdio = stdioServerConfig({ exitOnStart: { code: 3, stderr: `cannot log in with ${secret}\n` } });
  const frames: InspectionFrame[] = [];
  await using watch = watched({
    servers: { docs: { ...stdio, env: { API_KEY: secret }, required: true } },
    inspect: (frame) => frames.push(frame),
  });
  const error = await errorOf(watch.thread.ready());
  expect(error.code).toBe('runtime_failed');
  expect(error.message).toContain('cannot log in with [redacted]');
  for (const surface of [watch.events, frames, watch.thread.snapshot(), [error.message, error.stack, error.issues]]) {
    expect(findIn(surface)).toEqual([]);
  }
});

test('SE-1 a secret of a later runtime is hidden from its first fact on', async () => {
  await using peer = rawServer((message, self) => {
    if (message['method'] !== 'initialize') return false;
    self.fail(message, -32_000, `wrong key ${secret}`);
    return true;
  });
  const frames: InspectionFrame[] = [];
  await using watch = watched({ servers: {}, inspect: (frame) => frames.push(frame) });
  const { thread } = watch;
  await thread.ready();
  const servers = { docs: { ...peer.config, required: true } };
  const error = await errorOf(thread.replaceRuntime({ servers, secrets: [secret] }));
  expect(findIn([watch.events, frames, thread.snapshot(), error.message, error.stack])).toEqual([]);
  expect(error.message).toContain('[redacted]');
});

test('SE-1 a secret in the arguments of a call is hidden in the question for its approval', async () => {
  await using watch = watched({
    servers: { docs: { ...stdioServerConfig(), env: { API_KEY: secret } } },
    policy: { approval: 'prompt' },
  });
  const step = await watch.thread.beginStep();
  const args: JsonObject = { text: secret };
  const result = step.callTool('mcp__docs__echo', args);
  const question = await watch.nextQuestion();
  expect(question.params).toMatchObject({ arguments: { text: '[redacted]' } });
  await watch.thread.respond(question.token, { action: 'accept' });
  // The server gets what it was sent.
  expect((await result).content).toEqual([{ type: 'text', text: secret }]);
});

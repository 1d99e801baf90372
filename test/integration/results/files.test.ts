/** Tools that take files, over threads with a host that gives them. */
import { expect, test } from 'vitest';
import type { DeclaredFile, Json } from '../../../src/index.ts';
import { deferred, rawServer } from '../../../src/testing/index.ts';
import type { RawServer } from '../../../src/testing/index.ts';
import { errorOf, watched } from '../elicitations/support.ts';

const inputSchema = { type: 'object', properties: { scan: { type: 'object' }, note: { type: 'string' } } };
const tool = { name: 'read', inputSchema, _meta: { 'openai/fileParams': ['scan'] } };

/** A server that answers with the arguments it got. */
function reader(): RawServer {
  return rawServer(
    (message, self) => {
      if (message['method'] !== 'tools/call') return false;
      const { arguments: args } = message['params'] as { arguments: unknown };
      self.reply(message, { content: [], structuredContent: args });
      return true;
    },
    { tools: [tool] },
  );
}

const give = ({ path }: DeclaredFile): Json => ({ text: `content of ${path}` });
const trusting = { policy: { trust: ['docs'] } };

test('NM-6 a trusted server gets content, and the model is shown a path', async () => {
  await using server = reader();
  await using watch = watched({ servers: { docs: server.config }, fileContent: give, ...trusting });
  const step = await watch.thread.beginStep();
  const [shown] = step.tools;
  expect(shown?.inputSchema).toMatchObject({ properties: { scan: { type: 'string' }, note: { type: 'string' } } });
  const result = await step.callTool('mcp__docs__read', { scan: '/a.png', note: 'n' });
  expect(result.structuredContent).toEqual({ scan: { text: 'content of /a.png' }, note: 'n' });
});

test.each([
  ['a server that is not trusted', { fileContent: give }],
  ['one of another name', { fileContent: give, policy: { trust: ['Docs', 'other'] } }],
  ['a host that gives no files', trusting],
])('NM-6 %s is shown and sent as it is', async (_, options) => {
  await using server = reader();
  await using watch = watched({ servers: { docs: server.config }, ...options });
  const step = await watch.thread.beginStep();
  expect(step.tools[0]?.inputSchema).toEqual(inputSchema);
  const args = { scan: { path: '/a.png' } };
  expect((await step.callTool('mcp__docs__read', args)).structuredContent).toEqual(args);
});

test('NM-6 NM-5 trust given or taken changes the next step; the definition stays the same one', async () => {
  await using server = reader();
  await using watch = watched({ servers: { docs: server.config }, fileContent: give });
  const before = await watch.thread.beginStep();
  watch.thread.setPolicy(trusting.policy);
  const after = await watch.thread.beginStep();
  expect(before.tools[0]?.inputSchema).toEqual(inputSchema);
  expect(after.tools[0]?.inputSchema).toMatchObject({ properties: { scan: { type: 'string' } } });
  expect(after.tools[0]?.fingerprint).toBe(before.tools[0]?.fingerprint);
  watch.thread.setPolicy({});
  const error = await errorOf(after.callTool('mcp__docs__read', { scan: '/a.png' }));
  expect(error).toMatchObject({ code: 'tool_denied', outcome: 'not-sent' });
  expect(server.received.some(({ method }) => method === 'tools/call')).toBe(false);
});

test('NM-6 a host that throws keeps the call from being sent, and says why', async () => {
  await using server = reader();
  const fileContent = (): Promise<Json> => Promise.reject(new Error('outside the workspace'));
  await using watch = watched({ servers: { docs: server.config }, fileContent, ...trusting });
  const step = await watch.thread.beginStep();
  const error = await errorOf(step.callTool('mcp__docs__read', { scan: '/etc/passwd' }));
  expect(error).toMatchObject({ code: 'invalid_arguments', outcome: 'not-sent' });
  expect(error.message).toContain('outside the workspace');
  expect(server.received.some(({ method }) => method === 'tools/call')).toBe(false);
  expect(watch.of('call.ended')).toMatchObject([{ outcome: 'not-sent' }]);
});

test.each<[string, Json]>([
  ['no path', { bytes: 'inline' }],
  ['a number', 5],
  ['an empty path', ''],
  ['a list with something else in it', ['/a.png', { bytes: 'inline' }]],
  ['too many of them', Array.from({ length: 101 }, (_, index) => `/${String(index)}.png`)],
])('NM-6 PO-1 %s in the place of a file is refused before anybody is asked, and nothing is read', async (_, scan) => {
  await using server = reader();
  const asked: string[] = [];
  await using watch = watched({
    servers: { docs: server.config },
    fileContent: (file) => {
      asked.push(file.path);
      return give(file);
    },
    policy: { trust: ['docs'], approval: 'prompt' },
  });
  const step = await watch.thread.beginStep();
  const error = await errorOf(step.callTool('mcp__docs__read', { scan }));
  expect(error).toMatchObject({ code: 'invalid_arguments', outcome: 'not-sent', issues: [{ path: '/scan' }] });
  expect(watch.of('elicitation.opened')).toEqual([]);
  expect(asked).toEqual([]);
});

test('NM-6 PO-1 files are read once the call is approved, and the person is asked about the path', async () => {
  await using server = reader();
  const asked: string[] = [];
  await using watch = watched({
    servers: { docs: server.config },
    fileContent: (file) => {
      asked.push(file.path);
      return give(file);
    },
    policy: { trust: ['docs'], approval: 'prompt' },
  });
  const step = await watch.thread.beginStep();
  const first = step.callTool('mcp__docs__read', { scan: '/a.png' });
  const question = await watch.nextQuestion();
  expect(question.params?.['arguments']).toEqual({ scan: '/a.png' });
  expect(asked).toEqual([]);
  await watch.thread.respond(question.token, { action: 'accept' });
  expect((await first).structuredContent).toEqual({ scan: { text: 'content of /a.png' } });
  const second = errorOf(step.callTool('mcp__docs__read', { scan: '/b.png' }));
  await watch.thread.respond((await watch.nextQuestion()).token, { action: 'decline' });
  expect(await second).toMatchObject({ code: 'not_approved' });
  expect(asked).toEqual(['/a.png']);
});

test('NM-6 RT-8 a call aborted while its file is read tells the host, and is not sent', async () => {
  await using server = reader();
  const reading = deferred<AbortSignal>();
  const content = deferred<Json>();
  await using watch = watched({
    servers: { docs: server.config },
    fileContent: (_, { signal }) => {
      reading.resolve(signal);
      return content.promise;
    },
    ...trusting,
  });
  const controller = new AbortController();
  const step = await watch.thread.beginStep();
  const call = errorOf(step.callTool('mcp__docs__read', { scan: '/a.png' }, { signal: controller.signal }));
  const signal = await reading.promise;
  controller.abort();
  expect(await call).toMatchObject({ code: 'aborted', outcome: 'not-sent' });
  expect(signal.aborted).toBe(true);
  content.resolve('late');
  await step.end();
  expect(server.received.some(({ method }) => method === 'tools/call')).toBe(false);
});

/** Url questions: shown exactly, never opened, finished out of band, or put because a call was refused with -32042. */
import { describe, expect, test } from 'vitest';
import { rawServer, scriptedServer } from '../../../src/testing/index.ts';
import type { RawMessage, RawServer } from '../../../src/testing/index.ts';
import { answerOf, eras, errorOf, place, places, textOf, watched } from './support.ts';

describe.each(eras)('a url question in the %s era', (era) => {
  test('EL-5 shows the exact url, its host in punycode with the port, and the host in Unicode where it differs', async () => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: { ...server.config, parallel: true } } });
    const step = await watch.thread.beginStep();
    const url = 'https://Münze.example:8443/a%20b?state=1#top';
    const result = step.callTool('mcp__docs__askUrl', { url, message: 'Sign in.' });
    const question = await watch.nextQuestion();
    expect(question).toMatchObject({
      kind: 'url',
      message: 'Sign in.',
      url,
      host: 'xn--mnze-0ra.example:8443',
      hostUnicode: 'münze.example:8443',
    });
    expect(await watch.thread.respond(question.token, { action: 'accept' })).toEqual({ status: 'delivered' });
    expect(answerOf(await result)).toEqual({ action: 'accept' });

    const plain = step.callTool('mcp__docs__askUrl', { url: 'http://127.0.0.1:9/cb' });
    const second = await watch.nextQuestion();
    expect(second).toMatchObject({ url: 'http://127.0.0.1:9/cb', host: '127.0.0.1:9' });
    expect(second).not.toHaveProperty('hostUnicode');
    await watch.thread.respond(second.token, { action: 'decline' });
    expect(answerOf(await plain)).toMatchObject({ action: 'decline' });
  });

  test.each(['http://example.com/', 'ftp://example.com/', 'javascript:alert(1)', 'file:///etc/passwd', 'not a url'])(
    'EL-5 declines %s with the warning elicitation_refused, without showing it',
    async (url) => {
      await using server = scriptedServer({ era });
      await using watch = watched({ servers: { docs: server.config } });
      const step = await watch.thread.beginStep();
      expect(answerOf(await step.callTool('mcp__docs__askUrl', { url }))).toMatchObject({ action: 'decline' });
      expect(watch.of('elicitation.opened')).toEqual([]);
      expect(watch.of('warning')).toMatchObject([{ code: 'elicitation_refused', server: 'docs' }]);
    },
  );

  test('EL-5 EL-3 accepted with content is invalid and stays open', async () => {
    await using server = scriptedServer({ era });
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__askUrl');
    const { token } = await watch.nextQuestion();
    expect(await watch.thread.respond(token, { action: 'accept', content: {} })).toMatchObject({
      status: 'invalid',
      issues: [{ path: '/content' }],
    });
    expect(watch.thread.snapshot().elicitations).toMatchObject([{ token }]);
    await watch.thread.respond(token, { action: 'accept' });
    expect(answerOf(await result)).toEqual({ action: 'accept' });
  });
});

describe('notifications/elicitation/complete', () => {
  test('EL-5 accepts the open question it names, and no other', async () => {
    await using server = scriptedServer();
    await using watch = watched({ servers: { docs: { ...server.config, parallel: true } } });
    const step = await watch.thread.beginStep();
    const first = step.callTool('mcp__docs__askUrl', { elicitationId: 'one' });
    const { token } = await watch.nextQuestion();
    const second = step.callTool('mcp__docs__askUrl', { elicitationId: 'two' });
    const other = await watch.nextQuestion();
    await server.completeUrl('nobody');
    await server.completeUrl('one');
    expect(answerOf(await first)).toEqual({ action: 'accept' });
    expect(watch.of('elicitation.settled')).toMatchObject([{ token, outcome: 'accepted' }]);
    expect(watch.thread.snapshot().elicitations).toMatchObject([{ token: other.token }]);
    expect(await watch.thread.respond(token, { action: 'decline' })).toMatchObject({
      status: 'settled',
      outcome: 'accepted',
    });
    await server.completeUrl('one');
    await watch.thread.respond(other.token, { action: 'cancel' });
    expect(answerOf(await second)).toMatchObject({ action: 'cancel' });
  });
});

const first = { url: 'https://a.example/', elicitationId: 'a', message: 'First.' };
const urls = [first, { url: 'https://b.example/', elicitationId: 'b', message: 'Second.' }];

describe('a call refused with -32042', () => {
  test.each(places)(
    'EL-5 puts every question it lists, and is tried once more when all are accepted, %s',
    async (where) => {
      await using server = await place(where, {});
      await using watch = watched({ servers: { docs: server.config } });
      const { thread } = watch;
      const step = await thread.beginStep();
      const result = step.callTool('mcp__docs__requireUrl', { urls, autoComplete: true }, { callId: 'mine' });
      const one = await watch.nextQuestion();
      const two = await watch.nextQuestion();
      expect([one, two]).toMatchObject(
        urls.map(({ url, message }) => ({
          kind: 'url',
          url,
          message,
          attribution: 'call',
          request: 'mine',
          step: step.id,
        })),
      );
      expect(thread.snapshot().steps[0]?.calls).toMatchObject([{ state: 'paused' }]);
      await thread.respond(two.token, { action: 'accept' });
      expect(thread.snapshot().steps[0]?.calls).toMatchObject([{ state: 'paused' }]);
      await thread.respond(one.token, { action: 'accept' });
      expect(textOf(await result)).toBe('authorized');
      expect(textOf(await step.callTool('mcp__docs__count', { tool: 'requireUrl' }))).toBe('2');
    },
  );

  test('EL-5 goes on when its server says that each page is done', async () => {
    await using server = scriptedServer();
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__requireUrl', { urls });
    await watch.nextQuestion();
    await watch.nextQuestion();
    await server.completeUrl('a');
    await server.completeUrl('b');
    expect(textOf(await result)).toBe('authorized');
  });

  test('EL-5 one declined fails it as authorization_declined, not sent, and cancels the others', async () => {
    await using server = scriptedServer();
    await using watch = watched({ servers: { docs: server.config } });
    const { thread } = watch;
    const step = await thread.beginStep();
    const result = step.callTool('mcp__docs__requireUrl', { urls });
    const one = await watch.nextQuestion();
    const two = await watch.nextQuestion();
    await thread.respond(one.token, { action: 'decline' });
    expect(await errorOf(result)).toMatchObject({ code: 'authorization_declined', outcome: 'not-sent' });
    expect(await thread.respond(two.token, { action: 'accept' })).toMatchObject({
      status: 'settled',
      outcome: 'cancelled',
    });
    expect(server.calls('requireUrl')).toBe(1);
    expect(watch.of('elicitation.settled')).toHaveLength(2);
  });

  test.each([{ autoDeny: true }, { urls: false }])(
    'EL-5 EL-6 declined by the policy %j fails as authorization_declined, and nothing is shown',
    async (elicitation) => {
      await using server = scriptedServer();
      await using watch = watched({ servers: { docs: server.config }, policy: { elicitation } });
      const step = await watch.thread.beginStep();
      expect(await errorOf(step.callTool('mcp__docs__requireUrl', { urls }))).toMatchObject({
        code: 'authorization_declined',
        outcome: 'not-sent',
      });
      expect(watch.of('elicitation.opened')).toEqual([]);
      expect(server.calls('requireUrl')).toBe(1);
    },
  );

  test('EL-5 EL-8 aborted while its questions are open cancels them', async () => {
    await using server = scriptedServer();
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const controller = new AbortController();
    const failed = errorOf(step.callTool('mcp__docs__requireUrl', { urls }, { signal: controller.signal }));
    const one = await watch.nextQuestion();
    await watch.nextQuestion();
    controller.abort();
    expect(await failed).toMatchObject({ code: 'aborted' });
    expect(watch.of('elicitation.settled').map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled']);
    await server.completeUrl('a');
    expect(await watch.thread.respond(one.token, { action: 'accept' })).toMatchObject({ outcome: 'cancelled' });
    expect(server.calls('requireUrl')).toBe(1);
  });

  test('EL-5 a second refusal is auth_required', async () => {
    await using server = scriptedServer();
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__docs__requireUrl', { urls: [first] });
    const { token } = await watch.nextQuestion();
    await watch.thread.respond(token, { action: 'accept' });
    expect(await errorOf(result)).toMatchObject({ code: 'auth_required', outcome: 'failed' });
    expect(server.calls('requireUrl')).toBe(2);
    expect(watch.of('elicitation.opened')).toHaveLength(1);
  });

  test('EL-5 a url that may not be shown is declined with a warning, and so is the authorization', async () => {
    await using server = scriptedServer();
    await using watch = watched({ servers: { docs: server.config } });
    const step = await watch.thread.beginStep();
    const bad = [first, { url: 'http://a.example/', elicitationId: 'c', message: 'Third.' }];
    const error = await errorOf(step.callTool('mcp__docs__requireUrl', { urls: bad }));
    expect(error).toMatchObject({ code: 'authorization_declined', outcome: 'not-sent' });
    expect(watch.of('warning')).toMatchObject([{ code: 'elicitation_refused', server: 'docs' }]);
    expect(watch.of('elicitation.opened')).toEqual([]);
    expect(server.calls('requireUrl')).toBe(1);
  });

  test.each([undefined, null, {}, { elicitations: [] }, { elicitations: 'x' }, { elicitations: [4] }])(
    'EL-5 RT-12 that lists nothing to open (%j) fails as auth_required',
    async (data) => {
      await using peer = refuses(data);
      await using watch = watched({ servers: { docs: peer.config } });
      const step = await watch.thread.beginStep();
      expect(await errorOf(step.callTool('mcp__docs__echo'))).toMatchObject({
        code: 'auth_required',
        outcome: 'failed',
      });
      expect(watch.of('elicitation.opened')).toEqual([]);
    },
  );
});

function refuses(data: unknown): RawServer {
  return rawServer((message: RawMessage, peer) => {
    if (message['method'] !== 'tools/call') return false;
    peer.fail(message, -32_042, 'Open these first.', data);
    return true;
  });
}

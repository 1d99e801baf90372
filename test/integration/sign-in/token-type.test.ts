/** Tokens of a type this client did not ask for, or does not know (RFC 6749 section 7.1). */
import type { ServerResponse } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import { createMemoryCredentials } from '../../../src/mcp/index.ts';
import { SimulatedClock } from '../../../src/testing/index.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { browse } from './browser.ts';
import { callEcho, failureOf, nextQuestion, openButCalls, scene, signIn } from './support.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

function answerTokens(server: AuthorizationServer, tokens: Record<string, unknown>): void {
  server.intercept = (request, response: ServerResponse) => {
    if (request.url !== '/token') return false;
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tokens));
    return true;
  };
}

test.each([
  ['mac', { access_token: 'wrong-kind', token_type: 'mac' }],
  ['DPoP, which was not asked for', { access_token: 'wrong-kind', token_type: 'DPoP' }],
  ['the empty one', { access_token: 'wrong-kind', token_type: '' }],
  ['none', { access_token: 'wrong-kind' }],
])('AU-1 SE-2 a token of the type %s is neither sent nor kept', async (_type, tokens) => {
  const kept = createMemoryCredentials();
  const written: string[] = [];
  const credentials = {
    ...kept,
    set: (key: string, value: string) => {
      written.push(value);
      return kept.set(key, value);
    },
  };
  await using it = await scene({ guard: { isOpen: openButCalls }, thread: { authorization: { credentials } } });
  answerTokens(it.authorizationServer, tokens);
  await using step = await it.thread.beginStep();
  const failed = failureOf(callEcho(step));
  await browse((await nextQuestion(it.thread)).url ?? '');
  const error = await failed;
  expect(error).toMatchObject({ code: 'protocol_error', outcome: 'not-sent' });
  if ('token_type' in tokens) expect(String(error)).toContain(it.authorizationServer.issuer);
  expect(it.server.presented.filter((header) => header !== undefined)).toEqual([]);
  expect(written.filter((value) => value.includes('wrong-kind'))).toEqual([]);
});

test('AU-1 SE-2 a renewal that brings a token of another type is refused, and the call not sent', async () => {
  const clock = new SimulatedClock();
  await using it = await scene({ thread: { clock } });
  await it.thread.ready();
  await signIn(it);
  await using step = await it.thread.beginStep();
  answerTokens(it.authorizationServer, { access_token: 'wrong-kind', token_type: 'mac' });
  clock.increment(2 * 3_600_000);
  expect(await failureOf(callEcho(step))).toMatchObject({ code: 'protocol_error', outcome: 'not-sent' });
  expect(it.server.presented.filter((header) => header?.includes('wrong-kind'))).toEqual([]);
});

test('AU-1 SE-2 a token of another type that needs no person is refused too', async () => {
  vi.stubEnv('NOTES_CLIENT_SECRET', 'a secret of this program');
  await using it = await scene({
    oauth: { grant: 'client_credentials', clientId: 'program', clientSecretVariable: 'NOTES_CLIENT_SECRET' },
  });
  answerTokens(it.authorizationServer, { access_token: 'wrong-kind', token_type: 'mac' });
  await it.thread.restartServer('notes').catch(() => undefined);
  await it.thread.ready();
  expect(it.thread.snapshot().servers[0]?.error).toMatchObject({ code: 'protocol_error' });
  expect(it.server.presented.filter((header) => header?.includes('wrong-kind'))).toEqual([]);
});

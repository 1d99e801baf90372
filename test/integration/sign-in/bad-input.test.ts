/** What callers may not give for signing in, and that it costs nothing else. */
import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import { failureOf, scene } from './support.ts';

/** What a caller without types may give. */
function untyped(value: unknown): never {
  return value as never;
}

describe('bad input', () => {
  test.each([
    ['credentials that are no store', { credentials: {} }, 'authorization.credentials'],
    ['a time that is none', { signInTimeoutMs: 0.5 }, 'authorization.signInTimeoutMs'],
    ['a name that is a number', { clientName: 7 }, 'authorization.clientName'],
  ])('AU-1 a thread is not made with %s', (_what, authorization, field) => {
    const make = (): unknown => createThread({ authorization: untyped(authorization) });
    expect(make).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
    expect(make).toThrow(field);
  });

  test.each([
    ['no name', '', {}, 'invalid_argument'],
    ['scopes in one text', 'notes', { scopes: 'a b' }, 'invalid_argument'],
    ['options that are none', 'notes', 7, 'invalid_argument'],
    ['a server nobody knows', 'nobody', {}, 'server_unavailable'],
  ])('AU-3 authorize says what is wrong with %s', async (_what, server, options, code) => {
    await using it = await scene();
    await it.thread.ready();
    expect(await failureOf(it.thread.authorize(server, untyped(options)))).toMatchObject({ code });
    expect(it.thread.snapshot()).toMatchObject({ state: 'active', elicitations: [] });
  });

  test('AU-1 finishAuthorization says what it wants instead of a code', async () => {
    await using it = await scene();
    expect(await failureOf(it.thread.finishAuthorization('abc'))).toMatchObject({ code: 'invalid_argument' });
    expect(await it.thread.finishAuthorization('http://127.0.0.1/callback?code=a')).toEqual({ status: 'unknown' });
  });

  test.each([
    [
      'a metadata document that is not https',
      { clientMetadataUrl: 'http://client.example/me' },
      'server_misconfigured',
    ],
    ['a way back that is no url', { redirectUrl: 'callback' }, 'server_misconfigured'],
    ['an issuer the server does not name', { issuer: 'https://login.example' }, 'auth_required'],
  ])('AU-1 a server with %s says so when it is signed in to', async (_what, oauth, code) => {
    await using it = await scene({ oauth });
    await it.thread.ready();
    const error = await failureOf(it.thread.authorize('notes'));
    expect(error).toMatchObject({ code });
    expect(String(error)).toContain('notes');
    expect(it.authorizationServer.requests).not.toContain('POST /reg');
  });
});

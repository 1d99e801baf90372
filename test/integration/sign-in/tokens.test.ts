/** Tokens after the sign-in: renewed, lost, bound to a key, and those that come without a person. */
import { generateKeyPairSync } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createMemoryCredentials, forgetCredentials } from '../../../src/mcp/index.ts';
import { SimulatedClock } from '../../../src/testing/index.ts';
import { browse } from './browser.ts';
import { callEcho, configOf, failureOf, nextQuestion, scene, signIn } from './support.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

const hour = 3_600_000;

describe('renewing', () => {
  test('AU-1 renews a token within 30 s of its end, once for all requests that meet it', async () => {
    const clock = new SimulatedClock();
    await using it = await scene({ thread: { clock } });
    await it.thread.ready();
    await signIn(it);
    await using step = await it.thread.beginStep();
    clock.increment(hour - 31_000);
    await callEcho(step);
    expect(it.authorizationServer.count('refresh_token')).toBe(0);
    clock.increment(2_000);
    await using other = await it.thread.beginStep();
    await Promise.all([callEcho(step), callEcho(other)]);
    expect(it.authorizationServer.count('refresh_token')).toBe(1);
    expect(it.thread.snapshot().servers[0]?.auth).toBe('oauth');
  });

  test('AU-1 renews a token its server does not take any more, and sends the call again', async () => {
    await using it = await scene();
    await it.thread.ready();
    await signIn(it);
    await using step = await it.thread.beginStep();
    it.server.barred.add(it.server.presented.at(-1)?.split(' ')[1] ?? '');
    expect(await callEcho(step)).toMatchObject({ content: [{ text: 'hello' }] });
    expect(it.authorizationServer.count('refresh_token')).toBe(1);
  });

  test('AU-1 uses the next refresh token each time, where each is good once', async () => {
    const clock = new SimulatedClock();
    await using it = await scene({ thread: { clock } });
    await it.thread.ready();
    await signIn(it);
    await using step = await it.thread.beginStep();
    for (let times = 0; times < 3; times += 1) {
      clock.increment(hour);
      await callEcho(step);
    }
    const used = it.authorizationServer.grants.flatMap((body) => body.get('refresh_token') ?? []);
    expect(new Set(used).size).toBe(3);
  });

  test('AU-3 asks a person again when the refresh token is not taken, and says so in the snapshot', async () => {
    const clock = new SimulatedClock();
    await using it = await scene({ thread: { clock } });
    await it.thread.ready();
    await signIn(it);
    await using step = await it.thread.beginStep();
    const used = it.authorizationServer.grants[0];
    expect(used?.get('grant_type')).toBe('authorization_code');
    it.authorizationServer.intercept = (request, response) => {
      if (request.url !== '/token') return false;
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
      return true;
    };
    clock.increment(2 * hour);
    it.server.barred.add(it.server.presented.at(-1)?.split(' ')[1] ?? '');
    const call = callEcho(step);
    const question = await nextQuestion(it.thread);
    expect(it.thread.snapshot().servers[0]?.auth).toBe('reauthenticate');
    it.authorizationServer.intercept = undefined;
    await browse(question.url ?? '');
    expect(await call).toMatchObject({ content: [{ text: 'hello' }] });
  });

  test('AU-1 says that the authorization server is not there when a token cannot be renewed for that', async () => {
    const clock = new SimulatedClock();
    await using it = await scene({ thread: { clock } });
    await it.thread.ready();
    await signIn(it);
    await using step = await it.thread.beginStep();
    it.authorizationServer.intercept = (request, response) => {
      response.destroy();
      return request.url !== '';
    };
    clock.increment(2 * hour);
    expect(await failureOf(callEcho(step))).toMatchObject({ code: 'server_unavailable', outcome: 'not-sent' });
  });

  test('AU-1 signs in anew with another authorization server, and shows it nothing of the one before', async () => {
    await using it = await scene();
    await using next = await scene();
    await it.thread.ready();
    await signIn(it);
    it.server.authorizationServer = next.authorizationServer;
    await using step = await it.thread.beginStep();
    const call = callEcho(step);
    const question = await nextQuestion(it.thread);
    expect(question.host).toBe(new URL(next.authorizationServer.issuer).host);
    await browse(question.url ?? '');
    expect(await call).toMatchObject({ content: [{ text: 'hello' }] });
    expect(next.authorizationServer.requests).toContain('POST /reg');
    expect(next.authorizationServer.count('refresh_token')).toBe(0);
  });
});

describe('signing out', () => {
  test('AU-2 removes the credentials and has the tokens revoked', async () => {
    const credentials = createMemoryCredentials();
    await using it = await scene({ thread: { authorization: { credentials } } });
    await it.thread.ready();
    await signIn(it);
    const config = configOf(it.server);
    const forgotten = await forgetCredentials({ server: 'notes', config, credentials });
    expect(forgotten).toEqual({ removed: true, revoked: true });
    expect(it.authorizationServer.requests).toContain('POST /token/revocation');
    expect(await forgetCredentials({ server: 'notes', config, credentials })).toEqual({
      removed: false,
      revoked: false,
    });
    await it.thread.restartServer('notes');
    expect(it.thread.snapshot().servers[0]).toMatchObject({ state: 'authRequired', auth: 'reauthenticate' });
  });
});

describe('tokens that come without a person', () => {
  test('AU-1 signs in as this program with a secret', async () => {
    vi.stubEnv('NOTES_CLIENT_SECRET', 'a secret of this program');
    const client = {
      client_id: 'program',
      client_secret: 'a secret of this program',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    };
    await using it = await scene({
      authorizationServer: { clients: [client] },
      oauth: { grant: 'client_credentials', clientId: 'program', clientSecretVariable: 'NOTES_CLIENT_SECRET' },
    });
    await it.thread.ready();
    expect(it.thread.snapshot().servers[0]).toMatchObject({ state: 'ready', auth: 'oauth' });
    expect(it.authorizationServer.count('client_credentials')).toBe(1);
    expect(await failureOf(it.thread.authorize('notes', { anew: true }))).toMatchObject({ code: 'auth_required' });
  });

  test('AU-1 signs in as this program with a key', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    vi.stubEnv('NOTES_CLIENT_KEY', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    const client = {
      client_id: 'program',
      token_endpoint_auth_method: 'private_key_jwt' as const,
      jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] },
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    };
    await using it = await scene({
      authorizationServer: { clients: [client] },
      oauth: { grant: 'client_credentials', clientId: 'program', privateKeyVariable: 'NOTES_CLIENT_KEY' },
    });
    await it.thread.ready();
    expect(it.thread.snapshot().servers[0]).toMatchObject({ state: 'ready', auth: 'oauth' });
  });

  test('AU-1 names the variable that is not set, and starts nothing', async () => {
    await using it = await scene({
      oauth: { grant: 'client_credentials', clientId: 'program', clientSecretVariable: 'NOT_SET_ANYWHERE' },
    });
    await it.thread.ready();
    const { state, error } = it.thread.snapshot().servers[0] ?? {};
    expect({ state, code: error?.code }).toEqual({ state: 'failed', code: 'server_misconfigured' });
    expect(error?.message).toContain('NOT_SET_ANYWHERE');
  });

  test('AU-1 shows the secret of a client to no other authorization server than the first', async () => {
    vi.stubEnv('NOTES_CLIENT_SECRET', 'a secret of this program');
    const credentials = createMemoryCredentials();
    const client = {
      client_id: 'program',
      client_secret: 'a secret of this program',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    };
    await using other = await scene({ authorizationServer: { clients: [client] } });
    await using it = await scene({
      authorizationServer: { clients: [client] },
      oauth: { grant: 'client_credentials', clientId: 'program', clientSecretVariable: 'NOTES_CLIENT_SECRET' },
      thread: { authorization: { credentials } },
    });
    await it.thread.ready();
    expect(it.thread.snapshot().servers[0]?.state).toBe('ready');
    it.server.authorizationServer = other.authorizationServer;
    await it.thread.restartServer('notes');
    expect(it.thread.snapshot().servers[0]).toMatchObject({ state: 'authRequired', error: { code: 'auth_required' } });
    expect(other.authorizationServer.grants).toEqual([]);
  });
});

describe('tokens bound to a key', () => {
  test('AU-1 proves its key with each request, and still has it after a restart', async () => {
    const credentials = createMemoryCredentials();
    const oauth = { dpop: true };
    await using it = await scene({ oauth, thread: { authorization: { credentials } } });
    await it.thread.ready();
    await signIn(it);
    await using step = await it.thread.beginStep();
    await callEcho(step);
    expect(it.server.presented.at(-1)).toMatch(/^DPoP /);
    await using later = await scene({ thread: { authorization: { credentials } } });
    await later.thread.replaceRuntime({ servers: { notes: configOf(it.server, oauth) } });
    expect(later.thread.snapshot().servers[0]).toMatchObject({ state: 'ready', auth: 'oauth' });
    it.server.barred.add(it.server.presented.at(-1)?.split(' ')[1] ?? '');
    await using other = await later.thread.beginStep();
    expect(await callEcho(other)).toMatchObject({ content: [{ text: 'hello' }] });
    expect(it.authorizationServer.count('refresh_token')).toBe(1);
  });
});

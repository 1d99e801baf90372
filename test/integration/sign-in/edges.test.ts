/** Signing in at its edges: scopes nobody gives, time that runs out, stores that do not lock, sockets that stay. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createMemoryCredentials } from '../../../src/mcp/index.ts';
import type { CredentialStore } from '../../../src/index.ts';
import { SimulatedClock } from '../../../src/testing/index.ts';
import { browse } from './browser.ts';
import { callEcho, configOf, failureOf, nextQuestion, openButCalls, scene, signIn } from './support.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('scopes that are refused', () => {
  test('AU-1 are left out once, where nobody here asked for them: the browser is sent on by itself', async () => {
    const client = {
      client_id: 'known',
      token_endpoint_auth_method: 'none' as const,
      application_type: 'native' as const,
      redirect_uris: ['http://127.0.0.1/callback'],
      scope: 'mcp:read',
    };
    await using it = await scene({
      authorizationServer: { clients: [client] },
      guard: { challengeScope: 'mcp:write', needs: () => [] },
      oauth: { clientId: 'known' },
    });
    const asked: (string | null)[] = [];
    it.authorizationServer.intercept = (request) => {
      const url = new URL(request.url ?? '', it.authorizationServer.issuer);
      if (url.pathname !== '/auth') return false;
      asked.push(url.searchParams.get('scope'));
      // As authorization servers do that give something to who asks for nothing in particular.
      if (!url.searchParams.has('scope')) request.url = `${request.url ?? ''}&scope=mcp:read`;
      return false;
    };
    await it.thread.ready();
    const signedIn = it.thread.authorize('notes');
    const question = await nextQuestion(it.thread);
    expect((await browse(question.url ?? '')).text).toContain('signed in');
    await signedIn;
    expect(asked).toEqual(['mcp:write offline_access', null]);
    expect(it.thread.snapshot().servers[0]?.state).toBe('ready');
  });

  test('AU-1 are said to be refused, where somebody asked for them', async () => {
    const client = {
      client_id: 'known',
      token_endpoint_auth_method: 'none' as const,
      application_type: 'native' as const,
      redirect_uris: ['http://127.0.0.1/callback'],
      scope: 'mcp:read',
    };
    await using it = await scene({
      authorizationServer: { clients: [client] },
      oauth: { clientId: 'known', scopes: ['mcp:write'] },
    });
    await it.thread.ready();
    const signedIn = failureOf(it.thread.authorize('notes'));
    await browse((await nextQuestion(it.thread)).url ?? '');
    expect(await signedIn).toMatchObject({ code: 'auth_required' });
  });

  test('AU-1 cost no registration', async () => {
    await using it = await scene({ guard: { challengeScope: 'mcp:unheard-of', needs: () => [] } });
    await it.thread.ready();
    await signIn(it);
    expect(it.authorizationServer.requests.filter((request) => request === 'POST /reg')).toHaveLength(2);
  });
});

describe('time', () => {
  test('AU-3 ends a sign-in nobody does, and the call that waits for it', async () => {
    const clock = new SimulatedClock();
    await using it = await scene({
      guard: { isOpen: openButCalls },
      thread: { clock, authorization: { signInTimeoutMs: 60_000 } },
    });
    await using step = await it.thread.beginStep();
    const call = failureOf(callEcho(step));
    const { url = '' } = await nextQuestion(it.thread);
    clock.increment(60_000);
    expect(await call).toMatchObject({ code: 'auth_required', outcome: 'not-sent' });
    expect(it.thread.snapshot().elicitations).toEqual([]);
    await expect(fetch(new URL(url).searchParams.get('redirect_uri') ?? '')).rejects.toBeInstanceOf(TypeError);
  });
});

describe('a call that goes', () => {
  test('AU-3 RT-8 takes its question with it, and its sign-in when nobody else waits for that', async () => {
    await using it = await scene({ guard: { isOpen: openButCalls } });
    await using step = await it.thread.beginStep();
    const controller = new AbortController();
    const call = failureOf(step.callTool('mcp__notes__echo', { text: 'x' }, { signal: controller.signal }));
    const { url = '' } = await nextQuestion(it.thread);
    controller.abort('enough');
    expect(await call).toMatchObject({ code: 'aborted' });
    expect(it.thread.snapshot().elicitations).toEqual([]);
    await expect(fetch(new URL(url).searchParams.get('redirect_uri') ?? '')).rejects.toBeInstanceOf(TypeError);
  });

  test('H10 closes what was connected to its loopback and said nothing', async () => {
    await using it = await scene();
    await it.thread.ready();
    const signedIn = failureOf(it.thread.authorize('notes'));
    const { url = '', token } = await nextQuestion(it.thread);
    const { port, hostname } = new URL(new URL(url).searchParams.get('redirect_uri') ?? '');
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const closed = once(socket, 'close');
    await it.thread.respond(token, { action: 'cancel' });
    expect(await signedIn).toMatchObject({ code: 'auth_required' });
    await closed;
  });
});

describe('policy', () => {
  test('EL-6 AU-3 declines for the person where urls are not put to them', async () => {
    await using it = await scene({
      guard: { isOpen: openButCalls },
      thread: { policy: { elicitation: { urls: false } } },
    });
    await using step = await it.thread.beginStep();
    expect(await failureOf(callEcho(step))).toMatchObject({ code: 'authorization_declined', outcome: 'not-sent' });
  });
});

describe('stores', () => {
  test('AU-2 a process that came second to a token, in a store without a lock, uses the one that came first', async () => {
    const inner = createMemoryCredentials();
    const credentials: CredentialStore = { ...inner, exclusively: (_key, run) => run() };
    const clock = new SimulatedClock();
    await using it = await scene({ thread: { clock, authorization: { credentials } } });
    await it.thread.ready();
    await signIn(it);
    await using step = await it.thread.beginStep();
    await using other = await scene({ thread: { clock, authorization: { credentials } } });
    await other.thread.replaceRuntime({ servers: { notes: configOf(it.server) } });
    await using second = await other.thread.beginStep();
    let isFirst = true;
    it.authorizationServer.intercept = (request, response) => {
      if (request.url !== '/token' || !isFirst) return false;
      isFirst = false;
      // Meanwhile the other one renews; what this one tried is not good any more then.
      void callEcho(second).then(() => {
        response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
      });
      return true;
    };
    clock.increment(3_600_000);
    expect(await callEcho(step)).toMatchObject({ content: [{ text: 'hello' }] });
    expect(it.authorizationServer.count('refresh_token')).toBe(2);
    expect(it.thread.snapshot().servers[0]?.auth).toBe('oauth');
  });

  test('AU-2 that cannot be read cost a warning and a sign-in, not the thread', async () => {
    const inner = createMemoryCredentials();
    const credentials: CredentialStore = { ...inner, get: () => Promise.reject(new Error('locked')) };
    await using it = await scene({ guard: { isOpen: () => true }, thread: { authorization: { credentials } } });
    await using step = await it.thread.beginStep();
    expect(await callEcho(step)).toMatchObject({ content: [{ text: 'hello' }] });
    expect(it.events).toContainEqual(expect.objectContaining({ type: 'warning', code: 'credentials_unreadable' }));
  });
});

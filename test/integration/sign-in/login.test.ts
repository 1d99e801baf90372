/** Signing in to a server, end to end: a real authorization server, a real browser's steps, a guarded MCP server. */
import { describe, expect, test } from 'vitest';
import { createMemoryCredentials } from '../../../src/mcp/index.ts';
import { browse } from './browser.ts';
import { callEcho, configOf, eventOf, failureOf, nextQuestion, openButCalls, scene, signIn } from './support.ts';

const text = (said: string): object => ({ content: [{ type: 'text', text: said }] });

describe('a sign-in somebody asks for', () => {
  test('AU-1 AU-3 registers this client, sends a person to a url, exchanges their code and lists the tools', async () => {
    await using it = await scene();
    const { thread, authorizationServer } = it;
    await thread.ready();
    expect(thread.snapshot().servers[0]).toMatchObject({ state: 'authRequired', auth: 'notLoggedIn', toolCount: 0 });

    const signedIn = thread.authorize('notes');
    const question = await nextQuestion(thread);
    expect(question).toMatchObject({ kind: 'url', server: 'notes', attribution: 'server', generation: 1 });
    expect(question.host).toBe(new URL(authorizationServer.issuer).host);
    const page = await browse(question.url ?? '');
    expect(page.status).toBe(200);
    expect(page.text).toContain('signed in');
    await signedIn;

    expect(thread.snapshot()).toMatchObject({ servers: [{ state: 'ready', auth: 'oauth' }], elicitations: [] });
    await using step = await thread.beginStep();
    expect(step.tools.map(({ tool }) => tool)).toEqual(['echo']);
    expect(it.events).toContainEqual(
      expect.objectContaining({ type: 'elicitation.settled', token: question.token, outcome: 'accepted' }),
    );
    expect(authorizationServer.requests).toContain('POST /reg');
  });

  test('AU-1 uses PKCE, a state of its own and the resource of the metadata', async () => {
    await using it = await scene();
    await it.thread.ready();
    const signedIn = it.thread.authorize('notes');
    const url = new URL((await nextQuestion(it.thread)).url ?? '');
    expect(url.searchParams.get('code_challenge_method')).toBe('S256');
    expect(url.searchParams.get('state')).toMatch(/^[\w-]{32}$/);
    expect(url.searchParams.get('resource')).toBe(it.server.url);
    expect(url.searchParams.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    await browse(url.href);
    await signedIn;
    expect(it.authorizationServer.grants[0]?.get('resource')).toBe(it.server.url);
    expect(it.authorizationServer.grants[0]?.get('code_verifier')).toMatch(/^[\w.~-]{43,}$/);
  });

  test('AU-3 rejects with authorization_declined when the person declines, and leaves the server as it was', async () => {
    await using it = await scene();
    await it.thread.ready();
    const signedIn = it.thread.authorize('notes');
    const { token, url = '' } = await nextQuestion(it.thread);
    expect(await it.thread.respond(token, { action: 'decline' })).toEqual({ status: 'delivered' });
    await expect(signedIn).rejects.toMatchObject({ code: 'authorization_declined' });
    expect(it.thread.snapshot().servers[0]?.state).toBe('authRequired');
    // Nobody listens for the browser any more.
    const redirect = new URL(url).searchParams.get('redirect_uri') ?? '';
    await expect(fetch(redirect)).rejects.toBeInstanceOf(TypeError);
  });

  test('AU-3 rejects with authorization_declined when the person goes back at the authorization server', async () => {
    await using it = await scene();
    await it.thread.ready();
    const signedIn = it.thread.authorize('notes');
    const rejected = failureOf(signedIn);
    const page = await browse((await nextQuestion(it.thread)).url ?? '', { does: 'abort' });
    expect(page.status).toBe(400);
    expect(await rejected).toMatchObject({ code: 'authorization_declined' });
    expect(it.thread.snapshot().elicitations).toEqual([]);
  });

  test('AU-3 resolves without a question where there are credentials the server takes', async () => {
    await using it = await scene();
    await it.thread.ready();
    await signIn(it);
    await it.thread.authorize('notes');
    expect(it.events.filter(({ type }) => type === 'elicitation.opened')).toHaveLength(1);
  });

  test('AU-3 says that a server cannot be signed in to which is not reached over HTTP', async () => {
    await using it = await scene();
    await it.thread.replaceRuntime({ servers: { notes: { command: process.execPath, args: ['-e', ''] } } });
    await expect(it.thread.authorize('notes')).rejects.toMatchObject({ code: 'unsupported' });
  });

  test('AU-2 AU-3 uses what another thread with the same credentials signed in for', async () => {
    const credentials = createMemoryCredentials();
    await using first = await scene({ thread: { authorization: { credentials } } });
    await first.thread.ready();
    await signIn(first);
    await using second = await scene({ thread: { authorization: { credentials } } });
    await second.thread.replaceRuntime({ servers: { notes: configOf(first.server) } });
    expect(second.thread.snapshot().servers[0]).toMatchObject({ state: 'ready', auth: 'oauth' });
  });

  test('AU-1 takes the url the browser came back to from a host whose way back is not this machine', async () => {
    const redirectUrl = 'https://host.example/back';
    await using it = await scene({ thread: { authorization: { redirectUrl } } });
    await it.thread.ready();
    const signedIn = it.thread.authorize('notes');
    const question = await nextQuestion(it.thread);
    const { url } = await browse(question.url ?? '', {}, (at) => at.startsWith(redirectUrl));
    expect(await it.thread.finishAuthorization(`${redirectUrl}?code=x&state=other`)).toEqual({ status: 'unknown' });
    expect(await it.thread.finishAuthorization(url)).toEqual({ status: 'signedIn' });
    await signedIn;
    expect(await it.thread.finishAuthorization(url)).toEqual({ status: 'unknown' });
    expect(it.thread.snapshot().servers[0]?.state).toBe('ready');
  });

  test('EL-8 AU-3 ends the sign-in with the thread', async () => {
    await using it = await scene();
    await it.thread.ready();
    const signedIn = it.thread.authorize('notes');
    const rejected = failureOf(signedIn);
    const { url = '', token } = await nextQuestion(it.thread);
    const settled = eventOf(it, 'elicitation.settled');
    await it.thread.close();
    expect(await rejected).toMatchObject({ code: 'thread_closed' });
    expect(await settled).toMatchObject({ token, outcome: 'cancelled' });
    await expect(fetch(new URL(url).searchParams.get('redirect_uri') ?? '')).rejects.toBeInstanceOf(TypeError);
  });
});

test('AU-3 ends with aborted, and takes its question away, when its caller aborts it', async () => {
  await using it = await scene();
  await it.thread.ready();
  const controller = new AbortController();
  const signedIn = failureOf(it.thread.authorize('notes', { signal: controller.signal }));
  await nextQuestion(it.thread);
  controller.abort('enough');
  expect(await signedIn).toMatchObject({ code: 'aborted' });
  expect(it.thread.snapshot().elicitations).toEqual([]);
});

describe('a call that needs a sign-in', () => {
  test('AU-3 puts a url question of its own, and goes on when the browser is back', async () => {
    await using it = await scene({ guard: { isOpen: openButCalls } });
    await using step = await it.thread.beginStep();
    const call = callEcho(step, 'hello', 'my-call');
    const question = await nextQuestion(it.thread);
    expect(question).toMatchObject({
      kind: 'url',
      attribution: 'call',
      step: step.id,
      request: 'my-call',
      server: 'notes',
    });
    expect(it.thread.snapshot().steps[0]?.calls[0]?.state).toBe('paused');
    await browse(question.url ?? '');
    expect(await call).toMatchObject(text('hello'));
    expect(it.server.admitted.filter((method) => method === 'tools/call')).toHaveLength(1);
    const outcomes = it.events.flatMap((event) => (event.type === 'elicitation.settled' ? [event.outcome] : []));
    expect(outcomes).toEqual(['accepted']);
  });

  test('AU-3 lists the tools anew once somebody has signed in', async () => {
    await using it = await scene({ guard: { isOpen: openButCalls } });
    await using step = await it.thread.beginStep();
    const listings = (): number => it.server.admitted.filter((method) => method === 'tools/list').length;
    const before = listings();
    const call = callEcho(step);
    await browse((await nextQuestion(it.thread)).url ?? '');
    await call;
    await expect.poll(listings).toBe(before + 1);
  });

  test('AU-3 waits for the browser when the person says first that they went there', async () => {
    await using it = await scene({ guard: { isOpen: openButCalls } });
    await using step = await it.thread.beginStep();
    const call = callEcho(step);
    const { token, url = '' } = await nextQuestion(it.thread);
    expect(await it.thread.respond(token, { action: 'accept' })).toEqual({ status: 'delivered' });
    expect(it.server.admitted).not.toContain('tools/call');
    await browse(url);
    expect(await call).toMatchObject(text('hello'));
  });

  test('AU-3 ends as not sent when the person declines', async () => {
    await using it = await scene({ guard: { isOpen: openButCalls } });
    await using step = await it.thread.beginStep();
    const call = callEcho(step);
    const rejected = failureOf(call);
    await it.thread.respond((await nextQuestion(it.thread)).token, { action: 'decline' });
    expect(await rejected).toMatchObject({ code: 'authorization_declined', outcome: 'not-sent' });
    expect(it.server.admitted).not.toContain('tools/call');
  });

  test('AU-3 EL-2 is answered across a replacement of the runtime while the person signs in', async () => {
    await using it = await scene({ guard: { isOpen: openButCalls } });
    await using step = await it.thread.beginStep();
    const call = callEcho(step);
    const question = await nextQuestion(it.thread);
    const { generation } = await it.thread.replaceRuntime({ servers: {} });
    expect(generation).toBe(2);
    expect(it.thread.snapshot().elicitations.map(({ token }) => token)).toEqual([question.token]);
    await browse(question.url ?? '');
    expect(await call).toMatchObject(text('hello'));
  });

  test('AU-3 RT-7 that finds its server waiting for a sign-in asks for it, and goes on over the next connection', async () => {
    await using it = await scene();
    await it.thread.ready();
    await signIn(it);
    await using step = await it.thread.beginStep();
    it.server.barred.add(it.server.presented.at(-1)?.split(' ')[1] ?? '');
    it.authorizationServer.intercept = (request, response) => {
      if (request.url !== '/token') return false;
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
      return true;
    };
    await it.thread.restartServer('notes');
    expect(it.thread.snapshot().servers[0]).toMatchObject({ state: 'authRequired', auth: 'reauthenticate' });
    it.authorizationServer.intercept = undefined;
    const call = callEcho(step);
    const question = await nextQuestion(it.thread);
    expect(question.attribution).toBe('call');
    await browse(question.url ?? '');
    expect(await call).toMatchObject(text('hello'));
    expect(it.thread.snapshot().servers[0]).toMatchObject({ state: 'ready', auth: 'oauth' });
  });

  test('AU-3 RT-2 asks for reads outside of a step as well', async () => {
    await using it = await scene({ guard: { isOpen: (method) => method !== 'tools/list' } });
    await it.thread.ready();
    expect(it.thread.snapshot().servers[0]?.state).toBe('authRequired');
    const listing = it.thread.listTools('notes');
    const question = await nextQuestion(it.thread);
    await browse(question.url ?? '');
    expect(await listing).toMatchObject({ tools: [{ name: 'echo' }] });
  });

  test('AU-3 shares one sign-in with other calls, each with a question of its own', async () => {
    await using it = await scene({ guard: { isOpen: openButCalls }, thread: {} });
    await using one = await it.thread.beginStep();
    await using two = await it.thread.beginStep();
    const first = callEcho(one, 'one');
    const { token, url } = await nextQuestion(it.thread);
    const second = callEcho(two, 'two');
    const other = await nextQuestion(it.thread, [token]);
    expect(other.url).toBe(url);
    const declined = failureOf(second);
    await it.thread.respond(other.token, { action: 'decline' });
    expect(await declined).toMatchObject({ code: 'authorization_declined' });
    await browse(url ?? '');
    expect(await first).toMatchObject(text('one'));
  });

  test('AU-1 steps up: asks for the scopes that are missing besides those it has', async () => {
    await using it = await scene({
      guard: { needs: (method) => (method === 'tools/call' ? ['mcp:read', 'mcp:write'] : ['mcp:read']) },
    });
    await it.thread.ready();
    await signIn(it);
    await using step = await it.thread.beginStep();
    const call = callEcho(step);
    const question = await nextQuestion(it.thread);
    const scope = new URL(question.url ?? '').searchParams.get('scope') ?? '';
    expect(scope.split(' ')).toEqual(expect.arrayContaining(['mcp:read', 'mcp:write']));
    await browse(question.url ?? '');
    expect(await call).toMatchObject(text('hello'));
  });

  test('AU-1 asks once for more scopes, and not for ever', async () => {
    await using it = await scene({
      authorizationServer: { neverGiven: ['mcp:none'] },
      guard: { needs: (method) => (method === 'tools/call' ? ['mcp:none'] : ['mcp:read']) },
    });
    await it.thread.ready();
    await signIn(it);
    await using step = await it.thread.beginStep();
    const call = callEcho(step);
    const rejected = failureOf(call);
    await browse((await nextQuestion(it.thread)).url ?? '');
    expect(await rejected).toMatchObject({ code: 'auth_required', outcome: 'not-sent' });
  });

  test('AU-3 RT-10 a server that asks for a sign-in after the sign-in did not take the call', async () => {
    await using it = await scene({ guard: { isOpen: openButCalls } });
    await using step = await it.thread.beginStep();
    it.server.takesNoToken = true;
    const rejected = failureOf(callEcho(step));
    await browse((await nextQuestion(it.thread)).url ?? '');
    expect(await rejected).toMatchObject({ code: 'auth_required', outcome: 'not-sent' });
  });

  test('SE-1 AU-2 shows no token anywhere', async () => {
    await using it = await scene({ guard: { isOpen: openButCalls } });
    await using step = await it.thread.beginStep();
    const call = callEcho(step);
    await browse((await nextQuestion(it.thread)).url ?? '');
    await call;
    const [token = ''] = it.server.presented.flatMap((header) => header?.split(' ')[1] ?? []);
    expect(token.length).toBeGreaterThan(20);
    expect(JSON.stringify([it.events, it.thread.snapshot()])).not.toContain(token);
  });
});

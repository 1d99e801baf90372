/** What becomes of the answers of an authorization server: secrets go no further, odd ones do no harm (SPEC SE-1, AU-2). */
import { inspect } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { CredentialStore } from '../../../src/index.ts';
import { createMemoryCredentials, forgetCredentials } from '../../../src/mcp/index.ts';
import { deferred, SimulatedClock } from '../../../src/testing/index.ts';
import { alwaysSignsIn, comeBack, handMade } from './hand-made.ts';
import type { Said } from './hand-made.ts';
import { failureOf, nextQuestion } from './support.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

const secrets = /sekret/;
const tokens = { access_token: 'sekret-access', refresh_token: 'sekret-refresh', token_type: 'Bearer' };
const good = { access_token: 'a good token', token_type: 'Bearer' };

/** What of a refusal says what was sent. */
function echoing(body: URLSearchParams): Said {
  const sent = [...body.values()].map((value) => `${value} ${encodeURIComponent(value)}`).join(' ');
  return { status: 400, body: { error: 'invalid_grant', error_description: `Not this: ${sent}` } };
}

describe('refusals of a token endpoint', () => {
  test.each<[string, Said]>([
    ['400 with tokens', { status: 400, body: tokens }],
    ['502 with tokens', { status: 502, body: tokens }],
    ['400 with an error that is none', { status: 400, body: { ...tokens, error: ['sekret'] } }],
    ['200 with broken JSON', { body: '{"token_type":"Bearer","access_token":"sekret",,}' }],
    ['200 with an error that is none', { body: { error: 7, refresh_token: 'sekret-refresh' } }],
    ['200 with a form', { body: 'access_token=sekret-1&token_type=bearer' }],
  ])('SE-1 %s: nothing of its body is passed on', async (_what, said) => {
    await using it = await handMade({ token: () => said, takes: (given) => given === 'Bearer open' });
    const { thread, events } = it.thread();
    alwaysSignsIn(thread);
    const error = await failureOf(thread.authorize('notes'));
    expect(inspect(error, { depth: 9 }) + JSON.stringify([events, thread.snapshot()])).not.toMatch(secrets);
    expect(error).toMatchObject({ code: expect.stringMatching(/auth_required|protocol_error/) as string });
  });

  test('SE-1 what they say of the code and its verifier is left out, the rest is told', async () => {
    await using it = await handMade({ token: echoing });
    const { thread, events } = it.thread();
    const authorized = failureOf(thread.authorize('notes'));
    await comeBack((await nextQuestion(thread)).url, 'sekret-code/1');
    const error = await authorized;
    const all = inspect(error, { depth: 9 }) + JSON.stringify([events, thread.snapshot()]);
    expect(all).not.toMatch(secrets);
    expect(all).not.toContain(it.grants[0]?.get('code_verifier'));
    expect(String(error)).toContain('Not this: ');
    expect(error).toMatchObject({ code: 'auth_required' });
  });

  test('SE-1 what they say is bounded', async () => {
    const error_description = 'x'.repeat(100_000);
    await using it = await handMade({
      token: () => ({ status: 400, body: { error: 'invalid_grant', error_description } }),
    });
    const { thread } = it.thread();
    alwaysSignsIn(thread);
    expect(inspect(await failureOf(thread.authorize('notes')), { depth: 9 }).length).toBeLessThan(10_000);
  });

  test.each(['client_secret_post', 'client_secret_basic'])(
    'SE-1 the secret this client was registered with is not told, with %s',
    async (token_endpoint_auth_method) => {
      await using it = await handMade({
        registered: { client_secret: 'sekret/of this client', token_endpoint_auth_method },
        metadata: { token_endpoint_auth_methods_supported: [token_endpoint_auth_method] },
        token: () => ({
          status: 400,
          body: { error: 'invalid_client', error_description: 'bad: sekret/of this client' },
        }),
      });
      const { thread, events } = it.thread();
      alwaysSignsIn(thread);
      const error = await failureOf(thread.authorize('notes'));
      expect(inspect(error, { depth: 9 }) + JSON.stringify(events)).not.toMatch(secrets);
    },
  );

  test('SE-1 nor is a secret that was configured, by any way an error takes', async () => {
    vi.stubEnv('NOTES_CLIENT_SECRET', 'sekret that was configured');
    const oauth = { clientId: 'me', clientSecretVariable: 'NOTES_CLIENT_SECRET' };
    await using it = await handMade({
      metadata: { token_endpoint_auth_methods_supported: ['client_secret_post'] },
      token: (body) => ({
        status: 400,
        body: { error: 'invalid_client', error_description: `bad secret ${body.get('client_secret') ?? ''}` },
      }),
    });
    const person = it.thread({ config: { oauth } });
    alwaysSignsIn(person.thread);
    const error = await failureOf(person.thread.authorize('notes'));
    const program = it.thread({ config: { oauth: { ...oauth, grant: 'client_credentials' } } });
    await program.thread.ready();
    const silent = await failureOf(program.thread.authorize('notes'));
    const told = JSON.stringify([person.events, program.events, program.thread.snapshot()]);
    expect(inspect([error, silent], { depth: 9 }) + told).not.toMatch(secrets);
  });
});

describe('a token that cannot be used', () => {
  test.each([
    ['a line break', 'sekret-a\nb'],
    ['another header', 'sekret-a\r\nX-Evil: 1'],
    ['letters of another alphabet', 'sekret-токен'],
    ['nothing', ''],
  ])('AU-1 %s in it: it is refused and nothing is kept', async (_what, access_token) => {
    const credentials = createMemoryCredentials();
    await using it = await handMade({ token: () => ({ body: { access_token, token_type: 'Bearer' } }) });
    const { thread } = it.thread({ authorization: { credentials } });
    alwaysSignsIn(thread);
    const error = await failureOf(thread.authorize('notes'));
    expect(error).toMatchObject({ code: 'protocol_error' });
    expect(String(error)).toContain(it.issuer);
    expect(String(error)).not.toMatch(secrets);
    expect(await credentials.get(`notes ${it.url}`)).toBeUndefined();
    expect(thread.snapshot().servers[0]).toMatchObject({ state: 'authRequired', auth: 'notLoggedIn' });
  });
});

describe('times', () => {
  test.each([1e306, 1e12])('AU-2 credentials that are said to live %d s are read again', async (expires_in) => {
    const credentials = createMemoryCredentials();
    await using it = await handMade({ token: () => ({ body: { ...tokens, expires_in } }) });
    const { thread } = it.thread({ authorization: { credentials } });
    alwaysSignsIn(thread);
    await thread.authorize('notes');
    const later = it.thread({ authorization: { credentials } }).thread;
    await later.ready();
    expect(later.snapshot().servers[0]).toMatchObject({ state: 'ready', auth: 'oauth' });
  });

  test('AU-2 a broken entry of one authorization server hides no other, and is told of once', async () => {
    const credentials = createMemoryCredentials();
    await using it = await handMade({ token: () => ({ body: good }) });
    const { thread } = it.thread({ authorization: { credentials } });
    alwaysSignsIn(thread);
    await thread.authorize('notes');
    await change(credentials, `notes ${it.url}`, (text) =>
      text.replace('"issuers":{', '"issuers":{"https://other.example":{"tokens":{"access_token":null}},'),
    );
    const { thread: later, events } = it.thread({ authorization: { credentials } });
    await later.ready();
    await later.restartServer('notes');
    expect(later.snapshot().servers[0]).toMatchObject({ state: 'ready', auth: 'oauth' });
    const warnings = events.filter((event) => event.type === 'warning' && event.code === 'credentials_unreadable');
    expect(warnings).toHaveLength(1);
    expect(JSON.stringify(warnings)).toContain('https://other.example');
  });

  test.each([-5, 0, 0.01])(
    'AU-1 a token that is said to live %d s is not renewed with each request',
    async (expires_in) => {
      const clock = new SimulatedClock();
      await using it = await handMade({ token: () => ({ body: { ...tokens, expires_in } }) });
      const { thread } = it.thread({ clock });
      alwaysSignsIn(thread);
      await thread.authorize('notes');
      await using step = await thread.beginStep();
      for (let times = 0; times < 3; times += 1) await step.callTool('mcp__notes__echo');
      expect(it.grants).toHaveLength(1);
      clock.increment(10_000);
      await step.callTool('mcp__notes__echo');
      expect(it.grants.length).toBeGreaterThan(1);
    },
  );
});

describe('signing out', () => {
  test('AU-2 shows the refresh token to nobody over plain http, as signing in does', async () => {
    const credentials = createMemoryCredentials();
    await using proxy = await handMade({ token: () => ({ body: good }) });
    await using it = await handMade({
      metadata: { revocation_endpoint: 'http://login.example/revoke' },
      token: () => ({ body: tokens }),
    });
    // What is sent to another host would come here.
    vi.stubEnv('http_proxy', proxy.issuer);
    vi.stubEnv('no_proxy', '127.0.0.1');
    const { thread } = it.thread({ authorization: { credentials } });
    alwaysSignsIn(thread);
    await thread.authorize('notes');
    const forgotten = await forgetCredentials({ server: 'notes', config: { url: it.url }, credentials });
    expect(forgotten).toEqual({ removed: true, revoked: false });
    expect(proxy.requests).toEqual([]);
  });
});

describe('a sign-in that is given up', () => {
  test('AU-3 EL-3 while the code is exchanged: keeps nothing, stops the exchange, and the page says so', async () => {
    const credentials = createMemoryCredentials();
    const asked = deferred<undefined>();
    const answer = deferred<undefined>();
    await using it = await handMade({
      token: async () => {
        asked.resolve(undefined);
        await answer.promise;
        return { body: good };
      },
    });
    const { thread } = it.thread({ authorization: { credentials } });
    const authorized = failureOf(thread.authorize('notes'));
    const { token, url } = await nextQuestion(thread);
    const page = comeBack(url);
    await asked.promise;
    expect(await thread.respond(token, { action: 'decline' })).toMatchObject({ status: 'delivered' });
    expect(await authorized).toMatchObject({ code: 'authorization_declined' });
    // It does not wait for the answer any more.
    expect(await page).toContain('given up');
    answer.resolve(undefined);
    expect(await credentials.get(`notes ${it.url}`)).toBeUndefined();
    expect(thread.snapshot().servers[0]).toMatchObject({ state: 'authRequired', auth: 'notLoggedIn' });
    const again = thread.authorize('notes');
    await comeBack((await nextQuestion(thread, [token])).url);
    await again;
  });

  test('AU-3 while the credentials are kept: what was written is taken back', async () => {
    const credentials = createMemoryCredentials();
    const writing = deferred<undefined>();
    const written = deferred<undefined>();
    const slow: CredentialStore = {
      ...credentials,
      set: async (key, value) => {
        await credentials.set(key, value);
        if (!key.startsWith('notes ')) return;
        writing.resolve(undefined);
        await written.promise;
      },
    };
    await using it = await handMade({ token: () => ({ body: good }) });
    const { thread } = it.thread({ authorization: { credentials: slow } });
    const authorized = failureOf(thread.authorize('notes'));
    const { token, url } = await nextQuestion(thread);
    const page = comeBack(url);
    await writing.promise;
    await thread.respond(token, { action: 'decline' });
    expect(await authorized).toMatchObject({ code: 'authorization_declined' });
    written.resolve(undefined);
    expect(await page).toContain('given up');
    expect(await credentials.get(`notes ${it.url}`)).toBeUndefined();
    expect(thread.snapshot().servers[0]).toMatchObject({ state: 'authRequired', auth: 'notLoggedIn' });
  });

  test('AU-3 while the authorization server is asked: who gave it up waits no longer', async () => {
    const asked = deferred<undefined>();
    await using it = await handMade({
      token: () => ({ body: good }),
      wellKnown: () => {
        asked.resolve(undefined);
      },
    });
    const { thread } = it.thread();
    await thread.ready();
    const controller = new AbortController();
    const authorized = failureOf(thread.authorize('notes', { signal: controller.signal }));
    await asked.promise;
    controller.abort('enough');
    expect(await authorized).toMatchObject({ code: 'aborted', message: expect.stringContaining('enough') as string });
  });
});

async function change(store: CredentialStore, key: string, how: (text: string) => string): Promise<void> {
  await store.set(key, how((await store.get(key)) ?? ''));
}

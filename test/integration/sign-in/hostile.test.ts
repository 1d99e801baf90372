/** Servers and authorization servers that lie, loop, flood, or send this client where it should not go (SPEC SE-2). */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { browse } from './browser.ts';
import { callEcho, failureOf, nextQuestion, scene, signIn } from './support.ts';
import type { Scene, SceneOptions } from './support.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, it: { readonly origin: string }) => void;

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** A scene whose MCP server answers for its metadata as told. */
function lyingServer(answer: Answer, more: SceneOptions = {}): Promise<Scene> {
  const wellKnown = (request: IncomingMessage, response: ServerResponse): boolean => {
    answer(request, response, { origin: `http://${request.headers.host ?? ''}` });
    return true;
  };
  return scene({ ...more, guard: { ...more.guard, wellKnown } });
}

/** The metadata of the authorization server, changed. */
async function changeMetadata({ authorizationServer }: Scene, change: Record<string, unknown>): Promise<void> {
  const path = '/.well-known/openid-configuration';
  const response = await fetch(`${authorizationServer.issuer}${path}`);
  const whole: unknown = await response.json();
  authorizationServer.intercept = (request, answer) => {
    if (request.url?.startsWith('/.well-known/') !== true) return false;
    json(answer, { ...Object(whole), ...change });
    return true;
  };
}

async function refusal(it: Scene): Promise<unknown> {
  await it.thread.ready();
  const error = await failureOf(it.thread.authorize('notes'));
  expect(it.thread.snapshot()).toMatchObject({ elicitations: [], state: 'active' });
  return error;
}

/** Counts what comes to another origin. */
async function otherOrigin(): Promise<AsyncDisposable & { readonly url: string; readonly seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    response.end('{}');
  });
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('metadata of the resource', () => {
  test('SE-2 AU-1 is refused when it is about another resource', async () => {
    await using it = await lyingServer((_request, response, { origin }) => {
      json(response, { resource: 'https://evil.example/mcp', authorization_servers: [origin] });
    });
    expect(await refusal(it)).toMatchObject({ code: 'protocol_error' });
    expect(it.authorizationServer.requests).toEqual([]);
  });

  test('SE-2 is not read further than a megabyte', async () => {
    await using it = await lyingServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"resource":"${'x'.repeat(2 * 1024 * 1024)}"}`);
    });
    expect(await refusal(it)).toMatchObject({ code: 'protocol_error' });
  });

  test.each([
    ['text that is no JSON', '<html>'],
    ['JSON of another shape', '{"resource":7}'],
    ['a number', '7'],
  ])('SE-2 is refused when it is %s', async (_what, body) => {
    await using it = await lyingServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    });
    expect(await refusal(it)).toMatchObject({ code: 'protocol_error' });
  });

  test('SE-2 is not fetched from another origin it is redirected to', async () => {
    await using other = await otherOrigin();
    await using it = await lyingServer((_request, response) => {
      response.writeHead(302, { location: `${other.url}/metadata` }).end();
    });
    expect(await refusal(it)).toMatchObject({ code: 'protocol_error' });
    expect(other.seen).toEqual([]);
  });

  test('SE-2 is given up when it redirects in a circle', async () => {
    await using it = await lyingServer((request, response) => {
      response.writeHead(302, { location: request.url ?? '' }).end();
    });
    expect(await refusal(it)).toMatchObject({ code: 'protocol_error' });
  });

  test('SE-2 leads nowhere near this machine that the server is not', async () => {
    await using it = await lyingServer((_request, response, { origin }) => {
      json(response, { resource: `${origin}/mcp`, authorization_servers: ['http://169.254.169.254'] });
    });
    const error = await refusal(it);
    expect(error).toMatchObject({ code: 'protocol_error' });
    expect(String(error)).toContain('link-local');
  });
});

describe('metadata of the authorization server', () => {
  test('AU-1 is refused when it names another issuer', async () => {
    await using it = await scene();
    await changeMetadata(it, { issuer: 'https://evil.example' });
    expect(await refusal(it)).toMatchObject({ code: 'protocol_error' });
    expect(it.authorizationServer.requests).not.toContain('POST /reg');
  });

  test('AU-1 has to be there', async () => {
    await using it = await scene();
    it.authorizationServer.intercept = (_request, response) => {
      response.writeHead(404).end();
      return true;
    };
    const error = await refusal(it);
    expect(error).toMatchObject({ code: 'protocol_error' });
    expect(String(error)).toContain('HTTP 404');
  });

  test('EL-5 AU-3 puts no url to a person that is not https and not this machine', async () => {
    await using it = await scene();
    await changeMetadata(it, { authorization_endpoint: 'http://login.example/auth' });
    expect(await refusal(it)).toMatchObject({ code: 'protocol_error' });
  });

  test('AU-1 is refused when its tokens would go over plain http', async () => {
    await using it = await scene();
    await changeMetadata(it, { token_endpoint: 'http://login.example/token' });
    await it.thread.ready();
    const signedIn = failureOf(it.thread.authorize('notes'));
    await browse((await nextQuestion(it.thread)).url ?? '');
    expect(await signedIn).toMatchObject({ code: 'protocol_error' });
  });

  test('AU-1 says what to do when clients are not registered there', async () => {
    await using it = await scene();
    await changeMetadata(it, { registration_endpoint: undefined });
    const error = await refusal(it);
    expect(error).toMatchObject({ code: 'auth_required' });
    expect(String(error)).toContain('oauth.clientId');
  });
});

describe('what a browser comes back with', () => {
  async function comeBack(
    it: Scene,
    change: (callback: URL) => void,
  ): Promise<{ signedIn: Promise<unknown>; status: number }> {
    await it.thread.ready();
    const signedIn = failureOf(it.thread.authorize('notes'));
    const question = await nextQuestion(it.thread);
    const redirect = new URL(question.url ?? '').searchParams.get('redirect_uri') ?? '';
    const { url } = await browse(question.url ?? '', {}, (at) => at.startsWith(redirect));
    const callback = new URL(url);
    change(callback);
    const { status } = await fetch(callback);
    return { signedIn, status };
  }

  test('AU-1 is refused when another issuer says it, and the code is not redeemed', async () => {
    await using it = await scene();
    const { signedIn, status } = await comeBack(it, (callback) =>
      callback.searchParams.set('iss', 'https://evil.example'),
    );
    expect(status).toBe(400);
    expect(await signedIn).toMatchObject({ code: 'protocol_error' });
    expect(it.authorizationServer.grants).toEqual([]);
  });

  test('AU-1 is refused without the issuer an authorization server says it names', async () => {
    await using it = await scene();
    const { signedIn } = await comeBack(it, (callback) => callback.searchParams.delete('iss'));
    expect(await signedIn).toMatchObject({ code: 'protocol_error' });
    expect(it.authorizationServer.grants).toEqual([]);
  });

  test('AU-1 counts for nothing with another state: the sign-in waits on', async () => {
    await using it = await scene();
    await it.thread.ready();
    const signedIn = it.thread.authorize('notes');
    const question = await nextQuestion(it.thread);
    const redirect = new URL(question.url ?? '').searchParams.get('redirect_uri') ?? '';
    const forged = await fetch(`${redirect}?code=stolen&state=guessed`);
    expect(forged.status).toBe(400);
    const lost = await fetch(new URL('/elsewhere', redirect));
    expect(lost.status).toBe(404);
    await browse(question.url ?? '');
    await signedIn;
  });

  test.each([
    ['a token that is a number', { access_token: 7, token_type: 'Bearer' }],
    ['no token', { token_type: 'Bearer' }],
    ['a list', []],
    ['a time that is a word', { access_token: 'a', token_type: 'Bearer', expires_in: 'soon' }],
  ])('AU-1 is refused when the answer to the code has %s', async (_what, answer) => {
    await using it = await scene();
    it.authorizationServer.intercept = (request, response) => {
      if (request.url !== '/token') return false;
      json(response, answer);
      return true;
    };
    const { signedIn } = await comeBack(it, () => undefined);
    expect(await signedIn).toMatchObject({ code: 'protocol_error' });
    expect(it.thread.snapshot().servers[0]?.state).toBe('authRequired');
  });
});

describe('a server that sends requests elsewhere', () => {
  test('SE-2 takes no credential to another origin', async () => {
    await using other = await otherOrigin();
    await using it = await scene();
    await it.thread.ready();
    await signIn(it);
    await using step = await it.thread.beginStep();
    it.server.redirectTo = `${other.url}/mcp`;
    expect(await failureOf(callEcho(step))).toMatchObject({ code: 'protocol_error' });
    expect(other.seen).toEqual([]);
  });
});

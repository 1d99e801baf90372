/** How often this client registers with one authorization server. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createMemoryCredentials, forgetCredentials } from '../../../src/mcp/index.ts';
import { browse } from './browser.ts';
import { callEcho, configOf, failureOf, nextQuestion, openButCalls, scene, signIn } from './support.ts';
import type { Scene } from './support.ts';

function registrations({ authorizationServer }: Scene): number {
  return authorizationServer.requests.filter((request) => request === 'POST /reg').length;
}

async function decline({ thread }: Scene): Promise<void> {
  const declined = failureOf(thread.authorize('notes'));
  const { token } = await nextQuestion(thread);
  await thread.respond(token, { action: 'decline' });
  await declined;
}

const wantsToWrite = (method: string): readonly string[] =>
  method === 'tools/call' ? ['mcp:read', 'mcp:write'] : ['mcp:read'];

test('AU-1 registers once, however often the person declines before', async () => {
  await using it = await scene({ guard: { isOpen: openButCalls } });
  await it.thread.ready();
  await decline(it);
  await decline(it);
  await signIn(it);
  expect(registrations(it)).toBe(1);
});

test('AU-1 AU-2 uses the client of one server for another that is signed in to at the same place', async () => {
  const credentials = createMemoryCredentials();
  await using it = await scene({ thread: { authorization: { credentials } } });
  await it.thread.ready();
  await signIn(it);
  await it.thread.replaceRuntime({ servers: { notes: configOf(it.server), other: configOf(it.server) } });
  const signedIn = it.thread.authorize('other');
  await browse((await nextQuestion(it.thread)).url ?? '');
  await signedIn;
  expect(registrations(it)).toBe(1);
});

test('AU-1 registers anew for more scopes only once the authorization server refuses them to its client', async () => {
  await using it = await scene({ guard: { needs: wantsToWrite } });
  await it.thread.ready();
  await signIn(it);
  await using step = await it.thread.beginStep();
  const declined = failureOf(callEcho(step));
  await it.thread.respond((await nextQuestion(it.thread)).token, { action: 'decline' });
  await declined;
  expect(registrations(it)).toBe(1);
  const call = callEcho(step);
  await browse((await nextQuestion(it.thread)).url ?? '');
  expect(await call).toMatchObject({ content: [{ text: 'hello' }] });
  expect(registrations(it)).toBe(2);
});

test('AU-1 asks for more scopes with the client it has, where that may', async () => {
  await using it = await scene({ guard: { needs: wantsToWrite } });
  let registered = 0;
  it.authorizationServer.intercept = (request, response) => {
    if (request.url !== '/reg' || request.headers['x-passed-on'] !== undefined) return false;
    registered += 1;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => void passOn(Buffer.concat(chunks).toString()));
    /** The client is held to no scope. */
    const passOn = async (body: string): Promise<void> => {
      const parsed: unknown = JSON.parse(body);
      const metadata = Object.assign({}, parsed, { scope: undefined });
      const answer = await fetch(`${it.authorizationServer.issuer}/reg`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-passed-on': 'yes' },
        body: JSON.stringify(metadata),
      });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    };
    return true;
  };
  await it.thread.ready();
  await signIn(it);
  await using step = await it.thread.beginStep();
  const call = callEcho(step);
  await browse((await nextQuestion(it.thread)).url ?? '');
  expect(await call).toMatchObject({ content: [{ text: 'hello' }] });
  expect(registered).toBe(1);
});

test('AU-1 registers anew where the port its client comes back to is taken', async () => {
  await using it = await scene({ guard: { isOpen: openButCalls } });
  await it.thread.ready();
  const declined = failureOf(it.thread.authorize('notes'));
  const { token, url = '' } = await nextQuestion(it.thread);
  await it.thread.respond(token, { action: 'decline' });
  await declined;
  const { port } = new URL(new URL(url).searchParams.get('redirect_uri') ?? '');
  const blocker = createServer().listen({ host: '127.0.0.1', port: Number(port) });
  await once(blocker, 'listening');
  try {
    await signIn(it);
  } finally {
    blocker.close();
  }
  expect(registrations(it)).toBe(2);
});

test('AU-1 registers anew when nothing came of the client five times: it may be forgotten there', async () => {
  await using it = await scene({ guard: { isOpen: openButCalls } });
  await it.thread.ready();
  for (let times = 0; times < 5; times += 1) await decline(it);
  expect(registrations(it)).toBe(1);
  await decline(it);
  expect(registrations(it)).toBe(2);
});

test('AU-1 registers anew when the authorization server says that it does not know the client', async () => {
  await using it = await scene();
  await it.thread.ready();
  it.authorizationServer.intercept = (request, response) => {
    if (request.url !== '/token') return false;
    request.resume();
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}');
    return true;
  };
  const refused = failureOf(it.thread.authorize('notes'));
  await browse((await nextQuestion(it.thread)).url ?? '');
  expect(await refused).toMatchObject({ code: 'auth_required' });
  it.authorizationServer.intercept = undefined;
  await signIn(it);
  expect(registrations(it)).toBe(2);
});

test('AU-2 keeps no client of a server that was signed out of', async () => {
  const kept = createMemoryCredentials();
  const keys = new Set<string>();
  const credentials = {
    ...kept,
    set: (key: string, value: string) => {
      keys.add(key);
      return kept.set(key, value);
    },
    delete: (key: string) => {
      keys.delete(key);
      return kept.delete(key);
    },
  };
  await using it = await scene({ thread: { authorization: { credentials } } });
  await it.thread.ready();
  await signIn(it);
  expect(keys.size).toBe(2);
  await forgetCredentials({ server: 'notes', config: configOf(it.server), credentials });
  expect([...keys]).toEqual([]);
});

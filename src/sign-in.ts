/** Signs in to servers of the current runtime: what `thread.authorize` and `thread.finishAuthorization` do (SPEC AU-3). */
import type { AuthorizeOptions, AuthorizationOutcome } from './api.ts';
import type { Effects } from './actors/effects.ts';
import { closedError } from './actors/publications.ts';
import { isUsable } from './actors/servers.ts';
import type { LiveConnection } from './actors/servers.ts';
import { checkCallbackUrl, checkSignIn } from './check-sign-in.ts';
import { abortReason } from './domain/abort-reason.ts';
import { HoldfastError, toError, toFailure } from './domain/errors.ts';
import { plannedServer } from './step.ts';

/** How often somebody is asked to sign in before it is given up. */
const maxSignIns = 2;

/** Resolves when the server is signed in to and its next start has come to an end. What it rejects with holds no secret. */
export async function authorizeServer(
  effects: Effects,
  name: string,
  options: AuthorizeOptions,
  whenReady: () => Promise<void>,
): Promise<void> {
  checkSignIn(name, options);
  await authorizeChecked(effects, name, options, whenReady).catch((error: unknown) => {
    throw redacted(effects, error);
  });
}

async function authorizeChecked(
  effects: Effects,
  name: string,
  options: AuthorizeOptions,
  whenReady: () => Promise<void>,
): Promise<void> {
  await whenReady();
  const { connection } = plannedServer(effects, effects.publications.current, name);
  if (connection === undefined)
    throw new HoldfastError(
      'server_unavailable',
      `Expected server "${name}" to be on, and it is not. Turn it on first.`,
    );
  const { signal, ...request } = options;
  if (signal?.aborted === true) throw aborted(signal);
  // Whether it can be signed in to is known once its first link was begun.
  await whenSettled(connection, signal);
  const signIns = effects.signIns;
  if (signIns === undefined || connection.authorizer === undefined) throw notToBeSignedIn(name);
  for (let signedIn = 1; ; signedIn += 1) {
    await signIns.authorize(connection, request, signal).catch((error: unknown) => {
      // Who ended it says why.
      if (signal?.aborted === true) throw aborted(signal);
      throw effects.publications.isClosed ? closedError() : error;
    });
    await whenSettled(connection, signal);
    if (isUsable(connection)) return;
    // Once in, a server may say that it wants more scopes, or that somebody else signs in now.
    if (connection.state !== 'authRequired' || signedIn === maxSignIns) break;
  }
  if (connection.failure !== undefined) throw toError(connection.failure);
}

/** Takes the url a browser was sent back to. @throws HoldfastError of a sign-in that did not work. */
export async function finishAuthorization(effects: Effects, callbackUrl: string): Promise<AuthorizationOutcome> {
  checkCallbackUrl(callbackUrl);
  const finishing = effects.signIns?.finish(callbackUrl).catch((error: unknown) => {
    throw redacted(effects, error);
  });
  const result = (await finishing) ?? { kind: 'unknown' };
  switch (result.kind) {
    case 'failed':
      throw redacted(effects, result.error);
    case 'again':
      return { status: 'again', url: result.url };
    case 'signedIn':
      return { status: 'signedIn' };
    case 'unknown':
      return { status: 'unknown' };
  }
}

/** As it is told to callers: its causes may hold what an authorization server wrote. */
function redacted({ redactor }: Effects, error: unknown): HoldfastError {
  return toError(redactor.value(toFailure(error)));
}

function whenSettled(connection: LiveConnection, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = (): void => {
      if (connection.state === 'starting' || (connection.state === 'reconnecting' && !connection.closing)) return;
      end();
      resolve();
    };
    const onAbort = (): void => {
      end();
      if (signal !== undefined) reject(aborted(signal));
    };
    const end = (): void => {
      connection.waiters.delete(check);
      signal?.removeEventListener('abort', onAbort);
    };
    connection.waiters.add(check);
    signal?.addEventListener('abort', onAbort, { once: true });
    check();
  });
}

function aborted(signal: AbortSignal): HoldfastError {
  return new HoldfastError('aborted', `The sign-in was aborted: ${abortReason(signal)}.`);
}

function notToBeSignedIn(name: string): HoldfastError {
  return new HoldfastError(
    'unsupported',
    `Expected server "${name}" to be one that is signed in to: reached over HTTP, and without a token in its configuration. It is not.`,
  );
}

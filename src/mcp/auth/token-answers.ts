/**
 * What is passed on of the answers of an authorization server (SPEC SE-1, SE-2).
 *
 * - `A1` the secrets of a request are told before it goes out.
 * - `A2` the body of a refusal goes no further: only its error code and description do, bounded, without what was sent.
 * - `A3` what is not JSON is not shown.
 */
import type { OAuthTokens } from '@modelcontextprotocol/client';
import type { Fetch } from '../../domain/authorization.ts';
import { HoldfastError } from '../../domain/errors.ts';
import { isRecord } from '../../domain/json.ts';
import { clip } from '../wire.ts';

/** The parameters nobody else may see. */
const secretParameters = [
  'code',
  'code_verifier',
  'client_secret',
  'client_assertion',
  'assertion',
  'subject_token',
  'actor_token',
  'refresh_token',
  'token',
] as const;

/** Shorter ones cannot be taken out of a text: where one stands in it, the text is left out. */
const minRemovedLength = 4;

/** A `fetch` whose answers to what is posted hold no secret but those of a success. */
export function withGuardedAnswers(next: Fetch, onSecret: (secret: string) => void): Fetch {
  return async (url, init = {}) => {
    if (init.method !== 'POST') return next(url, init);
    const sent = secretsSent(init);
    for (const secret of sent) onSecret(secret);
    const response = await next(url, init);
    if (response.status >= 300 && response.status < 400) return response;
    const answer = parseJson(await response.text());
    if (response.ok && answer !== undefined && !isRefusal(answer)) return answered(response, response.status, answer);
    if (response.ok && answer === undefined)
      throw new HoldfastError(
        'protocol_error',
        `Expected JSON from "${placeOf(url)}", got something else. This is a fault of the authorization server.`,
      );
    return answered(response, response.ok ? 400 : response.status, refusalOf(answer, response.status, sent));
  };
}

/** @throws HoldfastError `protocol_error` for a token that cannot be sent to a server. */
export function checkToken({ access_token }: Pick<OAuthTokens, 'access_token'>, issuer: string): void {
  if (/^[\u0021-\u007e](?:[\u0020-\u007e]*[\u0021-\u007e])?$/.test(access_token)) return;
  throw new HoldfastError(
    'protocol_error',
    `Expected a token of visible ASCII characters from the authorization server "${clip(issuer)}", got one that cannot be sent in a header. It was not kept. This is a fault of the authorization server.`,
  );
}

function secretsSent({ headers, body }: RequestInit): readonly string[] {
  const found = new Set<string>();
  if (body instanceof URLSearchParams)
    for (const name of secretParameters) for (const value of body.getAll(name)) found.add(value);
  const [scheme = '', encoded = ''] = (new Headers(headers).get('authorization') ?? '').split(' ', 2);
  if (scheme.toLowerCase() === 'basic') {
    const pair = Buffer.from(encoded, 'base64').toString();
    const secret = pair.slice(pair.indexOf(':') + 1);
    for (const each of [encoded, secret, decoded(secret)]) found.add(each);
  }
  found.delete('');
  // The longest first: one may hold another.
  return [...found].toSorted((a, b) => b.length - a.length);
}

function isRefusal(answer: unknown): boolean {
  return (
    isRecord(answer) &&
    'error' in answer &&
    typeof answer['access_token'] !== 'string' &&
    typeof answer['client_id'] !== 'string'
  );
}

function refusalOf(answer: unknown, status: number, sent: readonly string[]): Readonly<Record<string, string>> {
  const { error, error_description } = isRecord(answer) ? answer : {};
  if (typeof error !== 'string')
    return { error: 'server_error', error_description: `HTTP ${String(status)} without an error that is one` };
  const description = typeof error_description === 'string' ? without(error_description, sent) : undefined;
  return {
    error: clip(without(error, sent) ?? 'server_error'),
    ...(description === undefined ? {} : { error_description: clip(description) }),
  };
}

/** The text without what was sent; `undefined` where that cannot be taken out. */
function without(text: string, sent: readonly string[]): string | undefined {
  let left = text;
  for (const secret of sent)
    for (const form of new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])) {
      if (form.length < minRemovedLength && left.includes(form)) return undefined;
      left = left.replaceAll(form, '[redacted]');
    }
  return left;
}

function answered(response: Response, status: number, body: unknown): Response {
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  headers.delete('content-encoding');
  headers.set('content-type', 'application/json');
  return new Response(JSON.stringify(body), { status: status === 204 || status === 205 ? 200 : status, headers });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

function placeOf(url: string | URL): string {
  const { origin, pathname } = new URL(url);
  return clip(`${origin}${pathname}`);
}

/**
 * The `fetch` of everything but the MCP server itself: metadata, registration, tokens (SPEC SE-2).
 *
 * Bounded in size and time; redirects are left to whoever asked, which follows them within the origin only.
 */
import { Agent, fetch as undiciFetch } from 'undici';
import type { Dispatcher } from 'undici';
import { HoldfastError } from '../../domain/errors.ts';
import type { Fetch } from '../../domain/authorization.ts';
import { leaseDispatchers } from '../transports/dispatchers.ts';
import { responseOf } from '../transports/http-messages.ts';
import { unpaused } from '../transports/unpaused.ts';
import type { Neighbourhood } from './addresses.ts';

/** Largest document, in bytes. */
export const maxDocumentBytes = 1024 * 1024;
/** How long one document may take, from the request to its last byte. */
export const documentTimeoutMs = 15_000;

export interface BoundedFetchOptions {
  readonly neighbourhood: Neighbourhood;
  readonly signal: AbortSignal;
  /** Where proxies are read from. Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs with a bounded `fetch`; its sockets are gone when this settles. */
export async function withBoundedFetch<TResult>(
  options: BoundedFetchOptions,
  run: (fetch: Fetch) => Promise<TResult>,
): Promise<TResult> {
  const sockets = new Sockets(options);
  try {
    return await run((url, init) => fetchWithin(new URL(url), init ?? {}, options, sockets));
  } finally {
    await sockets.close();
  }
}

class Sockets {
  readonly #options: BoundedFetchOptions;
  #direct: Agent | undefined;
  readonly #leases: { release(): Promise<void> }[] = [];

  constructor(options: BoundedFetchOptions) {
    this.#options = options;
  }

  /** A proxy looks names up itself; without one each address is looked at before it is connected to. */
  for(url: URL): Dispatcher {
    const { env = process.env, neighbourhood } = this.#options;
    if (proxyVariables.some((name) => (env[name] ?? '') !== '')) {
      const lease = leaseDispatchers(url, env);
      this.#leases.push(lease);
      return lease.control;
    }
    this.#direct ??= new Agent({ connect: { lookup: neighbourhood.lookup } });
    return this.#direct;
  }

  async close(): Promise<void> {
    await Promise.all([this.#direct?.destroy(), ...this.#leases.map((lease) => lease.release())]);
  }
}

const proxyVariables = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];

async function fetchWithin(
  url: URL,
  init: RequestInit,
  options: BoundedFetchOptions,
  sockets: Sockets,
): Promise<Response> {
  await options.neighbourhood.check(url);
  const timeout = AbortSignal.timeout(documentTimeoutMs);
  try {
    const response = await undiciFetch(url, {
      method: init.method ?? 'GET',
      headers: [...new Headers(init.headers)],
      redirect: 'manual',
      signal: AbortSignal.any([options.signal, timeout]),
      ...(typeof init.body === 'string' || init.body instanceof URLSearchParams ? { body: init.body } : {}),
      dispatcher: unpaused(sockets.for(url)),
    });
    const text = await readBounded(response.body, url);
    const { status, statusText } = response;
    return responseOf({ status, statusText, headers: new Headers([...response.headers]), body: text });
  } catch (error) {
    throw explained(error, url, options.signal, timeout);
  }
}

async function readBounded(body: AsyncIterable<Uint8Array> | null, url: URL): Promise<string> {
  if (body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxDocumentBytes)
      throw new HoldfastError(
        'protocol_error',
        `Expected a document of at most ${String(maxDocumentBytes)} bytes at "${placeOf(url)}", got a larger one. It was not read.`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function explained(error: unknown, url: URL, signal: AbortSignal, timeout: AbortSignal): Error {
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof HoldfastError) return each;
  if (signal.aborted) return new HoldfastError('aborted', 'The sign-in was given up.', { cause: error });
  if (timeout.aborted)
    return new HoldfastError(
      'server_unavailable',
      `Expected an answer from "${placeOf(url)}" within ${String(documentTimeoutMs)} ms, got none. Try again later.`,
      { cause: error },
    );
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
  return new HoldfastError(
    'server_unavailable',
    `Expected an answer from "${placeOf(url)}", got "${reason}". Check that it runs and can be reached.`,
    { cause: error },
  );
}

/** Without the query, which may hold what is nobody's business. */
function placeOf(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

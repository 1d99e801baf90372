/** Between the heads of requests and responses as the SDK knows them and as undici does. */
import { HoldfastError } from '../../domain/errors.ts';
import { headerOf } from './exchange.ts';
import type { ResponseHead } from './exchange.ts';

/** Names the outgoing message of a request to our `fetch`; never leaves the process. */
export const outgoingHeader = 'x-holdfast-outgoing';

/** The error of a response that carries no messages. */
export function unexpectedContent(head: ResponseHead): HoldfastError {
  const encoding = headerOf(head, 'content-encoding');
  const type = headerOf(head, 'content-type') ?? 'no content type';
  const got = `status ${String(head.status)} with ${encoding === undefined ? type : `${type} in encoding "${encoding}"`}`;
  return new HoldfastError(
    'protocol_error',
    `Expected JSON or an event stream in answer to the request, got ${got}. Check that the url is an MCP endpoint.`,
    {
      outcome: 'unknown',
    },
  );
}

/** Whether the status says success. */
export function isOk(head: ResponseHead): boolean {
  return head.status >= 200 && head.status < 300;
}

/** Request headers as undici takes them, without what is not for the server. */
export function flatten(headers: Headers): string[] {
  const flat: string[] = [];
  for (const [name, value] of headers) {
    if (name !== outgoingHeader) flat.push(name, value);
  }
  // Whole messages as they are: a small answer is not worth its decompression.
  if (!headers.has('accept-encoding')) flat.push('accept-encoding', 'identity');
  if (!headers.has('user-agent')) flat.push('user-agent', 'holdfast');
  return flat;
}

/** Response headers as `Response` takes them. */
export function toHeaders(head: ResponseHead): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(head.headers)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) headers.append(name, printable(one));
    }
  }
  return headers;
}

/** Header text as `Response` accepts it. */
export function printable(text: string): string {
  return text.replaceAll(/[^\t\x20-\x7e]/g, '?');
}

/** Statuses whose `Response` may have no body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * The response as the SDK takes it, whatever its status: `new Response` throws for some a server can send.
 *
 * One above 599 is a server error (RFC 9110, 15), and says itself which it was.
 */
export function responseOf(head: {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly body: string | ReadableStream<Uint8Array> | null;
}): Response {
  const { status, body, headers } = head;
  const init = { statusText: printable(head.statusText), headers };
  if (bodiless.has(status)) return new Response(null, { ...init, status });
  if (status >= 200 && status <= 599) return new Response(body, { ...init, status });
  return Object.defineProperty(new Response(body, { ...init, status: 500 }), 'status', { value: status });
}

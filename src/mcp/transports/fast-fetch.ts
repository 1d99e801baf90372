/**
 * The `fetch` Holdfast gives the SDK's HTTP transport: it takes the responses that carry messages out of the SDK's hands.
 *
 * The SDK keeps what it is good at: sessions, headers, redirects within the origin, authorization. For a response that
 * carries messages it is told "accepted, nothing to read" (202 for a POST, 405 for a stream), and the messages go to the
 * request's {@link Outgoing}. Every other response it gets whole.
 */
import { fetch as undiciFetch } from 'undici';
import type { RequestId } from '@modelcontextprotocol/client';
import { HoldfastError } from '../../domain/errors.ts';
import { EventSink, TextSink, maxBodyBytes, tooLarge } from './body-sinks.ts';
import type { DispatcherLease } from './dispatchers.ts';
import { exchangeError, headerOf, mediaTypeOf, startExchange } from './exchange.ts';
import type { BodySink, Exchange, ResponseHead } from './exchange.ts';
import { flatten, isOk, outgoingHeader, responseOf, toHeaders, unexpectedContent } from './http-messages.ts';
import { readRefusal } from './refusal.ts';
import type { Refusal } from './refusal.ts';
import { unpaused } from './unpaused.ts';

/** One exchange of messages: a POST and its stream, or the stream the server opens on its own. */
export interface Outgoing {
  /** The id of the request, when it is one: a response is expected. */
  readonly id: RequestId | undefined;
  readonly isHandshake: boolean;
  /** No result is waited for: it goes past the calls that wait. */
  readonly isControl: boolean;
  onMessages(text: string): void;
  onEventId(id: string): void;
  onRetry(ms: number): void;
  /** The response is over: whole, cut (`error`), or too large. */
  onEnd(error: HoldfastError | undefined): void;
  /** An exchange began; abort it to end this. */
  onExchange(exchange: Exchange): void;
  /** The server refused; the SDK makes the error. */
  onRefused(refusal: Refusal): void;
  /** What a GET for this stream came to: an open stream, or the status it was refused with (none: no answer). */
  onStreamStatus(opened: boolean, status: number | undefined): void;
}

export interface FastFetchOptions {
  readonly lease: DispatcherLease;
  /** The outgoing a POST belongs to. */
  outgoing(key: string): Outgoing | undefined;
  /** The stream a GET is for, and the event to go on after. The argument is what the SDK says to resume from. */
  stream(token: string | undefined): { readonly outgoing: Outgoing; readonly lastEventId: string | undefined };
  /** An exchange of messages got no response at all. */
  onNoResponse(error: HoldfastError): void;
  /** The SDK's authorization looks at headers of every response. */
  readonly keepsHeaders: boolean;
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Makes the `fetch` of one HTTP transport. */
export function createFastFetch(options: FastFetchOptions): Fetch {
  return async (input, init = {}) => {
    const url = new URL(input);
    const headers = init.headers instanceof Headers ? init.headers : new Headers(init.headers);
    const key = headers.get(outgoingHeader);
    const outgoing = key === null ? undefined : options.outgoing(key);
    if (outgoing !== undefined && typeof init.body === 'string')
      return post(options, url, headers, init.body, outgoing);
    const isStream = init.method === 'GET' && (headers.get('accept')?.includes('text/event-stream') ?? false);
    if (isStream) return openStream(options, url, headers);
    return plainFetch(options.lease, url, { ...init, headers });
  };
}

/** A `fetch` with nothing taken out, over the shared connections: authorization, and the end of a session. */
export async function plainFetch(lease: DispatcherLease, url: URL, init: RequestInit): Promise<Response> {
  try {
    const response = await undiciFetch(url, {
      method: init.method ?? 'GET',
      headers: [...new Headers(init.headers)],
      redirect: init.redirect ?? 'follow',
      signal: init.signal ?? null,
      ...(typeof init.body === 'string' || init.body instanceof URLSearchParams ? { body: init.body } : {}),
      dispatcher: unpaused(lease.control),
    });
    return bounded(response);
  } catch (error) {
    // `fetch` hides the cause behind "fetch failed".
    throw error instanceof TypeError && error.cause instanceof Error ? exchangeError(url, error.cause) : error;
  }
}

/** A stream of events is read by whoever asked for it; anything else is wanted whole, and a peer decides how much it is. */
function bounded(response: Response): Response {
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') ?? false;
  if (response.body === null || (isStream && response.ok)) return response;
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength;
      if (bytes > maxBodyBytes) controller.error(tooLarge('response body', maxBodyBytes));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return responseOf({ status, statusText, headers, body: response.body.pipeThrough(limit) });
}

function post(
  options: FastFetchOptions,
  url: URL,
  headers: Headers,
  body: string,
  outgoing: Outgoing,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    let isAccepted = false;
    const accept = (head: ResponseHead): void => {
      isAccepted = true;
      const isBare = !options.keepsHeaders && !outgoing.isHandshake;
      resolve(isBare ? accepted : new Response(null, { status: 202, headers: toHeaders(head) }));
    };
    const exchange = startExchange({
      dispatcher: outgoing.isControl ? options.lease.control : options.lease.calls,
      url,
      method: 'POST',
      headers: flatten(headers),
      body,
      headFirst: outgoing.isHandshake,
      onNoResponse: (error) => {
        if (isAccepted) {
          outgoing.onEnd(error);
          return;
        }
        options.onNoResponse(error);
        reject(error);
      },
      onHead: (head) => {
        if (!isOk(head)) return refuse(head, exchange, outgoing, resolve);
        if (outgoing.id === undefined) {
          accept(head);
          return skip(exchange, () => {
            outgoing.onEnd(undefined);
          });
        }
        const sink = messageSink(head, exchange, outgoing);
        if (sink === undefined) {
          const error = unexpectedContent(head);
          reject(error);
          queueMicrotask(() => {
            exchange.abort(error);
          });
          return skip(exchange);
        }
        accept(head);
        return sink;
      },
    });
    outgoing.onExchange(exchange);
  });
}

function openStream(options: FastFetchOptions, url: URL, headers: Headers): Promise<Response> {
  const { outgoing, lastEventId } = options.stream(headers.get('last-event-id') ?? undefined);
  const sent = new Headers(headers);
  sent.delete('last-event-id');
  if (lastEventId !== undefined) sent.set('last-event-id', lastEventId);
  return new Promise((resolve, reject) => {
    let isOpen = false;
    const exchange = startExchange({
      dispatcher: options.lease.control,
      url,
      method: 'GET',
      headers: flatten(sent),
      onNoResponse: (error) => {
        if (isOpen) {
          outgoing.onEnd(error);
          return;
        }
        outgoing.onStreamStatus(false, undefined);
        options.onNoResponse(error);
        reject(error);
      },
      onHead: (head) => {
        const isStream = isOk(head) && mediaTypeOf(head) === 'text/event-stream';
        outgoing.onStreamStatus(isStream, head.status);
        if (isStream) {
          isOpen = true;
          resolve(notOffered());
          return eventSink(exchange, outgoing);
        }
        // No stream is offered; that is allowed in all these forms, and no error.
        if (isOk(head) || noStreamStatuses.has(head.status)) {
          resolve(notOffered());
          return skip(exchange);
        }
        return refuse(head, exchange, outgoing, resolve);
      },
    });
    outgoing.onExchange(exchange);
  });
}

/** Answers that say a server has no stream of its own. */
export const noStreamStatuses: ReadonlySet<number> = new Set([404, 405, 406]);

function messageSink(head: ResponseHead, exchange: Exchange, outgoing: Outgoing): BodySink | undefined {
  const encoding = headerOf(head, 'content-encoding');
  if (encoding !== undefined && encoding !== 'identity') return undefined;
  const type = mediaTypeOf(head);
  if (type === 'text/event-stream') return eventSink(exchange, outgoing);
  if (type !== 'application/json') return undefined;
  return TextSink.whole(
    (text) => {
      outgoing.onMessages(text);
      outgoing.onEnd(undefined);
    },
    (error) => {
      exchange.abort(error);
      outgoing.onEnd(error);
    },
  );
}

function eventSink(exchange: Exchange, outgoing: Outgoing): BodySink {
  return new EventSink({
    onData: (text) => {
      outgoing.onMessages(text);
    },
    onEventId: (id) => {
      outgoing.onEventId(id);
    },
    onRetry: (ms) => {
      outgoing.onRetry(ms);
    },
    onEnd: (error) => {
      if (error !== undefined) exchange.abort(error);
      outgoing.onEnd(error);
    },
  });
}

/** A response the SDK deals with: errors, redirects, authorization. */
function refuse(
  head: ResponseHead,
  exchange: Exchange,
  outgoing: Outgoing,
  resolve: (response: Response) => void,
): BodySink {
  outgoing.onRefused(readRefusal(head.status, (name) => headerOf(head, name), Date.now()));
  return TextSink.excerpt((text) => {
    const { status, statusText } = head;
    const response = responseOf({ status, statusText, headers: toHeaders(head), body: text });
    exchange.abort(unread);
    resolve(response);
  });
}

/** Reads on for nothing, so that the connection can be used again; not for ever. */
function skip(exchange: Exchange, onEnd?: () => void): BodySink {
  return TextSink.excerpt(() => {
    exchange.abort(unread);
    onEnd?.();
  });
}

const unread = new HoldfastError('aborted', 'The rest of the response was not read.');
const accepted = new Response(null, { status: 202 });

/** What the SDK takes for "this server opens no stream": it does nothing more. */
function notOffered(): Response {
  return new Response(null, { status: 405 });
}

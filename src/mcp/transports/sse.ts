/**
 * One MCP server over the legacy HTTP+SSE transport of 2024-11-05 (SPEC CN-1).
 *
 * One event stream carries everything the server says; each message of ours is a POST. The SDK's transport opens the stream
 * and posts; the messages are read here, since it drops those it does not like and their requests would wait for ever. Owns
 * that transport and a lease of the shared connections. Invariant `L1`: a stream that breaks ends the connection: the server's session went with it.
 */
import { SSEClientTransport, SdkErrorCode, SdkHttpError, SseError } from '@modelcontextprotocol/client';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { createParser } from 'eventsource-parser';
import type { Authorizer, Fetch } from '../../domain/authorization.ts';
import { HoldfastError, messageOf } from '../../domain/errors.ts';
import { maxMessageBytes } from './body-sinks.ts';
import type { Authorities } from './authorities.ts';
import { leaseDispatchers } from './dispatchers.ts';
import { plainFetch } from './fast-fetch.ts';
import { HttpWire, closedError, ignore } from './http-wire.ts';
import { parseServerUrl } from './http.ts';
import { isWireMessage, messagesIn, parseJson, requestIdOf, whyUnsent } from './json-rpc.ts';
import { Outbox, answerLimitMs } from './outbox.ts';
import { attachRefusal, readRefusal } from './refusal.ts';
import type { Refusal } from './refusal.ts';
import type { HeaderHelper } from './renewed-headers.ts';
import type { WireListener, WireTransport } from './transport.ts';
import { describeLine, WarningCounter } from './warnings.ts';

export interface SseTransportOptions {
  readonly url: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Puts credentials on what is sent, and answers challenges. */
  readonly authorizer?: Authorizer;
  readonly listener: WireListener;
  /** Gives headers anew after a 401. */
  readonly renewHeaders?: HeaderHelper;
  /** Trusted beside the usual ones. */
  readonly authorities?: Authorities;
  /** Where proxies are read from. Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Makes the transport of one legacy SSE server; `start` opens its stream and waits for its endpoint.
 *
 * @throws HoldfastError `server_misconfigured` for a url that is not http(s).
 */
export function createSseTransport(options: SseTransportOptions): WireTransport {
  return new SseTransport(options);
}

class SseTransport extends HttpWire implements WireTransport {
  readonly kind = 'sse';
  readonly hasPerRequestStream = false;
  readonly sessionId = undefined;
  readonly #outbox = new Outbox();
  readonly #inner: SSEClientTransport;
  readonly #url: URL;
  readonly #send: Fetch;
  readonly #ending = new AbortController();
  readonly #invalid = new WarningCounter((message) => {
    this.listener.onWarning('invalid_message', message);
  });
  #state: 'idle' | 'open' | 'ended' = 'idle';
  #refusal: Refusal | undefined;

  constructor(options: SseTransportOptions) {
    const url = parseServerUrl(options.url);
    super(options.listener, leaseDispatchers(url, options));
    this.#url = url;
    const send: Fetch = (target, init = {}) => plainFetch(this.lease, new URL(target), init);
    this.#send = this.withHelp(options.authorizer?.authorize(send) ?? send, options.renewHeaders);
    this.#inner = new SSEClientTransport(this.#url, {
      fetch: async (target, init) => this.#fetch(new URL(target), init ?? {}),
      ...(options.headers === undefined ? {} : { requestInit: { headers: { ...options.headers } } }),
    });
    this.#inner.onerror = (error) => {
      if (error instanceof SseError) this.#lose(error);
    };
  }

  async start(): Promise<void> {
    if (this.#state !== 'idle' || this.isClosing) throw closedError();
    try {
      await Promise.race([this.#inner.start(), rejectOn(this.#ending.signal)]);
    } catch (error) {
      this.#state = 'ended';
      await this.#inner.close().catch(ignore);
      attachRefusal(error, this.#refusal);
      throw error;
    }
    this.#state = 'open';
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#state !== 'open' || this.isClosing) throw closedError();
    if (requestIdOf(message) !== undefined) return this.#post(message);
    return this.#outbox.send(() => this.#post(message));
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  protected async end(): Promise<void> {
    this.#state = 'ended';
    this.#ending.abort();
    this.#outbox.close(closedError());
    await this.#inner.close().catch(ignore);
  }

  async #post(message: JSONRPCMessage): Promise<void> {
    try {
      await this.#inner.send(message);
    } catch (error) {
      if (error instanceof HoldfastError) this.noticeNobody(error);
      throw whyUnsent(message, error);
    }
  }

  async #fetch(url: URL, init: RequestInit): Promise<Response> {
    const response = await this.#send(url, isAnswer(init) ? withLimit(init) : init);
    const { status, headers } = response;
    if (!response.ok) this.#refuse(response, init.method === 'POST');
    const isStream = headers.get('content-type')?.includes('text/event-stream') ?? false;
    if (!response.ok || !isStream || response.body === null) return response;
    return new Response(response.body.pipeThrough(withoutMessages(this.#read)), { status, headers });
  }

  /** The SDK's error of a refused message has no status. What it acts on itself, redirects and sign-ins, is left to it. */
  #refuse({ status, statusText, headers }: Response, isPost: boolean): void {
    const refusal = readRefusal(status, (name) => headers.get(name) ?? undefined, Date.now());
    if (!isPost) this.#refusal = refusal;
    if (!isPost || status < 400) return;
    const error = new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `Error POSTing to endpoint: ${statusText}`, {
      status,
      statusText,
    });
    attachRefusal(error, refusal);
    throw error;
  }

  readonly #read = (text: string): void => {
    for (const message of messagesIn(parseJson(text))) {
      if (this.#state !== 'open' || this.isClosing) return;
      if (isWireMessage(message)) this.listener.onMessage(message);
      else this.#invalid.add(`Expected a JSON-RPC message, got "${describeLine(text)}". It was skipped.`);
    }
  };

  #lose(error: SseError): void {
    if (this.#state !== 'open' || this.isClosing) return;
    this.#state = 'ended';
    // The SDK would open it again, into a session the server does not know.
    void this.#inner.close().catch(ignore);
    this.listener.onClosed(
      new HoldfastError(
        'connection_lost',
        `Expected the event stream of "${this.#url.origin}" to stay open, got "${messageOf(error)}".`,
        {
          outcome: 'unknown',
          cause: error,
        },
      ),
    );
  }
}

/** Whether a POST brings an answer or a notification: a request may be answered as late as its server likes. */
function isAnswer({ method, body }: RequestInit): boolean {
  const message = method === 'POST' && typeof body === 'string' ? parseJson(body) : undefined;
  return isWireMessage(message) && requestIdOf(message) === undefined;
}

function withLimit(init: RequestInit): RequestInit {
  const limit = AbortSignal.timeout(answerLimitMs);
  return { ...init, signal: init.signal == null ? limit : AbortSignal.any([init.signal, limit]) };
}

/** Takes the messages out of a stream of events, and breaks it when one event outgrows the limit. */
function withoutMessages(onMessage: (text: string) => void): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let left: string[] = [];
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: maxMessageBytes,
    onEvent: ({ event = 'message', data }) => {
      if (event === 'message') onMessage(data);
      else left.push(`event: ${event}\n${data.replaceAll(/^/gm, 'data: ')}\n\n`);
    },
    onError: ({ type }) => {
      isTooLarge ||= type === 'max-buffer-size-exceeded';
    },
  });
  return new TransformStream({
    transform: (chunk, controller) => {
      parser.feed(decoder.decode(chunk, { stream: true }));
      if (isTooLarge) controller.error(new Error(`An event is larger than ${String(maxMessageBytes)} bytes.`));
      else if (left.length > 0) controller.enqueue(encoder.encode(left.join('')));
      left = [];
    },
  });
}

async function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(closedError());
    });
  });
}

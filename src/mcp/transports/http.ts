/**
 * One MCP server over Streamable HTTP (SPEC CN-1, CN-7, RT-8, PE-1).
 *
 * The SDK's transport keeps the session, the headers, redirects and authorization; the messages are read by
 * {@link createFastFetch}. Owns its exchanges and a lease of the shared connections.
 * Invariants: `W1` every request that was sent gets its response, a failure, or an abort of its owner, and one of them
 * only; `W2` the server's own stream is optional: its absence or end is no error and no loop; `W3` after `close` nothing is
 * open, scheduled or reported.
 */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Authorizer } from '../../domain/authorization.ts';
import { HoldfastError, messageOf } from '../../domain/errors.ts';
import type { Authorities } from './authorities.ts';
import { leaseDispatchers } from './dispatchers.ts';
import { createFastFetch } from './fast-fetch.ts';
import { outgoingHeader } from './http-messages.ts';
import { HttpWire, closedError, ignore } from './http-wire.ts';
import { requestIdOf, whyUnsent } from './json-rpc.ts';
import { Outbox } from './outbox.ts';
import { OutgoingRequest } from './outgoing-request.ts';
import type { OutgoingOwner } from './outgoing-request.ts';
import { attachRefusal } from './refusal.ts';
import type { HeaderHelper } from './renewed-headers.ts';
import { ServerStream } from './server-stream.ts';
import type { WireListener, WireSendOptions, WireTransport } from './transport.ts';
import { WarningCounter } from './warnings.ts';

export interface HttpTransportOptions {
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
  /** How long `close` waits for what is still to be told the server. Default 1,000. */
  readonly farewellMs?: number;
}

/**
 * Makes the transport of one HTTP server; nothing is sent before the first `send`.
 *
 * @throws HoldfastError `server_misconfigured` for a url that is not http(s).
 */
export function createHttpTransport(options: HttpTransportOptions): WireTransport {
  return new HttpTransport(options);
}

/** @throws HoldfastError `server_misconfigured` for a url that is not http(s). */
export function parseServerUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw new HoldfastError(
    'server_misconfigured',
    `Expected "url" to be an http or https url, got "${text}". Correct it.`,
  );
}

class HttpTransport extends HttpWire implements WireTransport {
  readonly kind = 'http';
  readonly hasPerRequestStream = true;
  readonly #farewellMs: number;
  readonly #inner: StreamableHTTPClientTransport;
  readonly #owner: OutgoingOwner;
  readonly #serverStream: ServerStream;
  /** By the key their POST carries to our `fetch`, until it has an answer. */
  readonly #posting = new Map<string, OutgoingRequest>();
  /** Everything that is not over, answered or not. */
  readonly #open = new Set<OutgoingRequest>();
  /** What nobody expects a response to: a farewell waits for it. */
  readonly #outbox = new Outbox();
  readonly #rejected = new WeakSet<Error>();
  #sequence = 0;

  constructor(options: HttpTransportOptions) {
    const url = parseServerUrl(options.url);
    super(options.listener, leaseDispatchers(url, options));
    this.#farewellMs = options.farewellMs ?? 1_000;
    const warnings = new WarningCounter((message) => {
      if (!this.isClosing) this.listener.onWarning('invalid_message', message);
    });
    this.#owner = {
      onMessage: (message, requestId) => {
        if (!this.isClosing) this.listener.onMessage(message, requestId);
      },
      onRequestFailed: (requestId, error) => {
        if (!this.isClosing) this.listener.onRequestFailed(requestId, error);
      },
      onInvalid: (message) => {
        warnings.add(message);
      },
      onUnavailable: (message) => {
        if (!this.isClosing) this.listener.onWarning('stream_unavailable', message);
      },
      onOver: (outgoing) => {
        this.#open.delete(outgoing);
      },
      openStream: async (token) => this.#openStream(token),
    };
    this.#serverStream = new ServerStream(this.#owner);
    const fetch = createFastFetch({
      lease: this.lease,
      keepsHeaders: options.authorizer?.readsHeaders === true,
      outgoing: (key) => this.#posting.get(key),
      stream: (token) => this.#streamFor(token),
      onNoResponse: (error) => {
        this.noticeNobody(error);
      },
    });
    this.#inner = new StreamableHTTPClientTransport(url, {
      fetch: this.withHelp(options.authorizer?.authorize(fetch) ?? fetch, options.renewHeaders),
      ...(options.headers === undefined ? {} : { requestInit: { headers: { ...options.headers } } }),
    });
    this.#inner.onerror = (error) => {
      this.#reportLater(error);
    };
    // The one response the SDK still reads itself: a 400 whose body is a JSON-RPC error.
    this.#inner.onmessage = (message) => {
      this.#owner.onMessage(message, 'method' in message ? undefined : message.id);
    };
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  async start(): Promise<void> {
    await this.#inner.start();
  }

  send(message: JSONRPCMessage, options: WireSendOptions = {}): Promise<void> {
    if (this.isClosing) return Promise.reject(closedError());
    if (requestIdOf(message) !== undefined) return this.#post(message, options);
    return this.#outbox.send((signal) => this.#post(message, { ...options, requestSignal: signal }));
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  async #post(message: JSONRPCMessage, options: WireSendOptions): Promise<void> {
    const key = String((this.#sequence += 1));
    const outgoing = new OutgoingRequest(key, message, options, this.#owner);
    this.#posting.set(key, outgoing);
    this.#open.add(outgoing);
    if (outgoing.isHandshake) this.#serverStream.reset();
    try {
      await this.#inner.send(message, { headers: { ...options.headers, [outgoingHeader]: key } });
      if (outgoing.refusal === undefined) outgoing.sent();
      else outgoing.drop();
    } catch (error) {
      outgoing.drop();
      if (error instanceof Error) this.#rejected.add(error);
      attachRefusal(error, outgoing.refusal);
      throw whyUnsent(message, error);
    } finally {
      this.#posting.delete(key);
    }
  }

  async #openStream(token: string): Promise<void> {
    try {
      await this.#inner.resumeStream(token);
    } catch (error) {
      if (error instanceof Error) this.#rejected.add(error);
      throw error;
    }
  }

  /** A resumed stream belongs to its request; any other is the server's own. */
  #streamFor(token: string | undefined): ReturnType<Parameters<typeof createFastFetch>[0]['stream']> {
    if (token !== undefined) {
      for (const outgoing of this.#open) {
        if (outgoing.resumeToken === token) return { outgoing, lastEventId: outgoing.lastEventId };
      }
    }
    return { outgoing: this.#serverStream, lastEventId: this.#serverStream.lastEventId };
  }

  /** The SDK reports an error of `send` twice; who awaits the send has it already. */
  #reportLater(error: Error): void {
    setImmediate(() => {
      if (this.isClosing || this.#rejected.has(error)) return;
      this.listener.onWarning('transport_error', messageOf(error));
    });
  }

  protected async end(): Promise<void> {
    const abort = closedError();
    this.#serverStream.stop(abort);
    for (const outgoing of this.#open) if (outgoing.id !== undefined) outgoing.cancel(abort);
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort();
    }, this.#farewellMs);
    try {
      await Promise.race([this.#farewell(), once(late.signal)]);
    } finally {
      clearTimeout(timer);
      for (const outgoing of this.#open) outgoing.cancel(abort);
      this.#outbox.close(abort);
      await this.#inner.close().catch(ignore);
    }
  }

  async #farewell(): Promise<void> {
    await this.#outbox.empty();
    await this.#inner.terminateSession().catch(ignore);
  }
}

async function once(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}

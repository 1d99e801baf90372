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
import type { JSONRPCMessage, StreamableHTTPClientTransportOptions } from '@modelcontextprotocol/client';
import { HoldfastError, messageOf } from '../../domain/errors.ts';
import { leaseDispatchers } from './dispatchers.ts';
import type { DispatcherLease } from './dispatchers.ts';
import { createFastFetch } from './fast-fetch.ts';
import { outgoingHeader } from './http-messages.ts';
import { requestIdOf, unsendable } from './json-rpc.ts';
import { OutgoingRequest } from './outgoing-request.ts';
import type { OutgoingOwner } from './outgoing-request.ts';
import { attachRefusal } from './refusal.ts';
import { ServerStream } from './server-stream.ts';
import type { WireListener, WireSendOptions, WireTransport } from './transport.ts';
import { WarningCounter } from './warnings.ts';

export interface HttpTransportOptions {
  readonly url: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly authProvider?: NonNullable<StreamableHTTPClientTransportOptions['authProvider']>;
  readonly onInsufficientScope?: 'reauthorize' | 'throw';
  readonly listener: WireListener;
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

class HttpTransport implements WireTransport {
  readonly kind = 'http';
  readonly hasPerRequestStream = true;
  readonly pid = undefined;
  readonly #listener: WireListener;
  readonly #farewellMs: number;
  readonly #lease: DispatcherLease;
  readonly #inner: StreamableHTTPClientTransport;
  readonly #owner: OutgoingOwner;
  readonly #serverStream: ServerStream;
  /** By the key their POST carries to our `fetch`, until it has an answer. */
  readonly #posting = new Map<string, OutgoingRequest>();
  /** Everything that is not over, answered or not. */
  readonly #open = new Set<OutgoingRequest>();
  /** Sends nobody expects a response to: a farewell waits for them. */
  readonly #notices = new Set<Promise<void>>();
  readonly #rejected = new WeakSet<Error>();
  #sequence = 0;
  #closing: Promise<void> | undefined;

  constructor(options: HttpTransportOptions) {
    const url = parseServerUrl(options.url);
    this.#listener = options.listener;
    this.#farewellMs = options.farewellMs ?? 1_000;
    this.#lease = leaseDispatchers(url, options.env);
    const warnings = new WarningCounter((message) => {
      if (this.#closing === undefined) this.#listener.onWarning('invalid_message', message);
    });
    this.#owner = {
      onMessage: (message, requestId) => {
        if (this.#closing === undefined) this.#listener.onMessage(message, requestId);
      },
      onRequestFailed: (requestId, error) => {
        if (this.#closing === undefined) this.#listener.onRequestFailed(requestId, error);
      },
      onInvalid: (message) => {
        warnings.add(message);
      },
      onUnavailable: (message) => {
        if (this.#closing === undefined) this.#listener.onWarning('stream_unavailable', message);
      },
      onOver: (outgoing) => {
        this.#open.delete(outgoing);
      },
      openStream: async (token) => this.#openStream(token),
    };
    this.#serverStream = new ServerStream(this.#owner);
    this.#inner = new StreamableHTTPClientTransport(url, {
      fetch: createFastFetch({
        lease: this.#lease,
        keepsHeaders: options.authProvider !== undefined,
        outgoing: (key) => this.#posting.get(key),
        stream: (token) => this.#streamFor(token),
      }),
      ...(options.headers === undefined ? {} : { requestInit: { headers: { ...options.headers } } }),
      ...(options.authProvider === undefined ? {} : { authProvider: options.authProvider }),
      ...(options.onInsufficientScope === undefined ? {} : { onInsufficientScope: options.onInsufficientScope }),
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
    if (this.#closing !== undefined) return Promise.reject(closed());
    const sent = this.#post(message, options);
    if (requestIdOf(message) === undefined) {
      const notice = sent.catch(ignore).finally(() => this.#notices.delete(notice));
      this.#notices.add(notice);
    }
    return sent;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  stderrTail(): string {
    return '';
  }

  exitInfo(): undefined {
    return undefined;
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
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
      throw error instanceof RangeError ? unsendable(error) : error;
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
      if (this.#closing !== undefined || this.#rejected.has(error)) return;
      this.#listener.onWarning('transport_error', messageOf(error));
    });
  }

  async #end(): Promise<void> {
    const abort = closed();
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
      await this.#inner.close().catch(ignore);
      await this.#lease.release().catch(ignore);
    }
  }

  async #farewell(): Promise<void> {
    await Promise.all(this.#notices);
    await this.#inner.terminateSession().catch(ignore);
  }
}

function closed(): HoldfastError {
  return new HoldfastError('connection_lost', 'Expected an open connection, but it was closed.', {
    outcome: 'not-sent',
  });
}

async function once(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}

function ignore(): void {
  // The end goes on whatever the server says to it.
}

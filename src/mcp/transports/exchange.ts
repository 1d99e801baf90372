/**
 * One HTTP request and its response, read straight from undici's parser without streams in between.
 *
 * This is what makes HTTP calls fast: the default `fetch` pays for a `Response`, two web streams and an abort listener
 * on every call (SPEC PE-1, CN-7).
 */
import type { Dispatcher } from 'undici';
import { HoldfastError, messageOf } from '../../domain/errors.ts';
import { isRecord } from '../../domain/json.ts';
import { certificateProblem } from './certificate-problem.ts';
import { wasNeverSent } from './nobody-there.ts';

export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  /** Lower-case names, as undici gives them. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Takes the body of one response. Exactly one of `end` and `fail` is called, once. */
export interface BodySink {
  data(chunk: Buffer): void;
  end(): void;
  fail(error: HoldfastError): void;
}

export interface ExchangeOptions {
  readonly dispatcher: Dispatcher;
  readonly url: URL;
  readonly method: Dispatcher.HttpMethod;
  /** Name, value, name, value … */
  readonly headers: string[];
  readonly body?: string;
  /**
   * Holds the body back for one turn, so that whoever awaits the head acts on it first. Default false.
   *
   * Held here, not in the socket: undici fails an assertion when a paused response is cut.
   */
  readonly headFirst?: boolean;
  /** Chooses who takes the body. */
  onHead(head: ResponseHead): BodySink;
  /** No response came: `server_unavailable` if nothing was sent, else `connection_lost`. Also the last word if a sink throws. */
  onNoResponse(error: HoldfastError): void;
}

/** A request on its way. */
export interface Exchange {
  /** Ends it and its socket. The sink, or `onNoResponse`, hears `reason`. */
  abort(reason: HoldfastError): void;
}

/** Sends the request; the callbacks are called later, never before this returns. */
export function startExchange(options: ExchangeOptions): Exchange {
  const exchange = new RunningExchange(options);
  exchange.start();
  return exchange;
}

/** The value of a response header; several are joined. */
export function headerOf(head: ResponseHead, name: string): string | undefined {
  const value = head.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** The media type of a response, without parameters, in lower case. */
export function mediaTypeOf(head: ResponseHead): string | undefined {
  return headerOf(head, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase();
}

class RunningExchange implements Exchange, Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  #controller: Dispatcher.DispatchController | undefined;
  #sink: BodySink | undefined;
  #aborted: HoldfastError | undefined;
  #isDone = false;
  /** What is to be told of the body after this turn. */
  #held: (() => void)[] | undefined;
  #heldBytes = 0;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  start(): void {
    const { dispatcher, url, method, headers, body } = this.#options;
    try {
      dispatcher.dispatch(
        {
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method,
          headers,
          ...(body === undefined ? {} : { body }),
          // A call may wait for a person; its owner has the time limits.
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        this,
      );
    } catch (error) {
      queueMicrotask(() => {
        this.#fail(error);
      });
    }
  }

  abort(reason: HoldfastError): void {
    if (this.#isDone || this.#aborted !== undefined) return;
    this.#aborted = reason;
    this.#controller?.abort(reason);
    this.#fail(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted !== undefined) controller.abort(this.#aborted);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHead['headers'],
    statusText = '',
  ): void {
    if (this.#isDone) return;
    if (status < 100) {
      this.abort(noStatus(status));
      return;
    }
    if (status < 200) return;
    this.#guarded(() => {
      this.#sink = this.#options.onHead({ status, statusText, headers });
    });
    if (this.#options.headFirst !== true) return;
    this.#held = [];
    setImmediate(() => {
      const held = this.#held;
      this.#held = undefined;
      for (const tell of held ?? []) this.#guarded(tell);
    });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isDone) return;
    this.#heldBytes += chunk.length;
    if (this.#held !== undefined && this.#heldBytes > maxHeldBytes) this.abort(tooMuch());
    else this.#tell(() => this.#sink?.data(chunk));
  }

  onResponseEnd(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#tell(() => this.#sink?.end());
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  #fail(cause: unknown): void {
    if (this.#isDone) return;
    this.#isDone = true;
    const error = cause instanceof HoldfastError ? cause : exchangeError(this.#options.url, cause);
    this.#tell(() => {
      if (this.#sink === undefined) this.#options.onNoResponse(error);
      else this.#sink.fail(error);
    });
  }

  /** In order: what came while the body is held back waits behind it. */
  #tell(tell: () => void): void {
    if (this.#held === undefined) this.#guarded(tell);
    else this.#held.push(tell);
  }

  /** Nothing thrown reaches undici, which would throw it out of a socket event or forget the request (RT-12). */
  #guarded(tell: () => void): void {
    try {
      tell();
    } catch (cause) {
      const error = unreadable(this.#options.url, cause);
      this.#held = undefined;
      this.#isDone = true;
      this.#controller?.abort(error);
      this.#options.onNoResponse(error);
    }
  }
}

/** More than a socket brings in one turn. */
const maxHeldBytes = 32 * 1_024 * 1_024;

function tooMuch(): HoldfastError {
  return new HoldfastError(
    'limit_exceeded',
    `Expected at most ${String(maxHeldBytes)} bytes at once, got more. Ask the server for less.`,
    { outcome: 'unknown', retryable: false },
  );
}

function noStatus(status: number): HoldfastError {
  return new HoldfastError(
    'protocol_error',
    `Expected an HTTP status of at least 100, got ${String(status)}. Check that the url is an MCP endpoint.`,
    { outcome: 'unknown' },
  );
}

function unreadable(url: URL, cause: unknown): HoldfastError {
  return new HoldfastError(
    'protocol_error',
    `Expected a response from "${url.origin}" that can be read, got one that cannot (${messageOf(cause)}). Look at what it sends.`,
    { outcome: 'unknown', cause },
  );
}

/** Maps what undici and the socket report. */
export function exchangeError(url: URL, cause: unknown): HoldfastError {
  const certificate = certificateProblem(cause);
  if (certificate !== undefined) {
    const { problem, remedy } = certificate;
    return new HoldfastError(
      'server_unavailable',
      `Expected a certificate of "${url.origin}" that is trusted here, got one that ${problem} (${describe(cause)}). ${remedy}`,
      { outcome: 'not-sent', cause },
    );
  }
  if (wasNeverSent(cause)) {
    return new HoldfastError(
      'server_unavailable',
      `Expected a server at "${url.origin}", got "${describe(cause)}". Check the url and that it runs.`,
      {
        outcome: 'not-sent',
        cause,
      },
    );
  }
  if (isRecord(cause) && cause['code'] === 'UND_ERR_HEADERS_OVERFLOW') {
    return new HoldfastError(
      'limit_exceeded',
      `Expected a response from "${url.origin}" with headers of at most 16 KiB, got longer ones. Look at what it sends.`,
      { outcome: 'unknown', retryable: false, cause },
    );
  }
  return new HoldfastError('connection_lost', `Expected a response from "${url.origin}", got "${describe(cause)}".`, {
    outcome: 'unknown',
    cause,
  });
}

function describe(error: unknown): string {
  const message = messageOf(error);
  if (message !== '') return message;
  return isRecord(error) && typeof error['code'] === 'string' ? error['code'] : 'a broken connection';
}

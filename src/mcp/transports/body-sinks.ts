/** The ways a response body is read: as events, as one JSON value, or as a piece of text. */
import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';
import type { EventSourceParser } from 'eventsource-parser';
import { HoldfastError } from '../../domain/errors.ts';
import type { BodySink } from './exchange.ts';

/** The largest JSON body and the largest single event that are read (SPEC SE-2). */
export const maxMessageBytes = 32 * 1_024 * 1_024;
const maxErrorBytes = 64 * 1_024;
/** The largest body that is read of what is no message: metadata, tokens, the end of a session. */
export const maxBodyBytes = 4 * 1_024 * 1_024;

export interface EventSinkHandlers {
  /** The data of a `message` event. */
  onData(text: string): void;
  onEventId(id: string): void;
  onRetry(ms: number): void;
  /** The stream ended, whole or cut. */
  onEnd(error: HoldfastError | undefined): void;
}

/** Reads `text/event-stream`. */
export class EventSink implements BodySink {
  readonly #handlers: EventSinkHandlers;
  readonly #decoder = new StringDecoder('utf8');
  readonly #parser: EventSourceParser;
  #isOver = false;

  constructor(handlers: EventSinkHandlers) {
    this.#handlers = handlers;
    this.#parser = createParser({
      maxBufferSize: maxMessageBytes,
      onEvent: ({ id, event, data }) => {
        if (this.#isOver) return;
        if (id !== undefined && id !== '') handlers.onEventId(id);
        if (data !== '' && (event === undefined || event === 'message')) handlers.onData(data);
      },
      onRetry: (ms) => {
        handlers.onRetry(ms);
      },
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') this.#finish(tooLarge('event'));
      },
    });
  }

  data(chunk: Buffer): void {
    if (!this.#isOver) this.#parser.feed(this.#decoder.write(chunk));
  }

  end(): void {
    this.#finish(undefined);
  }

  fail(error: HoldfastError): void {
    this.#finish(error);
  }

  #finish(error: HoldfastError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handlers.onEnd(error);
  }
}

/** Collects a body as text, up to a limit, and hands it over whole or as an error. */
export class TextSink implements BodySink {
  readonly #onText: (text: string) => void;
  readonly #onError: (error: HoldfastError) => void;
  readonly #limit: number;
  readonly #truncates: boolean;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isOver = false;

  private constructor(
    limit: number,
    truncates: boolean,
    onText: (text: string) => void,
    onError: (error: HoldfastError) => void,
  ) {
    this.#limit = limit;
    this.#truncates = truncates;
    this.#onText = onText;
    this.#onError = onError;
  }

  /** A body that must be had whole: larger than {@link maxMessageBytes} is an error. */
  static whole(onText: (text: string) => void, onError: (error: HoldfastError) => void): TextSink {
    return new TextSink(maxMessageBytes, false, onText, onError);
  }

  /** The body of an error response: its first 64 KiB, and whatever came before the connection broke. */
  static excerpt(onText: (text: string) => void): TextSink {
    return new TextSink(maxErrorBytes, true, onText, () => undefined);
  }

  data(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#bytes <= this.#limit) return;
    if (this.#truncates) this.#deliver();
    else {
      this.#isOver = true;
      this.#chunks = [];
      this.#onError(tooLarge('response body'));
    }
  }

  end(): void {
    this.#deliver();
  }

  fail(error: HoldfastError): void {
    if (this.#truncates) this.#deliver();
    else if (!this.#isOver) {
      this.#isOver = true;
      this.#onError(error);
    }
  }

  #deliver(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onText(Buffer.concat(this.#chunks).subarray(0, this.#limit).toString('utf8'));
    this.#chunks = [];
  }
}

/** The error of something that is larger than is read. */
export function tooLarge(what: string, limit = maxMessageBytes): HoldfastError {
  return new HoldfastError(
    'limit_exceeded',
    `Expected a ${what} of at most ${String(limit)} bytes, got a larger one. Ask the server for less.`,
    {
      outcome: 'failed',
      retryable: false,
    },
  );
}

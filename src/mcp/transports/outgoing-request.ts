/**
 * One message on its way over HTTP, with the stream that answers it (SPEC RT-8).
 *
 * A stream that ends before the response is resumed if the server numbered its events, and fails the request otherwise.
 * Invariant `O1`: after the response, a failure or `cancel`, nothing more is reported.
 */
import { setMaxListeners } from 'node:events';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { HoldfastError, messageOf } from '../../domain/errors.ts';
import type { Exchange } from './exchange.ts';
import type { Outgoing } from './fast-fetch.ts';
import { isWireMessage, messagesIn, parseJson, requestIdOf } from './json-rpc.ts';
import type { Refusal } from './refusal.ts';
import { Reopening } from './reopening.ts';
import type { WireSendOptions } from './transport.ts';
import { describeLine } from './warnings.ts';

/** What a message on its way asks of the transport. */
export interface OutgoingOwner {
  onMessage(message: JSONRPCMessage, requestId: RequestId | undefined): void;
  onRequestFailed(requestId: RequestId, error: HoldfastError): void;
  /** Something on a stream was no JSON-RPC message. */
  onInvalid(message: string): void;
  onUnavailable(message: string): void;
  onOver(outgoing: OutgoingRequest): void;
  /** Makes the SDK send a GET that resumes from `token`; rejects if it was refused. */
  openStream(token: string): Promise<void>;
}

/** Attempts in a row that bring nothing before a stream is given up. */
export const maxAttempts = 3;
export const defaultRetryMs = 1_000;
const maxRetryMs = 60_000;

export class OutgoingRequest implements Outgoing {
  readonly id: RequestId | undefined;
  readonly isHandshake: boolean;
  readonly isControl: boolean;
  readonly resumeToken: string;
  readonly #options: WireSendOptions;
  readonly #owner: OutgoingOwner;
  readonly #onAbort: (() => void) | undefined;
  #exchange: Exchange | undefined;
  #lastEventId: string | undefined;
  #retryMs = defaultRetryMs;
  #refusal: Refusal | undefined;
  #attempts = 0;
  readonly #reopening = new Reopening();
  #timer: NodeJS.Timeout | undefined;
  #state: 'sending' | 'reading' | 'over' = 'sending';
  #cancelled: HoldfastError | undefined;
  #isAnswered = false;
  #invalid: string | undefined;
  #isStreamOpen = false;

  constructor(key: string, message: JSONRPCMessage, options: WireSendOptions, owner: OutgoingOwner) {
    this.id = requestIdOf(message);
    this.isHandshake = 'method' in message && message.method === 'initialize';
    this.isControl = this.id === undefined;
    this.resumeToken = `holdfast-${key}`;
    this.#options = options;
    this.#owner = owner;
    const signal = options.requestSignal;
    if (signal === undefined) return;
    this.#onAbort = () => {
      this.cancel(new HoldfastError('aborted', 'The request was aborted.', { outcome: 'unknown' }));
    };
    setMaxListeners(0, signal);
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort);
  }

  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  onExchange(exchange: Exchange): void {
    this.#exchange = exchange;
    this.#refusal = undefined;
    if (this.#cancelled !== undefined) exchange.abort(this.#cancelled);
  }

  onMessages(text: string): void {
    for (const message of messagesIn(parseJson(text))) this.#onMessage(message, text);
  }

  onEventId(id: string): void {
    if (id !== this.#lastEventId) this.#attempts = 0;
    this.#lastEventId = id;
  }

  onRetry(ms: number): void {
    this.#retryMs = Math.min(ms, maxRetryMs);
  }

  onRefused(refusal: Refusal): void {
    this.#refusal = refusal;
  }

  onStreamStatus(opened: boolean): void {
    this.#isStreamOpen = opened;
    if (opened) this.#reopening.opened();
  }

  onEnd(error: HoldfastError | undefined): void {
    if (this.#state === 'over') return;
    const canResume =
      !this.#isAnswered && this.id !== undefined && this.#lastEventId !== undefined && error?.code !== 'limit_exceeded';
    if (canResume) this.#resumeLater();
    else this.#finish(error);
  }

  /** The POST was answered. Failures are reported from now on. */
  sent(): void {
    if (this.#state === 'sending') this.#state = 'reading';
  }

  /** The POST was refused; its error goes to who sent it. */
  drop(): void {
    this.#over();
    this.#exchange?.abort(new HoldfastError('aborted', 'The request was refused.', { outcome: 'failed' }));
  }

  /** Ends it; nothing is reported. */
  cancel(reason: HoldfastError): void {
    this.#cancelled ??= reason;
    this.#over();
    this.#exchange?.abort(reason);
  }

  #onMessage(message: unknown, text: string): void {
    if (this.#state === 'over') return;
    if (!isWireMessage(message)) {
      this.#invalid = `Expected a JSON-RPC message, got "${describeLine(text)}".`;
      this.#owner.onInvalid(`${this.#invalid} It was skipped.`);
      return;
    }
    const answer = this.#asAnswer(message);
    if (answer !== undefined && this.#isAnswered) return;
    if (answer !== undefined) this.#isAnswered = true;
    this.#owner.onMessage(answer ?? message, this.id);
  }

  /** The message as the response to this request. A server that could not read the request answers without an id. */
  #asAnswer(message: JSONRPCMessage): JSONRPCMessage | undefined {
    const { id } = this;
    if (id === undefined || 'method' in message) return undefined;
    if (message.id === id) return message;
    return 'error' in message && isNothing(message.id) ? { ...message, id } : undefined;
  }

  #resumeLater(): void {
    if (this.#reopening.ended()) this.#attempts = 0;
    this.#attempts += 1;
    if (this.#attempts > maxAttempts) {
      this.#finish(undefined);
      return;
    }
    this.#timer = setTimeout(() => {
      void this.#resume();
    }, this.#reopening.delayMs(this.#retryMs));
  }

  async #resume(): Promise<void> {
    this.#isStreamOpen = false;
    try {
      await this.#owner.openStream(this.resumeToken);
    } catch (error) {
      this.#owner.onUnavailable(`Expected to resume the stream of a request, got "${messageOf(error)}".`);
    }
    if (this.#needsStream()) this.#resumeLater();
  }

  #needsStream(): boolean {
    return !this.#isStreamOpen && this.#state !== 'over';
  }

  #finish(error: HoldfastError | undefined): void {
    const { id } = this;
    const isFailed = id !== undefined && !this.#isAnswered;
    const wasSent = this.#state === 'reading';
    this.#over();
    this.#options.onRequestStreamEnd?.();
    if (!isFailed) return;
    const failure = error ?? (this.#invalid === undefined ? streamEnded() : unreadable(this.#invalid));
    if (wasSent) this.#owner.onRequestFailed(id, failure);
    // Both ends of a tiny response can come in one turn: the sender is told first that it was sent.
    else
      setImmediate(() => {
        this.#owner.onRequestFailed(id, failure);
      });
  }

  #over(): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    clearTimeout(this.#timer);
    if (this.#onAbort !== undefined) this.#options.requestSignal?.removeEventListener('abort', this.#onAbort);
    this.#owner.onOver(this);
  }
}

function isNothing(id: unknown): boolean {
  return id === undefined || id === null;
}

function unreadable(message: string): HoldfastError {
  return new HoldfastError('protocol_error', `${message} Check that the url is an MCP endpoint.`, {
    outcome: 'unknown',
  });
}

function streamEnded(): HoldfastError {
  return new HoldfastError(
    'connection_lost',
    'Expected a response on the stream of the request, but the stream ended before it.',
    {
      outcome: 'unknown',
    },
  );
}

/**
 * The stream a legacy HTTP server may offer for what it says on its own (SPEC CN-1: optional, no error, no loop).
 *
 * Opened by the SDK once the session is initialised; opened again after its end, slower each time that it brings nothing.
 * Invariant `V1`: it is never opened again after an answer that says there is none, nor when three openings in a row
 * brought nothing before any brought something.
 */
import { HoldfastError } from '../../domain/errors.ts';
import type { Exchange } from './exchange.ts';
import type { Outgoing } from './fast-fetch.ts';
import { isWireMessage, messagesIn, parseJson } from './json-rpc.ts';
import { defaultRetryMs, maxAttempts } from './outgoing-request.ts';
import type { OutgoingOwner } from './outgoing-request.ts';
import { Reopening } from './reopening.ts';
import { describeLine } from './warnings.ts';

const slowestMs = 30_000;

export class ServerStream implements Outgoing {
  readonly id = undefined;
  readonly isHandshake = false;
  readonly isControl = true;
  readonly #owner: OutgoingOwner;
  #exchange: Exchange | undefined;
  #lastEventId: string | undefined;
  #retryMs = defaultRetryMs;
  readonly #reopening = new Reopening();
  #attempts = 0;
  #hasWorked = false;
  #timer: NodeJS.Timeout | undefined;
  #state: 'closed' | 'open' | 'absent' | 'stopped' = 'closed';

  constructor(owner: OutgoingOwner) {
    this.#owner = owner;
  }

  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  onExchange(exchange: Exchange): void {
    // One at a time: a session that was initialised again has a stream of its own.
    const before = this.#exchange;
    this.#exchange = exchange;
    clearTimeout(this.#timer);
    if (this.#state === 'stopped') exchange.abort(replaced());
    else this.#state = 'closed';
    before?.abort(replaced());
  }

  onStreamStatus(opened: boolean, status: number | undefined): void {
    if (this.#state === 'stopped') return;
    if (opened) {
      this.#state = 'open';
      this.#reopening.opened();
    } else if (status === undefined || status >= 500 || status === 408 || status === 429) {
      this.#reopening.ended();
      this.#openLater();
    } else {
      this.#state = 'absent';
    }
  }

  onMessages(text: string): void {
    if (this.#state !== 'open') return;
    this.#worked();
    for (const message of messagesIn(parseJson(text))) {
      if (isWireMessage(message)) this.#owner.onMessage(message, undefined);
      else this.#owner.onInvalid(`Expected a JSON-RPC message, got "${describeLine(text)}". It was skipped.`);
    }
  }

  onEventId(id: string): void {
    this.#lastEventId = id;
    this.#worked();
  }

  onRetry(ms: number): void {
    this.#retryMs = Math.min(ms, slowestMs);
  }

  onRefused(): void {
    // The SDK makes the error of it.
  }

  onEnd(): void {
    if (this.#state !== 'open') return;
    if (this.#reopening.ended()) this.#worked();
    this.#openLater();
  }

  /** Forgets the events of a session that is over. */
  reset(): void {
    this.#lastEventId = undefined;
  }

  stop(reason: HoldfastError): void {
    this.#state = 'stopped';
    clearTimeout(this.#timer);
    this.#exchange?.abort(reason);
  }

  #worked(): void {
    this.#hasWorked = true;
    this.#attempts = 0;
  }

  #openLater(): void {
    this.#attempts += 1;
    if (!this.#hasWorked && this.#attempts > maxAttempts) {
      this.#state = 'absent';
      this.#owner.onUnavailable(
        `Expected the server's own event stream to stay open, but ${String(maxAttempts)} openings brought nothing. It is not opened again.`,
      );
      return;
    }
    this.#state = 'closed';
    const delay = this.#reopening.delayMs(Math.min(this.#retryMs * 2 ** Math.min(this.#attempts - 1, 10), slowestMs));
    // Does not keep the process alive: what waits for this stream has timers of its own.
    this.#timer = setTimeout(() => {
      this.#owner.openStream('').catch(() => {
        // How it ended was told to `onStreamStatus`.
      });
    }, delay).unref();
  }
}

function replaced(): HoldfastError {
  return new HoldfastError('aborted', 'The stream was opened anew, or its connection closed.');
}

/** What the two HTTP transports have in common: neither is a process, and both end once. */
import type { Fetch } from '../../domain/authorization.ts';
import { HoldfastError } from '../../domain/errors.ts';
import type { DispatcherLease } from './dispatchers.ts';
import { findsNobody } from './nobody-there.ts';
import { withRenewedHeaders } from './renewed-headers.ts';
import type { HeaderHelper } from './renewed-headers.ts';
import type { WireListener } from './transport.ts';

/** Base of the HTTP transports: its subclass owns the SDK's transport and says how it ends. */
export abstract class HttpWire {
  readonly pid = undefined;
  protected readonly listener: WireListener;
  protected readonly lease: DispatcherLease;
  #isClosing = false;
  #closing: Promise<void> | undefined;

  protected constructor(listener: WireListener, lease: DispatcherLease) {
    this.listener = listener;
    this.lease = lease;
  }

  /** Whether `close` was called: nothing is reported any more. */
  protected get isClosing(): boolean {
    return this.#isClosing;
  }

  stderrTail(): string {
    return '';
  }

  exitInfo(): undefined {
    return undefined;
  }

  close(): Promise<void> {
    this.#closing ??= this.#endAll();
    return this.#closing;
  }

  /** Has a helper asked for other headers when the server refuses those it was sent. */
  protected withHelp(fetch: Fetch, helper: HeaderHelper | undefined): Fetch {
    if (helper === undefined) return fetch;
    return withRenewedHeaders(fetch, helper, (message) => {
      if (!this.#isClosing) this.listener.onWarning('headers_helper', message);
    });
  }

  /** Tells the listener if the error of an exchange says that nobody is there. */
  protected noticeNobody(error: HoldfastError): void {
    if (!this.#isClosing && findsNobody(error.cause)) this.listener.onUnreachable?.(error);
  }

  /** Ends what the transport has open, its lease apart. */
  protected abstract end(): Promise<void>;

  async #endAll(): Promise<void> {
    this.#isClosing = true;
    try {
      await this.end();
    } finally {
      await this.lease.release().catch(ignore);
    }
  }
}

/** The error of a message that came too late for its transport. */
export function closedError(): HoldfastError {
  return new HoldfastError('connection_lost', 'Expected an open connection, but it was closed.', {
    outcome: 'not-sent',
  });
}

/** For what may fail at the end: the end goes on whatever the server says to it. */
export function ignore(): void {
  // Nothing to do.
}

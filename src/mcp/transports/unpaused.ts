/**
 * Dispatchers for `fetch`, whose slow readers hold back the body instead of the socket (SPEC RT-12).
 *
 * undici pauses its parser for them, and throws out of a socket event when the socket of a paused response ends.
 */
import type { Dispatcher } from 'undici';
import { maxMessageBytes, tooLarge } from './body-sinks.ts';

const known = new WeakMap<Dispatcher, Dispatcher>();

/** The same dispatcher, which never pauses. A response that is not read is ended after 32 MiB. */
export function unpaused(dispatcher: Dispatcher): Dispatcher {
  const before = known.get(dispatcher);
  if (before !== undefined) return before;
  const made = dispatcher.compose((dispatch) => (options, handler) => dispatch(options, new Unpaused(handler)));
  known.set(dispatcher, made);
  return made;
}

class Unpaused implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  #control: Control | undefined;

  constructor(handler: Dispatcher.DispatchHandler) {
    this.#handler = handler;
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#handler.onRequestStart?.(this.#of(controller), context);
  }

  onRequestUpgrade(...[controller, ...rest]: Parameters<Upgrade>): void {
    this.#handler.onRequestUpgrade?.(this.#of(controller), ...rest);
  }

  onResponseStart(...[controller, ...rest]: Parameters<Start>): void {
    this.#handler.onResponseStart?.(this.#of(controller), ...rest);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const control = this.#of(controller);
    if (control.holds(chunk.length)) this.#handler.onResponseData?.(control, chunk);
    else controller.abort(tooLarge('response body'));
  }

  onResponseEnd(...[controller, ...rest]: Parameters<End>): void {
    this.#handler.onResponseEnd?.(this.#of(controller), ...rest);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#handler.onResponseError?.(this.#of(controller), error);
  }

  #of(controller: Dispatcher.DispatchController): Control {
    if (this.#control?.inner !== controller) this.#control = new Control(controller);
    return this.#control;
  }
}

type Upgrade = NonNullable<Dispatcher.DispatchHandler['onRequestUpgrade']>;
type Start = NonNullable<Dispatcher.DispatchHandler['onResponseStart']>;
type End = NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>;

/** Takes a pause as a wish: what comes meanwhile is counted. */
class Control implements Dispatcher.DispatchController {
  readonly inner: Dispatcher.DispatchController;
  #paused = false;
  #bytes = 0;

  constructor(inner: Dispatcher.DispatchController) {
    this.inner = inner;
  }

  get aborted(): boolean {
    return this.inner.aborted;
  }

  get paused(): boolean {
    return this.#paused;
  }

  get reason(): Error | null {
    return this.inner.reason;
  }

  get rawHeaders(): NonNullable<Dispatcher.DispatchController['rawHeaders']> | null {
    return this.inner.rawHeaders ?? null;
  }

  get rawTrailers(): NonNullable<Dispatcher.DispatchController['rawTrailers']> | null {
    return this.inner.rawTrailers ?? null;
  }

  abort(reason: Error): void {
    this.inner.abort(reason);
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#bytes = 0;
  }

  /** Whether so much more may wait for its reader. */
  holds(bytes: number): boolean {
    if (this.#paused) this.#bytes += bytes;
    return this.#bytes <= maxMessageBytes;
  }
}

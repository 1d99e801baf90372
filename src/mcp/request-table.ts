/**
 * The requests of Holdfast that wait for their result on one connection.
 *
 * Owns their ids, their sinks and, over HTTP, what aborts each one's exchange.
 * C1 a sink hears at most one of `onResult` and `onFailure`, and nothing after it or after it was taken out.
 * C3 nothing a sink throws gets out.
 */
import { setMaxListeners } from 'node:events';
import { messageOf, toFailure } from '../domain/errors.ts';
import type { RequestFailure, RequestSink } from '../domain/link.ts';
import type { JsonObject } from '../domain/json.ts';
import { ofSentRequest, rpcError, toWireError } from './errors.ts';
import { WireError, say } from './wire-error.ts';
import type { WireContext } from './wire-error.ts';
import { isRefused, parseObject, parseRpcError } from './wire.ts';
import type { Warn } from './warnings.ts';

/**
 * Where Holdfast's own ids begin. The SDK client counts from 0 and makes a handful of requests. Numbers, because servers
 * that echo anything else wrongly exist.
 */
export const firstRequestId = 1_000_000;

/** What came that nobody waited for any more, or ever. */
export interface ChannelStats {
  readonly lateResults: number;
  readonly unknownResults: number;
  readonly lateProgress: number;
}

/** A sink inside `src/mcp`, which hears the error itself, with what is behind it. */
export interface InnerSink {
  onResult(result: JsonObject): void;
  onWireError(error: WireError): void;
  onProgress?: never;
}

export type WireSink = RequestSink | InnerSink;

interface Pending {
  readonly method: string;
  readonly sink: WireSink;
}

export class RequestTable {
  readonly stats = { lateResults: 0, unknownResults: 0, lateProgress: 0 } satisfies ChannelStats;
  readonly #server: string;
  readonly #warn: Warn;
  readonly #pending = new Map<number, Pending>();
  readonly #streams = new Map<number, AbortController>();
  /** Who hears the progress of requests that have their result, and are tasks now. */
  readonly #followed = new Map<number, NonNullable<RequestSink['onProgress']>>();
  #nextId = firstRequestId;

  constructor(server: string, warn: Warn) {
    this.#server = server;
    this.#warn = warn;
  }

  get size(): number {
    return this.#pending.size;
  }

  ids(): readonly number[] {
    return [...this.#pending.keys()];
  }

  has(id: unknown): id is number {
    return typeof id === 'number' && this.#pending.has(id);
  }

  /** Tells whether an id was given out here, pending or not. */
  owns(id: unknown): id is number {
    return typeof id === 'number' && id >= firstRequestId && id < this.#nextId;
  }

  add(method: string, sink: WireSink): number {
    const id = this.#nextId++;
    this.#pending.set(id, { method, sink });
    return id;
  }

  /** Makes what aborts the exchange of a request. */
  openStream(id: number): AbortSignal {
    const stream = new AbortController();
    setMaxListeners(0, stream.signal);
    this.#streams.set(id, stream);
    return stream.signal;
  }

  /** Takes a request out, with what aborts its exchange. Its sink hears nothing more. */
  drop(id: number): { readonly stream: AbortController | undefined } | undefined {
    if (!this.#pending.delete(id)) return undefined;
    const stream = this.#streams.get(id);
    this.#streams.delete(id);
    return { stream };
  }

  /** Settles a request with its response. Returns false when the id is none of an open request. */
  settle(id: unknown, response: Readonly<Record<string, unknown>>): boolean {
    const pending = typeof id === 'number' ? this.#take(id) : undefined;
    if (pending === undefined) return false;
    if (isRefused(response)) {
      this.tell(pending.sink, rpcError(parseRpcError(response['error']), this.#context(pending)));
      return true;
    }
    const result = parseObject(response['result']);
    if (result === undefined) this.tell(pending.sink, notAnObject(response['result'], this.#context(pending)));
    else this.#succeed(pending.sink, result);
    return true;
  }

  /** Settles a request that no response will come for. */
  fail(id: number, error: unknown, hasSession: boolean): void {
    const pending = this.#take(id);
    if (pending === undefined) return;
    const wire = toWireError(error, { ...this.#context(pending), hasSession });
    this.tell(pending.sink, 'onWireError' in pending.sink ? wire : ofSentRequest(wire, pending.method));
  }

  /** Settles every request: the connection is gone. */
  failAll(error: WireError): void {
    const all = [...this.#pending.values()];
    this.#pending.clear();
    for (const { sink } of all) this.tell(sink, error);
  }

  /** Aborts what is left of every exchange. */
  abortAll(): void {
    for (const stream of this.#streams.values()) stream.abort();
    this.#streams.clear();
  }

  /** Goes on passing the progress of a request that has its result. The returned function ends it. */
  follow(id: number, onProgress: NonNullable<RequestSink['onProgress']>): () => void {
    this.#followed.set(id, onProgress);
    return () => {
      this.#followed.delete(id);
    };
  }

  /** Passes progress to the one request it belongs to; what belongs to none is counted. */
  progress(params: JsonObject): void {
    const { progressToken, progress, total, message } = params;
    const sink = typeof progressToken === 'number' ? this.#hearerOf(progressToken) : undefined;
    if (sink?.onProgress === undefined) {
      this.stats.lateProgress++;
      return;
    }
    if (typeof progress !== 'number') return;
    try {
      sink.onProgress({
        progress,
        ...(typeof total === 'number' ? { total } : {}),
        ...(typeof message === 'string' ? { message } : {}),
      });
    } catch (thrown) {
      this.#sinkBroke(thrown);
    }
  }

  /** Tells a sink of its failure. */
  tell(sink: WireSink, error: WireError): void {
    try {
      if ('onWireError' in sink) sink.onWireError(error);
      else sink.onFailure(failureOf(error));
    } catch (thrown) {
      this.#sinkBroke(thrown);
    }
  }

  #succeed(sink: WireSink, result: JsonObject): void {
    try {
      sink.onResult(result);
    } catch (thrown) {
      this.#sinkBroke(thrown);
    }
  }

  #hearerOf(id: number): Pick<RequestSink, 'onProgress'> | undefined {
    const onProgress = this.#followed.get(id);
    return this.#pending.get(id)?.sink ?? (onProgress === undefined ? undefined : { onProgress });
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    if (this.#streams.size > 0) this.#streams.delete(id);
    return pending;
  }

  #context(pending: Pending): WireContext {
    return { server: this.#server, expected: `a result of "${pending.method}"` };
  }

  #sinkBroke(thrown: unknown): void {
    this.#warn('internal', `Expected the sink of a request to return, got ${messageOf(thrown)}.`);
  }
}

function failureOf(error: WireError): RequestFailure {
  return {
    failure: toFailure(error),
    ...(error.rpc === undefined ? {} : { rpc: error.rpc }),
    ...(error.status === undefined ? {} : { status: error.status }),
  };
}

function notAnObject(result: unknown, context: WireContext): WireError {
  const kind = result === null ? 'null' : Array.isArray(result) ? 'array' : typeof result;
  return new WireError('protocol_error', say(context, `a result that is no object (${kind})`));
}

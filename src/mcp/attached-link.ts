/**
 * The link of one thread to a server it shares with others (SPEC CN-6, H8).
 *
 * What is the same for all is the shared server's: discovery, tools, list changes. What is the thread's own goes over a
 * conversation of its own, opened with its first request and closed when it is not used any more: an idle thread costs next
 * to nothing (SPEC PE-4).
 */
import type {
  EraVerdict,
  Inventory,
  Link,
  LinkHandlers,
  LinkInfo,
  LinkStats,
  OpenLinkOptions,
  RequestKey,
  RequestSink,
  WireRequest,
} from '../domain/link.ts';
import type { JsonObject } from '../domain/json.ts';
import { toFailure } from '../domain/errors.ts';
import { toWireError } from './errors.ts';
import { WireError, say } from './wire-error.ts';
import type { LiveLink } from './link.ts';
import { openBeside } from './open-link.ts';

/** What an attached link needs of its server. */
export interface Shared {
  readonly number: number;
  readonly info: LinkInfo;
  readonly verdict: EraVerdict;
  readonly inventory: Inventory;
  list(): Promise<Inventory>;
  retire(): void;
  leave(link: AttachedLink): Promise<void>;
}

/** A request that waits for the conversation to open. */
interface Waiting {
  readonly request: WireRequest;
  readonly sink: RequestSink;
}

export class AttachedLink implements Link {
  readonly #shared: Shared;
  readonly #options: OpenLinkOptions;
  #own: LiveLink | undefined;
  #opening: Promise<LiveLink> | undefined;
  /** Key given out before the conversation was open → what waits, or the key it has there. */
  #early: Map<RequestKey, Waiting | { readonly sentAs: RequestKey }> | undefined;
  #earlyCount = 0;
  #lateResults = 0;
  #wasUsed = false;
  #closing: Promise<void> | undefined;

  constructor(shared: Shared, options: OpenLinkOptions) {
    this.#shared = shared;
    this.#options = options;
  }

  get info(): LinkInfo {
    return this.#shared.info;
  }

  get inventory(): Inventory {
    return this.#shared.inventory;
  }

  get sharedAs(): number {
    return this.#shared.number;
  }

  get subscribed(): ReadonlySet<string> {
    return this.#own?.subscribed ?? nothing;
  }

  get stats(): LinkStats {
    return { lateResults: this.#lateResults + (this.#own?.stats.lateResults ?? 0) };
  }

  /** Where what concerns all who share the server is told. */
  get handlers(): LinkHandlers {
    return this.#options.handlers;
  }

  async list(signal?: AbortSignal): Promise<Inventory> {
    // Who has signed in since may be shown something else than the others.
    if (this.#options.authorizer?.state !== 'oauth') return this.#shared.list();
    try {
      return await (await this.#open()).list(signal);
    } catch (error) {
      return { tools: [], failure: toFailure(error) };
    }
  }

  send(request: WireRequest, sink: RequestSink): RequestKey {
    this.#wasUsed = true;
    if (this.#own !== undefined) return this.#own.send(request, sink);
    this.#earlyCount += 1;
    const key = `early-${String(this.#earlyCount)}`;
    this.#early ??= new Map();
    this.#early.set(key, { request, sink });
    this.#open().then(
      (own) => {
        const waiting = this.#early?.get(key);
        if (waiting !== undefined && 'request' in waiting) this.#sendEarly(own, key, waiting);
      },
      (error: unknown) => {
        const waiting = this.#early?.get(key);
        this.#early?.delete(key);
        if (waiting !== undefined && 'request' in waiting) this.#fail(waiting, error);
      },
    );
    return key;
  }

  cancel(key: RequestKey): void {
    const early = this.#early?.get(key);
    if (early === undefined) {
      this.#own?.cancel(key);
      return;
    }
    this.#early?.delete(key);
    if ('sentAs' in early) this.#own?.cancel(early.sentAs);
  }

  answer(): void {
    // A modern server asks nothing outside of its results.
  }

  notify(method: string, params?: JsonObject): void {
    this.#own?.notify(method, params);
  }

  stderrTail(): string {
    return '';
  }

  /** The tools were listed anew. */
  learn(inventory: Inventory): void {
    this.#own?.learn(inventory);
  }

  /** Called now and then: a conversation that was not used since the last time is closed. */
  async rest(): Promise<void> {
    const own = this.#own;
    const isResting = !this.#wasUsed;
    this.#wasUsed = false;
    if (own === undefined || !isResting || !own.isIdle) return;
    this.#lateResults += own.stats.lateResults;
    this.#own = undefined;
    this.#opening = undefined;
    await own.close();
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    for (const waiting of this.#early?.values() ?? [])
      if ('request' in waiting) this.#fail(waiting, this.#closedError());
    this.#early = undefined;
    try {
      const own = this.#own ?? (await this.#opening?.catch(() => undefined));
      await own?.close();
    } finally {
      await this.#shared.leave(this);
    }
  }

  #open(): Promise<LiveLink> {
    if (this.#closing !== undefined) return Promise.reject(this.#closedError());
    this.#opening ??= this.#openOwn();
    return this.#opening;
  }

  async #openOwn(): Promise<LiveLink> {
    const { handlers } = this.#options;
    const onUnreachable: NonNullable<LinkHandlers['onUnreachable']> = (failure) => {
      this.#shared.retire();
      handlers.onUnreachable?.(failure);
    };
    try {
      const options = {
        ...this.#options,
        handlers: { ...handlers, onUnreachable },
        verdict: this.#shared.verdict,
        // The start this thread asked for is over: what is opened now ends with the link.
        signal: new AbortController().signal,
      };
      const own = await openBeside(options, this.#shared.inventory);
      if (this.#closing === undefined) this.#own = own;
      return own;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  #sendEarly(own: LiveLink, key: RequestKey, { request, sink }: Waiting): void {
    const settle = (tell: () => void): void => {
      this.#early?.delete(key);
      tell();
    };
    const sentAs = own.send(request, {
      ...(sink.onProgress === undefined ? {} : { onProgress: sink.onProgress.bind(sink) }),
      onResult: (result) => {
        settle(() => {
          sink.onResult(result);
        });
      },
      onFailure: (failed) => {
        settle(() => {
          sink.onFailure(failed);
        });
      },
    });
    this.#early?.set(key, { sentAs });
  }

  #fail({ request, sink }: Waiting, error: unknown): void {
    const { server } = this.#options;
    const wire = toWireError(error, { server, expected: `a result of "${request.method}"` });
    sink.onFailure({ failure: { ...toFailure(wire), outcome: 'not-sent' } });
  }

  #closedError(): WireError {
    const { server } = this.#options;
    const context = { server, expected: 'an open connection' };
    return new WireError('connection_lost', say(context, 'its end: it was closed here'), { outcome: 'not-sent' });
  }
}

const nothing: ReadonlySet<string> = new Set();

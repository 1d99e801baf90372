/**
 * What a modern server is listened to for: one `subscriptions/listen` with the list changes it offers and the resources that
 * were asked for, opened again whenever it ends (SPEC CN-5).
 *
 * Owns the stream and the timer of its next attempt. Ends with `stop`, which the end of the connection calls.
 *
 * - B1 one stream at a time is heard: another set of resources opens a new one, and then closes the old one.
 * - B2 what may have been missed while there was none is told once it is there again.
 */
import type { Client, McpSubscription, SubscriptionFilter } from '@modelcontextprotocol/client';
import { messageOf } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Channel } from './channel.ts';
import { toWireError } from './errors.ts';
import { WireError, say } from './wire-error.ts';
import type { Warn } from './warnings.ts';
import { clip } from './wire.ts';

/** First and longest wait before the subscription is opened again. */
const backoffMs = { first: 1_000, longest: 30_000 } as const;

const kinds = ['tools', 'prompts', 'resources'] as const;

export interface SubscriptionOptions {
  readonly server: string;
  readonly client: Client;
  readonly channel: Channel;
  readonly capabilities: JsonObject;
  readonly warn: Warn;
}

export class ListenStream {
  readonly #options: SubscriptionOptions;
  readonly #stop = new AbortController();
  /** Asked for → by how many. */
  readonly #uris = new Map<string, number>();
  #honoured: ReadonlySet<string> = new Set();
  #stream: McpSubscription | undefined;
  /** The opening that has not begun: it takes in what changes until it does. */
  #scheduled: Promise<void> | undefined;
  #running: Promise<void> = Promise.resolve();
  #hasGap = false;
  /** Another conversation may hear the list changes for this one. */
  #hearsLists = false;
  #timer: NodeJS.Timeout | undefined;
  #delayMs: number = backoffMs.first;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  /** Opens the stream in the background, unless the server advertises no list changes. It is asked for before this returns. */
  start(): void {
    this.#hearsLists = true;
    if (this.#kinds().length === 0) return;
    const opened = this.#open();
    this.#running = opened.catch(() => undefined);
    void this.#tellOf(opened);
  }

  /**
   * Resolves when the updates of a resource are heard.
   *
   * @throws WireError `unsupported` when the server does not take it; what became of the stream otherwise.
   */
  async subscribe(uri: string): Promise<void> {
    this.#uris.set(uri, (this.#uris.get(uri) ?? 0) + 1);
    if (this.#honoured.has(uri)) return;
    try {
      await this.#change();
      if (!this.#honoured.has(uri)) throw this.#refused(uri);
    } catch (error) {
      this.#letGo(uri);
      throw toWireError(error, { server: this.#options.server, expected: `to subscribe to "${clip(uri, 80)}"` });
    }
  }

  /** Resolves when the updates of a resource are heard no more, unless somebody else asked for them too. */
  async unsubscribe(uri: string): Promise<void> {
    if (!this.#uris.has(uri) || !this.#letGo(uri)) return;
    await this.#change();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
  }

  #letGo(uri: string): boolean {
    const count = (this.#uris.get(uri) ?? 1) - 1;
    if (count > 0) this.#uris.set(uri, count);
    else this.#uris.delete(uri);
    return count <= 0;
  }

  /** Opens the stream that is wanted now. Changes of one turn share one stream. */
  #change(): Promise<void> {
    if (this.#scheduled === undefined) {
      const open = (): Promise<void> => {
        this.#scheduled = undefined;
        return this.#open();
      };
      const scheduled = this.#running.then(open);
      this.#scheduled = scheduled;
      this.#running = scheduled.catch(() => undefined);
    }
    return this.#scheduled;
  }

  async #open(): Promise<void> {
    clearTimeout(this.#timer);
    const before = this.#stream;
    const filter = this.#filter();
    if (Object.keys(filter).length === 0) {
      this.#take(undefined);
      await before?.close();
      return;
    }
    const stream = await this.#listen(filter);
    const openedAt = performance.now();
    this.#take(stream);
    void stream.closed.then(() => {
      this.#ended(stream, openedAt);
    });
    await before?.close();
    if (!this.#hasGap) return;
    this.#hasGap = false;
    for (const kind of this.#kinds()) this.#options.channel.listMayHaveChanged(kind);
    for (const uri of this.#honoured) this.#options.channel.resourceMayHaveChanged(uri);
  }

  async #listen(filter: SubscriptionFilter): Promise<McpSubscription> {
    try {
      return await this.#options.client.listen(filter, { signal: this.#stop.signal });
    } catch (error) {
      if (this.#stream === undefined) this.#openLater();
      throw error;
    }
  }

  #take(stream: McpSubscription | undefined): void {
    this.#stream = stream;
    this.#honoured = new Set(stream?.honoredFilter.resourceSubscriptions);
  }

  #ended(stream: McpSubscription, openedAt: number): void {
    if (this.#stream !== stream) return;
    this.#take(undefined);
    // One that held for a while does not inherit the waits of those before it.
    if (performance.now() - openedAt > backoffMs.longest) this.#delayMs = backoffMs.first;
    this.#openLater();
  }

  #openLater(): void {
    this.#hasGap = true;
    if (this.#stop.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      void this.#tellOf(this.#change());
    }, this.#delayMs);
    this.#delayMs = Math.min(this.#delayMs * 2, backoffMs.longest);
  }

  /** Warns of a stream that could not be opened for nobody in particular. */
  async #tellOf(opened: Promise<void>): Promise<void> {
    try {
      await opened;
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const said = `Expected to subscribe to list changes, got ${messageOf(error)}. It is tried again.`;
      this.#options.warn('stream_unavailable', said);
    }
  }

  #filter(): SubscriptionFilter {
    const listed = new Set(this.#kinds());
    return {
      ...(listed.has('tools') ? { toolsListChanged: true } : {}),
      ...(listed.has('prompts') ? { promptsListChanged: true } : {}),
      ...(listed.has('resources') ? { resourcesListChanged: true } : {}),
      ...(this.#uris.size === 0 ? {} : { resourceSubscriptions: [...this.#uris.keys()] }),
    };
  }

  #kinds(): readonly (typeof kinds)[number][] {
    if (!this.#hearsLists) return [];
    return kinds.filter((kind) => {
      const capability = this.#options.capabilities[kind];
      return isRecord(capability) && capability['listChanged'] === true;
    });
  }

  #refused(uri: string): WireError {
    const context = { server: this.#options.server, expected: `to subscribe to "${clip(uri, 80)}"` };
    return new WireError('unsupported', say(context, 'a subscription without it'), { retryable: false });
  }
}

/**
 * List changes of a modern server: one `subscriptions/listen`, opened again whenever it ends (SPEC CN-5).
 *
 * Owns the subscription and the timer of its next attempt. Ends with `stop`, which the end of the connection calls.
 */
import type { Client, SubscriptionFilter } from '@modelcontextprotocol/client';
import { messageOf } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Channel } from './channel.ts';
import type { Warn } from './warnings.ts';

/** First and longest wait before the subscription is opened again. */
const backoffMs = { first: 1_000, longest: 30_000 } as const;

const kinds = ['tools', 'prompts', 'resources'] as const;

export interface SubscriptionOptions {
  readonly client: Client;
  readonly channel: Channel;
  readonly capabilities: JsonObject;
  readonly warn: Warn;
}

export class ListSubscription {
  readonly #options: SubscriptionOptions;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #delayMs: number = backoffMs.first;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  /** Opens the subscription in the background, unless the server advertises no list changes. */
  start(): void {
    if (this.#kinds().length > 0) void this.#run(false);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
  }

  async #run(again: boolean): Promise<void> {
    const { client, channel, warn } = this.#options;
    try {
      const subscription = await client.listen(this.#filter(), { signal: this.#stop.signal });
      const openedAt = performance.now();
      if (again) for (const kind of this.#kinds()) channel.listMayHaveChanged(kind);
      await subscription.closed;
      // One that held for a while does not inherit the waits of those before it.
      if (performance.now() - openedAt > backoffMs.longest) this.#delayMs = backoffMs.first;
    } catch (error) {
      if (!this.#stop.signal.aborted)
        warn(
          'stream_unavailable',
          `Expected to subscribe to list changes, got ${messageOf(error)}. It is tried again.`,
        );
    }
    if (this.#stop.signal.aborted) return;
    this.#timer = setTimeout(() => {
      void this.#run(true);
    }, this.#delayMs);
    this.#delayMs = Math.min(this.#delayMs * 2, backoffMs.longest);
  }

  #filter(): SubscriptionFilter {
    const listed = new Set(this.#kinds());
    return {
      ...(listed.has('tools') ? { toolsListChanged: true } : {}),
      ...(listed.has('prompts') ? { promptsListChanged: true } : {}),
      ...(listed.has('resources') ? { resourcesListChanged: true } : {}),
    };
  }

  #kinds(): readonly (typeof kinds)[number][] {
    return kinds.filter((kind) => {
      const capability = this.#options.capabilities[kind];
      return isRecord(capability) && capability['listChanged'] === true;
    });
  }
}

/**
 * The modern HTTP servers that several threads of one host use with the same credentials (SPEC CN-6, H8).
 *
 * Owns one {@link SharedServer} a key. A start is made once for all who wait for it.
 * - P1 Only servers that turned out to be modern, over HTTP, and listed their tools are shared; whatever else a start brings
 *   goes to the thread it was made for, and the others make their own.
 * - P2 The key names everything a server is told: url, headers, credentials, protocol, capabilities.
 */
import type { Link, OpenLink, OpenLinkOptions } from '../domain/link.ts';
import { HoldfastError } from '../domain/errors.ts';
import { Deadline, untilAborted } from './deadline.ts';
import { openLink } from './open-link.ts';
import { startSharedServer } from './shared-server.ts';
import type { SharedServer } from './shared-server.ts';

/** What a start came to: a server to share, or nothing to share. */
type Started = SharedServer | 'private';

interface Entry {
  readonly started: Promise<Started>;
  /** Known once started. */
  server: SharedServer | undefined;
}

/** Makes what shares the servers of one host. */
export function createSharedLinks(): OpenLink {
  const links = new SharedLinks();
  return (options) => links.open(options);
}

class SharedLinks {
  readonly #entries = new Map<string, Entry>();

  async open(options: OpenLinkOptions): Promise<Link> {
    const key = await keyOf(options);
    if (key === undefined) return openLink(options);
    const deadline = new Deadline(options);
    try {
      return await this.#openWithin(key, options, deadline);
    } catch (error) {
      throw deadline.errorFor(options.server) ?? error;
    } finally {
      deadline.end();
    }
  }

  async #openWithin(key: string, options: OpenLinkOptions, deadline: Deadline): Promise<Link> {
    for (;;) {
      const entry = this.#entries.get(key);
      if (entry === undefined) return this.#openFirst(key, options);
      if (entry.server !== undefined && entry.server.number === options.notShared) {
        this.#entries.delete(key);
        continue;
      }
      const started = await this.#join(entry, deadline.signal);
      if (started === 'private') return openLink({ ...options, timeoutMs: Math.max(1, deadline.remainingMs) });
      if (started?.isOpen === true && started.number !== options.notShared) return started.attach(options);
    }
  }

  /** Waits for a start somebody else makes; undefined when that one gave it up, which says nothing of the server. */
  async #join(entry: Entry, signal: AbortSignal): Promise<Started | undefined> {
    try {
      return await untilAborted(entry.started, signal);
    } catch (error) {
      if (!signal.aborted && error instanceof HoldfastError && givenUp.has(error.code)) return undefined;
      throw error;
    }
  }

  async #openFirst(key: string, options: OpenLinkOptions): Promise<Link> {
    const starting = startSharedServer(options, () => {
      this.#forget(key, entry);
    });
    const entry: Entry = {
      started: starting.then(({ server }) => server ?? 'private'),
      server: undefined,
    };
    this.#entries.set(key, entry);
    // Who waits hears of a failure; nobody has to.
    entry.started.catch(() => undefined);
    try {
      const { server, link } = await starting;
      entry.server = server;
      if (server === undefined) this.#forget(key, entry);
      return link;
    } catch (error) {
      this.#forget(key, entry);
      throw error;
    }
  }

  #forget(key: string, entry: Entry): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }
}

/** Errors of whoever made the start, not of the server. */
const givenUp: ReadonlySet<string> = new Set(['aborted', 'timeout']);

/** Names everything a server is told of its client; undefined where nothing may be shared. */
async function keyOf({ config, identity, offer, authorizer }: OpenLinkOptions): Promise<string | undefined> {
  if (identity === undefined || !('url' in config)) return undefined;
  // Who signs in has credentials of their own.
  if (config.oauth !== undefined || config.renewHeaders !== undefined) return undefined;
  if (authorizer !== undefined && (await authorizer.load()) !== 'unknown') return undefined;
  return JSON.stringify([identity, offer.sampling, offer.roots]);
}

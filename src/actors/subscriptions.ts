/**
 * The resources a thread wants to hear of, by server name (SPEC CN-5).
 *
 * Loaded with the first subscription. Owns what is wanted; what is in force is the links' own knowledge. Receives: links that open, runtimes that are published.
 *
 * - U1 the connection the current runtime has for a server is the one that is asked; another of that name is asked no more.
 * - U2 what was established again is told as updated once: nobody knows what changed meanwhile.
 * - U3 nothing is told of what nobody subscribed to; a part of a resource is covered by the whole.
 */
import type { Link } from '../domain/link.ts';
import type { Facts } from './facts.ts';
import type { Publications } from './publications.ts';
import type { LiveConnection, Servers } from './servers.ts';

export interface SubscriptionsPorts {
  readonly servers: Pick<Servers, 'resolve' | 'connections'>;
  readonly publications: Pick<Publications, 'current'>;
  readonly facts: Pick<Facts, 'tell' | 'warn'>;
}

export class Subscriptions {
  readonly #ports: SubscriptionsPorts;
  readonly #wanted = new Map<string, Set<string>>();
  /** Asked for by callers now: their updates may come before the answer does. */
  readonly #begun = new Set<{ readonly server: string; readonly uri: string }>();
  /** Being asked for now, by link. */
  readonly #asked = new WeakMap<Link, Set<string>>();

  constructor(ports: SubscriptionsPorts) {
    this.#ports = ports;
  }

  /** Whether the updates of a resource are heard now. */
  isInForce(server: string, uri: string): boolean {
    return this.#wanted.get(server)?.has(uri) === true && this.#linkOf(server)?.subscribed?.has(uri) === true;
  }

  /** Notes a subscription once its server has accepted it, and rejects as `ask` does. Meanwhile its updates are heard. */
  async begin(server: string, uri: string, ask: () => Promise<unknown>): Promise<void> {
    const begun = { server, uri };
    this.#begun.add(begun);
    try {
      await ask();
      const uris = this.#wanted.get(server) ?? new Set();
      this.#wanted.set(server, uris.add(uri));
      this.#settle(server);
    } finally {
      this.#begun.delete(begun);
    }
  }

  /** Forgets a subscription; tells whether the server has to hear of it. */
  remove(server: string, uri: string): boolean {
    const uris = this.#wanted.get(server);
    if (uris?.delete(uri) === true && uris.size === 0) this.#wanted.delete(server);
    return this.#linkOf(server)?.subscribed?.has(uri) === true;
  }

  /** A link has opened, for the first time or again. */
  opened({ server }: LiveConnection): void {
    if (this.#wanted.has(server)) this.#settle(server);
  }

  /** Another runtime is current: the same name may be another connection now. */
  published(): void {
    for (const server of this.#wanted.keys()) this.#settle(server);
  }

  /** Whether an update is told: of what somebody subscribed to, unless the current runtime has another connection for it. */
  isHeard(connection: LiveConnection, updated: string): boolean {
    const { server } = connection;
    const current = this.#currentOf(server);
    if (current !== undefined && current !== connection) return false;
    for (const uri of this.#wanted.get(server) ?? []) if (covers(uri, updated)) return true;
    for (const begun of this.#begun) if (begun.server === server && covers(begun.uri, updated)) return true;
    return false;
  }

  #settle(server: string): void {
    const wanted = this.#wanted.get(server) ?? new Set<string>();
    const current = this.#currentOf(server);
    for (const connection of this.#ports.servers.connections) {
      if (connection.server !== server || connection.link?.subscribed === undefined) continue;
      const { subscribed } = connection.link;
      if (connection !== current)
        for (const uri of subscribed) this.#ask(connection, connection.link, 'resources/unsubscribe', uri);
      else
        for (const uri of wanted)
          if (!subscribed.has(uri)) this.#ask(connection, connection.link, 'resources/subscribe', uri);
    }
  }

  #ask(connection: LiveConnection, link: Link, method: string, uri: string): void {
    const { facts } = this.#ports;
    const asked = this.#asked.get(link) ?? new Set();
    const key = `${method} ${uri}`;
    if (asked.has(key)) return;
    this.#asked.set(link, asked.add(key));
    link.send(
      { method, params: { uri } },
      {
        onResult: () => {
          asked.delete(key);
          if (method === 'resources/subscribe' && this.isHeard(connection, uri))
            facts.tell({ type: 'resource.updated', server: connection.server, uri });
        },
        onFailure: ({ failure }) => {
          asked.delete(key);
          if (connection.link !== link || method !== 'resources/subscribe') return;
          const said = `Expected to subscribe to "${uri}" again, got: ${failure.message} Its updates are not told until the server is connected anew.`;
          facts.warn('subscription_lost', said, connection.server);
        },
      },
    );
  }

  #currentOf(server: string): LiveConnection | undefined {
    const { servers, publications } = this.#ports;
    return servers.resolve(publications.current, server)?.connection;
  }

  #linkOf(server: string): Link | undefined {
    return this.#currentOf(server)?.link;
  }
}

/** A server may tell of a part of what was subscribed to. */
function covers(subscribed: string, updated: string): boolean {
  if (!updated.startsWith(subscribed)) return false;
  return updated === subscribed || subscribed.endsWith('/') || /^[/?#]/u.test(updated.slice(subscribed.length));
}

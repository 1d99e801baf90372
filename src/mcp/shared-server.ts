/**
 * One modern HTTP server that several threads use: discovered, listed and listened to once for all of them.
 *
 * Owns the link all that goes over, and who is attached. What a thread asks goes over an exchange of its own, which only
 * that thread hears: here is nothing that belongs to one of them (H8).
 * - S1 It is closed with the last thread that lets go of it.
 * - S2 A listing that began before the newest change is not handed out for it.
 * - S3 The conversations of threads that say nothing are closed while they do.
 */
import type { Authorizer } from '../domain/authorization.ts';
import type { Failure } from '../domain/errors.ts';
import { frozenCopy } from '../domain/frozen.ts';
import type { EraVerdict, Inventory, Link, LinkHandlers, LinkInfo, OpenLinkOptions } from '../domain/link.ts';
import { AttachedLink } from './attached-link.ts';
import type { Shared } from './attached-link.ts';
import { openLink } from './open-link.ts';
import type { Warn } from './warnings.ts';

/** What came of a start: the link of who asked for it, and the server others can be attached to, if it can be shared. */
export interface SharedStart {
  readonly link: Link;
  readonly server: SharedServer | undefined;
}

/** Starts a server for the one who asks. `onOver` is called when nobody new can be attached any more. */
export async function startSharedServer(options: OpenLinkOptions, onOver: () => void): Promise<SharedStart> {
  const relay = new Relay(options.handlers);
  const { authorizer } = options;
  const link = await openLink({
    ...options,
    handlers: relay.handlers,
    ...(authorizer === undefined ? {} : { authorizer: relay.withoutCredentials(authorizer) }),
  });
  const verdict = relay.verdict ?? options.verdict;
  const { era, transport } = link.info;
  const isOpenToAll = authorizer === undefined || authorizer.state === 'unknown';
  const isShared = era === 'modern' && transport === 'http' && link.inventory.failure === undefined;
  if (!isShared || !isOpenToAll || verdict === undefined) return { link, server: undefined };
  const server = new SharedServer({ link, verdict, relay, onOver });
  return { link: server.attach(options), server };
}

interface SharedServerOptions {
  readonly link: Link;
  readonly verdict: EraVerdict;
  readonly relay: Relay;
  readonly onOver: () => void;
}

let count = 0;

/** See the head of this file. */
export class SharedServer implements Shared {
  /** Tells it from every other. */
  readonly number: number;
  readonly verdict: EraVerdict;
  readonly #options: SharedServerOptions;
  readonly #attached = new Set<AttachedLink>();
  #inventory: Inventory;
  #listing: Promise<Inventory> | undefined;
  #isOpen = true;
  readonly #rounds: NodeJS.Timeout;

  constructor(options: SharedServerOptions) {
    count += 1;
    this.number = count;
    this.verdict = options.verdict;
    this.#options = options;
    this.#inventory = kept(options.link.inventory);
    this.#rounds = setInterval(() => {
      // Closing never rejects.
      for (const link of this.#attached) void link.rest();
    }, restMs).unref();
    options.relay.share({
      onListChanged: (kind) => {
        this.#listing = undefined;
        this.#tell(({ handlers }) => {
          handlers.onListChanged(kind);
        });
      },
      onWarning: (code, message) => {
        this.#tell(({ handlers }) => {
          handlers.onWarning(code, message);
        });
      },
      onUnreachable: (failure) => {
        this.retire();
        this.#tell(({ handlers }) => {
          handlers.onUnreachable?.(failure);
        });
      },
    });
  }

  get info(): LinkInfo {
    return this.#options.link.info;
  }

  get inventory(): Inventory {
    return this.#inventory;
  }

  /** Whether somebody new can be attached. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Gives one more thread its link. */
  attach(options: OpenLinkOptions): AttachedLink {
    const link = new AttachedLink(this, options);
    this.#attached.add(link);
    if (this.#attached.size > 1) this.#options.relay.repeatWarnings(options.handlers.onWarning.bind(options.handlers));
    return link;
  }

  /** Nobody new is attached from now on. */
  retire(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#options.onOver();
  }

  async leave(link: AttachedLink): Promise<void> {
    if (!this.#attached.delete(link) || this.#attached.size > 0) return;
    this.retire();
    clearInterval(this.#rounds);
    await this.#options.link.close();
  }

  /** Lists the tools anew; one listing serves all who ask for it while it runs. */
  list(): Promise<Inventory> {
    if (this.#listing !== undefined) return this.#listing;
    const listing = this.#list().finally(() => {
      if (this.#listing === listing) this.#listing = undefined;
    });
    this.#listing = listing;
    return listing;
  }

  async #list(): Promise<Inventory> {
    this.#options.relay.forgetWarnings();
    const inventory = kept(await this.#options.link.list());
    if (inventory.failure !== undefined) return inventory;
    this.#inventory = inventory;
    for (const link of this.#attached) link.learn(inventory);
    return inventory;
  }

  #tell(tell: (link: AttachedLink) => void): void {
    for (const link of [...this.#attached]) tell(link);
  }
}

/** The handlers of the shared link: those of one thread until it is shared, then those of none. */
class Relay {
  verdict: EraVerdict | undefined;
  /** What the last listing gave to warn of: who comes later is told as well. */
  readonly #warnings: (readonly [code: string, message: string])[] = [];
  readonly #owner: LinkHandlers;
  #shared: SharedHandlers | undefined;

  constructor(owner: LinkHandlers) {
    this.#owner = owner;
  }

  readonly handlers: LinkHandlers = {
    onQuestion: (question, answer) => {
      this.#first?.onQuestion(question, answer);
    },
    onQuestionWithdrawn: (id, reason) => {
      this.#first?.onQuestionWithdrawn(id, reason);
    },
    onListChanged: (kind) => {
      (this.#shared ?? this.#owner).onListChanged(kind);
    },
    onResourceUpdated: (uri) => {
      this.#first?.onResourceUpdated(uri);
    },
    onLog: (level, data, logger) => {
      this.#first?.onLog(level, data, logger);
    },
    onWarning: (code, message) => {
      if (this.#warnings.length < maxWarnings) this.#warnings.push([code, message]);
      (this.#shared ?? this.#owner).onWarning(code, message);
    },
    onElicitationComplete: (id) => {
      this.#first?.onElicitationComplete(id);
    },
    onTaskStatus: (task) => {
      this.#first?.onTaskStatus?.(task);
    },
    onVerdict: (verdict) => {
      this.verdict = verdict;
      this.#first?.onVerdict(verdict);
    },
    onUnreachable: (failure) => {
      (this.#shared ?? this.#owner).onUnreachable?.(failure);
    },
    onClosed: (failure) => {
      if (this.#shared === undefined) this.#owner.onClosed(failure);
      else this.#shared.onUnreachable(failure);
    },
  };

  /** From now on what comes is for all. */
  share(handlers: SharedHandlers): void {
    this.#shared = handlers;
  }

  /** Who signs in for the start, until it is shared: what is for all is asked without anybody's credentials. */
  withoutCredentials(owner: Authorizer): Authorizer {
    return {
      get state() {
        return owner.state;
      },
      canSignIn: owner.canSignIn,
      readsHeaders: owner.readsHeaders,
      load: () => owner.load(),
      authorize: (next) => {
        const signed = owner.authorize(next);
        return (url, init) => (this.#shared === undefined ? signed : next)(url, init);
      },
      signIn: (request) => owner.signIn(request),
      finish: (callbackUrl) => owner.finish(callbackUrl),
      close: () => {
        owner.close();
      },
    };
  }

  forgetWarnings(): void {
    this.#warnings.length = 0;
  }

  repeatWarnings(warn: Warn): void {
    for (const [code, message] of this.#warnings) warn(code, message);
  }

  /** Who the start is made for, until it is shared. */
  get #first(): LinkHandlers | undefined {
    return this.#shared === undefined ? this.#owner : undefined;
  }
}

interface SharedHandlers {
  onListChanged: LinkHandlers['onListChanged'];
  onWarning: Warn;
  onUnreachable(failure: Failure): void;
}

/** A thread that says nothing for so long has no conversation of its own. */
export const restMs = 30_000;

const maxWarnings = 64;

/** One copy for all threads, which nobody can change. */
function kept(inventory: Inventory): Inventory {
  return { ...inventory, tools: frozenCopy(inventory.tools) };
}

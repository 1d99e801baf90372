/**
 * The actor that opens one link, reports on it, and closes it when it is stopped.
 *
 * Everything a server sends without being asked comes through here: changes of its lists, logs, questions.
 */
import { fromCallback, fromPromise } from 'xstate';
import type { CallbackActorLogic, PromiseActorLogic } from 'xstate';
import type { Clock } from '../api.ts';
import type { Authorizer } from '../domain/authorization.ts';
import { defaults } from '../domain/config.ts';
import { HoldfastError, messageOf, toFailure } from '../domain/errors.ts';
import type { Failure } from '../domain/errors.ts';
import type { ClientOffer, EraVerdict, Inventory, Link, LinkHandlers, OpenLink } from '../domain/link.ts';
import type { Redactor } from '../domain/redact.ts';
import type { ConnectionEvent, OpenedFacts } from '../machines/connection.ts';
import type { Calls } from './calls.ts';
import type { Facts } from './facts.ts';
import type { Publications } from './publications.ts';
import type { Questions } from './questions.ts';
import { Relisting, sameTools } from './relisting.ts';
import type { LiveConnection, Servers } from './servers.ts';
import { withToldHeaders } from './told-headers.ts';
import type { ResultsCache } from './results-cache.ts';
import type { SignIns } from './sign-ins.ts';
import type { Subscriptions } from './subscriptions.ts';

/** Remembers which era a server spoke, so that its next start needs no probe (ER-1). */
export interface VerdictCache {
  get(identity: string): EraVerdict | undefined;
  set(identity: string, verdict: EraVerdict): void;
}

export interface LinkPorts {
  readonly clock: Clock;
  readonly facts: Facts;
  readonly redactor: Redactor;
  readonly servers: Servers;
  readonly subscriptions: Pick<Subscriptions, 'opened' | 'isHeard'> | undefined;
  readonly results: ResultsCache;
  readonly questions: Questions;
  readonly calls: Pick<Calls, 'whenIdle' | 'hearTask'>;
  readonly publications: Pick<Publications, 'isClosed'>;
  readonly signIns: Pick<SignIns, 'connectionGone'> | undefined;
  authorizerOf(connection: LiveConnection): Promise<Authorizer | undefined>;
  readonly verdicts: VerdictCache;
  readonly openLink: OpenLink;
  readonly offer: ClientOffer;
  /** 0 to 1. */
  random(): number;
}

interface LinkInput {
  readonly connection: string;
  readonly server: string;
}

type Tell = (event: ConnectionEvent) => void;

/** Fills the `link` slot of a connection. */
export function linkLogic(portsOf: (system: object) => LinkPorts): CallbackActorLogic<ConnectionEvent, LinkInput> {
  return fromCallback<ConnectionEvent, LinkInput>(({ input, sendBack, system }) => {
    const ports = portsOf(system);
    const connection = ports.servers.connection(input.connection);
    if (connection === undefined) return undefined;
    const attempt = new LinkAttempt(ports, connection, sendBack);
    connection.gone = attempt.run(connection.gone);
    return () => {
      attempt.stop();
    };
  });
}

/** Fills the `closeLink` slot: resolves when nothing is left of the link. */
export function closeLinkLogic(
  portsOf: (system: object) => Pick<LinkPorts, 'servers' | 'publications' | 'signIns'>,
): PromiseActorLogic<void, { readonly connection: string; readonly reason: string }> {
  return fromPromise(async ({ input, system }) => {
    const { servers, publications, signIns } = portsOf(system);
    const connection = servers.connection(input.connection);
    const isClosing = connection?.closing === true || publications.isClosed;
    if (connection !== undefined && isClosing)
      signIns?.connectionGone(connection, publications.isClosed ? 'the thread was closed' : 'its server was closed');
    await connection?.gone;
    if (isClosing) await connection?.draining;
  });
}

class LinkAttempt {
  readonly #ports: LinkPorts;
  readonly #connection: LiveConnection;
  readonly #tell: Tell;
  readonly #controller = new AbortController();
  readonly #stopped: Promise<void>;
  #isStopped = false;
  #closed: Promise<void> | undefined;
  #link: Link | undefined;
  #relisting: Relisting | undefined;

  constructor(ports: LinkPorts, connection: LiveConnection, tell: Tell) {
    this.#ports = ports;
    this.#connection = connection;
    this.#tell = (event) => {
      if (!this.#isStopped) tell(event);
    };
    this.#stopped = new Promise((resolve) => {
      this.#controller.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#controller.abort();
    this.#relisting?.stop();
    if (this.#connection.link === this.#link) this.#connection.link = undefined;
    // Its calls end first: what they asked ends with them, and none of them goes on for a moment.
    if (this.#link !== undefined) this.#closed = this.#end(this.#link);
    this.#endQuestions();
  }

  /** Who let go of the link says how its questions end (EL-3). */
  #endQuestions(): void {
    const { questions, publications } = this.#ports;
    const { discarded } = this.#connection;
    if (publications.isClosed) questions.linkGone(this.#connection, 'the thread was closed', 'cancel');
    else if (discarded !== undefined)
      questions.linkGone(this.#connection, `its runtime was dropped: ${discarded}`, 'cancel');
    else questions.linkGone(this.#connection, 'its server was closed');
  }

  /** Lives as long as anything of the attempt does. Never rejects. */
  async run(before: Promise<void>): Promise<void> {
    await before;
    if (this.#isStopped) return;
    const ticket = this.#ports.servers.beginInventory();
    try {
      this.#link = await this.#open();
    } catch (error) {
      this.#tell({
        type: 'link.failed',
        failure: this.#failureOf(error),
        at: this.#ports.clock.now(),
        jitter: this.#ports.random(),
      });
      return;
    }
    this.#opened(this.#link, ticket);
    await this.#stopped;
    await (this.#closed ?? this.#end(this.#link));
  }

  async #open(): Promise<Link> {
    const { server, config, identity, place, sharedAs } = this.#connection;
    const authorizer = await this.#ports.authorizerOf(this.#connection);
    const verdict = this.#ports.verdicts.get(identity);
    return this.#ports.openLink({
      server,
      config: withToldHeaders(config, this.#ports.redactor, () => {
        this.#ports.results.credentialsChanged(this.#connection);
      }),
      ...(place === undefined ? {} : { place }),
      ...(authorizer === undefined ? {} : { authorizer }),
      offer: this.#ports.offer,
      signal: this.#controller.signal,
      timeoutMs: config.startTimeoutMs ?? defaults.startTimeoutMs,
      handlers: this.#handlers(),
      ...(verdict === undefined ? {} : { verdict }),
      identity,
      ...(sharedAs === undefined ? {} : { notShared: sharedAs }),
    });
  }

  #opened(link: Link, ticket: number): void {
    if (this.#isStopped) return;
    const connection = this.#connection;
    connection.link = link;
    connection.sharedAs = link.sharedAs;
    connection.relist = () => this.#listingChanged();
    if (connection.stats.noteOpened()) this.#ports.results.reopened(connection);
    this.#ports.servers.noteInventory(connection, link.inventory, ticket);
    this.#tell({ type: 'link.opened', facts: this.#factsOf(link, link.inventory), at: this.#ports.clock.now() });
    this.#ports.subscriptions?.opened(connection);
  }

  /** What is gone takes nothing new; what was sent on it is let finish beside its successor (RT-10). */
  async #end(link: Link): Promise<void> {
    const connection = this.#connection;
    if (!connection.drains) {
      await this.#close(link);
      await connection.draining;
      return;
    }
    connection.drains = false;
    const drained = this.#ports.calls.whenIdle(connection, link).then(() => this.#close(link));
    connection.draining = Promise.all([connection.draining, drained]).then(() => undefined);
  }

  async #close(link: Link): Promise<void> {
    this.#connection.stats.noteGone(link.stats);
    try {
      await link.close();
    } catch (error) {
      this.#ports.facts.warn(
        'close_failed',
        `Closing server "${this.#connection.server}": ${this.#failureOf(error).message}`,
        this.#connection.server,
      );
    }
  }

  #handlers(): LinkHandlers {
    const connection = this.#connection;
    const { facts, questions, calls } = this.#ports;
    const { server } = connection;
    return {
      onQuestion: (question, answer) => {
        const reply = answer ?? ((given) => this.#link?.answer(question.id, given));
        questions.asked(connection, question, reply);
      },
      onQuestionWithdrawn: (id) => {
        questions.withdrawn(connection, id);
      },
      onListChanged: (kind) => {
        this.#ports.results.listChanged(connection, kind);
        if (kind === 'tools') this.#listingChanged();
      },
      onResourceUpdated: (uri) => {
        this.#ports.results.updated(connection, uri);
        if (this.#ports.subscriptions?.isHeard(connection, uri) === true)
          facts.tell({ type: 'resource.updated', server, uri });
      },
      onLog: (level, data, logger) => {
        facts.tell({ type: 'server.logged', server, level, data, ...(logger === undefined ? {} : { logger }) });
      },
      onWarning: (code, message) => {
        facts.warn(code, message, server);
      },
      onElicitationComplete: (id) => {
        questions.completed(connection, id);
      },
      onTaskStatus: (task) => {
        calls.hearTask(connection.id, task);
      },
      onVerdict: (verdict) => {
        this.#ports.verdicts.set(connection.identity, verdict);
      },
      onUnreachable: (failure) => {
        if (this.#isStopped || this.#link === undefined || connection.link !== this.#link) return;
        connection.drains = true;
        connection.link = undefined;
        this.#lost(failure);
      },
      onClosed: (failure) => {
        if (this.#isStopped) return;
        if (connection.link === this.#link) connection.link = undefined;
        questions.linkGone(connection, `its server went away: ${failure.message}`);
        this.#lost(failure);
      },
    };
  }

  #lost(failure: Failure): void {
    const { redactor, clock } = this.#ports;
    this.#tell({
      type: 'link.lost',
      failure: redactor.value(failure),
      at: clock.now(),
      jitter: this.#ports.random(),
    });
  }

  #listingChanged(): void {
    const link = this.#link;
    if (link === undefined || this.#isStopped) return;
    this.#relisting ??= new Relisting({ clock: this.#ports.clock, list: () => this.#list(link) });
    this.#relisting.changed();
  }

  async #list(link: Link): Promise<boolean> {
    const connection = this.#connection;
    const ticket = this.#ports.servers.beginInventory();
    const inventory = await link.list(this.#controller.signal);
    if (connection.link !== link) return false;
    const before = connection.tools;
    this.#ports.servers.noteInventory(connection, inventory, ticket);
    this.#tell({ type: 'link.listed', toolCount: connection.tools.length, failure: inventory.failure ?? null });
    if (inventory.failure === undefined && !sameTools(before, connection.tools))
      this.#ports.facts.tell({ type: 'tools.changed', server: connection.server });
    return true;
  }

  #factsOf({ info }: Link, inventory: Inventory): OpenedFacts {
    return {
      era: info.era,
      protocolVersion: info.protocolVersion,
      serverInfo: info.serverInfo ?? null,
      pid: info.pid ?? null,
      toolCount: this.#connection.tools.length,
      failure: inventory.failure === undefined ? null : this.#ports.redactor.value(inventory.failure),
    };
  }

  #failureOf(error: unknown): Failure {
    const known =
      error instanceof HoldfastError
        ? error
        : new HoldfastError(
            'server_unavailable',
            `Expected server "${this.#connection.server}" to start, and it did not: ${messageOf(error)}`,
          );
    return this.#ports.redactor.value(toFailure(known));
  }
}

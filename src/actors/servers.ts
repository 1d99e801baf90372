/**
 * The servers of one thread: which runtime names which, under which configuration, over which connection.
 *
 * Owns what must not be in a context: configurations, links, tool lists. A connection is found by the identity of its
 * server, so that an unchanged server keeps it across runtimes (RT-5).
 *
 * - V1 A connection lives while a runtime that began names it; it is closed in the sweep after the last one let go.
 * - V2 A newer runtime attaches before an older candidate's connections are swept (RT-4).
 * - V3 A connection that was told to close is never attached to: its server gets a new one.
 */
import type { RuntimeServers } from '../api.ts';
import type { Authorizer } from '../domain/authorization.ts';
import type { ServerProvenance } from '../domain/catalog.ts';
import type { MisconfiguredServer, ServerConfig } from '../domain/config.ts';
import type { Place } from '../domain/environment.ts';
import type { Failure } from '../domain/errors.ts';
import type { DroppedTool, Inventory, Link } from '../domain/link.ts';
import type { ServerState } from '../domain/snapshot.ts';
import type { ListedTool } from '../domain/tool.ts';
import { beginFetch, rememberTools, rememberedTools, shownTools, takeInventory } from './known-tools.ts';
import type { CachedToolsPorts } from './known-tools.ts';
import { ConnectionStats } from './connection-stats.ts';
import { toolView } from '../mcp/tool-view.ts';
import type { ToolView } from '../mcp/tool-view.ts';
import type { ConnectionInput } from '../machines/connection.ts';
import type { RuntimeServer } from '../machines/runtime.ts';
import { identityOf, originOf, transportOf } from './identity.ts';

/** A server as one runtime names it. */
export interface PlannedServer {
  readonly server: string;
  readonly config: ServerConfig;
  readonly identity: string;
  /** Where its process starts, if that is not this machine. */
  readonly place: Place | undefined;
  readonly provenance: ServerProvenance;
  /** Set once its runtime has begun. */
  connection: LiveConnection | undefined;
}

/** What a runtime was asked for. */
export interface Plan {
  readonly generation: number;
  readonly servers: ReadonlyMap<string, PlannedServer>;
  /** Named but not startable, with the reason. */
  readonly misconfigured: Readonly<Record<string, MisconfiguredServer>>;
  /** Why servers are off, where something other than their own setting says so. */
  readonly disabled: Readonly<Record<string, Failure>>;
  /** Why servers are not there that something named. */
  readonly removed: Readonly<Record<string, Failure>>;
  readonly provenance: ReadonlyMap<string, ServerProvenance>;
}

/** What is known of one connection, beside its actor. */
export interface LiveConnection {
  readonly id: string;
  readonly server: string;
  readonly identity: string;
  readonly origin: string;
  /** As the newest runtime says: the same place, or still none. */
  place: Place | undefined;
  /** The newest configuration of this identity: view-only settings may differ between runtimes. */
  config: ServerConfig;
  /** As the newest runtime says. */
  provenance: ServerProvenance;
  readonly generations: Set<number>;
  /** Which letting go emptied it last: only the sweep of that one may close it (V2). */
  released: number;
  /** It was told to close: no runtime may attach to it any more. */
  closing: boolean;
  /** Why the candidate was dropped that alone named it (EL-3). */
  discarded: string | undefined;
  /** Its state was told as a fact at least once. */
  told: boolean;
  state: ServerState;
  failure: Failure | undefined;
  link: Link | undefined;
  /** Who signs in to it, once its first link was begun. */
  authorizer: Authorizer | undefined;
  /** Lists its tools anew, over the link there is. */
  relist: (() => void) | undefined;
  /** The number of the server its last link shared with other threads (CN-6). */
  sharedAs: number | undefined;
  /** The last known tools; kept while it reconnects (RT-7). */
  tools: readonly ListedTool[];
  /** Listed and unusable, of the same listing. */
  dropped: readonly DroppedTool[];
  /** What the host remembers of its tools, while it has not answered itself. */
  cached: readonly ListedTool[] | undefined;
  readonly stats: ConnectionStats;
  /** Grows with whatever may make a result of it old (SPEC RE-2). */
  revision: number;
  /** Settles when the link that was last opened, or is being opened, is gone. */
  gone: Promise<void>;
  /**
   * Its session, or its server, was found gone: its link takes nothing new, and is closed when what is in flight on it has
   * ended.
   */
  drains: boolean;
  /** Settles when the links of lost sessions are closed. */
  draining: Promise<void>;
  /** Who waits for it to be usable, or to fail. */
  readonly waiters: Set<() => void>;
}

export interface ServersPorts {
  /** Makes the actor of a connection. */
  spawn(input: ConnectionInput): void;
  /** Tries a connection again now that failed or waits; leaves an attempt alone. */
  retry(connection: LiveConnection): void;
  /** Ends a connection no runtime names. */
  close(connection: LiveConnection): void;
  now(): number;
  /** Takes secrets out of a text: those of every server that is planned are known. */
  redact(text: string): string;
  readonly maxToolNameLength: number;
  readonly cachedTools?: CachedToolsPorts;
  /** Whether what a server declares of files is believed now, and there is somebody to give them. */
  believesFiles(server: string): boolean;
}

/** A replacement tries these again (RT-7). A transport the caller gave is used once. */
const retriedStates: ReadonlySet<ServerState> = new Set(['failed', 'authRequired', 'reconnecting']);

export class Servers {
  readonly #ports: ServersPorts;
  readonly #plans = new Map<number, Plan>();
  readonly #connections = new Map<string, LiveConnection>();
  #count = 0;
  #releases = 0;

  constructor(ports: ServersPorts) {
    this.#ports = ports;
  }

  /** Notes what a runtime will name. Starts nothing. */
  plan(generation: number, next: RuntimeServers): void {
    const { servers, misconfigured = {}, disabled = {}, removed = {}, provenance = {} } = next;
    const origins = new Map(Object.entries(provenance));
    const places = new Map(Object.entries(next.places ?? {}));
    const planned = new Map<string, PlannedServer>();
    for (const [server, given] of Object.entries(servers)) {
      const config = Object.hasOwn(disabled, server) ? { ...given, enabled: false } : given;
      planned.set(server, {
        server,
        config,
        identity: identityOf(server, config, places.get(server)),
        place: places.get(server),
        provenance: origins.get(server) ?? {},
        connection: undefined,
      });
    }
    this.#plans.set(generation, {
      generation,
      servers: planned,
      misconfigured,
      disabled,
      removed,
      provenance: origins,
    });
  }

  planOf(generation: number): Plan | undefined {
    return this.#plans.get(generation);
  }

  /** Attaches a runtime to its connections, starting those that are new. `current` is the runtime it would replace. */
  begin(generation: number, current: number): readonly RuntimeServer[] {
    const plan = this.#plans.get(generation);
    if (plan === undefined) return [];
    const began: RuntimeServer[] = [];
    for (const planned of plan.servers.values()) {
      if (planned.config.enabled === false) continue;
      const connection = this.#attach(planned, generation);
      const required = planned.config.required ?? false;
      const isKnown = !required && current === 0 && this.#beginsFromCache(connection);
      const successor = isUsable(this.#plans.get(current)?.servers.get(planned.server)?.connection);
      began.push({
        server: planned.server,
        required,
        awaited: required || successor,
        ...(isKnown ? { state: 'ready' } : startOf(connection, required)),
      });
    }
    for (const [server, failure] of Object.entries(plan.misconfigured))
      began.push({ server, required: failure.required ?? false, awaited: false, state: 'failed', failure });
    return began;
  }

  /** Notes that a candidate was dropped, at the connections nobody else names. */
  noteDiscarded(generation: number, reason: string): void {
    for (const connection of this.#connections.values())
      if (connection.generations.size === 1 && connection.generations.has(generation)) connection.discarded = reason;
  }

  /** Lets go of a runtime's connections. */
  detach(generation: number): void {
    this.#plans.delete(generation);
    this.#releases += 1;
    const release = this.#releases;
    for (const connection of this.#connections.values())
      if (connection.generations.delete(generation) && connection.generations.size === 0) connection.released = release;
    // Two turns of the event loop: a runtime scheduled in this one begins in the next (V2).
    setImmediate(() =>
      setImmediate(() => {
        for (const connection of this.#connections.values())
          if (connection.generations.size === 0 && connection.released === release) this.#close(connection);
      }),
    );
  }

  /** Forgets a connection whose actor has ended. */
  forget(id: string): void {
    this.#connections.delete(id);
  }

  connection(id: string): LiveConnection | undefined {
    return this.#connections.get(id);
  }

  /** All connections, oldest first. */
  get connections(): Iterable<LiveConnection> {
    return this.#connections.values();
  }

  /** The server as a runtime names it. */
  resolve(generation: number, server: string): PlannedServer | undefined {
    return this.#plans.get(generation)?.servers.get(server);
  }

  /** The tools of a runtime, from what its connections list now. */
  view(generation: number): ToolView {
    const plan = this.#plans.get(generation);
    const sources = [...(plan?.servers.values() ?? [])].flatMap(({ server, config, provenance, connection }) =>
      connection === undefined || shownTools(connection).length === 0
        ? []
        : [
            {
              server,
              config,
              provenance,
              tools: shownTools(connection),
              origin: connection.origin,
              files: this.#ports.believesFiles(server),
            },
          ],
    );
    return toolView(sources, { maxToolNameLength: this.#ports.maxToolNameLength });
  }

  /** Takes a listing: its tools if it could be had whole, else the ones known before. `ticket` is that of its fetch. */
  noteInventory(connection: LiveConnection, inventory: Inventory, ticket: number): void {
    takeInventory(connection, inventory);
    if (inventory.failure === undefined) rememberTools(this.#ports.cachedTools, connection, ticket);
  }

  /** A listing begins; gives its ticket. */
  beginInventory(): number {
    return beginFetch(this.#ports.cachedTools);
  }

  /** A question was put for a server of a runtime. */
  noteQuestion(generation: number, server: string): void {
    const stats = this.resolve(generation, server)?.connection?.stats;
    if (stats !== undefined) stats.questions += 1;
  }

  #beginsFromCache({ state, cached }: LiveConnection): boolean {
    return state === 'starting' && cached !== undefined && this.#ports.cachedTools?.mode === 'immediate';
  }

  #attach(planned: PlannedServer, generation: number): LiveConnection {
    const known = [...this.#connections.values()].find(
      (connection) => connection.identity === planned.identity && !connection.closing,
    );
    const connection = known ?? this.#open(planned);
    connection.config = planned.config;
    connection.place = planned.place;
    connection.provenance = planned.provenance;
    connection.generations.add(generation);
    connection.discarded = undefined;
    planned.connection = connection;
    if (known === undefined) this.#start(connection);
    else if (transportOf(planned.config) !== 'given' && retriedStates.has(known.state)) this.#ports.retry(known);
    return connection;
  }

  #open({ server, config, identity, place, provenance }: PlannedServer): LiveConnection {
    this.#count += 1;
    const connection: LiveConnection = {
      id: `connection-${String(this.#count)}`,
      server,
      identity,
      place,
      origin: originOf(config, (text) => this.#ports.redact(text)),
      config,
      provenance,
      generations: new Set(),
      released: 0,
      closing: false,
      discarded: undefined,
      told: false,
      state: 'starting',
      failure: undefined,
      link: undefined,
      authorizer: undefined,
      relist: undefined,
      sharedAs: undefined,
      tools: [],
      dropped: [],
      cached: rememberedTools(this.#ports.cachedTools, identity, config),
      stats: new ConnectionStats(),
      revision: 0,
      gone: Promise.resolve(),
      drains: false,
      draining: Promise.resolve(),
      waiters: new Set(),
    };
    this.#connections.set(connection.id, connection);
    return connection;
  }

  #close(connection: LiveConnection): void {
    connection.closing = true;
    this.#ports.close(connection);
  }

  #start({ id, server, config }: LiveConnection): void {
    const transport = transportOf(config);
    this.#ports.spawn({
      connection: id,
      server,
      transport,
      retriesStart: transport === 'http' || transport === 'sse',
      reopens: transport !== 'given',
      at: this.#ports.now(),
    });
  }
}

/** Whether calls can go to it now. */
export function isUsable(connection: LiveConnection | undefined): boolean {
  return connection !== undefined && (connection.state === 'ready' || connection.state === 'degraded');
}

/** How a runtime sees a connection's start. A required server must list its tools whole (CN-4). */
export function startOf(connection: LiveConnection, required: boolean): Pick<RuntimeServer, 'state' | 'failure'> {
  const { state, failure } = connection;
  const why = failure === undefined ? {} : { failure };
  switch (state) {
    case 'ready':
      return { state: 'ready' };
    case 'degraded':
      return required ? { state: 'failed', ...why } : { state: 'ready' };
    case 'starting':
    case 'reconnecting':
      return { state: 'starting' };
    case 'authRequired':
    case 'failed':
    case 'closed':
    case 'disabled':
    case 'misconfigured':
      return { state: 'failed', ...why };
  }
}

/**
 * Registrations to a resolved catalog (SPEC CA-5).
 *
 * - K1 The strongest action on a name wins it, alone: a disabled or broken winner is not replaced by a weaker one.
 * - K2 Nothing a source says is fatal: what collides is reported.
 * - K3 A winner that is off vetoes its name for what is laid over the catalog later, unless a selected plugin named it:
 *   the setting of a package speaks for the package only.
 */
import type {
  Catalog,
  CatalogAction,
  CatalogConflict,
  CatalogServer,
  ConflictAction,
  DisabledReason,
  ServerRegistration,
  ServerRemoval,
  ServerRequirements,
  ServerSource,
} from '../domain/catalog.ts';
import { sourceKinds } from '../domain/catalog.ts';
import type { MisconfiguredServer, ServerConfig, ServerMap } from '../domain/config.ts';
import { HoldfastError } from '../domain/errors.ts';
import { isRecord, shown } from '../domain/json.ts';
import { checkName, checkNamed, checkRequirements, checkSet, checkSource } from './check-registrations.ts';
import { requirementAgainst } from './requirements.ts';

/** The servers of one source, as `readConfig` and `parsePluginConfig` give them. */
export interface ServerSet {
  readonly servers: ServerMap;
  readonly misconfigured?: Readonly<Record<string, MisconfiguredServer>>;
  readonly secrets?: readonly string[];
  /** Of a configuration: the file each server is in. */
  readonly provenance?: Readonly<Record<string, { readonly file?: string }>>;
}

/** Collects what sources say. Every method but `build` returns the builder. */
export interface CatalogBuilder {
  /** @throws HoldfastError `invalid_argument` for a name, source or configuration that is none; so do the others. */
  register(registration: ServerRegistration): CatalogBuilder;
  /** Registers everything one source names, its misconfigured entries and secrets included. */
  registerAll(source: ServerSource, set: ServerSet): CatalogBuilder;
  /** Takes a name out, if nothing stronger than `source` registers it. */
  remove(removal: ServerRemoval): CatalogBuilder;
  /** Turns a name off, whoever wins it. */
  disable(name: string, reason?: string): CatalogBuilder;
  /**
   * Limits what may run. Of several requirements each must allow a server.
   *
   * @throws HoldfastError `invalid_argument` for a rule that could never be decided, such as a pattern that is none.
   */
  require(requirements: ServerRequirements): CatalogBuilder;
  addSecrets(secrets: readonly string[]): CatalogBuilder;
  /** The catalog of everything so far; the builder can go on. */
  build(): Catalog;
}

/** Makes a builder: empty, or with all that a catalog was made of, so that more can be laid over it. */
export function createCatalogBuilder(base?: Catalog): CatalogBuilder {
  return new Collector(base);
}

/**
 * The same catalog with exactly these servers.
 *
 * A name it had keeps its source and connector; a new one counts as configured. Requirements and secrets stay.
 */
export function withServers(catalog: Catalog, servers: ServerMap): Catalog {
  const builder = createCatalogBuilder().addSecrets(catalog.secrets);
  for (const requirements of catalog.requirements) builder.require(requirements);
  for (const [name, config] of Object.entries(servers)) {
    const known = serverIn(catalog, name);
    builder.register({ name, config, ...(known === undefined ? { source: { kind: 'config' } } : originOf(known)) });
  }
  return builder.build();
}

/** The winner of a name; `undefined` for a name nobody won. */
export function serverIn(catalog: Catalog, name: string): CatalogServer | undefined {
  return Object.hasOwn(catalog.servers, name) ? catalog.servers[name] : undefined;
}

class Collector implements CatalogBuilder {
  readonly #actions: CatalogAction[];
  readonly #vetoes: Map<string, DisabledReason>;
  readonly #requirements: ServerRequirements[];
  readonly #secrets: Set<string>;

  constructor(base: Catalog | undefined) {
    this.#actions = [...(base?.actions ?? [])];
    this.#vetoes = new Map(Object.entries(base?.vetoes ?? {}));
    this.#requirements = [...(base?.requirements ?? [])];
    this.#secrets = new Set(base?.secrets);
  }

  register(registration: ServerRegistration): this {
    checkNamed(registration);
    return this.#register(registration);
  }

  registerAll(given: ServerSource, set: ServerSet): this {
    checkSource(given);
    checkSet(set);
    const { servers, misconfigured = {}, secrets = [], provenance = {} } = set;
    const files = new Map(Object.entries(provenance).map(([name, { file }]) => [name, file]));
    const sourceFor = (name: string): ServerSource => {
      const file = files.get(name);
      return given.kind !== 'config' || given.file !== undefined || file === undefined ? given : { ...given, file };
    };
    for (const [name, config] of Object.entries(servers)) this.#register({ name, source: sourceFor(name), config });
    for (const [name, failure] of Object.entries(misconfigured))
      this.#register({ name, source: sourceFor(name), failure });
    return this.addSecrets(secrets);
  }

  remove(removal: ServerRemoval): this {
    checkNamed(removal);
    this.#actions.push({ kind: 'remove', removal });
    return this;
  }

  disable(name: string, reason?: string): this {
    checkName(name);
    this.#vetoes.set(name, { kind: 'veto', ...(reason === undefined ? {} : { reason }) });
    return this;
  }

  require(requirements: ServerRequirements): this {
    checkRequirements(requirements);
    this.#requirements.push(requirements);
    return this;
  }

  addSecrets(secrets: readonly string[]): this {
    for (const secret of secrets) this.#secrets.add(secret);
    return this;
  }

  build(): Catalog {
    const vetoes = new Map(this.#vetoes);
    const servers: [string, CatalogServer][] = [];
    const conflicts: CatalogConflict[] = [];
    const removed: [string, ServerSource][] = [];
    for (const [name, actions] of this.#byName()) {
      const ranked = actions.toSorted((a, b) => compareSources(sourceOf(a), sourceOf(b)));
      const winner = ranked.at(-1);
      if (winner === undefined) continue;
      conflicts.push(...conflictsOf(name, ranked, winner));
      if (winner.kind === 'remove') {
        if (actions.some(({ kind }) => kind === 'register')) removed.push([name, winner.removal.source]);
        continue;
      }
      const server = this.#resolve(winner.registration, vetoes.get(name));
      servers.push([name, server]);
      const reason = persistentVeto(server);
      if (reason !== undefined && !vetoes.has(name)) vetoes.set(name, reason);
    }
    return {
      servers: Object.fromEntries(servers),
      conflicts,
      ...(removed.length === 0 ? {} : { removed: Object.fromEntries(removed) }),
      actions: [...this.#actions],
      vetoes: Object.fromEntries(vetoes),
      requirements: [...this.#requirements],
      secrets: [...this.#secrets],
    };
  }

  /** What a source calls its servers is its own. */
  #register(registration: ServerRegistration): this {
    checkEntry(registration);
    this.#actions.push({ kind: 'register', registration });
    return this;
  }

  /** Names in the order they were first spoken of. */
  #byName(): Map<string, CatalogAction[]> {
    const names = new Map<string, CatalogAction[]>();
    for (const action of this.#actions) {
      const name = nameOf(action);
      const known = names.get(name);
      if (known === undefined) names.set(name, [action]);
      else known.push(action);
    }
    return names;
  }

  #resolve(registration: ServerRegistration, veto: DisabledReason | undefined): CatalogServer {
    const origin = originOf(registration);
    if ('failure' in registration)
      return { ...origin, failure: registration.failure, ...(veto === undefined ? {} : { disabled: veto }) };
    const { config, name } = registration;
    const disabled =
      veto ??
      (config.enabled === false ? { kind: 'configuration' as const } : undefined) ??
      requirementAgainst(name, config, this.#requirements);
    return disabled === undefined ? { ...origin, config } : { ...origin, config: turnedOff(config), disabled };
  }
}

function turnedOff(config: ServerConfig): ServerConfig {
  return { ...config, enabled: false };
}

/** A requirement is asked anew at each build, so it leaves no veto. */
function persistentVeto(server: CatalogServer): DisabledReason | undefined {
  if (server.source.kind === 'selectedPlugin') return undefined;
  return server.disabled?.kind === 'requirements' ? undefined : server.disabled;
}

function conflictsOf(name: string, ranked: readonly CatalogAction[], winner: CatalogAction): CatalogConflict[] {
  return sourceKinds.flatMap((kind) => {
    const contenders = ranked.filter((action) => sourceOf(action).kind === kind);
    if (contenders.length < 2) return [];
    return [{ name, outcome: conflictAction(winner), contenders: contenders.map(conflictAction) }];
  });
}

function conflictAction(action: CatalogAction): ConflictAction {
  return { kind: action.kind, source: sourceOf(action) };
}

function compareSources(a: ServerSource, b: ServerSource): number {
  return sourceKinds.indexOf(a.kind) - sourceKinds.indexOf(b.kind) || rankOf(a) - rankOf(b);
}

/** Within a kind: larger wins. */
function rankOf(source: ServerSource): number {
  switch (source.kind) {
    case 'plugin':
    case 'selectedPlugin':
      return -source.order;
    case 'extension':
      return source.order;
    case 'config':
    case 'compatibility':
      return 0;
  }
}

function nameOf(action: CatalogAction): string {
  return action.kind === 'register' ? action.registration.name : action.removal.name;
}

function sourceOf(action: CatalogAction): ServerSource {
  return action.kind === 'register' ? action.registration.source : action.removal.source;
}

function originOf({
  source,
  connector,
}: ServerRegistration | CatalogServer): Pick<CatalogServer, 'source' | 'connector'> {
  return { source, ...(connector === undefined ? {} : { connector }) };
}

function checkEntry(registration: ServerRegistration): void {
  const entry: unknown = 'failure' in registration ? registration.failure : registration.config;
  if (isRecord(entry)) return;
  throw new HoldfastError(
    'invalid_argument',
    `Expected the configuration of server "${registration.name}" to be an object, got ${shown(entry)}.`,
  );
}

/**
 * What was asked for, under what is available: the servers of a thread as its environments come and go, and extensions
 * change their minds (SPEC CA-7, CA-5).
 *
 * - J1 What was asked for last counts, from whatever side; a change of the environments projects it anew.
 * - J2 A stream that fails takes nothing with it: the last of it stays.
 */
import {
  catchError,
  defaultIfEmpty,
  defer,
  EMPTY,
  from,
  map,
  merge,
  of,
  switchMap,
  tap,
  throwError,
  throwIfEmpty,
} from 'rxjs';
import type { Observable } from 'rxjs';
import type { Environments, Extension, RuntimeServers, ThreadOptions, WorldStateSection } from './api.ts';
import { createCatalogBuilder } from './catalog/builder.ts';
import { addContributions, addOverlays } from './catalog/contributions.ts';
import type { Available, Contribution } from './catalog/contributions.ts';
import { placeServers, pluginsIn } from './catalog/environments.ts';
import type { ExtensionOverlay, ExtensionParts, ExtensionsNow } from './catalog/extensions.ts';
import { toRuntimeServers } from './catalog/projection.ts';
import { checkServers } from './check-servers.ts';
import type { Catalog } from './domain/catalog.ts';
import { HoldfastError, messageOf } from './domain/errors.ts';
import type { PluginSnapshot } from './domain/snapshot.ts';
import { isCatalogStream } from './follow-catalog.ts';
import { heldExtension, heldSections, heldStream, holding } from './held-streams.ts';

/** Servers, however they were given. */
export type ServerBase = RuntimeServers | { readonly catalog: Catalog };

/** One thing to project. */
export interface ProjectionInput {
  readonly base: ServerBase;
  readonly available: Available;
  readonly overlays: readonly ExtensionOverlay[];
}

const onlyHere: Available = { states: {}, contributions: [], extras: [], unread: [] };
const noExtensions: ExtensionsNow = { overlays: [], parts: [] };

/** What a thread asks for its servers. */
export class ServerProjection {
  readonly #environments: Environments | undefined;
  readonly #extensions: readonly Extension[];
  readonly #sections: readonly WorldStateSection[];
  #base: ServerBase | undefined;
  #available: Available | undefined;
  #extended: ExtensionsNow | undefined;

  constructor({ environments, extensions = [], worldState = [] }: ThreadOptions) {
    this.#environments = environments;
    this.#extensions = extensions;
    this.#sections = worldState;
  }

  /** What environments bring now. */
  get available(): Available {
    return this.#available ?? onlyHere;
  }

  /** The plugins that were selected, whether they count now or not. */
  get plugins(): readonly PluginSnapshot[] {
    return this.#environments === undefined ? [] : pluginsIn(this.#environments, this.available.states);
  }

  /** What the host and extensions say now, besides servers. */
  get parts(): readonly ExtensionParts[] {
    return this.#extended?.parts ?? noExtensions.parts;
  }

  get #isExtended(): boolean {
    return this.#extensions.length > 0 || this.#sections.length > 0;
  }

  /** What is asked for from outside, one after another; `undefined` where it is asked for once and nothing else changes. */
  basesOf(options: ThreadOptions): Observable<ServerBase> | undefined {
    const { catalog } = options;
    if (catalog !== undefined && isCatalogStream(catalog))
      return defer(() => from(catalog)).pipe(map((given) => ({ catalog: given })));
    if (this.#environments === undefined && !this.#isExtended) return undefined;
    return of(catalog === undefined ? firstServers(options) : { catalog });
  }

  /** What to project, whenever what was asked for or what is available changes. */
  inputs(
    base$: Observable<ServerBase>,
    warn: (message: string, code?: string) => void,
    extensionWarn: (message: string) => void,
  ): Observable<ProjectionInput> {
    const environments = this.#environments;
    if (environments === undefined && !this.#isExtended)
      return from(base$).pipe(map((base) => ({ base, available: onlyHere, overlays: [] })));
    const available$ = (environments === undefined ? of(onlyHere) : follow(environments, warn)).pipe(
      catchError((error: unknown) => {
        warn(`The stream of environments failed, and the last states stay: ${messageOf(error)}`);
        return of(this.#available ?? onlyHere);
      }),
      defaultIfEmpty(onlyHere),
      tap((available) => {
        this.#available = available;
      }),
    );
    const extended$ = (this.#isExtended ? this.#follow(extensionWarn) : of(noExtensions)).pipe(
      tap((extended) => {
        this.#extended = extended;
      }),
    );
    const asked$ = from(base$).pipe(
      throwIfEmpty(),
      tap((base) => {
        this.#base = base;
      }),
      catchError((error: unknown) => {
        if (this.#base === undefined) return throwError(() => error);
        warn(`The stream of catalogs failed, and the last one stays: ${messageOf(error)}`);
        return EMPTY;
      }),
    );
    return merge(available$, extended$, asked$).pipe(switchMap(() => this.#inputNow()));
  }

  /** The servers of a base under what is available now. */
  now(base: ServerBase): RuntimeServers {
    const { overlays } = this.#extended ?? noExtensions;
    return this.project({ base, available: this.available, overlays });
  }

  project({ base, available, overlays }: ProjectionInput): RuntimeServers {
    return placeServers(withOverlays(base, available.contributions, overlays), available.states);
  }

  /** Notes what somebody else asked for; if that fails, what was asked for before counts again. */
  rebase(base: ServerBase, publication: Promise<unknown>): void {
    const before = this.#base;
    this.#base = base;
    publication.catch(() => {
      if (this.#base === base) this.#base = before;
    });
  }

  #inputNow(): Observable<ProjectionInput> {
    const base = this.#base;
    const available = this.#available;
    const extended = this.#extended;
    if (base === undefined || available === undefined || extended === undefined) return EMPTY;
    return of({ base, available, overlays: extended.overlays });
  }

  /** What follows extensions is loaded where there are any. */
  #follow(warn: (message: string) => void): Observable<ExtensionsNow> {
    return holding((until) => {
      const extensions = this.#extensions.map((extension) => heldExtension(extension, until));
      const sections = heldSections(this.#sections, until);
      return from(import('./catalog/extensions.ts')).pipe(
        switchMap(({ followExtensions }) => followExtensions(extensions, sections, { checkServers, warn })),
      );
    });
  }
}

/** What reads plugins is loaded where there are environments. */
function follow(environments: Environments, warn: (message: string, code?: string) => void): Observable<Available> {
  return holding((until) => {
    const { roots = [] } = environments;
    const held = { roots, states$: heldStream(environments.states$, until) };
    return from(import('./catalog/discovery.ts')).pipe(switchMap(({ availableIn }) => availableIn(held, warn)));
  });
}

function withOverlays(
  base: ServerBase,
  contributions: readonly Contribution[],
  overlays: readonly ExtensionOverlay[],
): RuntimeServers {
  const isPlain = contributions.length === 0 && overlays.length === 0;
  // Nothing may be laid over what is none: that would be servers, and those of before would be gone.
  if ('catalog' in base) Object.keys(base.catalog.servers);
  if ('catalog' in base)
    return toRuntimeServers(isPlain ? base.catalog : extend(base.catalog, contributions, overlays));
  if (isPlain) return base;
  const given = createCatalogBuilder().registerAll({ kind: 'config' }, base).build();
  const all = toRuntimeServers(extend(given, contributions, overlays));
  const isLeft = ([name]: readonly [string, unknown]): boolean =>
    !Object.hasOwn(given.servers, name) || Object.hasOwn(all.provenance ?? {}, name);
  const added = Object.entries(all.provenance ?? {}).filter(([, { source }]) => source !== 'config');
  return {
    ...all,
    disabled: { ...all.disabled, ...Object.fromEntries(Object.entries(base.disabled ?? {}).filter(isLeft)) },
    ...(base.removed === undefined ? {} : { removed: { ...base.removed, ...all.removed } }),
    provenance: {
      ...Object.fromEntries(Object.entries(base.provenance ?? {}).filter(isLeft)),
      ...Object.fromEntries(added),
    },
  };
}

/** Contributions belong to the catalog; overlays come over what it resolves to, its vetoes included. */
function extend(
  catalog: Catalog,
  contributions: readonly Contribution[],
  overlays: readonly ExtensionOverlay[],
): Catalog {
  const contributed =
    contributions.length === 0 ? catalog : addContributions(createCatalogBuilder(catalog), contributions).build();
  return overlays.length === 0 ? contributed : addOverlays(createCatalogBuilder(contributed), overlays).build();
}

/** What a thread is made with, as the servers of its first runtime. */
export function firstServers(options: ThreadOptions): RuntimeServers {
  const { servers = {}, misconfigured = {}, disabled = {}, provenance = {}, secrets = [], catalog } = options;
  if (catalog === undefined || isCatalogStream(catalog))
    return { servers, misconfigured, disabled, provenance, secrets };
  const resolved = toRuntimeServers(catalog);
  return { ...resolved, secrets: [...(resolved.secrets ?? []), ...secrets] };
}

/**
 * Refuses servers beside a catalog.
 *
 * @throws HoldfastError `invalid_argument`
 */
export function checkServersGivenOnce({ catalog, servers, misconfigured }: ThreadOptions): void {
  if (catalog === undefined || (servers === undefined && misconfigured === undefined)) return;
  throw new HoldfastError(
    'invalid_argument',
    'Expected "catalog" or "servers", got both. Register the servers with the catalog.',
  );
}

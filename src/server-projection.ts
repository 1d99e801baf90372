/**
 * What was asked for, under what is available: the servers of a thread as its environments come and go (SPEC CA-7).
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
import type { Environments, RuntimeServers, ThreadOptions } from './api.ts';
import { createCatalogBuilder } from './catalog/builder.ts';
import { addContributions, availableIn } from './catalog/contributions.ts';
import type { Available, Contribution } from './catalog/contributions.ts';
import { placeServers } from './catalog/environments.ts';
import { toRuntimeServers } from './catalog/projection.ts';
import type { Catalog } from './domain/catalog.ts';
import { HoldfastError, messageOf } from './domain/errors.ts';
import { isCatalogStream } from './follow-catalog.ts';

/** Servers, however they were given. */
export type ServerBase = RuntimeServers | { readonly catalog: Catalog };

/** One thing to project. */
export interface ProjectionInput {
  readonly base: ServerBase;
  readonly available: Available;
}

const onlyHere: Available = { states: {}, contributions: [] };

/** What a thread asks for its servers. */
export class ServerProjection {
  readonly #environments: Environments | undefined;
  #base: ServerBase | undefined;
  #available: Available | undefined;

  constructor(environments: Environments | undefined) {
    this.#environments = environments;
  }

  /** What is asked for from outside, one after another; `undefined` where it is asked for once and nothing else changes. */
  basesOf(options: ThreadOptions): Observable<ServerBase> | undefined {
    const { catalog } = options;
    if (catalog !== undefined && isCatalogStream(catalog))
      return defer(() => from(catalog)).pipe(map((given) => ({ catalog: given })));
    if (this.#environments === undefined) return undefined;
    return of(catalog === undefined ? firstServers(options) : { catalog });
  }

  /** What to project, whenever what was asked for or what is available changes. */
  inputs(base$: Observable<ServerBase>, warn: (message: string) => void): Observable<ProjectionInput> {
    if (this.#environments === undefined) return from(base$).pipe(map((base) => ({ base, available: onlyHere })));
    const available$ = availableIn(this.#environments, warn).pipe(
      catchError((error: unknown) => {
        warn(`The stream of environments failed, and the last states stay: ${messageOf(error)}`);
        return of(this.#available ?? onlyHere);
      }),
      defaultIfEmpty(onlyHere),
      tap((available) => {
        this.#available = available;
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
    return merge(available$, asked$).pipe(switchMap(() => this.#inputNow()));
  }

  /** The servers of a base under what is available now. */
  now(base: ServerBase): RuntimeServers {
    return this.project({ base, available: this.#available ?? onlyHere });
  }

  project({ base, available }: ProjectionInput): RuntimeServers {
    return placeServers(withContributions(base, available.contributions), available.states);
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
    return base === undefined || available === undefined ? EMPTY : of({ base, available });
  }
}

function withContributions(base: ServerBase, contributions: readonly Contribution[]): RuntimeServers {
  if ('catalog' in base)
    return toRuntimeServers(
      contributions.length === 0
        ? base.catalog
        : addContributions(createCatalogBuilder(base.catalog), contributions).build(),
    );
  if (contributions.length === 0) return base;
  const builder = createCatalogBuilder().registerAll({ kind: 'config' }, base);
  const all = toRuntimeServers(addContributions(builder, contributions).build());
  const added = Object.entries(all.provenance ?? {}).filter(([, { source }]) => source !== 'config');
  return {
    ...all,
    disabled: { ...all.disabled, ...base.disabled },
    provenance: { ...base.provenance, ...Object.fromEntries(added) },
  };
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

/**
 * A thread's catalog as it changes: each one that comes to other servers replaces the runtime (SPEC CA-7, RT-5).
 *
 * - F1 The latest catalog wins; one that says what was last asked for replaces nothing, unless that failed.
 * - F2 What is wrong with a stream is a warning: the last good runtime stays.
 * - F3 Nothing comes through after `stop`.
 */
import { from } from 'rxjs';
import type { Observable, Subscription } from 'rxjs';
import type { Publication, RuntimeServers } from './api.ts';
import { isSameProjection } from './catalog/projection.ts';
import type { Catalog } from './domain/catalog.ts';
import { HoldfastError, messageOf } from './domain/errors.ts';

/** What following a catalog needs of its thread. */
export interface CatalogPorts<TItem> {
  /** The servers of what the stream gave. */
  project(item: TItem): RuntimeServers;
  replace(next: RuntimeServers): Promise<Publication>;
  warn(message: string): void;
  /** The stream ended and never gave a catalog: there is no first runtime to wait for. */
  fail(error: HoldfastError): void;
}

export interface FollowedCatalog {
  /** Notes what somebody else asked for; it is forgotten if it fails. */
  note(next: RuntimeServers, publication: Promise<Publication>): void;
  stop(): void;
}

/** Tells a stream of catalogs from a catalog. */
export function isCatalogStream(catalog: Catalog | Observable<Catalog>): catalog is Observable<Catalog> {
  return 'subscribe' in catalog && typeof catalog.subscribe === 'function';
}

/** Follows a stream until `stop`. */
export function followCatalog<TItem>(items$: Observable<TItem>, ports: CatalogPorts<TItem>): FollowedCatalog {
  let asked: RuntimeServers | undefined;
  let hasAny = false;
  let isStopped = false;
  /** What is wrong is told once until it is right again: a stream may be wrong at any rate. */
  let isTold = false;
  let subscription: Subscription | undefined;

  const note = (next: RuntimeServers, publication: Promise<Publication>): void => {
    hasAny = true;
    asked = next;
    publication.catch(() => {
      if (asked === next) asked = undefined;
    });
  };
  const take = (item: TItem): void => {
    const next = ports.project(item);
    if (asked !== undefined && isSameProjection(asked, next)) return;
    const publication = ports.replace(next);
    note(next, publication);
    publication.catch((error: unknown) => {
      if (!isStopped) ports.warn(`A catalog was not taken over, and the last one stays: ${messageOf(error)}`);
    });
  };
  // What is thrown inside a subscriber nobody could catch (RT-12).
  const takeSafely = (item: TItem): void => {
    if (isStopped) return;
    try {
      take(item);
      isTold = false;
    } catch (error) {
      if (isTold) return;
      isTold = true;
      ports.warn(`Expected a catalog, got a value that is none (${messageOf(error)}). The last one stays.`);
    }
  };
  const end = (what: string): void => {
    if (isStopped || hasAny) return;
    ports.fail(
      new HoldfastError('runtime_failed', `Expected a catalog, and its stream ${what} before it gave one. Mend it.`),
    );
  };
  const fault = (error: unknown): void => {
    if (isStopped) return;
    ports.warn(`The stream of catalogs failed, and the last one stays: ${messageOf(error)}`);
    end(`failed (${messageOf(error)})`);
  };
  try {
    subscription = from(items$).subscribe({ next: takeSafely, error: fault, complete: () => end('ended') });
  } catch (error) {
    fault(error);
  }
  return {
    note,
    stop() {
      isStopped = true;
      try {
        subscription?.unsubscribe();
      } catch (error) {
        ports.warn(`The stream of catalogs threw as it was left: ${messageOf(error)}`);
      }
    },
  };
}

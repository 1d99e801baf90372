/** The questions that are shown now: a table with constant-time changes, and the list its watchers get (SPEC EL-7, EL-12). */
import type { Observable, Observer } from 'rxjs';
import type { PendingElicitation } from '../domain/elicitation.ts';
import { safeObservable } from './safe-observable.ts';

export class PendingList {
  /** The current list first, then every change; changes within one turn of the event loop come as one. */
  readonly changes$: Observable<readonly PendingElicitation[]>;
  readonly #shown = new Map<string, PendingElicitation>();
  readonly #observers = new Set<Observer<readonly PendingElicitation[]>>();
  #scheduled = false;
  #ended = false;

  constructor(report: (error: unknown) => void) {
    this.changes$ = safeObservable<readonly PendingElicitation[]>((observer) => {
      observer.next(this.list());
      if (this.#ended) {
        observer.complete();
        return undefined;
      }
      this.#observers.add(observer);
      return () => {
        this.#observers.delete(observer);
      };
    }, report);
  }

  /** Oldest first. */
  list(): readonly PendingElicitation[] {
    return [...this.#shown.values()];
  }

  add(elicitation: PendingElicitation): void {
    this.#shown.set(elicitation.token, elicitation);
    this.#changed();
  }

  /** Whether it was shown. */
  remove(token: string): boolean {
    const wasShown = this.#shown.delete(token);
    if (wasShown) this.#changed();
    return wasShown;
  }

  /** Completes its watchers after the last change. */
  end(): void {
    this.#ended = true;
    this.#changed();
  }

  #changed(): void {
    if (this.#observers.size === 0 || this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const list = this.list();
      for (const observer of this.#observers) {
        observer.next(list);
        if (this.#ended) observer.complete();
      }
    });
  }
}

/** Observables whose subscribers cannot bring the process down: what they throw is reported, not rethrown (SPEC RT-12). */
import { Observable, Subscriber } from 'rxjs';
import type { Observer, Operator, Subscription, TeardownLogic } from 'rxjs';

type Report = (error: unknown) => void;

/**
 * Makes an observable, safe through `pipe` too, whose subscribers' errors go to `report`.
 *
 * Of one subscription only the first is reported: the report may itself be something the subscriber is given.
 */
export function safeObservable<T>(
  subscribe: (subscriber: Observer<T>) => TeardownLogic,
  report: Report,
): Observable<T> {
  return new SafeObservable<T>(report, subscribe);
}

class SafeObservable<T> extends Observable<T> {
  readonly #report: Report;

  constructor(report: Report, subscribe?: (subscriber: Subscriber<T>) => TeardownLogic) {
    super(subscribe);
    this.#report = report;
  }

  override lift<R>(operator?: Operator<T, R>): Observable<R> {
    const lifted = new SafeObservable<R>(this.#report);
    return Object.assign(lifted, { source: this, operator });
  }

  override subscribe(observer?: unknown, error?: unknown, complete?: unknown): Subscription {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- rxjs's own operators subscribe with subscribers of T
    if (observer instanceof Subscriber) return super.subscribe(observer as Subscriber<T>);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the shapes rxjs's overloads allow
    const given = (typeof observer === 'function' ? { next: observer, error, complete } : (observer ?? {})) as Partial<
      Observer<T>
    >;
    let isReported = false;
    const guard = (run: () => unknown): void => {
      try {
        const running = run();
        // An async listener fails later, and must not bring the process down either.
        if (running instanceof Promise) running.catch(this.#report);
      } catch (thrown) {
        if (isReported) return;
        isReported = true;
        this.#report(thrown);
      }
    };
    return super.subscribe({
      next: (value) => {
        guard(() => given.next?.(value));
      },
      error: (reason: unknown) => {
        guard(() => given.error?.(reason));
      },
      complete: () => {
        guard(() => given.complete?.());
      },
    });
  }
}

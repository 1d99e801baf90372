/**
 * Facts of one thread, told in order after the transition that made them.
 *
 * Owns the queue and the subscribers of `events$`. A fact is delivered in a microtask that was queued before the promise
 * of any reply that depends on it settles, and never from inside a transition: a listener that looks at the thread sees
 * the state the fact speaks of.
 */
import type { Observable, Observer } from 'rxjs';
import type { Clock } from '../api.ts';
import type { ThreadEvent } from '../domain/events.ts';
import { isoTime } from '../domain/question.ts';
import type { Redactor } from '../domain/redact.ts';
import { messageOf } from '../domain/errors.ts';
import { frozenCopy } from '../domain/frozen.ts';
import { safeObservable } from './safe-observable.ts';

type WithoutTime<TEvent> = TEvent extends unknown ? Omit<TEvent, 'at'> : never;

/** A fact before it is dated. */
export type NewFact = WithoutTime<ThreadEvent>;

export interface Facts {
  readonly events$: Observable<ThreadEvent>;
  /** Whether anybody listens. A caller on a hot path asks first. */
  readonly observed: boolean;
  tell(fact: NewFact): void;
  warn(code: string, message: string, server?: string): void;
  /** Completes `events$` after the facts told so far. */
  end(): void;
}

/** Makes the facts of one thread. */
export function createFacts(clock: Clock, redactor: Redactor): Facts {
  const observers = new Set<Observer<ThreadEvent>>();
  let queue: ThreadEvent[] = [];
  let ended = false;
  // What happens while a thread is made is told to who subscribes in the same turn.
  let fresh = true;

  function flush(): void {
    const batch = queue;
    queue = [];
    fresh = false;
    for (const fact of batch) for (const observer of observers) observer.next(fact);
    if (ended) for (const observer of observers) observer.complete();
  }

  function tell(fact: NewFact): void {
    if ((observers.size === 0 && !fresh) || ended) return;
    if (queue.length === 0) queueMicrotask(flush);
    queue.push(frozenCopy(redactor.value({ at: isoTime(clock.now()), ...fact })) as ThreadEvent);
  }

  function warn(code: string, message: string, server?: string): void {
    tell({ type: 'warning', code, message, ...(server === undefined ? {} : { server }) });
  }

  const events$ = safeObservable<ThreadEvent>(
    (subscriber) => {
      if (ended) {
        subscriber.complete();
        return undefined;
      }
      observers.add(subscriber);
      return () => {
        observers.delete(subscriber);
      };
    },
    (error) => {
      warn(
        'listener_failed',
        `A listener of events$ threw: ${messageOf(error)}. The thread goes on; what it throws later is not reported.`,
      );
    },
  );

  return {
    events$,
    get observed() {
      return observers.size > 0;
    },
    tell,
    warn,
    end() {
      if (ended) return;
      ended = true;
      if (queue.length === 0) queueMicrotask(flush);
    },
  };
}

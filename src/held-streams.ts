/**
 * Listens to the streams a thread is made with from its first moment, for what is loaded a little later to hear: of each
 * stream what it gave last, and its end.
 */
import { defer, finalize, from, isObservable, ReplaySubject, Subscription, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Extension, WorldStateSection } from './api.ts';

/** Makes a stream that holds others: they are left with it. */
export function holding<TValue>(make: (until: Subscription) => Observable<TValue>): Observable<TValue> {
  return defer(() => {
    const until = new Subscription();
    return make(until).pipe(finalize(() => until.unsubscribe()));
  });
}

/** A stream that says again what the given one said last. */
export function heldStream<TValue>(stream: Observable<TValue>, until: Subscription): Observable<TValue> {
  const held = new ReplaySubject<TValue>(1);
  try {
    until.add(from(stream).subscribe(held));
  } catch (error) {
    held.error(error);
  }
  return held;
}

/** The same sections, their streams held. */
export function heldSections(
  sections: readonly WorldStateSection[],
  until: Subscription,
): readonly WorldStateSection[] {
  return sections.map((section) =>
    isObservable(section.value) ? { id: section.id, value: heldStream(section.value, until) } : section,
  );
}

/** The same extension, its streams held; a part that throws is a stream that fails. */
export function heldExtension(extension: Extension, until: Subscription): Extension {
  const servers = heldPart(() => extension.servers, until);
  const sections = heldPart(() => extension.worldState, until);
  const skills = heldPart(() => extension.skills, until);
  const worldState = Array.isArray(sections) ? heldSections(sections, until) : sections;
  return {
    id: extension.id,
    ...(servers === undefined ? {} : { servers }),
    ...(worldState === undefined ? {} : { worldState }),
    ...(skills === undefined ? {} : { skills }),
  };
}

function heldPart<TPart>(
  get: () => TPart | Observable<TPart> | undefined,
  until: Subscription,
): TPart | Observable<TPart> | undefined {
  try {
    const part = get();
    return isStream(part) ? heldStream(part, until) : part;
  } catch (error) {
    return throwError(() => error);
  }
}

function isStream<TPart>(part: TPart | Observable<TPart> | undefined): part is Observable<TPart> {
  return isObservable(part);
}

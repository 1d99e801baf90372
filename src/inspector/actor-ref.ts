/** What the inspector reads of an actor that XState's public types do not name. Nothing here changes an actor. */
import type { ActorRefLike } from 'xstate';
import { isRecord } from '../domain/json.ts';

/** Tells whether a value is an actor, running or not, of any logic. */
export function isActorRef(value: unknown): value is ActorRefLike {
  return (
    isRecord(value) &&
    typeof value['sessionId'] === 'string' &&
    typeof value['send'] === 'function' &&
    typeof value['getSnapshot'] === 'function'
  );
}

/** The actor that made this one; `undefined` for a root. */
export function parentOf(ref: ActorRefLike): ActorRefLike | undefined {
  const parent = read(ref, '_parent');
  return isActorRef(parent) ? parent : undefined;
}

/** The configuration of the actor's machine; `undefined` for every other logic. */
export function configOf(ref: ActorRefLike): Record<string, unknown> | undefined {
  const logic = read(ref, 'logic');
  if (!isRecord(logic)) return undefined;
  return isRecord(logic['config']) ? logic['config'] : undefined;
}

/**
 * The name an actor was given.
 *
 * One that got none is called after what it runs: XState's own default is a number that differs from run to run.
 */
export function nameOf(ref: ActorRefLike): string {
  const id = read(ref, 'id');
  if (typeof id === 'string' && id !== ref.sessionId) return id;
  const source = read(ref, 'src');
  if (typeof source === 'string') return source;
  const machine = configOf(ref)?.['id'];
  return typeof machine === 'string' ? machine : 'actor';
}

/** Tells whether an actor has ended: done, failed or stopped, also before it was ever started. */
export function isOver(ref: ActorRefLike): boolean {
  const status = statusOf(snapshotOf(ref));
  return (status !== undefined && status !== 'active') || read(ref, '_processingStatus') === stoppedStatus;
}

/** The snapshot of an actor; `undefined` while it is being made, where XState's development build refuses to read it. */
export function snapshotOf(ref: ActorRefLike): unknown {
  try {
    return ref.getSnapshot();
  } catch {
    return undefined;
  }
}

/** The status a snapshot carries; `undefined` while the actor is still being made. */
export function statusOf(snapshot: unknown): string | undefined {
  const status = isRecord(snapshot) ? snapshot['status'] : undefined;
  return typeof status === 'string' ? status : undefined;
}

/** XState's internal number for an actor that processes nothing any more. */
const stoppedStatus = 2;

function read(ref: ActorRefLike, key: string): unknown {
  return Reflect.get(ref, key);
}

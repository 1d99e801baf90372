/**
 * The bridge from XState's inspection to frames.
 *
 * Owns the registry of live actors and the viewers. Receives XState's inspection events; sends frames.
 *
 * - B1 Nothing is serialised while nobody watches; the registry is kept all the same.
 * - B2 A viewer gets a live actor's registration before anything that names it, parents before children.
 * - B3 Every end is told once, before the parent hears of it; also one that XState shows no snapshot for.
 */
import type { ActorRefLike, AnyEventObject, InspectionEvent } from 'xstate';
import type { InspectionFrame } from '../api.ts';
import { isRecord } from '../domain/json.ts';
import { isOver, snapshotOf, statusOf } from './actor-ref.ts';
import { actorFrame, eventFrame, snapshotFrame } from './frames.ts';
import type { FrameOptions } from './frames.ts';
import type { Redact } from './plain.ts';
import { createActorRegistry } from './registry.ts';
import type { ActorEntry } from './registry.ts';
import { createViewers } from './viewers.ts';
import type { FrameSink } from './viewers.ts';

/** What a bridge is made with. */
export interface InspectorBridgeOptions {
  /** Takes secrets out of a string. Default: changes nothing. */
  readonly redact?: Redact;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /** The first viewer. Default: none until somebody attaches. */
  readonly send?: FrameSink;
}

/** Turns what XState tells an inspector into frames. */
export interface InspectorBridge {
  /** Give this to `createActor(root, { inspect })`. */
  readonly inspect: (event: InspectionEvent) => void;
  /** Adds a viewer: it gets the live actors first, parents before children, then everything. Returns its end. */
  readonly attach: (send: FrameSink) => () => void;
  /** How many actors live now. */
  readonly size: number;
}

/** Makes a bridge for one actor system, or for several whose roots have names of their own. */
export function createInspectorBridge(options: InspectorBridgeOptions = {}): InspectorBridge {
  const redact: Redact = options.redact ?? ((value) => value);
  const viewers = createViewers();
  const registry = createActorRegistry({ redact, onUnseenEnd: endUnseen });
  const frames: FrameOptions = { redact, now: options.now ?? Date.now, idOf: (ref) => registry.idOf(ref) };

  function announce(entry: ActorEntry): void {
    if (entry.announced) return;
    if (entry.parent !== undefined) announce(entry.parent);
    entry.announced = true;
    viewers.send(actorFrame(entry, frames));
  }

  function onEvent(ref: ActorRefLike, event: AnyEventObject, sourceRef: ActorRefLike | undefined): void {
    const source = sourceRef === undefined ? undefined : registry.entry(sourceRef);
    if (source !== undefined && !source.ended && tellsEnd(event) && isOver(source.ref)) endUnseen(source);
    if (viewers.idle) return;
    const entry = registry.entry(ref);
    if (source !== undefined) announce(source);
    announce(entry);
    if (!entry.ended) entry.last = event;
    viewers.send(eventFrame(entry, event, source, frames));
  }

  function onSnapshot(entry: ActorEntry, event: AnyEventObject, snapshot: unknown): void {
    if (entry.ended) return; // B3: its end was told already.
    const stopped = event.type === 'xstate.stop';
    if (!viewers.idle) {
      announce(entry);
      viewers.send(snapshotFrame(entry, event, stopped ? asStopped(snapshot) : snapshot, frames));
    }
    if (stopped || statusOf(snapshot) !== 'active') registry.end(entry);
  }

  function endUnseen(entry: ActorEntry): void {
    onSnapshot(entry, entry.last ?? { type: 'xstate.stop' }, asStopped(snapshotOf(entry.ref)));
  }

  function inspect(event: InspectionEvent): void {
    switch (event.type) {
      case '@xstate.actor':
        registry.entry(event.actorRef);
        return;
      case '@xstate.event':
        onEvent(event.actorRef, event.event, event.sourceRef);
        return;
      case '@xstate.snapshot':
        onSnapshot(registry.entry(event.actorRef), event.event, event.snapshot);
        return;
      case '@xstate.action':
      case '@xstate.microstep':
      case '@xstate.transition':
        return;
    }
  }

  function attach(send: FrameSink): () => void {
    const first: InspectionFrame[] = [];
    const replayed = new Set<ActorEntry>();
    const replay = (entry: ActorEntry): void => {
      if (replayed.has(entry)) return;
      replayed.add(entry);
      if (entry.parent !== undefined) replay(entry.parent);
      announceTo(entry, first);
    };
    for (const entry of registry.live()) replay(entry);
    return viewers.attach(send, first);
  }

  function announceTo(entry: ActorEntry, first: InspectionFrame[]): void {
    const frame = actorFrame(entry, frames);
    if (!entry.announced) viewers.send(frame);
    entry.announced = true;
    first.push(frame);
  }

  if (options.send !== undefined) attach(options.send);
  return {
    inspect,
    attach,
    get size() {
      return registry.size;
    },
  };
}

/** Tells whether an event is named as the one an actor's end is reported with. Anybody can send one; its state decides. */
function tellsEnd(event: AnyEventObject): boolean {
  return event.type.startsWith('xstate.done.actor.') || event.type.startsWith('xstate.error.actor.');
}

/** Logic that does not know `xstate.stop` keeps saying it is active; XState has stopped it all the same. */
function asStopped(snapshot: unknown): unknown {
  if (!isRecord(snapshot)) return { status: 'stopped' };
  return snapshot['status'] === 'active' ? { ...snapshot, status: 'stopped' } : snapshot;
}

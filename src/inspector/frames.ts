/** Builds the three frames of the Stately inspector's wire format (SPEC IN-1). */
import type { InspectionFrame } from '../api.ts';
import { isRecord } from '../domain/json.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { configOf, snapshotOf } from './actor-ref.ts';
import { toPlain } from './plain.ts';
import type { PlainOptions } from './plain.ts';
import type { ActorEntry } from './registry.ts';

/** The version of `@statelyai/inspect` whose frames these are. */
const frameVersion = '0.7.2';

export interface FrameOptions extends PlainOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The registration of an actor, with its snapshot now. */
export function actorFrame(entry: ActorEntry, options: FrameOptions): InspectionFrame {
  return {
    type: '@xstate.actor',
    name: entry.name,
    ...common(entry, options),
    ...(entry.parent === undefined ? {} : { parentId: entry.parent.id }),
    definition: definitionOf(entry, options),
    snapshot: plainSnapshot(snapshotOf(entry.ref), options),
  };
}

/** An event on its way to `entry`; from outside the system when there is no `source`. */
export function eventFrame(
  entry: ActorEntry,
  event: unknown,
  source: ActorEntry | undefined,
  options: FrameOptions,
): InspectionFrame {
  return {
    type: '@xstate.event',
    ...common(entry, options),
    ...(source === undefined ? {} : { sourceId: source.id }),
    event: toPlain(event, options) ?? {},
  };
}

/** The snapshot `event` led to. */
export function snapshotFrame(
  entry: ActorEntry,
  event: unknown,
  snapshot: unknown,
  options: FrameOptions,
): InspectionFrame {
  return {
    type: '@xstate.snapshot',
    ...common(entry, options),
    event: toPlain(event, options) ?? {},
    snapshot: plainSnapshot(snapshot, options),
  };
}

interface CommonFields {
  readonly sessionId: string;
  readonly rootId: string;
  readonly createdAt: string;
  readonly id: null;
  readonly _version: string;
}

function common(entry: ActorEntry, options: FrameOptions): CommonFields {
  return {
    sessionId: entry.id,
    rootId: entry.rootId,
    createdAt: String(options.now()),
    id: null,
    _version: frameVersion,
  };
}

/** Definitions by machine configuration: thousands of calls share one. Kept unredacted: secrets become known later. */
const definitions = new WeakMap<object, string>();

function definitionOf(entry: ActorEntry, options: FrameOptions): string {
  const config = configOf(entry.ref);
  if (config === undefined) return JSON.stringify({ id: entry.name });
  const known = definitions.get(config);
  const definition = known ?? JSON.stringify(toPlain(config, { ...options, redact: (value) => value }) ?? {});
  if (known === undefined) definitions.set(config, definition);
  // Redacting the text could break its JSON, so that is only how a secret in it is found.
  return options.redact(definition) === definition ? definition : JSON.stringify(toPlain(config, options) ?? {});
}

/** An actor that is still being made has no snapshot yet. */
const unborn: JsonObject = { status: 'active' };

function plainSnapshot(snapshot: unknown, options: FrameOptions): Json {
  if (!isRecord(snapshot)) return unborn;
  const entries = Object.entries(snapshot)
    .filter(([key, value]) => !key.startsWith('_') && key !== 'machine' && typeof value !== 'function')
    .map(([key, value]) => [key, key === 'historyValue' ? plainHistory(value) : value]);
  return toPlain(Object.fromEntries(entries), options) ?? unborn;
}

/** A history holds state nodes; their ids say the same. */
function plainHistory(history: unknown): unknown {
  if (!isRecord(history)) return undefined;
  const entries = Object.entries(history).map(([key, nodes]) => [
    key,
    Array.isArray(nodes) ? nodes.map((node: unknown) => ({ id: isRecord(node) ? node['id'] : undefined })) : [],
  ]);
  return Object.fromEntries(entries);
}

/** Turns any value an actor may hold into redacted, bounded JSON that survives a round trip unchanged (H9, SE-1). */
import type { ActorRefLike } from 'xstate';
import type { Json } from '../domain/json.ts';
import { isActorRef } from './actor-ref.ts';

/** Takes every known secret out of a value. */
export type Redact = <TValue>(value: TValue) => TValue;

export interface PlainOptions {
  /** Gets every string, keys included, before it is cut: half a secret is a secret too. */
  readonly redact: Redact;
  /** Names the actors found in the value. */
  readonly idOf: (ref: ActorRefLike) => string;
}

/** How much of a value one frame carries. What is left out leaves a mark in square brackets. */
export const plainLimits = { characters: 10_000, entries: 1_000, depth: 32, values: 20_000, total: 1_000_000 } as const;

interface Walk extends PlainOptions {
  /** The objects being converted, outermost first: a value that holds itself ends here. */
  readonly open: Set<object>;
  values: number;
  characters: number;
}

/** Converts `value`; `undefined` when JSON has nothing for it. Reads nothing it was not given, never throws on bad data. */
export function toPlain(value: unknown, options: PlainOptions): Json | undefined {
  const walk: Walk = { ...options, open: new Set(), values: plainLimits.values, characters: plainLimits.total };
  return convert(value, walk);
}

function convert(value: unknown, walk: Walk): Json | undefined {
  walk.values -= 1;
  switch (typeof value) {
    case 'string':
      return text(value, walk);
    case 'number':
      return Number.isFinite(value) ? value + 0 : null;
    case 'boolean':
      return value;
    case 'bigint':
    case 'symbol':
      return text(String(value), walk);
    case 'function':
      return { type: text(value.name, walk) };
    case 'undefined':
      return undefined;
    case 'object':
      break;
  }
  return value === null ? null : guarded(value, walk);
}

function guarded(value: object, walk: Walk): Json | undefined {
  if (walk.open.has(value)) return '[circular]';
  if (walk.open.size >= plainLimits.depth) return '[too deep]';
  walk.open.add(value);
  try {
    return content(value, walk);
  } catch (error) {
    // A getter, a proxy or a `toJSON` of the value threw; a frame must not fail for it.
    return `[unreadable: ${text(error instanceof Error ? error.name : typeof error, walk)}]`;
  } finally {
    walk.open.delete(value);
  }
}

function content(value: object, walk: Walk): Json | undefined {
  if (isActorRef(value)) return { xstate$$type: 1, id: walk.idOf(value) };
  if (Array.isArray(value)) return list(value, value.length, walk);
  if (value instanceof Set) return list(value, value.size, walk);
  if (value instanceof Map) return list(value, value.size, walk);
  if (value instanceof Error) return record(describe(value), walk);
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) {
    return { type: value.constructor.name, byteLength: value.byteLength };
  }
  const toJson: unknown = Reflect.get(value, 'toJSON');
  if (typeof toJson === 'function') return convert(Reflect.apply(toJson, value, []), walk);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return record(value, walk);
  return { type: text(value.constructor.name, walk) };
}

/** An error's name and message are not among its own enumerable keys; its stack is left out: it names local paths. */
function describe(error: Error): object {
  return Object.assign({ name: error.name, message: error.message }, error);
}

function list(values: Iterable<unknown>, length: number, walk: Walk): Json {
  const result: Json[] = [];
  for (const value of values) {
    if (result.length >= plainLimits.entries || walk.values <= 0) {
      result.push(`[${length - result.length} more]`);
      break;
    }
    result.push(convert(value, walk) ?? null);
  }
  return result;
}

function record(value: object, walk: Walk): Json {
  const keys = Object.keys(value);
  const entries: [string, Json][] = [];
  for (const [index, key] of keys.entries()) {
    if (entries.length >= plainLimits.entries || walk.values <= 0) {
      entries.push([`[${keys.length - index} more]`, true]);
      break;
    }
    const converted = convert(Reflect.get(value, key), walk);
    if (converted !== undefined) entries.push([text(key, walk), converted]);
  }
  // `fromEntries` defines keys; assignment would make a prototype of a key named `__proto__`.
  return Object.fromEntries(entries);
}

function text(value: string, walk: Walk): string {
  const redacted = walk.redact(value);
  const room = Math.max(0, Math.min(plainLimits.characters, walk.characters));
  walk.characters -= redacted.length;
  if (redacted.length <= room) return redacted;
  return `${redacted.slice(0, room)}[${redacted.length - room} more characters]`;
}

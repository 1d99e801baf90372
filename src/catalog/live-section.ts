/** One contributed section of the world state: where its value comes from, listened to from now on (SPEC WS-1). */
import { isObservable } from 'rxjs';
import type { Subscription } from 'rxjs';
import type { WorldStateSection } from '../api.ts';
import { messageOf } from '../domain/errors.ts';
import { frozenCopy } from '../domain/frozen.ts';
import { isJsonObject, toJson } from '../domain/json.ts';
import type { Json } from '../domain/json.ts';

/** What one section may be: bytes of JSON, and levels. */
export const sectionBounds = { bytes: 65_536, depth: 64 } as const;

export class LiveSection {
  readonly id: string;
  readonly #source: WorldStateSection['value'];
  readonly #subscription: Subscription | undefined;
  #latest: Json | undefined;
  #made: { readonly of: unknown; readonly json: Json | undefined } | undefined;
  #failure: string | undefined;

  constructor({ id, value }: WorldStateSection) {
    this.id = id;
    this.#source = value;
    if (!isObservable(value)) return;
    this.#subscription = value.subscribe({
      next: (latest) => {
        this.#latest = latest;
      },
      error: (error: unknown) => {
        this.#failure = messageOf(error);
      },
    });
  }

  /** Why its stream ended, if it failed. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /**
   * What it says now, as JSON without null members.
   *
   * @throws whatever the section throws, and for what is no JSON or too large.
   */
  value(): Json | undefined {
    const source = this.#source;
    if (typeof source === 'function') return jsonOf(source());
    const given: unknown = isObservable(source) ? this.#latest : source;
    if (this.#made === undefined || this.#made.of !== given) this.#made = { of: given, json: jsonOf(given) };
    return this.#made.json;
  }

  stop(): void {
    this.#subscription?.unsubscribe();
  }
}

function jsonOf(value: unknown): Json | undefined {
  if (value === undefined || value === null) return undefined;
  const text: unknown = JSON.stringify(value, refuseLoss);
  if (typeof text !== 'string') throw new TypeError(`expected JSON, got a value of type ${typeof value}`);
  const bytes = Buffer.byteLength(text);
  if (bytes > sectionBounds.bytes)
    throw new RangeError(`expected at most ${String(sectionBounds.bytes)} bytes of JSON, got ${String(bytes)}`);
  const stripped = withoutNulls(JSON.parse(text), 0);
  return stripped === undefined ? undefined : frozenCopy(stripped);
}

/** What JSON would make `{}` of: a promise, a map, an instance of a class that does not say how it is written. */
function refuseLoss(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1);
  if (kind === 'Object') return value;
  const hint = kind === 'Promise' ? '. Wait for it before, or give an observable of its value' : '';
  throw new TypeError(`expected JSON, got a value of type ${kind}${hint}`);
}

/** Null members would say, in a merge patch, that there are none. */
function withoutNulls(value: unknown, depth: number): Json | undefined {
  if (depth > sectionBounds.depth)
    throw new RangeError(`expected at most ${String(sectionBounds.depth)} levels, got more`);
  if (value === null) return undefined;
  if (Array.isArray(value)) return value.map((item: unknown) => withoutNulls(item, depth + 1) ?? null);
  if (!isJsonObject(value)) return toJson(value);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]): [string, Json][] => {
      const kept = withoutNulls(item, depth + 1);
      return kept === undefined ? [] : [[key, kept]];
    }),
  );
}

/** The values JSON can carry: what contexts, events and snapshots are made of. */
import { withoutUserInfo } from './user-info.ts';

/** A value JSON can carry. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** Tells whether a value is an object with keys: not null, not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Names a value as JSON: for what was parsed from JSON, or is about to be written as it. What cannot be JSON is `null`. */
export function toJson(value: unknown): Json {
  return isJson(value) ? value : null;
}

/** Tells whether an object is a JSON object: for what was parsed from JSON, or is about to be written as it. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value);
}

function isJson(value: unknown): value is Json {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol' && typeof value !== 'bigint';
}

/** A value as an error message shows it: short, never throwing. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  try {
    const text = withoutUserInfo(JSON.stringify(value));
    // What was cut is marked: the rest of a secret is known by it.
    return text.length > 200 ? `${text.slice(0, 200)}…` : text;
  } catch {
    return typeof value;
  }
}

/** JSON merge patches (RFC 7386): how the state of the world changed from one step to the next (SPEC WS-1). */
import type { Json, JsonObject } from './json.ts';

/**
 * The patch that makes `after` of `before`; `{}` when nothing changed.
 *
 * `undefined` when there is none: a merge patch cannot set a member to null, because null removes. Keep such states
 * apart by sending `after` whole.
 */
export function diffMergePatch(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const patch: [string, Json][] = [];
  for (const [key, value] of Object.entries(after)) {
    if (value === undefined) continue;
    const old = own(before, key);
    if (old !== undefined && isEqual(old, value)) continue;
    const change = isObject(value) ? diffMergePatch(old !== undefined && isObject(old) ? old : {}, value) : value;
    if (change === undefined || change === null) return undefined;
    patch.push([key, change]);
  }
  for (const [key, value] of Object.entries(before)) {
    if (value !== undefined && own(after, key) === undefined) patch.push([key, null]);
  }
  return Object.fromEntries(patch);
}

/** Applies a patch and returns the new value; what did not change is shared with the target, which stays as it is. */
export function applyMergePatch(target: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const members = new Map<string, Json>();
  for (const [key, value] of isObject(target) ? Object.entries(target) : [])
    if (value !== undefined) members.set(key, value);
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) members.delete(key);
    else members.set(key, applyMergePatch(members.get(key) ?? null, value));
  }
  return Object.fromEntries(members);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEqual(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    const [left, right]: readonly unknown[] = [a, b];
    return (
      isJsonArray(left) &&
      isJsonArray(right) &&
      left.length === right.length &&
      left.every((item, index) => isSameItem(item, right[index]))
    );
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = keysOf(a);
  return keys.length === keysOf(b).length && keys.every((key) => isSameItem(own(a, key), own(b, key)));
}

function isSameItem(a: Json | undefined, b: Json | undefined): boolean {
  return a !== undefined && b !== undefined && isEqual(a, b);
}

function isJsonArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

function keysOf(object: JsonObject): readonly string[] {
  return Object.keys(object).filter((key) => object[key] !== undefined);
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

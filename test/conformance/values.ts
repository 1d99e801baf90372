/** Reading what the suite and its servers say, whose shapes nothing guarantees. */
import type { JsonObject } from 'holdfast';

/** The context of a scenario, as an object. */
export function contextOf(peer: { readonly context: unknown }): JsonObject {
  if (isObject(peer.context)) return peer.context;
  throw new Error(`Expected MCP_CONFORMANCE_CONTEXT to be an object, got ${JSON.stringify(peer.context)}.`);
}

/** Tells whether a value that was read from JSON is an object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The texts that the objects of a list have under `key`. */
export function textsOf(value: unknown, key: string): readonly string[] {
  return objectsOf(value)
    .map((entry) => entry[key])
    .filter((found) => typeof found === 'string');
}

/** Rejects what is not so. */
export function expectThat(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`Expected that ${what}. It is not so.`);
}

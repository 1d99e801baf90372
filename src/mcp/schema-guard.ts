/** Keeps hostile schemas out (SPEC NM-3), and checks what a call passes as arguments (SPEC RT-8). */
import type { Issue } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import { isRecord } from '../domain/json.ts';

export type SchemaCheck =
  | {
      readonly ok: true;
      /** Whether a `$ref` points outside the schema. It is kept as sent and never fetched. */
      readonly hasRemoteRef: boolean;
    }
  | { readonly ok: false; readonly reason: string };

/** Deepest nesting of a schema: the schema itself is level 1. */
export const maxSchemaDepth = 200;

/** Largest schema, in bytes of its JSON in UTF-8. */
export const maxSchemaBytes = 1_048_576;

interface Level {
  readonly value: object;
  readonly children: readonly (readonly [key: string | undefined, value: unknown])[];
  next: number;
}

/**
 * Says whether a schema is an object of JSON that is at most 200 levels deep and 1 MiB large.
 *
 * Looks at no more than that, keeps its own stack instead of recursing, and needs nothing from outside.
 */
export function guardSchema(schema: unknown): SchemaCheck {
  if (!isRecord(schema)) return refuse(`Expected a schema that is an object, got ${kindOf(schema)}.`);
  const open = new Set<object>();
  const levels: Level[] = [];
  let bytes = 0;
  let hasRemoteRef = false;

  function enter(value: object): string | undefined {
    if (open.has(value)) return 'Expected a schema of JSON, got one that contains itself.';
    if (levels.length >= maxSchemaDepth)
      return `Expected a schema of at most ${String(maxSchemaDepth)} levels, got a deeper one.`;
    const children = childrenOf(value, maxSchemaBytes - bytes);
    if (children === undefined) return tooLarge;
    open.add(value);
    levels.push({ value, children, next: 0 });
    bytes += 2 + Math.max(0, children.length - 1);
    return undefined;
  }

  let problem = enter(schema);
  while (problem === undefined) {
    const level = levels.at(-1);
    if (level === undefined) return { ok: true, hasRemoteRef };
    const child = level.children[level.next];
    level.next += 1;
    if (child === undefined) {
      open.delete(level.value);
      levels.pop();
      continue;
    }
    const [key, value] = child;
    if (key !== undefined) bytes += sizeOfText(key, maxSchemaBytes - bytes) + 1;
    if (key === '$ref' && typeof value === 'string' && !value.startsWith('#')) hasRemoteRef = true;
    if (typeof value === 'object' && value !== null) problem = enter(value);
    else if (typeof value === 'bigint') problem = 'Expected a schema of JSON, got one with a bigint.';
    else bytes += sizeOfLeaf(value, maxSchemaBytes - bytes);
    if (bytes > maxSchemaBytes) problem ??= tooLarge;
  }
  return refuse(problem);
}

/**
 * Says what keeps arguments from being sent: they are an object, or none. What is in them is the server's to check.
 *
 * `schema` only serves the message: it names the arguments the tool takes.
 */
export function checkArguments(schema: JsonObject, args: unknown): readonly Issue[] {
  if (args === undefined || isRecord(args)) return [];
  const properties = schema['properties'];
  const names = isRecord(properties) ? Object.keys(properties).slice(0, 10) : [];
  const wanted = names.length === 0 ? '' : ` with ${names.map((name) => JSON.stringify(name)).join(', ')}`;
  return [{ path: '', message: `Expected arguments as an object${wanted}, or none, got ${kindOf(args)}.` }];
}

const tooLarge = 'Expected a schema of at most 1 MiB, got a larger one.';

function refuse(reason: string): SchemaCheck {
  return { ok: false, reason };
}

/** What is in an array or object, as JSON writes it; `undefined` when that alone is more than `room` bytes. */
function childrenOf(value: object, room: number): Level['children'] | undefined {
  if (Array.isArray(value))
    return value.length > room ? undefined : value.map((item: unknown) => [undefined, item] as const);
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
  return entries.length * 4 > room ? undefined : entries.filter(([, item]) => isJson(item));
}

function isJson(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}

function sizeOfLeaf(value: unknown, room: number): number {
  if (typeof value === 'string') return sizeOfText(value, room);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value).length : 4;
  return value === false ? 5 : 4;
}

/** The bytes of a text in JSON. A text that is too long anyway is not read. */
function sizeOfText(text: string, room: number): number {
  return text.length > room ? text.length : Buffer.byteLength(JSON.stringify(text));
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}

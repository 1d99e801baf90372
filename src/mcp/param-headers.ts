/**
 * Tool arguments that a modern HTTP server wants repeated as headers (`x-mcp-header` in a tool's input schema).
 *
 * Holdfast mirrors `properties` at any depth whose schema carries `x-mcp-header`, a token, on a string, integer or
 * boolean. A declaration anywhere else, or a doubled one, makes the tool invalid: the protocol says to leave it out.
 */
import { isRecord } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import { clip } from './wire.ts';

/** One argument to mirror. */
export interface ParamHeader {
  readonly path: readonly string[];
  /** The full header name. */
  readonly header: string;
}

export type ParamHeaderScan =
  { readonly ok: true; readonly headers: readonly ParamHeader[] } | { readonly ok: false; readonly reason: string };

const keyword = 'x-mcp-header';
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const mirrored: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

/** Keywords that hold one schema or a list of them, and those that hold schemas by name. Nothing below is mirrored. */
const unreachable = [
  'items',
  'prefixItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
  'oneOf',
  'anyOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
];
const unreachableMaps = ['patternProperties', 'dependentSchemas', '$defs', 'definitions'];

/** Finds the arguments of a tool to mirror. Expects a schema that passed the schema guard: its depth is bounded. */
export function scanParamHeaders(inputSchema: JsonObject): ParamHeaderScan {
  const headers: ParamHeader[] = [];
  const names = new Set<string>();
  const visit = (schema: unknown, path: readonly string[], reachable: boolean): string | undefined => {
    if (!isRecord(schema)) return undefined;
    if (Object.hasOwn(schema, keyword)) {
      const fault = faultOf(schema, path, reachable, names);
      if (fault !== undefined) return fault;
      headers.push({ path, header: `Mcp-Param-${String(schema[keyword])}` });
    }
    for (const [child, steps, open] of childrenOf(schema)) {
      const fault = visit(child, [...path, ...steps], reachable && open);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  const reason = visit(inputSchema, [], true);
  return reason === undefined ? { ok: true, headers } : { ok: false, reason };
}

/** The headers of one call. Absent, null and unsafe values are left out. */
export function paramHeadersOf(headers: readonly ParamHeader[], args: unknown): Record<string, string> {
  const values: Record<string, string> = {};
  for (const { path, header } of headers) {
    let value = args;
    for (const key of path) value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    const text = textOf(value);
    if (text !== undefined) values[header] = encodeHeaderValue(text);
  }
  return values;
}

function faultOf(
  schema: Readonly<Record<string, unknown>>,
  path: readonly string[],
  reachable: boolean,
  names: Set<string>,
): string | undefined {
  const at = `"${clip(path.join('.'), 80)}"`;
  const name = schema[keyword];
  if (!reachable || path.length === 0) return `expected "${keyword}" only on properties, got it at ${at}.`;
  if (typeof name !== 'string' || !token.test(name)) return `expected "${keyword}" at ${at} to be a header name.`;
  if (!mirrored.has(schema['type']))
    return `expected "${keyword}" only on strings, integers and booleans, got it at ${at}.`;
  if (names.has(name.toLowerCase()))
    return `expected the "${keyword}" of a tool to differ, got "${clip(name, 80)}" twice.`;
  names.add(name.toLowerCase());
  return undefined;
}

function* childrenOf(
  schema: Readonly<Record<string, unknown>>,
): Generator<readonly [unknown, readonly string[], boolean]> {
  const { properties } = schema;
  if (isRecord(properties)) {
    for (const [name, child] of Object.entries(properties)) yield [child, [name], true];
  }
  for (const name of unreachable) {
    const child = schema[name];
    for (const each of Array.isArray(child) ? child : [child]) yield [each, [`<${name}>`], false];
  }
  for (const name of unreachableMaps) {
    const children = schema[name];
    if (!isRecord(children)) continue;
    for (const child of Object.values(children)) yield [child, [`<${name}>`], false];
  }
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
}

const encodedStart = '=?base64?';
const encodedEnd = '?=';

/** Header values are plain ASCII without outer spaces; everything else travels as base64 of its UTF-8. */
function encodeHeaderValue(text: string): string {
  const isPlain =
    /^[\t\u0020-\u007e]+$/.test(text) &&
    text === text.trim() &&
    !(text.startsWith(encodedStart) && text.endsWith(encodedEnd));
  return isPlain ? text : `${encodedStart}${Buffer.from(text, 'utf8').toString('base64')}${encodedEnd}`;
}

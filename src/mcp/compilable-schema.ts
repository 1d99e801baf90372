/** A schema of a peer, as its validator can take it: without what would make it do something else than check. */
import { isRecord } from '../domain/json.ts';
import type { Json, JsonObject } from '../domain/json.ts';

/** The formats the validator knows. Of any other it would write to the console, and check nothing. */
const knownFormats: ReadonlySet<string> = new Set([
  ...[
    'date',
    'time',
    'date-time',
    'iso-time',
    'iso-date-time',
    'duration',
    'uri',
    'uri-reference',
    'uri-template',
    'url',
  ],
  ...['email', 'hostname', 'ipv4', 'ipv6', 'regex', 'uuid', 'json-pointer', 'json-pointer-uri-fragment'],
  ...['relative-json-pointer', 'byte', 'int32', 'int64', 'float', 'double', 'password', 'binary'],
]);

/** Keywords whose values are data, and not schemas. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'example']);

/** Copies a schema that passed `guardSchema`, without unknown formats and without what asks for a check that takes time. */
export function compilableSchema(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).flatMap(([key, value]) => copyOf(key, value)));
}

function copyOf(key: string, value: Json | undefined): readonly (readonly [string, Json])[] {
  if (value === undefined) return [];
  if (key === '$async' && typeof value === 'boolean') return [];
  if (key === 'format' && typeof value === 'string' && !knownFormats.has(value)) return [];
  return [[key, dataKeywords.has(key) ? value : copied(value)]];
}

function copied(value: Json): Json {
  if (isList(value)) return value.map(copied);
  return isRecord(value) ? compilableSchema(value) : value;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

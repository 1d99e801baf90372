/**
 * Checks what a tool returned against the schema it declares (SPEC NM-3, NM-4). Loaded with the first result to check.
 *
 * A schema comes from a server and may be hostile. Nothing is fetched. One that is small and has no way to cost more than
 * its size times that of the value runs as it is; any other runs under a limit of time that ends even a regular expression,
 * and is not run again once it met the limit.
 */
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { messageOf } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import { compilableSchema } from './compilable-schema.ts';
import { guardSchema } from './schema-guard.ts';
import { runLimited, runOnce } from './time-limited.ts';
import { clip } from './wire.ts';

/** What was found of a value. `unchecked` says nothing of the value: its schema cannot be used. */
export type OutputVerdict =
  | { readonly kind: 'fits' }
  | { readonly kind: 'wrong'; readonly why: string }
  | { readonly kind: 'unchecked'; readonly why: string };

/** How long one schema may hold the process, and how many are kept ready. */
export const outputLimits = { compileMs: 1_000, checkMs: 500, schemas: 256 } as const;

/** A schema of fewer values, without keywords that repeat work, is cheap. */
const cheapSchemaNodes = 400;

/** And so is checking with it what makes fewer pairs of a value of the schema and one of the result. */
const cheapPairs = 2_000_000;

/** Keywords whose work is not bounded by the sizes of schema and value. */
const costly: ReadonlySet<string> = new Set([
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
  'pattern',
  'patternProperties',
  'uniqueItems',
  'format',
]);

type Check = (value: unknown) => OutputVerdict;

interface Compiled {
  readonly check: Check;
  /** A value of fewer parts is checked without a limit of time. */
  readonly freeNodes: number;
}

const compiled = new Map<string, Compiled>();

/** Checks a value. `key` names the schema: the same key, the same schema. */
export function checkOutput(key: string, schema: JsonObject, value: unknown): OutputVerdict {
  const { check, freeNodes } = compiled.get(key) ?? remember(key, compile(schema));
  if (countNodes(value, freeNodes) < freeNodes) return verdictOf(runOnce(() => check(value)));
  const run = runLimited(outputLimits.checkMs, () => check(value));
  if (run.kind !== 'stopped') return verdictOf(run);
  return remember(key, unusable(`checking with it had not ended after ${String(outputLimits.checkMs)} ms`)).check(
    value,
  );
}

function verdictOf(run: ReturnType<typeof runOnce<OutputVerdict>>): OutputVerdict {
  return run.kind === 'value' ? run.value : { kind: 'unchecked', why: messageOf(run.error) };
}

function remember(key: string, entry: Compiled): Compiled {
  compiled.delete(key);
  compiled.set(key, entry);
  for (const oldest of compiled.keys()) {
    if (compiled.size <= outputLimits.schemas) break;
    compiled.delete(oldest);
  }
  return entry;
}

function unusable(why: string): Compiled {
  return { check: () => ({ kind: 'unchecked', why }), freeNodes: Infinity };
}

function compile(schema: JsonObject): Compiled {
  const guarded = guardSchema(schema);
  if (!guarded.ok) return unusable(guarded.reason);
  const nodes = countNodes(schema, cheapSchemaNodes, costly);
  const isCheap = nodes < cheapSchemaNodes;
  const make = (): Check => checkOf(compilableSchema(schema));
  const made = isCheap ? runOnce(make) : runLimited(outputLimits.compileMs, make);
  switch (made.kind) {
    case 'stopped':
      return unusable(`reading it had not ended after ${String(outputLimits.compileMs)} ms`);
    case 'threw':
      return unusable(clip(messageOf(made.error)));
    case 'value':
      return { check: made.value, freeNodes: isCheap ? cheapPairs / (nodes + 1) : 0 };
  }
}

/** A validator of its own for each schema: what one calls itself is no other's business. */
function checkOf(schema: JsonObject): Check {
  const validate = new AjvJsonSchemaValidator().getValidator(schema);
  return (value) => {
    const { valid, errorMessage } = validate(value);
    return valid ? { kind: 'fits' } : { kind: 'wrong', why: clip(errorMessage, 1_000) };
  };
}

/** Counts values, keys with `limit` as the count of any object that has one of `keys`, and stops at `limit`. */
function countNodes(value: unknown, limit: number, keys?: ReadonlySet<string>): number {
  const open: unknown[] = [value];
  let count = 0;
  while (open.length > 0 && count < limit) {
    const next = open.pop();
    count += 1;
    if (typeof next !== 'object' || next === null) continue;
    if (keys !== undefined && Object.keys(next).some((key) => keys.has(key))) return limit;
    const children: readonly unknown[] = Object.values(next);
    for (const child of children) {
      if (open.length + count > limit) return limit;
      open.push(child);
    }
  }
  return count;
}

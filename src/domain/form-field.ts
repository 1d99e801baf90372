/** One field of a form: what its schema asks for, and whether a value fits it (SPEC EL-4). */
import type { Issue } from './errors.ts';
import { isRecord } from './json.ts';
import { formatNames, hasFormat, isTextFormat } from './text-format.ts';
import { matchesPattern } from './text-pattern.ts';

/** The schema of one property, as the server sent it. */
export type FieldSchema = Readonly<Record<string, unknown>>;

/** What kind of input a field is. `undefined`: none that a form allows. */
export type FieldKind = 'string' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';

export function fieldKind(field: FieldSchema): FieldKind | undefined {
  switch (field['type']) {
    case 'string':
      return optionsOf(field) === undefined ? 'string' : 'choice';
    case 'number':
      return 'number';
    case 'integer':
      return 'integer';
    case 'boolean':
      return 'boolean';
    case 'array':
      return isRecord(field['items']) && optionsOf(field['items']) !== undefined ? 'choices' : undefined;
    case undefined:
      return optionsOf(field) === undefined ? undefined : 'choice';
    default:
      return undefined;
  }
}

/** The values a choice allows: `enum` (plain, or legacy with `enumNames`), or the `const`s of `oneOf` or `anyOf`. */
export function optionsOf(field: FieldSchema): readonly string[] | undefined {
  const plain = field['enum'];
  if (Array.isArray(plain)) return plain.every(isText) ? plain : undefined;
  const titled: unknown = field['oneOf'] ?? field['anyOf'];
  if (!Array.isArray(titled)) return undefined;
  const values = titled.map((option: unknown) => (isRecord(option) ? option['const'] : undefined));
  return values.every(isText) ? values : undefined;
}

/** What is wrong with a value of a field; empty when it fits. A field of no known kind takes nothing. */
export function checkField(field: FieldSchema, value: unknown, path: string): readonly Issue[] {
  const kind = fieldKind(field);
  switch (kind) {
    case 'choices':
      return checkChoices(field, value, path);
    case 'string':
      return issue(path, checkText(field, value));
    case 'choice':
      return issue(path, checkChoice(optionsOf(field) ?? [], value));
    case 'boolean':
      return issue(path, typeof value === 'boolean' ? undefined : `Expected true or false, got ${describe(value)}.`);
    case 'number':
    case 'integer':
      return issue(path, checkNumber(field, value, kind));
    case undefined:
      return issue(path, 'Expected no value: the server describes this field in a way forms do not allow.');
  }
}

/** A value as a message shows it: short, in quotes when text. */
export function describe(value: unknown): string {
  if (typeof value === 'string')
    return value.length > 40 ? `a text of ${countOf(value, 'character')}` : JSON.stringify(value);
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : typeof value;
}

function issue(path: string, message: string | undefined): readonly Issue[] {
  return message === undefined ? [] : [{ path, message }];
}

function checkText(field: FieldSchema, value: unknown): string | undefined {
  if (typeof value !== 'string') return `Expected text, got ${describe(value)}.`;
  const length = lengthOf(value);
  const { minLength, maxLength, format, pattern } = field;
  if (isCount(minLength) && length < minLength)
    return `Expected at least ${many(minLength, 'character')}, got ${String(length)}.`;
  if (isCount(maxLength) && length > maxLength)
    return `Expected at most ${many(maxLength, 'character')}, got ${String(length)}.`;
  if (isTextFormat(format) && !hasFormat(format, value))
    return `Expected ${formatNames[format]}, got ${describe(value)}.`;
  if (typeof pattern === 'string' && matchesPattern(pattern, value) === false) {
    return `Expected text that matches the pattern ${pattern}, got ${describe(value)}.`;
  }
  return undefined;
}

function checkNumber(field: FieldSchema, value: unknown, kind: 'number' | 'integer'): string | undefined {
  const what = kind === 'integer' ? 'a whole number' : 'a number';
  if (typeof value !== 'number' || !Number.isFinite(value)) return `Expected ${what}, got ${describe(value)}.`;
  if (kind === 'integer' && !Number.isInteger(value)) return `Expected a whole number, got ${String(value)}.`;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = field;
  const got = `, got ${String(value)}.`;
  if (isNumber(minimum) && value < minimum) return `Expected ${what} of at least ${String(minimum)}${got}`;
  if (isNumber(maximum) && value > maximum) return `Expected ${what} of at most ${String(maximum)}${got}`;
  if (isNumber(exclusiveMinimum) && value <= exclusiveMinimum)
    return `Expected ${what} greater than ${String(exclusiveMinimum)}${got}`;
  if (isNumber(exclusiveMaximum) && value >= exclusiveMaximum)
    return `Expected ${what} less than ${String(exclusiveMaximum)}${got}`;
  if (isNumber(multipleOf) && multipleOf > 0 && !isMultiple(value, multipleOf))
    return `Expected a multiple of ${String(multipleOf)}${got}`;
  return undefined;
}

function checkChoice(options: readonly string[], value: unknown): string | undefined {
  if (typeof value === 'string' && options.includes(value)) return undefined;
  return `Expected ${listOf(options)}, got ${describe(value)}.`;
}

function checkChoices(field: FieldSchema, value: unknown, path: string): readonly Issue[] {
  const options = isRecord(field['items']) ? (optionsOf(field['items']) ?? []) : [];
  if (!Array.isArray(value)) return issue(path, `Expected an array of choices, got ${describe(value)}.`);
  const { minItems, maxItems, uniqueItems } = field;
  const got = `, got ${String(value.length)}.`;
  if (isCount(minItems) && value.length < minItems)
    return issue(path, `Expected at least ${many(minItems, 'choice')}${got}`);
  if (isCount(maxItems) && value.length > maxItems)
    return issue(path, `Expected at most ${many(maxItems, 'choice')}${got}`);
  const wrong = value.flatMap((item: unknown, index) => issue(`${path}/${String(index)}`, checkChoice(options, item)));
  if (wrong.length > 0) return wrong;
  if (uniqueItems === true && new Set(value).size < value.length)
    return issue(path, 'Expected each choice once, got one of them again.');
  return [];
}

/** Exact on the decimal digits a reader sees, so that 0.3 is a multiple of 0.1. */
function isMultiple(value: number, of: number): boolean {
  const [left, right] = [decimal(value), decimal(of)];
  const exponent = Math.min(left.exponent, right.exponent);
  const scale = (part: { readonly digits: bigint; readonly exponent: number }): bigint =>
    part.digits * 10n ** BigInt(part.exponent - exponent);
  return scale(left) % scale(right) === 0n;
}

function decimal(value: number): { readonly digits: bigint; readonly exponent: number } {
  const [mantissa = '0', exponent = '0'] = value.toExponential().split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

function countOf(text: string, unit: string): string {
  return many(lengthOf(text), unit);
}

function many(count: number, unit: string): string {
  return `${String(count)} ${unit}${count === 1 ? '' : 's'}`;
}

function listOf(options: readonly string[]): string {
  if (options.length === 0) return 'nothing, since there are no choices';
  const shown = options.slice(0, 20).map((option) => describe(option));
  const rest = options.length - shown.length;
  return `one of ${shown.join(', ')}${rest > 0 ? ` or ${String(rest)} more` : ''}`;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isCount(value: unknown): value is number {
  return isNumber(value) && Number.isInteger(value) && value >= 0;
}

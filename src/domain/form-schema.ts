/** Forms: whether a schema is one a form may have, and whether an answer fits it (SPEC EL-4). */
import type { Issue } from './errors.ts';
import { checkField, describe, fieldKind, optionsOf } from './form-field.ts';
import type { Json, JsonObject } from './json.ts';
import { isRecord } from './json.ts';

/** An answer that fits, with its defaults filled in, or what is wrong with it. */
export type FormCheck =
  { readonly ok: true; readonly content: JsonObject } | { readonly ok: false; readonly issues: readonly Issue[] };

const maxIssues = 100;

/**
 * Says what keeps a schema from being a form: a flat object of text, numbers, booleans and choices.
 *
 * Empty when it may be shown. Unknown keywords are allowed; missing `properties` means none. Paths point into the schema.
 */
export function checkFormSchema(schema: unknown): readonly Issue[] {
  if (!isRecord(schema)) return [{ path: '', message: `Expected an object schema, got ${describe(schema)}.` }];
  const issues: Issue[] = [];
  if (schema['type'] !== 'object')
    issues.push({ path: '/type', message: `Expected "object", got ${describe(schema['type'])}.` });
  const properties = schema['properties'] ?? {};
  if (!isRecord(properties))
    return [...issues, { path: '/properties', message: `Expected an object of fields, got ${describe(properties)}.` }];
  for (const [name, field] of Object.entries(properties)) {
    issues.push(...checkFieldSchema(field, `/properties/${pointer(name)}`));
    if (issues.length >= maxIssues) return issues.slice(0, maxIssues);
  }
  return [...issues, ...checkRequired(schema['required'], properties)].slice(0, maxIssues);
}

/**
 * Checks an answer against a form and fills in what it left out.
 *
 * A property the form does not name is invalid. A default that does not fit its own field counts as none. A schema that
 * is `undefined` is an empty form. Patterns are matched as far as `matchesPattern` can; the rest is the server's to check.
 */
export function checkFormAnswer(schema: JsonObject | undefined, content: JsonObject | undefined): FormCheck {
  const given: unknown = content ?? {};
  if (!isRecord(given))
    return {
      ok: false,
      issues: [{ path: '', message: `Expected an object with the form's fields, got ${describe(given)}.` }],
    };
  const fields = fieldsOf(schema);
  const required = new Set(isTexts(schema?.['required']) ? schema['required'] : []);
  const issues: Issue[] = Object.keys(given)
    .filter((name) => !fields.has(name) && given[name] !== undefined)
    .slice(0, maxIssues)
    .map((name) => ({
      path: `/${pointer(name)}`,
      message: `Expected only the form's fields, got ${describe(name)}. Leave it out.`,
    }));
  const answer: [string, Json][] = [];
  for (const [name, field] of fields) {
    const path = `/${pointer(name)}`;
    const own = ownValue(content, name);
    const value = own === undefined ? defaultOf(field) : own;
    if (value !== undefined) {
      issues.push(...checkField(field, value, path));
      answer.push([name, value]);
    } else if (required.has(name))
      issues.push({ path, message: 'Expected a value, got none. This field is required.' });
    if (issues.length >= maxIssues) break;
  }
  return issues.length > 0
    ? { ok: false, issues: issues.slice(0, maxIssues) }
    : { ok: true, content: Object.fromEntries(answer) };
}

/** Tells whether a form has no fields, so that accepting it says only yes. */
export function isEmptyForm(schema: JsonObject | undefined): boolean {
  return fieldsOf(schema).size === 0;
}

function fieldsOf(schema: JsonObject | undefined): ReadonlyMap<string, JsonObject> {
  const properties = schema?.['properties'];
  if (!isRecord(properties)) return new Map();
  return new Map(Object.entries(properties).map(([name, field]) => [name, isRecord(field) ? field : {}]));
}

/** The default of a field, if it fits the field. */
function defaultOf(field: JsonObject): Json | undefined {
  const value = ownValue(field, 'default');
  return value !== undefined && checkField(field, value, '').length === 0 ? value : undefined;
}

function ownValue(object: JsonObject | undefined, name: string): Json | undefined {
  return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}

function checkFieldSchema(field: unknown, path: string): readonly Issue[] {
  if (!isRecord(field)) return [{ path, message: `Expected the schema of a field, got ${describe(field)}.` }];
  if (fieldKind(field) === undefined) {
    const message = `Expected text, a number, a boolean, a choice, or an array of choices, got type ${describe(field['type'])}.`;
    return [{ path, message: `${message} Forms are flat.` }];
  }
  const issues: Issue[] = [];
  for (const [keyword, isFitting, what] of keywords) {
    const value = field[keyword];
    if (value !== undefined && !isFitting(value))
      issues.push({ path: `${path}/${keyword}`, message: `Expected ${what}, got ${describe(value)}.` });
  }
  const options = optionsOf(isRecord(field['items']) ? field['items'] : field);
  if (options?.length === 0) issues.push({ path, message: 'Expected at least one choice, got none.' });
  return issues;
}

const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isInteger(value) && isNumber(value) && Number(value) >= 0;

const keywords: readonly (readonly [keyword: string, isFitting: (value: unknown) => boolean, what: string])[] = [
  ...['minLength', 'maxLength', 'minItems', 'maxItems'].map(
    (keyword) => [keyword, isCount, 'a whole number of 0 or more'] as const,
  ),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].map(
    (keyword) => [keyword, isNumber, 'a number'] as const,
  ),
  ...['pattern', 'format', 'title', 'description'].map((keyword) => [keyword, isText, 'text'] as const),
];

function checkRequired(required: unknown, properties: Readonly<Record<string, unknown>>): readonly Issue[] {
  if (required === undefined) return [];
  if (!isTexts(required))
    return [{ path: '/required', message: `Expected an array of field names, got ${describe(required)}.` }];
  return required
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => ({ path: '/required', message: `Expected names of the form's fields, got ${describe(name)}.` }));
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function pointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

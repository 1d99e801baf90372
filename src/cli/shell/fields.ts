/** The `requestedSchema` of a form as fields to ask, one after the other. Whether the answer fits is for the router to say. */
import type { JsonObject } from '../../index.ts';
import { isObject } from '../values.ts';

/** One choice of a list. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}

interface FieldBase {
  readonly name: string;
  /** Its title, or its name. */
  readonly label: string;
  readonly description?: string;
  readonly isRequired: boolean;
}

/** One field of a form. */
export type Field =
  | (FieldBase & {
      readonly kind: 'text';
      readonly format?: string;
      readonly minLength?: number;
      readonly maxLength?: number;
      readonly initial?: string;
    })
  | (FieldBase & {
      readonly kind: 'number';
      readonly isInteger: boolean;
      readonly minimum?: number;
      readonly maximum?: number;
      readonly initial?: number;
    })
  | (FieldBase & { readonly kind: 'boolean'; readonly initial?: boolean })
  | (FieldBase & { readonly kind: 'choice'; readonly choices: readonly Choice[]; readonly initial?: string })
  | (FieldBase & {
      readonly kind: 'choices';
      readonly choices: readonly Choice[];
      readonly initial?: readonly string[];
    });

/** The fields of a form, in the order of its schema. */
export function fieldsOf(schema: JsonObject | undefined): readonly Field[] {
  const properties = schema?.['properties'];
  if (!isObject(properties)) return [];
  const required = schema?.['required'];
  const names = new Set(Array.isArray(required) ? required : []);
  return Object.entries(properties).map(([name, property]) =>
    fieldOf(name, isObject(property) ? property : {}, names.has(name)),
  );
}

function fieldOf(name: string, property: Readonly<Record<string, unknown>>, isRequired: boolean): Field {
  const { title, description, type, minimum, maximum, format, minLength, maxLength, default: initial } = property;
  const base = {
    name,
    label: typeof title === 'string' ? title : name,
    ...(typeof description === 'string' ? { description } : {}),
    isRequired,
  };
  const choices = choicesOf(property);
  if (choices !== undefined)
    return { ...base, kind: 'choice', choices, ...(typeof initial === 'string' ? { initial } : {}) };
  if (type === 'boolean') return { ...base, kind: 'boolean', ...(typeof initial === 'boolean' ? { initial } : {}) };
  if (type === 'number' || type === 'integer') {
    return {
      ...base,
      kind: 'number',
      isInteger: type === 'integer',
      ...(typeof minimum === 'number' ? { minimum } : {}),
      ...(typeof maximum === 'number' ? { maximum } : {}),
      ...(typeof initial === 'number' ? { initial } : {}),
    };
  }
  if (type === 'array') {
    const items = property['items'];
    return {
      ...base,
      kind: 'choices',
      choices: (isObject(items) ? choicesOf(items) : undefined) ?? [],
      ...(isTexts(initial) ? { initial } : {}),
    };
  }
  return {
    ...base,
    kind: 'text',
    ...(typeof format === 'string' ? { format } : {}),
    ...(typeof minLength === 'number' ? { minLength } : {}),
    ...(typeof maxLength === 'number' ? { maxLength } : {}),
    ...(typeof initial === 'string' ? { initial } : {}),
  };
}

/** Single and multi enums, titled (`oneOf`, `anyOf`), untitled, and legacy (`enumNames`). */
function choicesOf(property: Readonly<Record<string, unknown>>): readonly Choice[] | undefined {
  const titled = property['oneOf'] ?? property['anyOf'];
  if (Array.isArray(titled)) {
    return titled.flatMap((option: unknown) => {
      if (!isObject(option)) return [];
      const { const: value, title } = option;
      return typeof value === 'string' ? [{ value, label: typeof title === 'string' ? title : value }] : [];
    });
  }
  const { enum: values, enumNames } = property;
  if (!isTexts(values)) return undefined;
  const labels = isTexts(enumNames) ? enumNames : [];
  return values.map((value, index) => ({ value, label: labels[index] ?? value }));
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Why a text is no value of a number field, or `undefined` when it is one. */
export function numberProblem(text: string, field: Extract<Field, { kind: 'number' }>): string | undefined {
  const value = Number(text);
  if (text.trim() === '') return field.isRequired ? 'Enter a number.' : undefined;
  if (!Number.isFinite(value)) return 'Enter a number.';
  if (field.isInteger && !Number.isInteger(value)) return 'Enter a whole number.';
  if (field.minimum !== undefined && value < field.minimum) return `Enter at least ${field.minimum}.`;
  if (field.maximum !== undefined && value > field.maximum) return `Enter at most ${field.maximum}.`;
  return undefined;
}

/** What a text of each format looks like, for a person; loose, since the router has the last word. */
const formats: ReadonlyMap<string, { readonly looks: RegExp; readonly example: string }> = new Map([
  ['email', { looks: /^[^\s@]+@[^\s@]+$/, example: 'an e-mail address, such as ada@example.org' }],
  ['uri', { looks: /^[a-z][a-z0-9+.-]*:\S+$/i, example: 'a full address, such as https://example.org/page' }],
  ['date', { looks: /^\d{4}-\d\d-\d\d$/, example: 'a date as year-month-day, such as 2026-01-31' }],
  [
    'date-time',
    {
      looks: /^\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d(\.\d+)?(z|[+-]\d\d:\d\d)$/i,
      example: 'a time such as 2026-01-31T09:30:00Z',
    },
  ],
]);

/** What a text field wants, or `undefined` when any text is one. */
export function hintOf({ format }: Extract<Field, { kind: 'text' }>): string | undefined {
  return format === undefined ? undefined : (formats.get(format)?.example ?? format);
}

/** Why a text is no value of a text field, or `undefined` when it is one. */
export function textProblem(text: string, field: Extract<Field, { kind: 'text' }>): string | undefined {
  if (text === '') return field.isRequired ? 'Enter something.' : undefined;
  // In code points, as JSON Schema counts.
  const { length } = Array.from(text);
  if (field.minLength !== undefined && length < field.minLength) return `Enter at least ${field.minLength} characters.`;
  if (field.maxLength !== undefined && length > field.maxLength) return `Enter at most ${field.maxLength} characters.`;
  const format = field.format === undefined ? undefined : formats.get(field.format);
  return format === undefined || format.looks.test(text) ? undefined : `Enter ${format.example}.`;
}

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkFormAnswer, checkFormSchema, isEmptyForm } from '../../src/domain/form-schema.ts';
import type { Json, JsonObject } from '../../src/domain/json.ts';

function form(properties: Record<string, JsonObject>, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, required };
}

/** Parses an object literal of JSON, for keys that source text cannot hold. */
function parseObject(text: string): JsonObject {
  return JSON.parse(text) as JsonObject;
}

/** The message for one value of one field, or 'fits'. */
function answer(field: JsonObject, value: Json): string {
  const check = checkFormAnswer(form({ field }), { field: value });
  return check.ok ? 'fits' : check.issues.map((issue) => issue.message).join(' ');
}

describe('EL-4 answers', () => {
  test.each<[JsonObject, Json, string]>([
    [{ type: 'string' }, 'hello', 'fits'],
    [{ type: 'string' }, '', 'fits'],
    [{ type: 'string' }, 5, 'Expected text, got 5.'],
    [{ type: 'string' }, null, 'Expected text, got null.'],
    [{ type: 'string' }, ['a'], 'Expected text, got an array.'],
    [{ type: 'string' }, {}, 'Expected text, got an object.'],
    [{ type: 'string', minLength: 3 }, 'ab', 'Expected at least 3 characters, got 2.'],
    [{ type: 'string', minLength: 3 }, 'abc', 'fits'],
    [{ type: 'string', maxLength: 1 }, 'ab', 'Expected at most 1 character, got 2.'],
    [{ type: 'string', maxLength: 2 }, '😀😀', 'fits'],
    [{ type: 'string', minLength: 2 }, '😀', 'Expected at least 2 characters, got 1.'],
    [{ type: 'string', format: 'email' }, 'zoë@example.com', 'fits'],
    [{ type: 'string', format: 'email' }, 'bob', 'Expected an email address, got "bob".'],
    [{ type: 'string', format: 'date' }, '2024-02-29', 'fits'],
    [{ type: 'string', format: 'unheard-of' }, 'anything', 'fits'],
    [{ type: 'string', pattern: '^[A-Z]{2}$' }, 'NL', 'fits'],
    [{ type: 'string', pattern: '^[A-Z]{2}$' }, 'nl', 'Expected text that matches the pattern ^[A-Z]{2}$, got "nl".'],
    [{ type: 'string', pattern: '(a)\\1' }, 'b', 'fits'],
    [{ type: 'string', pattern: '(' }, 'b', 'fits'],
    [{ type: 'string', minLength: 'x' }, 'a', 'fits'],
    [{ type: 'number' }, 1.5, 'fits'],
    [{ type: 'number' }, '1.5', 'Expected a number, got "1.5".'],
    [{ type: 'number', minimum: 1, maximum: 2 }, 0.5, 'Expected a number of at least 1, got 0.5.'],
    [{ type: 'number', minimum: 1, maximum: 2 }, 2.5, 'Expected a number of at most 2, got 2.5.'],
    [{ type: 'number', exclusiveMinimum: 1 }, 1, 'Expected a number greater than 1, got 1.'],
    [{ type: 'number', exclusiveMaximum: 1 }, 1, 'Expected a number less than 1, got 1.'],
    [{ type: 'number', multipleOf: 0.1 }, 0.3, 'fits'],
    [{ type: 'number', multipleOf: 0.1 }, 0.35, 'Expected a multiple of 0.1, got 0.35.'],
    [{ type: 'number', multipleOf: 1e-300 }, 1e300, 'fits'],
    [{ type: 'integer' }, 3, 'fits'],
    [{ type: 'integer' }, 3.5, 'Expected a whole number, got 3.5.'],
    [{ type: 'integer', minimum: 18 }, 17, 'Expected a whole number of at least 18, got 17.'],
    [{ type: 'boolean' }, false, 'fits'],
    [{ type: 'boolean' }, 'true', 'Expected true or false, got "true".'],
    [{ type: 'boolean' }, 0, 'Expected true or false, got 0.'],
    [{ type: 'string', enum: ['red', 'blue'] }, 'red', 'fits'],
    [{ type: 'string', enum: ['red', 'blue'] }, 'green', 'Expected one of "red", "blue", got "green".'],
    [{ type: 'string', enum: ['r', 'b'], enumNames: ['Red', 'Blue'] }, 'b', 'fits'],
    [{ type: 'string', enum: ['r', 'b'], enumNames: ['Red', 'Blue'] }, 'Blue', 'Expected one of "r", "b", got "Blue".'],
    [{ type: 'string', oneOf: [{ const: 'r', title: 'Red' }] }, 'r', 'fits'],
    [{ type: 'string', oneOf: [{ const: 'r', title: 'Red' }] }, 'Red', 'Expected one of "r", got "Red".'],
    [{ enum: ['a'] }, 'a', 'fits'],
    [{ type: 'array', items: { type: 'string', enum: ['a', 'b'] } }, ['b', 'a'], 'fits'],
    [{ type: 'array', items: { type: 'string', enum: ['a', 'b'] } }, [], 'fits'],
    [{ type: 'array', items: { type: 'string', enum: ['a', 'b'] } }, ['c'], 'Expected one of "a", "b", got "c".'],
    [{ type: 'array', items: { type: 'string', enum: ['a', 'b'] } }, 'a', 'Expected an array of choices, got "a".'],
    [{ type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } }, ['a'], 'fits'],
    [{ type: 'array', items: { oneOf: [{ const: 'a', title: 'A' }] } }, ['A'], 'Expected one of "a", got "A".'],
    [{ type: 'array', minItems: 1, items: { enum: ['a', 'b'] } }, [], 'Expected at least 1 choice, got 0.'],
    [{ type: 'array', maxItems: 1, items: { enum: ['a', 'b'] } }, ['a', 'b'], 'Expected at most 1 choice, got 2.'],
    [
      { type: 'array', uniqueItems: true, items: { enum: ['a'] } },
      ['a', 'a'],
      'Expected each choice once, got one of them again.',
    ],
    [{ type: 'object' }, {}, 'Expected no value: the server describes this field in a way forms do not allow.'],
  ])('EL-4 %j with %j: %s', (field, value, expected) => {
    expect(answer(field, value)).toBe(expected);
  });

  test('EL-4 refuses numbers JSON cannot carry', () => {
    expect(answer({ type: 'number' }, Number.NaN)).toBe('Expected a number, got NaN.');
    expect(answer({ type: 'number' }, Infinity)).toBe('Expected a number, got Infinity.');
  });

  test('EL-4 points at what is wrong, and reports every field', () => {
    const schema = form(
      { 'a/b': { type: 'string' }, tags: { type: 'array', items: { enum: ['x'] } }, age: { type: 'integer' } },
      ['age'],
    );
    expect(checkFormAnswer(schema, { 'a/b': 1, tags: ['x', 'y'], 'extra~': true })).toEqual({
      ok: false,
      issues: [
        { path: '/extra~0', message: 'Expected only the form\'s fields, got "extra~". Leave it out.' },
        { path: '/a~1b', message: 'Expected text, got 1.' },
        { path: '/tags/1', message: 'Expected one of "x", got "y".' },
        { path: '/age', message: 'Expected a value, got none. This field is required.' },
      ],
    });
  });

  test('EL-4 fills defaults of every kind in, and keeps what was given', () => {
    const schema = form(
      {
        text: { type: 'string', default: 'hi' },
        number: { type: 'number', default: 1.5 },
        flag: { type: 'boolean', default: false },
        choice: { type: 'string', enum: ['a', 'b'], default: 'b' },
        choices: { type: 'array', items: { enum: ['a', 'b'] }, default: ['a'] },
        none: { type: 'string' },
      },
      ['text', 'choices'],
    );
    expect(checkFormAnswer(schema, { text: 'given' })).toEqual({
      ok: true,
      content: { text: 'given', number: 1.5, flag: false, choice: 'b', choices: ['a'] },
    });
    expect(checkFormAnswer(schema, undefined).ok).toBe(true);
  });

  test('EL-4 takes a default that does not fit as none', () => {
    const schema = form({ mail: { type: 'string', format: 'email', default: '' } });
    expect(checkFormAnswer(schema, {})).toEqual({ ok: true, content: {} });
    expect(checkFormAnswer(form({ mail: { type: 'string', format: 'email', default: '' } }, ['mail']), {}).ok).toBe(
      false,
    );
  });

  test('EL-4 null is a value, not a left-out field', () => {
    expect(checkFormAnswer(form({ a: { type: 'string', default: 'x' } }), { a: null }).ok).toBe(false);
  });

  test('EL-4 a form without schema or fields takes only an empty answer', () => {
    expect(checkFormAnswer(undefined, undefined)).toEqual({ ok: true, content: {} });
    expect(checkFormAnswer({ type: 'object' }, {})).toEqual({ ok: true, content: {} });
    expect(checkFormAnswer(undefined, { a: 1 }).ok).toBe(false);
  });

  test('EL-4 content that is no object is invalid', () => {
    const content = parseObject('[1]');
    expect(checkFormAnswer(form({}), content)).toEqual({
      ok: false,
      issues: [{ path: '', message: "Expected an object with the form's fields, got an array." }],
    });
  });

  test('EL-4 inherited and prototype names are neither fields nor values', () => {
    const polluting = parseObject('{"__proto__":{"polluted":true}}');
    expect(checkFormAnswer(form({}), polluting).ok).toBe(false);
    expect(checkFormAnswer(form({ constructor: { type: 'string' } }, ['constructor']), {}).ok).toBe(false);
    const inherited = Object.setPrototypeOf({}, { a: 'inherited' }) as JsonObject;
    expect(checkFormAnswer(form({ a: { type: 'string' } }, ['a']), inherited).ok).toBe(false);
    const named = parseObject('{"type":"object","properties":{"__proto__":{"type":"string"}}}');
    const check = checkFormAnswer(named, parseObject('{"__proto__":"x"}'));
    expect(check.ok && Object.hasOwn(check.content, '__proto__')).toBe(true);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  test('EL-4 reports at most 100 issues', () => {
    const content = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${String(index)}`, 1]));
    const check = checkFormAnswer(form({}), content);
    expect(check.ok ? 0 : check.issues.length).toBe(100);
  });

  test('EL-4 an accepted answer is accepted again unchanged', () => {
    const field = fc.constantFrom<JsonObject>(
      { type: 'string', minLength: 1, default: 'x' },
      { type: 'integer', minimum: 0, default: 3 },
      { type: 'boolean' },
      { type: 'string', enum: ['a', 'b'], default: 'a' },
      { type: 'array', items: { enum: ['a', 'b'] }, uniqueItems: true, default: ['b'] },
    );
    const value = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constantFrom('a', 'b'),
      fc.array(fc.constantFrom('a', 'b')),
      fc.constant(null),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), field), fc.dictionary(fc.string(), value), (properties, content) => {
        const first = checkFormAnswer(form(properties), content);
        fc.pre(first.ok);
        expect(checkFormAnswer(form(properties), first.content)).toEqual(first);
      }),
    );
  });

  test('EL-4 no schema and no content of any shape makes a check throw', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (schema, content) => {
        const field = parseObject(JSON.stringify({ properties: { field: schema } }));
        const value = parseObject(JSON.stringify({ field: content }));
        expect(Array.isArray(checkFormSchema(schema))).toBe(true);
        expect(typeof checkFormAnswer(field, value).ok).toBe('boolean');
        expect(typeof checkFormAnswer(parseObject(JSON.stringify(schema ?? {})), value).ok).toBe('boolean');
      }),
    );
  });
});

describe('EL-4 schemas', () => {
  test('EL-4 allows every field MCP names, and unknown keywords', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      additionalProperties: false,
      ...form(
        {
          a: { type: 'string', title: 'A', description: 'a', minLength: 0, maxLength: 9, format: 'uri', 'x-hint': 1 },
          b: { type: 'number', minimum: -1, maximum: 1.5 },
          c: { type: 'integer', default: 1 },
          d: { type: 'boolean', default: true },
          e: { type: 'string', enum: ['x'], enumNames: ['X'] },
          f: { type: 'string', oneOf: [{ const: 'x', title: 'X' }] },
          g: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['x'] } },
          h: { type: 'array', items: { anyOf: [{ const: 'x', title: 'X' }] } },
        },
        ['a'],
      ),
    };
    expect(checkFormSchema(schema)).toEqual([]);
    expect(checkFormSchema({ type: 'object' })).toEqual([]);
  });

  test.each<[unknown, string]>([
    [undefined, ''],
    ['form', ''],
    [[], ''],
    [{ properties: {} }, '/type'],
    [{ type: 'array' }, '/type'],
    [{ type: 'object', properties: [] }, '/properties'],
    [form({ a: { type: 'object', properties: {} } }), '/properties/a'],
    [form({ a: { type: 'array', items: { type: 'string' } } }), '/properties/a'],
    [form({ a: { type: 'array', items: { type: 'object' } } }), '/properties/a'],
    [form({ a: { type: ['string', 'null'] } }), '/properties/a'],
    [form({ a: { $ref: '#/b' } }), '/properties/a'],
    [form({ a: { enum: [1, 2] } }), '/properties/a'],
    [form({ a: { type: 'string', enum: [] } }), '/properties/a'],
    [form({ a: { type: 'string', minLength: -1 } }), '/properties/a/minLength'],
    [form({ a: { type: 'number', minimum: '1' } }), '/properties/a/minimum'],
    [form({ a: { type: 'string', pattern: 1 } }), '/properties/a/pattern'],
    [{ type: 'object', properties: { a: true } }, '/properties/a'],
    [{ type: 'object', properties: {}, required: 'a' }, '/required'],
    [form({}, ['toString']), '/required'],
  ])('EL-4 refuses %j at "%s"', (schema, path) => {
    expect(checkFormSchema(schema).map((issue) => issue.path)).toEqual([path]);
  });

  test('EL-4 an empty form has no fields', () => {
    expect(isEmptyForm(undefined)).toBe(true);
    expect(isEmptyForm({ type: 'object' })).toBe(true);
    expect(isEmptyForm(form({}))).toBe(true);
    expect(isEmptyForm(form({ a: { type: 'string' } }))).toBe(false);
  });
});

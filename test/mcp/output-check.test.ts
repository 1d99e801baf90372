/** Checks of results against the schemas of their tools. */
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { checkOutput, outputLimits } from '../../src/mcp/output-check.ts';

let count = 0;

/** Checks with a key of its own. */
function verdict(schema: JsonObject, value: unknown): ReturnType<typeof checkOutput> {
  count += 1;
  return checkOutput(`schema-${String(count)}`, schema, value);
}

const person = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] };

describe('NM-4 a value is checked against a schema', () => {
  test('what fits, fits; what does not is named by its place', () => {
    expect(verdict(person, { age: 36 })).toEqual({ kind: 'fits' });
    expect(verdict(person, { age: 'old' })).toEqual({ kind: 'wrong', why: 'data/age must be integer' });
    expect(verdict(person, {})).toMatchObject({ kind: 'wrong', why: expect.stringContaining('age') as string });
  });

  test.each([
    [
      '2020-12',
      { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{ type: 'string' }] },
      ['a'],
      [1],
    ],
    ['no dialect, so 2020-12', { dependentRequired: { a: ['b'] } }, { a: 1, b: 2 }, { a: 1 }],
    ['draft-07', { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] }, ['a'], [1]],
    ['draft-06', { $schema: 'http://json-schema.org/draft-06/schema#', exclusiveMinimum: 3 }, 4, 3],
    ['local references', { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }, 'a', 1],
    [
      'a schema that contains itself',
      { type: 'object', properties: { next: { $ref: '#' } } },
      { next: { next: {} } },
      { next: 1 },
    ],
    ['a pattern', { type: 'string', pattern: '^[a-z]+$' }, 'abc', 'ABC'],
    ['a format', { type: 'string', format: 'date' }, '2026-07-28', 'soon'],
  ])('%s', (_, schema: JsonObject, good: unknown, bad: unknown) => {
    expect(verdict(schema, good)).toEqual({ kind: 'fits' });
    expect(verdict(schema, bad)).toMatchObject({ kind: 'wrong' });
  });

  test('a schema is read once for its key', () => {
    expect(checkOutput('same', { type: 'string' }, 'a')).toEqual({ kind: 'fits' });
    expect(checkOutput('same', { type: 'number' }, 'a')).toEqual({ kind: 'fits' });
  });

  test('two schemas that call themselves the same are two', () => {
    expect(verdict({ $id: 'https://example.com/x', type: 'string' }, 'a')).toEqual({ kind: 'fits' });
    expect(verdict({ $id: 'https://example.com/x', type: 'number' }, 'a')).toMatchObject({ kind: 'wrong' });
  });

  test('formats nobody knows check nothing; a property of that name is a property', () => {
    expect(verdict({ type: 'string', format: 'colour-of-the-sky' }, 'blue')).toEqual({ kind: 'fits' });
    expect(verdict({ properties: { format: { const: { format: 'x' } } } }, { format: { format: 'x' } })).toEqual({
      kind: 'fits',
    });
  });

  test('a schema that says it checks later checks now', () => {
    expect(verdict({ $async: true, type: 'string' }, 1)).toMatchObject({ kind: 'wrong' });
  });
});

describe('NM-3 NM-4 a hostile schema costs a bounded time, and says nothing of the value', () => {
  /** 2 to the 60th ways to fail. */
  const doubling = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => {
      const next = { $ref: `#/$defs/d${String(index + 1)}` };
      return [`d${String(index)}`, { anyOf: [next, next] }];
    }),
  );

  test.each<readonly [string, JsonObject, unknown]>([
    ['a file', { $ref: 'file:///etc/passwd' }, 'x'],
    ['an address', { $ref: 'http://127.0.0.1:9/schema.json' }, 'x'],
    ['a dialect nobody knows', { $schema: 'urn:nobody' }, 'x'],
    ['a schema that is none', { type: 'stirng' }, 'x'],
    ['a pattern that is none', { type: 'string', pattern: '(' }, 'x'],
    [
      'references in a circle',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
      'x',
    ],
    ['an exponential pattern', { type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(60)}b`],
    ['exponential references', { $ref: '#/$defs/d0', $defs: { ...doubling, d60: { type: 'number' } } }, 'x'],
    ['uniqueness of what is many and deep', { uniqueItems: true }, Array.from({ length: 50_000 }, (_, at) => ({ at }))],
  ])('%s', (_, schema, value) => {
    expect(verdict(schema, value)).toMatchObject({ kind: 'unchecked' });
  });

  test('what met its limit once is not tried again', () => {
    const schema = { type: 'string', pattern: '^(a+)+$' };
    const value = `${'a'.repeat(60)}b`;
    expect(checkOutput('slow', schema, value)).toMatchObject({ kind: 'unchecked' });
    expect(checkOutput('slow', schema, 'b')).toEqual({
      kind: 'unchecked',
      why: `checking with it had not ended after ${String(outputLimits.checkMs)} ms`,
    });
  });

  test('a schema too deep or too large is not read', () => {
    let deep: JsonObject = {};
    for (let level = 0; level < 250; level += 1) deep = { not: deep };
    expect(verdict(deep, 'x')).toMatchObject({ kind: 'unchecked' });
    expect(verdict({ const: 'x'.repeat(1_100_000) }, 'x')).toMatchObject({ kind: 'unchecked' });
  });

  test('a large schema and a large value are checked', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => [`p${String(at)}`, { type: 'string' }]),
    );
    expect(verdict({ properties }, { p299: 1 })).toMatchObject({ kind: 'wrong' });
    expect(
      verdict(
        { items: person },
        Array.from({ length: 20_000 }, () => ({ age: 1 })),
      ),
    ).toEqual({ kind: 'fits' });
  });
});

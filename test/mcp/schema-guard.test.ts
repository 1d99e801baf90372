import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkArguments, guardSchema } from '../../src/mcp/schema-guard.ts';

function deep(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}

describe('NM-3 schemas', () => {
  test('NM-3 a plain schema passes, whatever its draft', () => {
    for (const $schema of [
      'https://json-schema.org/draft/2020-12/schema',
      'http://json-schema.org/draft-07/schema#',
      'http://json-schema.org/draft-06/schema#',
    ]) {
      expect(
        guardSchema({
          $schema,
          type: 'object',
          properties: { a: { type: ['string', 'null'], enum: [1, null, true] } },
        }),
      ).toEqual({ ok: true, hasRemoteRef: false });
    }
  });

  test('NM-3 a reference is noted when it points outside, and never followed', () => {
    expect(guardSchema({ $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' })).toEqual({
      ok: true,
      hasRemoteRef: false,
    });
    expect(guardSchema({ properties: { a: { $ref: 'http://127.0.0.1:1/schema.json' } } })).toEqual({
      ok: true,
      hasRemoteRef: true,
    });
    expect(guardSchema({ properties: { $ref: { type: 'string' } } })).toEqual({ ok: true, hasRemoteRef: false });
  });

  test.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [true, 'boolean'],
    ['{}', 'string'],
    [[], 'an array'],
  ])('NM-3 %j is no schema', (schema, kind) => {
    expect(guardSchema(schema)).toEqual({ ok: false, reason: `Expected a schema that is an object, got ${kind}.` });
  });

  test('NM-3 200 levels pass and 201 do not', () => {
    const reason = 'Expected a schema of at most 200 levels, got a deeper one.';
    expect(guardSchema(deep(200)).ok).toBe(true);
    expect(guardSchema(deep(201))).toEqual({ ok: false, reason });
    expect(guardSchema({ a: [[deep(1_000)]] })).toEqual({ ok: false, reason });
    expect(guardSchema(deep(100_000))).toEqual({ ok: false, reason });
  });

  test('NM-3 1 MiB passes and one byte more does not, counted in UTF-8', () => {
    const overhead = JSON.stringify({ a: '' }).length;
    expect(guardSchema({ a: 'x'.repeat(1_048_576 - overhead) }).ok).toBe(true);
    expect(guardSchema({ a: 'x'.repeat(1_048_577 - overhead) })).toEqual({
      ok: false,
      reason: 'Expected a schema of at most 1 MiB, got a larger one.',
    });
    expect(guardSchema({ a: 'é'.repeat(600_000) }).ok).toBe(false);
    expect(guardSchema({ a: '\n'.repeat(600_000) }).ok).toBe(false);
    expect(guardSchema({ ['k'.repeat(1_100_000)]: 1 }).ok).toBe(false);
    expect(guardSchema({ a: Array.from({ length: 2_000_000 }, () => 1) }).ok).toBe(false);
    expect(guardSchema({ a: Object.assign([], { length: 4_000_000_000 }) }).ok).toBe(false);
  });

  test('NM-3 a schema that contains itself is refused, one that shares parts is not', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['properties'] = { self: cyclic };
    expect(guardSchema(cyclic)).toEqual({
      ok: false,
      reason: 'Expected a schema of JSON, got one that contains itself.',
    });
    const shared = { type: 'string' };
    expect(guardSchema({ a: shared, b: [shared, shared] }).ok).toBe(true);
  });

  test('NM-3 parts shared at every level end at the size limit', () => {
    let value: Record<string, unknown> = { type: 'string' };
    for (let level = 0; level < 100; level += 1) value = { a: value, b: value };
    expect(guardSchema(value)).toEqual({ ok: false, reason: 'Expected a schema of at most 1 MiB, got a larger one.' });
  });

  test('NM-3 a bigint is refused', () => {
    expect(guardSchema({ a: 1n }).ok).toBe(false);
  });

  test('NM-3 the size is exactly that of the JSON', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), (schema) => {
        const size = Buffer.byteLength(JSON.stringify({ pad: '', schema }));
        const padded = (extra: number): unknown => ({ pad: 'x'.repeat(1_048_576 - size + extra), schema });
        expect([guardSchema(padded(0)).ok, guardSchema(padded(1)).ok]).toEqual([true, false]);
      }),
      { numRuns: 50 },
    );
  });

  test('NM-3 no value of any kind makes the guard throw', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withNullPrototype: true,
          withSparseArray: true,
          withTypedArray: true,
        }),
        (value) => {
          expect(typeof guardSchema(value).ok).toBe('boolean');
        },
      ),
    );
  });
});

describe('RT-8 arguments', () => {
  test('RT-8 an object and none are arguments', () => {
    expect(checkArguments({ type: 'object' }, undefined)).toEqual([]);
    expect(checkArguments({ type: 'object' }, {})).toEqual([]);
    expect(checkArguments({ type: 'object', required: ['a'] }, { b: 1 })).toEqual([]);
  });

  test.each([
    [null, 'null'],
    ['{}', 'string'],
    [1, 'number'],
    [false, 'boolean'],
    [[1], 'an array'],
  ])('RT-8 %j is not', (args, kind) => {
    expect(checkArguments({ type: 'object' }, args)).toEqual([
      { path: '', message: `Expected arguments as an object, or none, got ${kind}.` },
    ]);
  });

  test('RT-8 the message names the arguments the tool takes', () => {
    expect(checkArguments({ type: 'object', properties: { path: {}, mode: {} } }, 'x')[0]?.message).toBe(
      'Expected arguments as an object with "path", "mode", or none, got string.',
    );
  });
});

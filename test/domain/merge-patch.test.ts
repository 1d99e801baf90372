import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import { applyMergePatch, diffMergePatch } from '../../src/domain/merge-patch.ts';

test.each<[Json, Json, Json]>([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('WS-1 %j patched with %j is %j, as in RFC 7386', (target, patch, expected) => {
  const before = JSON.stringify(target);
  expect(applyMergePatch(target, patch)).toEqual(expected);
  expect(JSON.stringify(target)).toBe(before);
});

test('WS-1 the difference names only what changed', () => {
  const before = { same: { a: 1 }, changed: { a: 1, b: [1] }, gone: true };
  const after = { same: { a: 1 }, changed: { a: 1, b: [1, 2] }, added: 'x' };
  expect(diffMergePatch(before, after)).toEqual({ changed: { b: [1, 2] }, added: 'x', gone: null });
  expect(diffMergePatch(before, structuredClone(before))).toEqual({});
});

test('WS-1 an object takes the place of a scalar, and an empty one is a change', () => {
  expect(diffMergePatch({ a: 1 }, { a: { b: 2 } })).toEqual({ a: { b: 2 } });
  expect(diffMergePatch({}, { a: {} })).toEqual({ a: {} });
  expect(diffMergePatch({ a: [] }, { a: {} })).toEqual({ a: {} });
});

test('WS-1 a member that becomes null has no patch, one that stays null needs none', () => {
  expect(diffMergePatch({}, { a: null })).toBeUndefined();
  expect(diffMergePatch({}, { a: { b: null } })).toBeUndefined();
  expect(diffMergePatch({ a: null }, { a: null, b: 1 })).toEqual({ b: 1 });
  expect(diffMergePatch({}, { a: [null] })).toEqual({ a: [null] });
});

test('WS-1 names of prototypes are members like others', () => {
  const patch = JSON.parse('{"__proto__":{"polluted":true}}') as JsonObject;
  const patched = applyMergePatch({}, patch);
  expect(JSON.stringify(patched)).toBe('{"__proto__":{"polluted":true}}');
  expect(diffMergePatch({}, patch)).toEqual(patch);
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  expect(diffMergePatch({}, { constructor: 'x' })).toEqual({ constructor: 'x' });
});

const { object } = fc.letrec<{ object: JsonObject; value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json[]>(1, 'x', true, null, [], [1, null]),
    tie('object'),
    fc.array(tie('value'), { maxLength: 2 }),
  ),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'toString'), tie('value'), { maxKeys: 3 }),
}));

test('WS-1 applying the difference gives the later state', () => {
  fc.assert(
    fc.property(object, object, (before, after) => {
      const patch = diffMergePatch(before, after);
      fc.pre(patch !== undefined);
      expect(applyMergePatch(before, patch)).toEqual(after);
    }),
    { numRuns: 1_000, maxSkipsPerRun: 1_000 },
  );
});

test('WS-1 there is a difference unless the later state holds a null', () => {
  fc.assert(
    fc.property(object, object, (before, after) => {
      fc.pre(!JSON.stringify(after).includes('null'));
      expect(diffMergePatch(before, after)).toBeDefined();
    }),
    { maxSkipsPerRun: 1_000 },
  );
});

test('WS-1 the difference of equal states is empty, and applying a patch twice is applying it once', () => {
  fc.assert(
    fc.property(object, object, (state, patch) => {
      expect(diffMergePatch(state, JSON.parse(JSON.stringify(state)) as JsonObject)).toEqual({});
      const once = applyMergePatch(state, patch);
      expect(applyMergePatch(once, patch)).toEqual(once);
    }),
  );
});

import { expect, test } from 'vitest';
import { isTooDeep, maxDepth } from '../../src/domain/depth.ts';

function nested(levels: number): unknown {
  return JSON.parse('{"a":'.repeat(levels) + '1' + '}'.repeat(levels));
}

test('SE-2 200 levels are passed on, and no more', () => {
  expect(isTooDeep(nested(maxDepth))).toBe(false);
  expect(isTooDeep(nested(maxDepth + 1))).toBe(true);
  expect(isTooDeep(JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)))).toBe(true);
});

test('SE-2 plain values have no depth', () => {
  for (const value of [undefined, null, 7, 'text', [], {}, [1, { a: 'b' }]]) expect(isTooDeep(value)).toBe(false);
});

test('SE-2 what contains itself is too deep, and what is shared a thousandfold is not walked a thousandfold', () => {
  const circle: Record<string, unknown> = {};
  circle['a'] = circle;
  circle['b'] = circle;
  let shared: unknown = {};
  for (let level = 1; level < maxDepth; level++) shared = [shared, shared, shared];

  expect(isTooDeep(circle)).toBe(true);
  expect(isTooDeep(shared)).toBe(false);
  expect(isTooDeep([shared])).toBe(true);
});

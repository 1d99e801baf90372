import { expect, test } from 'vitest';
import { frozenCopy } from '../../src/domain/frozen.ts';

test('copies deeply: a change of the original does not show', () => {
  const original = { a: { b: [1, { c: 2 }] } };
  const copy = frozenCopy(original);
  original.a.b.push(3);
  expect(copy).toEqual({ a: { b: [1, { c: 2 }] } });
});

test('freezes deeply: a change of the copy is refused', () => {
  const copy = frozenCopy({ a: { b: [1] } });
  expect(() => copy.a.b.push(2)).toThrow(TypeError);
  expect(() => Object.assign(copy.a, { c: 1 })).toThrow(TypeError);
});

test('takes what is frozen as it is, so that copying again costs nothing', () => {
  const copy = frozenCopy({ a: { b: 1 } });
  expect(frozenCopy(copy)).toBe(copy);
  expect(frozenCopy({ inner: copy }).inner).toBe(copy);
});

test('keeps a key named __proto__ as a key', () => {
  const copy: unknown = frozenCopy(JSON.parse('{"__proto__":{"polluted":true}}'));
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":true}}');
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
});

test('does not overflow on what is nested beyond all use, or inside itself', () => {
  const loop: Record<string, unknown> = {};
  loop['self'] = loop;
  expect(() => frozenCopy(loop)).not.toThrow();
});

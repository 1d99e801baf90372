import { expect, test } from 'vitest';
import { ResultStore, resultLimits } from '../../src/actors/result-store.ts';

test('RE-2 of too many results, the one that was used longest ago is forgotten', () => {
  const store = new ResultStore();
  const entry = { text: '{}', expiresAt: 10 };
  for (let at = 0; at < resultLimits.entries; at++) store.put(`key ${String(at)}`, entry);
  store.get('key 0', 0);
  store.put('one more', entry);
  expect(store.get('key 0', 0)).toBe('{}');
  expect(store.get('key 1', 0)).toBeUndefined();
});

test('RE-2 results are kept up to a size in all', () => {
  const store = new ResultStore();
  const text = 'x'.repeat(resultLimits.size);
  const count = resultLimits.totalSize / resultLimits.size;
  for (let at = 0; at <= count; at++) store.put(`key ${String(at)}`, { text, expiresAt: 10 });
  expect(store.get('key 0', 0)).toBeUndefined();
  expect(store.get('key 1', 0)).toBe(text);
});

test('RE-2 a result counts until its time, and is forgotten by what its key begins with', () => {
  const store = new ResultStore();
  for (const key of ['a x 1', 'a x 2', 'a y 1']) store.put(key, { text: key, expiresAt: 10 });
  expect(store.get('a x 1', 9)).toBe('a x 1');
  expect(store.get('a x 1', 10)).toBeUndefined();
  store.forget('a x ');
  expect([store.get('a x 2', 0), store.get('a y 1', 0)]).toEqual([undefined, 'a y 1']);
});

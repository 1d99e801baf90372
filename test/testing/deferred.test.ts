import { expect, test } from 'vitest';
import { deferred } from '../../src/testing/index.ts';

test('TK-1 a deferred value resolves when told, once', async () => {
  const value = deferred<number>();
  expect(value.settled).toBe(false);
  value.resolve(1);
  value.resolve(2);
  value.reject(new Error('too late'));
  expect(value.settled).toBe(true);
  expect(await value.promise).toBe(1);
});

test('TK-1 a deferred value rejects when told, and needs nobody to listen', async () => {
  const value = deferred();
  value.reject(new Error('no'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(value.settled).toBe(true);
  await expect(value.promise).rejects.toThrow('no');
});

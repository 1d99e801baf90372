import { expect, test } from 'vitest';
import { createToolInventories, inventoryLimits } from '../../src/actors/tool-inventories.ts';
import { SimulatedClock } from '../../src/testing/index.ts';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });

test('RE-2 a fetch that began earlier never replaces what a later one brought', () => {
  const cache = createToolInventories(new SimulatedClock().now);
  const early = cache.begin();
  const late = cache.begin();
  const young = [tool('young')];
  expect(cache.put('a', late, young)).toBe(young);
  expect(cache.put('a', early, [tool('old')])).toBe(young);
  expect(cache.get('a')).toBe(young);
  expect(cache.put('b', early, [])).toEqual([]);
});

test('RE-2 tools are remembered for half an hour by the clock', () => {
  const clock = new SimulatedClock();
  const cache = createToolInventories(clock.now);
  cache.put('a', cache.begin(), [tool('x')]);
  clock.increment(inventoryLimits.ttlMs - 1);
  expect(cache.get('a')).toHaveLength(1);
  clock.increment(1);
  expect(cache.get('a')).toBeUndefined();
});

test('RE-2 of more than 32 servers, the one that was used longest ago is forgotten', () => {
  const cache = createToolInventories(new SimulatedClock().now);
  for (let at = 0; at < inventoryLimits.servers; at++) cache.put(`server-${String(at)}`, cache.begin(), []);
  cache.get('server-0');
  cache.put('one-more', cache.begin(), []);
  expect(cache.get('server-0')).toEqual([]);
  expect(cache.get('server-1')).toBeUndefined();
  expect(cache.get('one-more')).toEqual([]);
});

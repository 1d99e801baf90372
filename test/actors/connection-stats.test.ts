import { expect, test } from 'vitest';
import { ConnectionStats } from '../../src/actors/connection-stats.ts';
import { countsOf, latencyOf } from '../../src/status-numbers.ts';

test('RE-3 percentiles are within a tenth of what was counted', () => {
  const stats = new ConnectionStats();
  expect(latencyOf(stats)).toBeUndefined();
  for (let ms = 1; ms <= 1_000; ms++) stats.noteCall(ms, 'completed', false);
  const { count, p50Ms, p95Ms, p99Ms } = latencyOf(stats) ?? expect.fail();
  expect(count).toBe(1_000);
  for (const [measured, exact] of [
    [p50Ms, 500],
    [p95Ms, 950],
    [p99Ms, 990],
  ] as const) {
    expect(measured).toBeGreaterThanOrEqual(exact * 0.9);
    expect(measured).toBeLessThanOrEqual(exact * 1.1);
  }
});

test('RE-3 calls that take no time, or for ever, are counted in whole milliseconds', () => {
  const stats = new ConnectionStats();
  stats.noteCall(0, 'completed', false);
  expect(latencyOf(stats)).toEqual({ count: 1, p50Ms: 0, p95Ms: 0, p99Ms: 0 });
  stats.noteCall(Number.MAX_SAFE_INTEGER, 'completed', false);
  expect(latencyOf(stats)?.p99Ms).toBe(2 ** 24);
});

test('RE-3 what ended otherwise is counted, and has no latency', () => {
  const stats = new ConnectionStats();
  for (const outcome of ['failed', 'timedOut', 'unknown', 'not-sent', 'aborted'] as const)
    stats.noteCall(5, outcome, false);
  stats.noteCall(5, 'completed', true);
  stats.questions += 1;
  expect([stats.noteOpened(), stats.noteOpened()]).toEqual([false, true]);
  stats.noteGone({ lateResults: 2 });
  stats.noteGone(undefined);
  expect(countsOf(stats, { lateResults: 1 })).toEqual({
    calls: 6,
    failed: 4,
    aborted: 1,
    toolErrors: 1,
    questions: 1,
    reconnects: 1,
    lateResults: 3,
  });
  expect(latencyOf(stats)?.count).toBe(1);
});

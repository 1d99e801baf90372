import { expect, test } from 'vitest';
import { legacyHorizonMs, negotiatedFrom } from '../../src/mcp/negotiate.ts';

const discover = (ttlMs: number) => ({
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: {},
  ttlMs,
  cacheScope: 'private',
});

test.each([
  [60_000, 60_000, true],
  [60_000, 60_001, false],
  // The default of servers: their era is believed, or every start would cost a question.
  [0, 1_000_000_000, true],
])(
  'RE-2 ER-1 what a modern server said of itself for %i ms is believed after %i ms: %s',
  (ttlMs, after, isBelieved) => {
    const negotiated = negotiatedFrom({ era: 'modern', at: 1_000, discover: discover(ttlMs) }, 1_000 + after);
    expect(negotiated?.kind).toBe(isBelieved ? 'modern' : undefined);
  },
);

test('ER-1 that a server is legacy is believed for a day', () => {
  expect(negotiatedFrom({ era: 'legacy', at: 0 }, legacyHorizonMs)).toEqual({ kind: 'legacy' });
  expect(negotiatedFrom({ era: 'legacy', at: 0 }, legacyHorizonMs + 1)).toBeUndefined();
});

import { expect, test } from 'vitest';
import { abortReason } from '../../src/domain/abort-reason.ts';

test('CL-1 gives the reason a caller wrote, and else says that it was the signal', () => {
  expect(abortReason(AbortSignal.abort('you pressed Ctrl-C'))).toBe('you pressed Ctrl-C');
  for (const signal of [AbortSignal.abort(), AbortSignal.abort(''), AbortSignal.abort(new Error('x'))])
    expect(abortReason(signal)).toBe('its signal was aborted');
});

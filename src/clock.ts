/** The real clock. */
import type { Clock } from './api.ts';

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (id) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only what setTimeout above gave comes back
    clearTimeout(id as NodeJS.Timeout | undefined);
  },
};

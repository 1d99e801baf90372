/** Runs before every test file: a rejection nobody handles fails the file it happened in (SPEC RT-12). */
import { afterAll } from 'vitest';

const unhandled: unknown[] = [];

const note = (reason: unknown): void => {
  unhandled.push(reason);
};

process.on('unhandledRejection', note);

afterAll(async () => {
  // A rejection is reported after the microtasks of its turn; one macrotask lets the last ones arrive.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  if (unhandled.length > 0)
    throw new AggregateError(unhandled, `${unhandled.length} unhandled rejections in this file`);
});

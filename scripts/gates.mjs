/** The gates beside the tests, and how they are run: each is an npm script, all of them run, the red ones are listed. */
import { npm } from './process.mjs';

/** What needs a build and nothing else. Runs in `npm run verify`, and in `npm test` when `CI` is set. */
export const staticGates = [
  'format:check',
  'lint',
  'check:unused',
  'check:package',
  'check:size',
  'check:api',
  'docs:check',
];

/**
 * Runs npm scripts one after the other and resolves with the names of those that failed.
 *
 * @param {readonly string[]} gates
 * @returns {Promise<string[]>}
 */
export async function runGates(gates) {
  const red = [];
  for (const gate of gates) {
    process.stdout.write(`\n── ${gate}\n`);
    if ((await npm('run', '--silent', gate)) !== 0) red.push(gate);
  }
  return red;
}

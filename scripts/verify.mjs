/**
 * Runs the gates in order and lists what is red at the end.
 *
 * `node scripts/verify.mjs static` leaves out what `npm test` does itself: build, type check, tests; and the examples.
 */
import { npm } from './process.mjs';

const staticGates = ['format:check', 'lint', 'check:unused', 'check:package', 'check:size', 'check:api', 'docs:check'];
const gates =
  process.argv[2] === 'static' ? staticGates : ['build', 'typecheck', ...staticGates, 'test:all', 'examples'];

const red = [];
for (const gate of gates) {
  process.stdout.write(`\n── ${gate}\n`);
  if ((await npm('run', '--silent', gate)) !== 0) red.push(gate);
}
process.stdout.write(red.length === 0 ? `\n${gates.length} gates green\n` : `\nred: ${red.join(', ')}\n`);
process.exitCode = red.length === 0 ? 0 : 1;

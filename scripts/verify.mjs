/**
 * Runs every gate in order and lists what is red at the end.
 *
 * `node scripts/verify.mjs static` leaves out the build, the type check, the tests and the examples.
 */
import { runGates, staticGates } from './gates.mjs';

const gates =
  process.argv[2] === 'static' ? staticGates : ['build', 'typecheck', ...staticGates, 'test:all', 'examples'];

const red = await runGates(gates);
process.stdout.write(red.length === 0 ? `\n${gates.length} gates green\n` : `\nred: ${red.join(', ')}\n`);
process.exitCode = red.length === 0 ? 0 : 1;

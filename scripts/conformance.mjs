/**
 * `npm run conformance`: plays the client scenarios of the official conformance suite, each revision at its own wire.
 *
 * `--json` writes an object a line: `{revision, scenario, checks, passed, failed}`. `--revision` and `--scenario` select;
 * `--results DIR` keeps what the suite and the client wrote. Failed checks go to stderr with the suite's own reason. Exits
 * with 1 when something failed that was not expected to, or passed that was.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled } from './install.mjs';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    revision: { type: 'string' },
    scenario: { type: 'string' },
    results: { type: 'string' },
  },
});

async function main() {
  if (!(await ensureInstalled())) return 1;
  const { playAll, select } = await import('./conformance/suite-run.mjs');
  const { nodeForSuite, suiteVersion } = await import('./conformance/referee.mjs');
  const { complaints, jsonLine, tableLine } = await import('./conformance/report.mjs');
  const runs = select(values);
  if (runs.length === 0) {
    process.stderr.write('Expected a scenario of the suite, at a revision that has it. Run this without --scenario.\n');
    return 1;
  }
  process.stderr.write(`@modelcontextprotocol/conformance ${suiteVersion()}: ${runs.length} scenarios\n`);
  const { passed, failed } = await playAll(runs, {
    node: await nodeForSuite(),
    ...(values.results === undefined ? {} : { results: resolve(values.results) }),
    onOutcome(outcome, verdict) {
      process.stdout.write(values.json ? jsonLine(outcome) : tableLine(outcome));
      process.stderr.write(complaints(outcome, verdict));
    },
  });
  process.stderr.write(`${passed} scenarios passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

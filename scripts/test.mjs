/**
 * `npm test`: installs, builds, type-checks and runs every test, on a machine that has nothing yet.
 *
 * The official conformance suite is played too: each scenario at each revision counts as a test. With `CI=true` the static
 * gates and the examples run as well. The last line is the count, alone: `N passed, N failed[, N skipped]`. A build, a type
 * check or a gate that fails counts as one failure. Arguments go to vitest, and then there is no more than that:
 * `npm test -- test/machines`.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runGates, staticGates } from './gates.mjs';
import { ensureInstalled } from './install.mjs';
import { runInstalled } from './process.mjs';
import { ensureSystemPrograms } from './system-programs.mjs';

/** What failed besides single tests. */
const broken = [];

/** Vitest's own results; absent when it died before it could write them. */
function readResults(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

async function runTests(args) {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  const file = join(directory, 'results.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  process.stdout.write('\n── tests\n');
  const code = await runInstalled('vitest/vitest.mjs', ['run', ...reporters, ...args]);
  const results = readResults(file);
  rmSync(directory, { recursive: true, force: true });
  return count(results, code);
}

/** A file can fail as a whole (an import, a hook), and a run can (an uncaught error), while no test did: each counts as one. */
function count(results, code) {
  if (results === undefined) {
    broken.push('vitest wrote no results');
    return { passed: 0, failed: 0, skipped: 0 };
  }
  const files = results.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  );
  broken.push(...files.map((file) => file.name));
  if (code !== 0 && results.numFailedTests === 0 && files.length === 0) broken.push(`vitest ended with ${code}`);
  return {
    passed: results.numPassedTests,
    failed: results.numFailedTests,
    skipped: results.numPendingTests + results.numTodoTests,
  };
}

/**
 * Plays the conformance suite after the tests, not beside them: both are at work on every core.
 *
 * Where nothing can run the suite, its scenarios are skipped; in CI that is a failure.
 */
async function runConformance() {
  process.stdout.write('\n── conformance\n');
  const { NoNodeError, nodeForSuite } = await import('./conformance/referee.mjs');
  const { playAll, select } = await import('./conformance/suite-run.mjs');
  const { complaints } = await import('./conformance/report.mjs');
  const runs = select();
  try {
    const node = await nodeForSuite();
    const onOutcome = (outcome, verdict) => process.stdout.write(complaints(outcome, verdict));
    return { ...(await playAll(runs, { node, onOutcome })), skipped: 0 };
  } catch (error) {
    process.stdout.write(`${error.message}\n`);
    if (process.env.CI === 'true' || !(error instanceof NoNodeError)) broken.push('conformance');
    return { passed: 0, failed: 0, skipped: runs.length };
  }
}

function sum(one, other) {
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
  };
}

function finish({ passed, failed, skipped }) {
  const total = failed + broken.length;
  process.stdout.write(broken.length === 0 ? '\n' : `\nFailed besides single tests:\n  ${broken.join('\n  ')}\n`);
  process.stdout.write(`${passed} passed, ${total} failed${skipped === 0 ? '' : `, ${skipped} skipped`}\n`);
  process.exitCode = total === 0 ? 0 : 1;
}

if (await ensureInstalled()) {
  await ensureSystemPrograms();
  const gates = ['build', 'typecheck', ...(process.env.CI === 'true' ? [...staticGates, 'examples'] : [])];
  broken.push(...(await runGates(gates)));
  const args = process.argv.slice(2);
  const tests = await runTests(args);
  finish(args.length === 0 ? sum(tests, await runConformance()) : tests);
} else {
  broken.push('npm ci');
  finish({ passed: 0, failed: 0, skipped: 0 });
}

/**
 * `npm run conformance`: plays the client scenarios of the official conformance suite, each revision at its own wire.
 *
 * `--json` writes an object a line: `{revision, scenario, checks, passed, failed}`. `--revision` and `--scenario` select, and may
 * be given several times; `--results DIR` keeps what the suite and the client wrote. Failed checks go to stderr with the
 * suite's own reason. Exits with 1 when something failed that was not expected to, or passed that was, and with 2 when it was
 * asked for what there is not.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled } from './install.mjs';

const options = {
  json: { type: 'boolean', default: false },
  revision: { type: 'string', multiple: true },
  scenario: { type: 'string', multiple: true },
  results: { type: 'string' },
};

/** What was asked for, or why it cannot be. */
function readArguments() {
  try {
    return { values: parseArgs({ options }).values };
  } catch (error) {
    const known = Object.keys(options).map((name) => `--${name}`);
    return { problem: `${error.message.split(/[\n.]/u)[0]}. Expected ${known.join(', ')}.` };
  }
}

async function main() {
  const { values, problem } = readArguments();
  if (problem !== undefined) return refuse(problem);
  if (!(await ensureInstalled())) return 1;
  const { playAll, refusalOf, select } = await import('./conformance/suite-run.mjs');
  const { nodeForSuite, suiteVersion } = await import('./conformance/referee.mjs');
  const { complaints, jsonLine, tableLine } = await import('./conformance/report.mjs');
  const refusal = refusalOf(values);
  if (refusal !== undefined) return refuse(refusal);
  const runs = select(values);
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

function refuse(problem) {
  process.stderr.write(`${problem}\n`);
  return 2;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

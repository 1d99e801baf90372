/** Plays the scenarios of the suite, a few at a time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isBuilt } from '../is-built.mjs';
import { root, runInstalled, runNpm } from '../process.mjs';
import { judge } from './expected-failures.mjs';
import { allRevisions, revisions, scenariosOf } from './scenario-list.mjs';
import { playScenario } from './scenario-run.mjs';

/** The caller's stdout is for the outcomes. */
const quietly = { stdout: 'stderr' };
const client = `${root}temp/conformance/client/client.js`;

/**
 * The scenarios a selection comes to, in the order they are played.
 *
 * @param {{ revision?: readonly string[], scenario?: readonly string[] }} [selection] Default: all of both revisions.
 * @returns {readonly { revision: string, scenario: string }[]}
 */
export function select({ revision = revisions, scenario } = {}) {
  return [...new Set(revision)]
    .flatMap((candidate) => scenariosOf(candidate).map((name) => ({ revision: candidate, scenario: name })))
    .filter((run) => scenario === undefined || scenario.includes(run.scenario));
}

/**
 * Says which part of a selection there is not, and what there is instead.
 *
 * @param {{ revision?: readonly string[], scenario?: readonly string[] }} selection
 * @returns {string | undefined} Undefined when each of its parts is known.
 */
export function refusalOf({ revision = revisions, scenario = [] }) {
  const noRevision = revision.filter((name) => !allRevisions.includes(name));
  if (noRevision.length > 0)
    return `Expected a revision of the suite, got ${quoted(noRevision)}. There are ${allRevisions.join(', ')}.`;
  const known = new Set(revision.flatMap((name) => scenariosOf(name)));
  const unknown = scenario.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    const elsewhere = allRevisions.filter((each) => unknown.every((name) => scenariosOf(each).includes(name)));
    const hint = elsewhere.length === 0 ? 'Run this without --scenario to see all.' : `See --revision ${elsewhere[0]}.`;
    return `Expected a scenario of the suite at ${revision.join(' or ')}, got ${quoted(unknown)}. ${hint}`;
  }
  return undefined;
}

function quoted(names) {
  return names.map((name) => `"${name}"`).join(', ');
}

/**
 * Builds the client, plays the scenarios and tells of each as it ends.
 *
 * @param {readonly { revision: string, scenario: string }[]} runs
 * @param {{ node: string, results?: string, onOutcome: (outcome: import('./scenario-run.mjs').Outcome, verdict: ReturnType<typeof judge>) => void }} options
 * `node` runs the suite. `results`: a folder to keep what the suite and the client wrote.
 * @returns {Promise<{ passed: number, failed: number }>} In scenarios; one that failed as expected has passed.
 * @throws Error when the client cannot be built.
 */
export async function playAll(runs, { node, results, onOutcome }) {
  await buildClient();
  const folder = results ?? mkdtempSync(join(tmpdir(), 'holdfast-conformance-'));
  const count = { passed: 0, failed: 0 };
  const queue = [...runs];
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const outcome = await playScenario({ ...next, node, client, results: folder });
      const verdict = judge(outcome);
      count[verdict.unexpected.length + verdict.stale.length === 0 ? 'passed' : 'failed'] += 1;
      onOutcome(outcome, verdict);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, work));
  } finally {
    if (results === undefined) rmSync(folder, { recursive: true, force: true });
  }
  return count;
}

/** Builds what changed: the package, then the client against it, as a user would. */
async function buildClient() {
  if (!isBuilt(root)) {
    process.stderr.write('Building …\n');
    if ((await runNpm(['run', '--silent', 'build'], quietly)) !== 0)
      throw new Error('Expected the package to build, and it did not.');
  }
  if ((await runInstalled('typescript/bin/tsc', ['-p', 'scripts/conformance/client.tsconfig.json'], quietly)) === 0)
    return;
  throw new Error('Expected the client of the conformance suite to build, and it did not.');
}

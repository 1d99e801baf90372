/** How the outcome of scenarios is told. */

/**
 * One line of JSON, for programs.
 *
 * @param {import('./scenario-run.mjs').Outcome} outcome
 * @returns {string}
 */
export function jsonLine({ revision, scenario, checks, passed, failed }) {
  return `${JSON.stringify({ revision, scenario, checks, passed, failed })}\n`;
}

/**
 * One line of a table, for people.
 *
 * @param {import('./scenario-run.mjs').Outcome} outcome
 * @returns {string}
 */
export function tableLine({ revision, scenario, checks, passed, failed }) {
  const counted = `${passed} of ${checks}`.padStart(9);
  return `${failed === 0 ? '✓' : '✗'} ${revision}  ${scenario.padEnd(40)}${counted}\n`;
}

/**
 * What is wrong with an outcome, each check with the suite's own reason; empty when nothing is.
 *
 * @param {import('./scenario-run.mjs').Outcome} outcome
 * @param {ReturnType<typeof import('./expected-failures.mjs').judge>} verdict
 * @returns {string}
 */
export function complaints(outcome, { unexpected, stale }) {
  const wrong = [
    ...unexpected.map(({ check, reason }) => `${check}: ${reason}`),
    ...stale.map((check) => `${check}: expected to fail, but it passes. Take it off the list of expected failures.`),
  ];
  return wrong.map((text) => `  ${outcome.revision} ${outcome.scenario} ${text}\n`).join('');
}

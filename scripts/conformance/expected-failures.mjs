/** What is known not to pass, and why the suite says so. One that passes is as wrong as one that fails unexpectedly. */

/**
 * Checks that cannot pass, each with the suite's own reason.
 *
 * @type {readonly { revision: string, scenario: string, check: string, reason: string }[]}
 */
export const expectedFailures = [];

/**
 * Compares an outcome with what was expected of it.
 *
 * @param {import('./scenario-run.mjs').Outcome} outcome
 * @param {typeof expectedFailures} [expected]
 * @returns {{ unexpected: readonly { check: string, reason: string }[], stale: readonly string[] }}
 */
export function judge(outcome, expected = expectedFailures) {
  const known = expected
    .filter(({ revision, scenario }) => revision === outcome.revision && scenario === outcome.scenario)
    .map(({ check }) => check);
  const failed = new Set(outcome.failures.map(({ check }) => check));
  return {
    unexpected: outcome.failures.filter(({ check }) => !known.includes(check)),
    stale: known.filter((check) => !failed.has(check)),
  };
}

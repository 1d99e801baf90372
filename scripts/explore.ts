/**
 * Explores every state of a thread's real actors (SPEC TK-3): `npm run explore`, with `--json` for one JSON object.
 *
 * Checks H1 to H8 in each state, replays a sample of the paths, and has three planted faults found. Takes minutes; exits
 * with 1 when anything is not as it should be.
 */
import { faults } from './explore/faults.ts';
import { isGood, linesOf, reportFault, reportScope, summarize } from './explore/report.ts';
import { scopes, wholeScope } from './explore/run.ts';

const isJson = process.argv.includes('--json');
const began = performance.now();

function say(text: string): void {
  if (!isJson) console.log(text);
}

function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

const scopeReports = [];
for (const scope of scopes) {
  const report = await reportScope(scope, ({ states, transitions, waiting, depth }) => {
    showProgress(
      `${scope.name}: ${String(states)} states, ${String(transitions)} transitions, ${String(waiting)} waiting, depth ${String(depth)}`,
    );
  });
  showProgress('');
  scopeReports.push(report);
  const { states, transitions, maxDepth, complete, violations, replays, seconds } = report;
  say(
    `${scope.name}: ${String(states)} states, ${String(transitions)} transitions, depth ${String(maxDepth)}, ${complete ? 'all seen' : 'NOT all seen'}, ` +
      `${String(violations.length)} violations, ${String(replays.paths - replays.mismatches)} of ${String(replays.paths)} paths replayed, ${String(seconds)} s`,
  );
  for (const violation of violations) say(linesOf(violation));
}

const faultReports = [];
for (const fault of faults) {
  const report = await reportFault(fault, wholeScope);
  faultReports.push(report);
  say(`\nPlanted: ${report.fault}. ${report.found ? `Found after ${String(report.states)} states.` : 'NOT found.'}`);
  if (report.violation !== undefined) say(linesOf(report.violation));
}

const report = summarize(scopeReports, faultReports, began);
if (isJson) console.log(JSON.stringify(report));
else
  say(
    `\n${String(report.states)} states, ${String(report.transitions)} transitions, ${String(report.violations)} violations, ` +
      `planted faults found ${String(report.faults.found)} of ${String(report.faults.planted)}, ${String(report.seconds)} s`,
  );
process.exitCode = isGood(report) ? 0 : 1;

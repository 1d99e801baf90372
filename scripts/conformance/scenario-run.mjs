/** One scenario at one revision: the suite starts the client against a server of its own, and says what it saw. */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../process.mjs';
import { suiteCommand } from './referee.mjs';

/** How long the suite may take for one scenario: its own limit for the client, and some more. */
const timeLimitMs = 60_000;

/**
 * What one scenario came to.
 *
 * @typedef {object} Outcome
 * @property {string} revision
 * @property {string} scenario
 * @property {number} checks How many checks were decided.
 * @property {number} passed
 * @property {number} failed
 * @property {readonly { check: string, reason: string }[]} failures Each with the suite's own reason.
 */

/**
 * Plays one scenario.
 *
 * @param {{ revision: string, scenario: string, node: string, client: string, results: string }} options `node` runs the
 * suite, `client` is the program it tests, `results` the folder for what both wrote.
 * @returns {Promise<Outcome>}
 */
export async function playScenario({ revision, scenario, node, client, results }) {
  const folder = join(results, revision, scenario.replaceAll('/', '-'));
  // What an earlier run left there would be taken for this one's.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const args = ['client', '--scenario', scenario, '--spec-version', revision, '--force', '--output-dir', folder];
  const { code, output } = await run(node, [suiteCommand, ...args, '--command', clientCommand()], {
    HOLDFAST_CLIENT_NODE: process.execPath,
    HOLDFAST_CLIENT_FILE: client,
  });
  return outcomeOf({ revision, scenario, code, output, checks: readChecks(folder) });
}

/**
 * Judges what the suite reported.
 *
 * It also fails what the suite lets pass: a scenario in which nothing was checked. Warnings count as failures, as they do
 * for the suite.
 *
 * @param {{ revision: string, scenario: string, code: number, output: string, checks: readonly Record<string, unknown>[] }} report
 * @returns {Outcome}
 */
export function outcomeOf({ revision, scenario, code, output, checks }) {
  const failures = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING').map(failureOf);
  const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
  if (failures.length === 0 && code !== 0) failures.push({ check: 'client', reason: lastWords(output) });
  if (failures.length === 0 && passed === 0) failures.push({ check: 'coverage', reason: skipReason(checks) });
  return {
    revision,
    scenario,
    checks: passed + failures.length,
    passed,
    failed: failures.length,
    failures,
  };
}

function failureOf({ id, description, errorMessage, details }) {
  const said = [description, errorMessage, details?.message].filter((text) => typeof text === 'string');
  return { check: id, reason: [...new Set(said)].join(' — ') };
}

function skipReason(checks) {
  const skipped = checks.filter(({ status }) => status === 'SKIPPED').map((check) => failureOf(check).reason);
  return skipped.length === 0 ? 'No check was decided.' : `No check was decided. ${skipped.join(' ')}`;
}

function lastWords(output) {
  return output.trim().split('\n').slice(-30).join('\n');
}

/** The suite hands its command to a shell, after taking it apart at spaces: paths go by the environment. */
function clientCommand() {
  return process.platform === 'win32'
    ? '"%HOLDFAST_CLIENT_NODE%" "%HOLDFAST_CLIENT_FILE%"'
    : 'exec "$HOLDFAST_CLIENT_NODE" "$HOLDFAST_CLIENT_FILE"';
}

function readChecks(folder) {
  const file = readdirSync(folder, { recursive: true }).find((path) => path.endsWith('checks.json'));
  return file === undefined ? [] : JSON.parse(readFileSync(join(folder, file), 'utf8'));
}

function run(command, args, env) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env, SCARF_ANALYTICS: 'false', DO_NOT_TRACK: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeLimitMs,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (code, signal) => resolve({ code: code ?? 1, output: signal ? `${output}\n${signal}` : output }));
  });
}

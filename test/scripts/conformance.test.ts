import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly description?: string;
  readonly errorMessage?: string;
}

interface Judged {
  readonly outcome: { readonly checks: number; readonly passed: number; readonly failed: number };
  readonly verdict: { readonly unexpected: readonly unknown[]; readonly stale: readonly string[] };
}

const script = `
  import { outcomeOf } from './scripts/conformance/scenario-run.mjs';
  import { judge } from './scripts/conformance/expected-failures.mjs';
  const { report, expected } = JSON.parse(process.argv[1]);
  const outcome = outcomeOf({ revision: '2026-07-28', scenario: 'tools_call', code: 0, output: '', ...report });
  process.stdout.write(JSON.stringify({ outcome, verdict: judge(outcome, expected) }));`;

/** Judges the report of one scenario in a process of its own: the scripts are plain JavaScript. */
function judged(
  report: { readonly checks: readonly Check[]; readonly code?: number; readonly output?: string },
  expectedChecks: readonly string[] = [],
): Judged {
  const expected = expectedChecks.map((check) => ({ revision: '2026-07-28', scenario: 'tools_call', check }));
  const input = JSON.stringify({ report, expected });
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script, input], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return parseJudged(stdout);
}

function parseJudged(text: string): Judged {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the script above
  return JSON.parse(text) as Judged;
}

describe('the outcome of a scenario', () => {
  test('ER-5 counts what was decided, and gives the suite’s own reason for what failed', () => {
    const { outcome, verdict } = judged({
      code: 1,
      checks: [
        { id: 'one', status: 'SUCCESS' },
        { id: 'two', status: 'FAILURE', description: 'Client sends two', errorMessage: 'It sent one' },
        { id: 'three', status: 'WARNING', description: 'Client sends three' },
        { id: 'four', status: 'SKIPPED' },
        { id: 'five', status: 'INFO' },
      ],
    });

    expect(outcome).toMatchObject({ checks: 3, passed: 1, failed: 2 });
    expect(verdict.unexpected).toEqual([
      { check: 'two', reason: 'Client sends two — It sent one' },
      { check: 'three', reason: 'Client sends three' },
    ]);
  });

  test('ER-5 fails where the client or the suite ends with an error although no check failed', () => {
    const { outcome, verdict } = judged({
      code: 1,
      output: 'the last words',
      checks: [{ id: 'one', status: 'SUCCESS' }],
    });

    expect(outcome).toMatchObject({ checks: 2, passed: 1, failed: 1 });
    expect(verdict.unexpected).toEqual([{ check: 'client', reason: 'the last words' }]);
  });

  test.each([
    [[], 'No check was decided.'],
    [
      [{ id: 'one', status: 'SKIPPED', errorMessage: 'the client never asked' } as const],
      'No check was decided. the client never asked',
    ],
  ])('ER-5 fails where nothing was checked: %j', (checks, reason) => {
    const { outcome, verdict } = judged({ checks });

    expect(outcome).toMatchObject({ checks: 1, passed: 0, failed: 1 });
    expect(verdict.unexpected).toEqual([{ check: 'coverage', reason }]);
  });
});

describe('the list of expected failures', () => {
  test('ER-5 excuses a check by name, and no other of its scenario', () => {
    const checks = [
      { id: 'one', status: 'FAILURE', description: 'One' },
      { id: 'two', status: 'FAILURE', description: 'Two' },
    ] as const;

    expect(judged({ checks }, ['one']).verdict).toEqual({ unexpected: [{ check: 'two', reason: 'Two' }], stale: [] });
    expect(judged({ checks }, ['one', 'two']).verdict).toEqual({ unexpected: [], stale: [] });
  });

  test('ER-5 names an entry that passes', () => {
    const checks = [{ id: 'one', status: 'SUCCESS' }] as const;

    expect(judged({ checks }, ['one']).verdict).toEqual({ unexpected: [], stale: ['one'] });
  });
});

test('ER-5 a scenario the suite does not have, or not at that revision, is refused', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['scripts/conformance.mjs', '--json', '--revision', '2025-11-25', '--scenario', 'request-metadata'],
    { cwd: root, encoding: 'utf8' },
  );

  expect(status).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toContain('Expected a scenario of the suite');
});

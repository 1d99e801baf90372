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

/** Runs the command with a selection there is nothing of, so that it ends before anything is played. */
function refused(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/conformance.mjs', '--json', ...args], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(status).toBe(2);
  expect(stdout).toBe('');
  expect(stderr.trimEnd()).not.toContain('\n');
  return stderr;
}

describe('what there is not is refused in one line', () => {
  test('ER-5 a scenario the revision does not have: the revision that has it', () => {
    const said = refused('--revision', '2025-11-25', '--scenario', 'request-metadata');
    expect(said).toContain('at 2025-11-25, got "request-metadata"');
    expect(said).toContain('--revision 2026-07-28');
  });

  test('ER-5 every scenario nobody knows is named, wherever it stands', () => {
    const said = refused('--scenario', 'no-such', '--scenario', 'tools_call', '--scenario', 'nor-this');
    expect(said).toContain('got "no-such", "nor-this".');
  });

  test('ER-5 a revision nobody knows: those there are', () => {
    const said = refused('--revision', '2099-01-01', '--revision', '2025-11-25');
    expect(said).toContain('got "2099-01-01". There are 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28.');
  });

  test.each(['--scenari=x', '--json=yes', 'tools_call', '--results'])('ER-5 %s is no option', (option) => {
    expect(refused(option)).toContain('Expected --json, --revision, --scenario, --results.');
  });
});

test('ER-5 several scenarios and revisions select all of them', () => {
  const print = `
    import { select } from './scripts/conformance/suite-run.mjs';
    process.stdout.write(JSON.stringify(select(JSON.parse(process.argv[1]))));`;
  const selected = (selection: unknown): unknown => {
    const args = ['--input-type=module', '-e', print, JSON.stringify(selection)];
    return JSON.parse(spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' }).stdout);
  };
  expect(selected({ scenario: ['request-metadata', 'tools_call'], revision: ['2025-11-25', '2026-07-28'] })).toEqual(
    expect.arrayContaining([
      { revision: '2025-11-25', scenario: 'tools_call' },
      { revision: '2026-07-28', scenario: 'tools_call' },
      { revision: '2026-07-28', scenario: 'request-metadata' },
    ]),
  );
});

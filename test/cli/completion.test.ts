/** What a shell may complete a command line with, and the script of the shell that is at hand. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runIn } from './doctor-support.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-completion-'));
  const names = ['docs', 'data base', '$(touch hacked)', 'two\nlines', 'esc\u001B[2J'];
  const servers = Object.fromEntries(names.map((name) => [name, { command: 'x' }]));
  await writeFile(join(directory, 'holdfast.json'), JSON.stringify({ mcpServers: servers }));
  await writeFile(join(directory, 'other.json'), '{"mcpServers":{"elsewhere":{"command":"x"},"off":{"command":3}}}');
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function complete(...words: readonly string[]): Promise<readonly string[]> {
  const { output, code } = await runIn(['__complete', '--', ...words], { directory });
  expect(code).toBe(0);
  return output.split('\n').filter((line) => line !== '');
}

describe('completion', () => {
  test.each<[string[], string[]]>([
    [['do'], ['doctor']],
    [['log'], ['login', 'logout']],
    [
      ['tools', ''],
      ['docs', 'data base', '$(touch hacked)'],
    ],
    [['doctor', 'docs', 'da'], ['data base']],
    [
      ['doctor', '-c', 'other.json', ''],
      ['elsewhere', 'off'],
    ],
    [['--config', 'other.json', 'status', 'e'], ['elsewhere']],
    [['doctor', '--time'], ['--timeout']],
    [['status', '--detail', 't'], ['tools']],
    [['--approval', 'w'], ['writes']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['doctor', '--timeout', ''], []],
    [['fly', ''], []],
    [['import', ''], []],
    [['login', 'docs', ''], []],
    [['doctor', '-c', 'nowhere.json', ''], []],
  ])('CL-1 after %j offers %j', async (words, candidates) => {
    expect(await complete(...words)).toEqual(candidates);
  });

  test('CL-1 offers every command that is not hidden', async () => {
    expect(await complete('')).toEqual(expect.arrayContaining(['tools', 'call', 'status', 'doctor', 'import', 'host']));
    expect(await complete('__')).toEqual([]);
  });

  test('CL-1 the script of bash puts names in as words, and evaluates none', async () => {
    const script = (await runIn(['completion', 'bash'], { directory })).output;
    const { stdout } = await run(
      'bash',
      [
        '-c',
        `holdfast() { "${process.execPath}" --import "${join(root, 'node_modules/tsx/dist/esm/index.mjs')}" "${join(root, 'src/cli/main.ts')}" "$@"; }
${script}
COMP_WORDS=(holdfast doctor d) COMP_CWORD=2; _holdfast; printf '%s|' "\${COMPREPLY[@]}"
COMP_WORDS=(holdfast doctor '$') COMP_CWORD=2; _holdfast; printf '%s|' "\${COMPREPLY[@]}"`,
      ],
      { cwd: directory },
    );
    expect(stdout).toBe(String.raw`docs|data\ base|\$\(touch\ hacked\)|`);
    await expect(run('ls', [directory])).resolves.toMatchObject({ stdout: 'holdfast.json\nother.json\n' });
  });

  test('CL-1 knows three shells, and refuses others', async () => {
    for (const shell of ['bash', 'zsh', 'fish'])
      expect((await runIn(['completion', shell], { directory })).output).toContain('holdfast __complete -- ');
    expect(await runIn(['completion', 'csh'], { directory })).toMatchObject({ code: 2 });
    expect(await runIn(['completion'], { directory })).toMatchObject({ code: 2 });
  });
});

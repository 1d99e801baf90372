/** The command where nothing can be looked at: it says so, and fails. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runIn } from './doctor-support.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-places-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

test.skipIf(process.platform === 'win32')(
  'CL-1 a start in a directory that was deleted says so, and fails',
  async () => {
    // What runs the sources needs a directory itself, so it is gone only once they are loaded.
    const script = `
    const io = await import(${JSON.stringify(pathToFileURL(join(root, 'src/cli/process-io.ts')).href)});
    const { rmdirSync } = await import('node:fs');
    io.catchStrays();
    process.chdir(${JSON.stringify(directory)});
    rmdirSync(${JSON.stringify(directory)});
    io.startDirectory();
  `;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'exit');
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    await ended;
    expect({ code: child.exitCode, output }).toEqual({ code: 1, output: '' });
    expect(errors).toMatch(/^holdfast: Expected a working directory, got one that was deleted.*\n$/);
  },
);

test('CL-1 doctor says of a link in a circle that it is one, and of a file that is not there that it is not', async () => {
  await symlink('loop', join(directory, 'loop'));
  await writeFile(join(directory, 'file'), '{}');
  for (const path of ['loop', 'loop/holdfast.json']) {
    const { code, output } = await runIn(['doctor', '--config', path], { directory });
    expect(code).toBe(1);
    expect(output).toMatch(/circle|ELOOP|symbolic links/);
  }
  for (const path of ['none', 'file/none']) {
    const { code, errors } = await runIn(['doctor', '--config', path], { directory });
    expect(code).toBe(2);
    expect(errors).toMatch(/Expected a file ".*none", got none/);
  }
});

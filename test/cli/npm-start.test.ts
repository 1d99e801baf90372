/** When `npm start` builds, and when it need not. */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const script = new URL('../../scripts/is-built.mjs', import.meta.url).href;
let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-start-'));
  for (const folder of ['src/inner', 'dist/inner']) await mkdir(join(directory, folder), { recursive: true });
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function write(file: string, at: number): Promise<void> {
  await writeFile(join(directory, file), '');
  await setTime(file, at);
}

async function setTime(file: string, at: number): Promise<void> {
  await utimes(join(directory, file), at, at);
}

function isBuilt(): string {
  const source = `import { isBuilt } from ${JSON.stringify(script)}; process.stdout.write(String(isBuilt(process.argv[1])));`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', source, directory], { encoding: 'utf8' }).stdout;
}

test('CL-1 builds when a module is new, changed or not built, and else does not', async () => {
  await write('src/inner/one.ts', 100);
  for (const folder of ['src', 'src/inner']) await setTime(folder, 100);
  expect(isBuilt()).toBe('false');
  await write('dist/inner/one.js', 200);
  expect(isBuilt()).toBe('true');
  await write('tsconfig.json', 300);
  expect(isBuilt()).toBe('false');
  await setTime('dist/inner/one.js', 300);
  expect(isBuilt()).toBe('true');
  await write('src/two.ts', 100);
  await setTime('src', 100);
  expect(isBuilt()).toBe('false');
});

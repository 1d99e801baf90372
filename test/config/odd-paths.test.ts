/** Arguments that are no path this machine can look at: the file they stand in is read all the same. */
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importFiles, readConfig } from '../../src/config/index.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-odd-'));
  await symlink('loop', join(directory, 'loop'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

test.each([
  ['a name of 300 characters', 'x'.repeat(300)],
  ['a path of such names', `${'x'.repeat(300)}/y`],
  ['a link in a circle', 'loop'],
  ['a way through a link in a circle', 'loop/inside'],
  ['a way through a file', 'holdfast.json/inside'],
  ['a NUL', 'a\0b'],
  ['a path of 4,080 characters', 'a/'.repeat(2_040)],
])('CA-1 an argument that is %s loses no server', async (_, argument) => {
  const file = join(directory, 'holdfast.json');
  const servers = { good: { command: 'node' }, odd: { command: 'node', args: [argument], env: { A: `/${argument}` } } };
  await writeFile(file, JSON.stringify({ mcpServers: servers }));
  const read = await readConfig([file]);
  expect([...Object.keys(read.servers), ...Object.keys(read.misconfigured)].toSorted()).toEqual(['good', 'odd']);
  const imported = await importFiles([file]);
  expect(imported.unreadable).toEqual([]);
});

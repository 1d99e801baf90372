/** Working directories of a plugin that are links: they count for where they lead. */
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parsePluginConfig } from '../../src/catalog/plugin-config.ts';
import type { ParsePluginOptions } from '../../src/catalog/plugin-config.ts';

let directory = '';
let root = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-plugin-'));
  root = join(directory, 'plugin');
  await mkdir(join(root, 'inside'), { recursive: true });
  await mkdir(join(directory, 'outside'));
  await symlink(join('..', 'outside'), join(root, 'out'));
  await symlink('inside', join(root, 'in'));
  await symlink('loop', join(root, 'loop'));
  await symlink(root, join(directory, 'linked'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

function cwdOf(cwd: string, options: Partial<ParsePluginOptions> = {}): unknown {
  const text = JSON.stringify({ mcpServers: { a: { command: 'x', cwd } } });
  const { servers, misconfigured } = parsePluginConfig(text, { root, ...options });
  return servers['a'] ?? misconfigured['a']?.message;
}

test.each(['out', './out', 'out/not-there', 'in/../out'])('CA-6 a directory %s that leads out is refused', (cwd) => {
  expect(cwdOf(cwd)).toMatch(/"\/cwd"[\s\S]*inside the plugin.*a link to ".*outside|inside the plugin.*a link to/);
  expect(cwdOf(cwd, { environment: 'local' })).toMatch(/a link to ".*outside/);
});

test.each(['in', 'inside', 'not-there', 'loop', '.'])('CA-6 a directory %s that stays inside is taken', (cwd) => {
  expect(cwdOf(cwd)).toMatchObject({ command: 'x' });
  expect(cwdOf(cwd, { root: join(directory, 'linked') })).toMatchObject({ command: 'x' });
});

test('CA-6 links of this machine say nothing of another', () => {
  expect(cwdOf('out', { environment: 'box' })).toMatchObject({ cwd: join(root, 'out') });
});

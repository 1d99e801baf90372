/** Where servers came from, as threads and catalogs tell it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readConfig } from '../../src/config/index.ts';
import { createCatalogBuilder, createThread } from '../../src/index.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-words-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function write(document: object): Promise<string> {
  const path = join(directory, 'holdfast.json');
  await writeFile(path, JSON.stringify(document));
  return path;
}

test('NM-5 CA-1 each server keeps the file that names it, in a thread and in a catalog', async () => {
  const first = await write({ mcpServers: { both: { command: 'x' }, off: { command: 'x', enabled: false } } });
  const second = join(directory, 'b.toml');
  await writeFile(second, '[mcp_servers.both]\ncommand = 1\n');
  const config = await readConfig([first, second]);
  expect(config.provenance).toEqual({
    off: { source: 'config', file: first },
    both: { source: 'config', file: second },
  });
  const catalog = createCatalogBuilder().registerAll({ kind: 'config' }, config).build();
  expect(catalog.servers['both']?.source).toEqual({ kind: 'config', file: second });
  for (const options of [config, { catalog }]) {
    await using thread = createThread(options);
    await thread.ready();
    const from = thread
      .snapshot()
      .servers.map(({ name, state, provenance }) => [name, state, provenance?.file].join(' '));
    expect(new Set(from)).toEqual(new Set([`both misconfigured ${second}`, `off disabled ${first}`]));
  }
});

test('NM-5 an extension, and a compatibility source, are named by their ids', async () => {
  const catalog = createCatalogBuilder()
    .register({
      name: 'a',
      source: { kind: 'extension', id: 'mine', order: 0 },
      config: { command: 'x', enabled: false },
    })
    .register({ name: 'b', source: { kind: 'compatibility', id: 'old' }, config: { command: 'x', enabled: false } })
    .build();
  await using thread = createThread({ catalog });
  await thread.ready();
  expect(thread.snapshot().servers.map(({ provenance }) => provenance)).toEqual([
    { source: 'extension', id: 'mine' },
    { source: 'compatibility', id: 'old' },
  ]);
});

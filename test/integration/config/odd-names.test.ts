/** Servers whose names are anything but names, from a file to a call. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readConfig } from '../../../src/config/index.ts';
import { createThread } from '../../../src/index.ts';
import type { ServerConfig } from '../../../src/index.ts';
import { scriptedServer } from '../../../src/testing/index.ts';
import { textOf } from '../elicitations/support.ts';

const names = [
  'with space',
  'a/b',
  'a.b',
  'a_b',
  'a b',
  '🦀',
  '🦞',
  'x'.repeat(300),
  `${'x'.repeat(299)}y`,
  '__proto__',
  'constructor',
  '~/1',
  '"quoted"',
  'line\nbreak',
  '\u202Eevil',
  '',
];

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-names-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

test('CA-1 NM-1 NM-5 every name a file can have is a server of its own, and its tools are called under names of their own', async () => {
  const file = join(directory, 'holdfast.json');
  const entries = names.map((name) => `${JSON.stringify(name)}:{"command":"c"}`);
  await writeFile(file, `{"mcpServers":{${entries.join(',')}}}`);
  const read = await readConfig([file]);
  expect(Object.keys(read.servers)).toEqual(names);

  const made = names.map((name) => ({ name, server: scriptedServer({ tools: ['echo', 'count'] }) }));
  const servers: Record<string, ServerConfig> = Object.fromEntries(
    made.map(({ name, server }) => [name, server.config]),
  );
  await using thread = createThread({ servers });
  const step = await thread.beginStep();
  expect(step.tools).toHaveLength(2 * names.length);
  expect(new Set(step.tools.map(({ name }) => name)).size).toBe(2 * names.length);
  for (const { name } of step.tools) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  for (const { name, server } of made) {
    const tool = step.tools.find((each) => each.server === name && each.tool === 'echo');
    expect(textOf(await step.callTool(tool?.name ?? '', { text: name }))).toBe(name);
    expect(server.calls('echo')).toBe(1);
    expect(await step.listTools(name)).toMatchObject({ tools: [{ name: 'echo' }, { name: 'count' }] });
  }
  expect(new Set(thread.snapshot().servers.map(({ name }) => name))).toEqual(new Set(names));
  const shown = step.tools.map(({ name }) => name);
  await using again = createThread({ servers: Object.fromEntries(Object.entries(servers).toReversed()) });
  expect(new Set((await again.beginStep()).tools.map(({ name }) => name))).toEqual(new Set(shown));
  for (const { server } of made) await server.close();
});

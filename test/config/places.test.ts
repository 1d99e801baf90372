/** Where servers stand in files of every language. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPlaces } from 'holdfast/config';
import { afterEach, beforeEach, expect, test } from 'vitest';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-places-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function write(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

test.each<[string, string, number, number, number]>([
  ['holdfast.json', '{\n  "mcpServers": {\n    "a": {},\n    "b": {\n      "command": 1\n    }\n  }\n}', 4, 10, 5],
  ['config.toml', '[mcp_servers.a]\ncommand = "a"\n\n[mcp_servers."b"]\n# why\ncommand = 1\n', 4, 1, 6],
  ['goose.yaml', 'extensions:\n  a:\n    type: stdio\n  b:\n    type: stdio\n    command: 1\n', 5, 5, 6],
  ['list.json', '{ "servers": [\n  { "name": "a" },\n  { "name": "b",\n    "command": 1 }\n] }', 3, 3, 4],
  ['bare.json', '{\n"a": { "command": "x" },\n"b": {\n"command": 1 } }', 3, 6, 4],
  ['.claude.json', '{ "projects": {\n"/home/b": { "mcpServers": { "a": {},\n "b": {\n"command": 1 } } } } }', 3, 7, 4],
])('CA-1 says in which line of %s a server stands, and a field of it', async (name, text, line, column, field) => {
  const file = await write(name, text);
  const places = await readPlaces([file]);
  expect(places.find('b')).toEqual({ file, line, column });
  expect(places.find('b', '/command')).toMatchObject({ file, line: field });
  // What is not there is as good as the entry it is missing from.
  expect(places.find('b', '/url')).toMatchObject({ file, line });
  expect(places.find('c')).toBeUndefined();
});

test('CA-1 finds a server in the last file that has it, and none in one that cannot be read', async () => {
  const first = await write('a.json', '{"mcpServers":{"a":{},"only":{}}}');
  const second = await write('b.json', '{"mcpServers":\n{"a":{}}}');
  const places = await readPlaces([first, second, await write('c.json', '{'), join(directory, 'nowhere.json')]);
  expect(places.find('a')).toMatchObject({ file: second, line: 2 });
  expect(places.find('only')).toMatchObject({ file: first, line: 1 });
});

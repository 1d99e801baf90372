import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { createToolCache, toolCacheFiles, toolCacheVersion } from '../../src/mcp/tool-cache.ts';

const folders: string[] = [];

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'holdfast-'));
  folders.push(made);
  return join(made, 'cache');
}

afterEach(() => {
  for (const each of folders.splice(0)) rmSync(each, { recursive: true, force: true });
});

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });

/** The only file of a folder. */
function fileIn(directory: string): string {
  const [name = ''] = readdirSync(directory);
  return join(directory, name);
}

/** The same cache as another process has it. */
async function afresh(options: Parameters<typeof createToolCache>[0]) {
  vi.resetModules();
  const again = await import('../../src/mcp/tool-cache.ts');
  return again.createToolCache(options);
}

test('RE-2 what one process kept is there for the next, under the same key and identity only', async () => {
  const directory = folder();
  const cache = createToolCache({ directory, key: 'ada' });
  expect(cache.get('one')).toBeUndefined();
  cache.put('one', cache.begin(), [tool('a')]);
  expect(createToolCache({ directory, key: 'ada' })).toBe(cache);
  expect((await afresh({ directory, key: 'ada' })).get('one')).toEqual([tool('a')]);
  expect((await afresh({ directory, key: 'ada' })).get('other')).toBeUndefined();
  expect((await afresh({ directory, key: 'eve' })).get('one')).toBeUndefined();
  expect((await afresh({ directory, key: { account: 'ada' } })).get('one')).toBeUndefined();
});

test('RE-2 keys of the same members are one key, in whatever order', () => {
  const directory = folder();
  const one = createToolCache({ directory, key: { account: 'a', workspace: true } });
  expect(createToolCache({ directory, key: { workspace: true, account: 'a' } })).toBe(one);
  expect(createToolCache({ directory, key: { workspace: false, account: 'a' } })).not.toBe(one);
});

test('RE-2 the newest fetch counts, whichever is done first', async () => {
  const directory = folder();
  const cache = createToolCache({ directory, key: 'ada' });
  const early = cache.begin();
  const late = cache.begin();
  cache.put('one', late, [tool('young')]);
  expect(cache.put('one', early, [tool('old')])).toEqual([tool('young')]);
  expect((await afresh({ directory, key: 'ada' })).get('one')).toEqual([tool('young')]);
});

test.each([
  ['no JSON', '{"version":'],
  ['another version', JSON.stringify({ version: toolCacheVersion + 1, tools: [tool('a')] })],
  ['no version', JSON.stringify({ tools: [tool('a')] })],
  ['another shape', JSON.stringify({ version: toolCacheVersion, tools: { a: 1 } })],
  ['null', 'null'],
])('RE-2 a file with %s is not there', async (_, text) => {
  const directory = folder();
  const cache = createToolCache({ directory, key: 'ada' });
  cache.put('one', cache.begin(), [tool('a')]);
  writeFileSync(fileIn(directory), text);
  const other = await afresh({ directory, key: 'ada' });
  expect(other.get('one')).toBeUndefined();
  other.put('one', other.begin(), [tool('b')]);
  expect((await afresh({ directory, key: 'ada' })).get('one')).toEqual([tool('b')]);
});

test('NM-3 RE-2 tools that cannot be used are not taken from a file either', async () => {
  const directory = folder();
  const cache = createToolCache({ directory, key: 'ada' });
  cache.put('one', cache.begin(), [tool('a')]);
  const tools = [{ name: 1 }, tool('a'), { name: 'b' }, tool('a')];
  writeFileSync(fileIn(directory), JSON.stringify({ version: toolCacheVersion, tools }));
  expect((await afresh({ directory, key: 'ada' })).get('one')).toEqual([tool('a')]);
});

test('RE-2 a file is read once, and what others write meanwhile changes nothing', () => {
  const directory = folder();
  const cache = createToolCache({ directory, key: 'ada' });
  cache.put('one', cache.begin(), [tool('a')]);
  writeFileSync(fileIn(directory), 'null');
  expect(cache.get('one')).toEqual([tool('a')]);
});

test('RE-2 a disk that fails is told, and costs only what it would have kept', () => {
  const directory = folder();
  const blocked = join(directory, '..', 'file');
  writeFileSync(blocked, '');
  const errors: unknown[] = [];
  const cache = createToolCache({
    directory: join(blocked, 'inside'),
    key: 'ada',
    onError: (error) => errors.push(error),
  });
  expect(cache.put('one', cache.begin(), [tool('a')])).toEqual([tool('a')]);
  expect(cache.get('one')).toEqual([tool('a')]);
  expect(errors).toHaveLength(1);
});

test.skipIf(process.platform === 'win32')('RE-2 SE-1 only the owner can read it, and no name tells whose it is', () => {
  const directory = folder();
  const cache = createToolCache({ directory, key: 'ada@example.com' });
  cache.put('identity', cache.begin(), [tool('a')]);
  const file = fileIn(directory);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory)).toHaveLength(1);
  expect(`${file} ${readFileSync(file, 'utf8')}`).not.toMatch(/ada|identity/);
});

test('RE-2 of too many servers, those that were written longest ago are forgotten', () => {
  const directory = folder();
  const cache = createToolCache({ directory, key: 'ada' });
  cache.put('first', cache.begin(), []);
  const first = fileIn(directory);
  utimesSync(first, 0, 0);
  for (let at = 0; at < toolCacheFiles; at++) cache.put(`server ${String(at)}`, cache.begin(), []);
  expect(readdirSync(directory).length).toBe(toolCacheFiles);
  expect(existsSync(first)).toBe(false);
});

test('RE-2 what is no directory or no key is refused', () => {
  expect(() => createToolCache({ directory: '', key: 'a' })).toThrow('Expected directory to be a path, got "".');
  expect(() => createToolCache({ directory: 'x', key: '' })).toThrow('Expected key to be a text or an object, got "".');
});

/** What is said of a field that is wrong: what was expected, what came, what to do, and nothing of its text. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readConfig } from '../../src/config/index.ts';
import { HoldfastError } from '../../src/domain/errors.ts';

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

test.each<readonly [string, object, string]>([
  [
    'text for true or false',
    { required: 'yes' },
    '"required": expected true or false, got text (write true or false, without quotes)',
  ],
  [
    'text for a number',
    { callTimeoutMs: '5' },
    '"callTimeoutMs": expected a number, got text (write it without quotes)',
  ],
  [
    'a time with its unit',
    { callTimeoutMs: '5s' },
    '"callTimeoutMs": expected a number, got text (write a whole number, without quotes or a unit)',
  ],
  [
    'a number out of range',
    { callTimeoutMs: 0 },
    '"callTimeoutMs": expected at least 1, got 0 (use a number in the range)',
  ],
  [
    'a number that is not whole',
    { startTimeoutMs: 1.5 },
    '"startTimeoutMs": expected a whole number, got 1.5 (write a whole number)',
  ],
  ['text for a list', { args: '--verbose' }, '"args": expected a list, got text (put it in brackets: [ ])'],
  ['a number for text', { cwd: 7 }, '"cwd": expected text, got 7 (put it in quotes)'],
  [
    'an empty text',
    { cwd: '' },
    '"cwd": expected text, got none between the quotes (write it, or leave the field out)',
  ],
  ['null', { cwd: null }, '"cwd": expected text, got null (leave it out instead)'],
  [
    'a list for an object',
    { env: ['A=b'] },
    '"env": expected an object, got a list (write names and values in braces: { })',
  ],
  [
    'a list within',
    { env: { KEY: ['x'] } },
    '"env.KEY": expected text, got a value of another kind (put it in quotes)',
  ],
  [
    'a word that is none',
    { approval: 'hunter2hunter2' },
    '"approval": expected one of "auto", "prompt", "approve", "writes", got other text (use one of these)',
  ],
  [
    'a field of a field',
    { tools: { perTool: { 'a/b': { approval: 1 } } } },
    '"tools.perTool.a/b.approval": expected one of "auto", "prompt", "approve", "writes", got 1',
  ],
])('CA-1 %s', async (_, fields, said) => {
  const file = await write({ mcpServers: { a: { command: 'a', ...fields }, b: { command: 'b' } } });
  const config = await readConfig([file]);
  expect(config.misconfigured['a']).toMatchObject({ code: 'config_invalid', retryable: false });
  expect(config.misconfigured['a']?.message).toContain(`Server "a" in "${file}": ${said}`);
  expect(config.misconfigured['a']?.message).not.toMatch(/hunter2|received|Invalid input|Too (?:small|big)/);
  expect(Object.keys(config.servers)).toEqual(['b']);
});

test('CA-1 everything that is wrong with an entry is said at once', async () => {
  const config = await readConfig([await write({ mcpServers: { a: { command: 1, args: 2, enabled: 3 } } })]);
  expect(config.misconfigured['a']?.issues?.map(({ path }) => path).toSorted()).toEqual([
    '/args',
    '/command',
    '/enabled',
  ]);
});

test('CA-1 a policy that cannot be understood fails the file, in the same words', async () => {
  const reading = readConfig([await write({ mcpServers: {}, policy: { elicitation: { autoDeny: 'yes' } } })]);
  await expect(reading).rejects.toThrow(HoldfastError);
  await expect(reading).rejects.toThrow(
    'in "policy", "elicitation.autoDeny": expected true or false, got text (write true or false, without quotes)',
  );
});

test('CA-1 a limit that cannot be is its default, with a warning in the same words', async () => {
  const { limits, warnings } = await readConfig([
    await write({ mcpServers: {}, limits: { callsPerServer: 'many', callsPerThread: 3 } }),
  ]);
  expect(limits).toEqual({ callsPerThread: 3 });
  expect(warnings).toMatchObject([
    {
      code: 'invalid_limit',
      message: expect.stringContaining('"callsPerServer": expected a number, got text') as string,
    },
  ]);
});

test('CA-1 RT-3 an entry that is required stays so when it cannot start', async () => {
  const { misconfigured } = await readConfig([
    await write({
      mcpServers: {
        lacking: { command: '${NOT_SET_ANYWHERE}', required: true },
        wrong: { command: 'x', args: 1, required: true },
        odd: { command: 'x', required: 'yes' },
        off: { command: 'x', args: 1, required: true, enabled: false },
        optional: { command: '${NOT_SET_ANYWHERE}' },
      },
    }),
  ]);
  const required = Object.entries(misconfigured).flatMap(([name, { required: is }]) => (is === true ? [name] : []));
  expect(required).toEqual(['lacking', 'wrong']);
  expect(Object.keys(misconfigured)).toEqual(['lacking', 'wrong', 'odd', 'off', 'optional']);
});

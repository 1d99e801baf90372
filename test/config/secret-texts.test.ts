/** Secrets in places of a file nobody expects them in: known, and shown by nobody. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importFiles, readConfig, redactImport } from '../../src/config/index.ts';
import { secretsOf } from '../../src/domain/secrets.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-secret-texts-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function write(entry: Readonly<Record<string, unknown>>): Promise<string> {
  const file = join(directory, 'holdfast.json');
  await writeFile(file, JSON.stringify({ mcpServers: { a: entry } }));
  return file;
}

const secret = 'hunter2hunter2';

test('SE-1 CA-3 the default of a placeholder is a secret where it is used', async () => {
  const file = await write({ command: 'x', args: [`\${KEY_OF_IT:-${secret}}`] });
  expect((await readConfig([file], { env: {} })).secrets).toEqual([secret]);
  expect((await readConfig([file], { env: { KEY_OF_IT: 'short' } })).secrets).toEqual([]);
});

test('SE-1 CA-3 the default of a placeholder that has no value is a secret, and placeholders in it are none', async () => {
  const file = await write({ command: 'x', args: [`\${KEY_OF_IT:-${secret}\${THE_OTHER}}`] });
  const { secrets, misconfigured } = await readConfig([file], { env: {} });
  expect(Object.keys(misconfigured)).toEqual(['a']);
  expect(secrets).toEqual([secret]);
});

test('SE-1 CA-3 the default of a variable that holds no secret is none, nor is a place', async () => {
  const file = await write({ command: 'x', args: ['${LOG_LEVEL:-verbose-level}', `\${DATA_OF_IT:-${directory}}`] });
  expect((await readConfig([file], { env: {} })).secrets).toEqual([]);
});

test.each([{}, { KEY_OF_IT: 'another-value' }])(
  'SE-1 CA-1 import shows no default of a placeholder, with the variables %j',
  async (env) => {
    const file = await write({ command: 'x', args: [`\${KEY_OF_IT:-${secret}}`] });
    const report = await importFiles([file], { env });
    expect(JSON.stringify(report.config)).toContain(secret);
    expect(JSON.stringify(redactImport(report))).not.toContain('hunter2');
  },
);

test.each([
  { command: `x --token ${secret}` },
  { command: `x --api-key=${secret} run` },
  { command: `x --password "${secret}" run` },
  { command: 'sh', args: ['-c', `serve --token '${secret}'`] },
  { command: 'sh', args: ['-c', `API_KEY=${secret} serve`] },
  { url: `https://host.example/mcp#token=${secret}` },
  { url: `https://host.example/mcp#${secret}` },
  { command: 'x', args: [`https://host.example/mcp#token=${secret}`] },
])('SE-1 CA-1 the secret in %j is known, and import does not show it', async (entry) => {
  const report = await importFiles([await write(entry)], { env: {} });
  expect(JSON.stringify(report)).toContain(secret);
  expect(JSON.stringify(redactImport(report))).not.toContain('hunter2');
});

test('SE-1 CA-3 an address that is a default is no secret, and what it carries is one', async () => {
  const file = await write({
    command: 'x',
    args: ['${A_BASE:-https://host.example}', `\${B_BASE:-http://u:${secret}@h/}`],
  });
  expect((await readConfig([file], { env: {} })).secrets).toContain(secret);
  expect((await readConfig([file], { env: {} })).secrets.filter((each) => /example/.test(each))).toEqual([]);
});

test('SE-1 words of a command line that follow no such flag are no secrets', () => {
  expect(secretsOf({ command: 'npx -y something-long --folder /some/where' })).toEqual([]);
  expect(secretsOf({ command: 'sh', args: ['-c', 'echo something-long'] })).toEqual([]);
});

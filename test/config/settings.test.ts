/** `policy` and `limits` in files: what is misspelt, what is in two files, and what importing makes of them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importFiles, readConfig } from '../../src/config/index.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-settings-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function write(name: string, content: unknown): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, JSON.stringify(content));
  return path;
}

const misspelt = {
  policy: {
    aproval: 'prompt',
    approval: 'prompt',
    elicitation: { autodeny: true, forms: false },
    servers: { docs: { aproval: 'auto', elicitation: { url: false } } },
  },
  limits: { callPerServer: 3, maxz: 1, callsPerThread: 2 },
};
const strangers = [
  'policy.aproval',
  'policy.elicitation.autodeny',
  'policy.servers.docs.aproval',
  'policy.servers.docs.elicitation.url',
  'limits.callPerServer',
  'limits.maxz',
];

test('CA-1 names every misspelt key of a policy and of limits, at any depth, and what may be meant', async () => {
  const file = await write('holdfast.json', { mcpServers: {}, ...misspelt });
  const { policy, limits, warnings } = await readConfig([file]);
  expect(policy).toEqual({
    approval: 'prompt',
    elicitation: { forms: false },
    servers: { docs: { elicitation: {} } },
  });
  expect(limits).toEqual({ callsPerThread: 2 });
  expect(warnings.map(({ code }) => code)).toEqual(['unknown_field']);
  const message = warnings[0]?.message ?? '';
  for (const path of strangers) expect(message).toContain(`"${path}"`);
  expect(message).toContain(
    'Did you mean "policy.approval", "policy.elicitation.autoDeny", "policy.servers.docs.elicitation.urls", "limits.callsPerServer"?',
  );
});

test('CA-1 a section whose name is misspelt is named with the one that may be meant', async () => {
  const { warnings } = await readConfig([await write('holdfast.json', { mcpServers: {}, polcy: {} })]);
  expect(warnings).toMatchObject([
    { code: 'unknown_field', message: expect.stringContaining('Did you mean "policy"?') as string },
  ]);
});

test('CA-1 importing keeps what nobody knows of a policy and of limits, and reports it', async () => {
  const file = await write('holdfast.json', { mcpServers: {}, ...misspelt });
  const { config, files, diagnostics } = await importFiles([file]);
  expect(config).toEqual({ mcpServers: {}, ...misspelt });
  expect(diagnostics).toEqual([]);
  const [said] = files[0]?.diagnostics ?? [];
  expect(said?.code).toBe('unknown-field');
  for (const path of strangers) expect(said?.message).toContain(`"${path}"`);
  expect(said?.message).toContain('It is kept, and does nothing.');
});

test('CA-1 importing takes the limits that can be understood, as reading does, and reports the others', async () => {
  const file = await write('holdfast.json', { mcpServers: {}, limits: { callsPerServer: '3', callsPerThread: 2 } });
  const { config, diagnostics } = await importFiles([file]);
  expect(config.limits).toEqual({ callsPerThread: 2 });
  expect(diagnostics).toMatchObject([
    { code: 'invalid-limit', message: expect.stringContaining('"callsPerServer"') as string },
  ]);
});

test('CA-1 a setting a later file changes is told, one that it repeats is not', async () => {
  const a = await write('a.json', {
    mcpServers: {},
    policy: {
      approval: 'prompt',
      elicitation: { autoDeny: true },
      servers: { x: { elicitation: { autoDeny: true } } },
    },
    limits: { callsPerServer: 2, callsPerThread: 5 },
  });
  const b = await write('b.json', {
    mcpServers: {},
    policy: { approval: 'auto', elicitation: { autoDeny: true }, servers: { x: { elicitation: { forms: false } } } },
    limits: { callsPerServer: 3, callsPerThread: 5 },
  });
  const { policy, limits, warnings } = await readConfig([a, b]);
  // What one file says of a server does not undo what another says of it.
  expect(policy).toEqual({
    approval: 'auto',
    elicitation: { autoDeny: true },
    servers: { x: { elicitation: { autoDeny: true, forms: false } } },
  });
  expect(limits).toEqual({ callsPerServer: 3, callsPerThread: 5 });
  const messages = ['policy.approval', 'limits.callsPerServer'].map(
    (path) => `"${path}" is in "${a}" and, with another value, in "${b}". The one in "${b}" is used.`,
  );
  expect(warnings).toEqual(messages.map((message) => ({ code: 'overridden_setting', message, file: b })));
  const report = await importFiles([a, b]);
  expect(report.config).toMatchObject({ policy, limits });
  expect(report.diagnostics).toEqual(messages.map((message) => ({ code: 'overridden-setting', message })));
});

test('CA-1 importing and reading agree where a later file has a broken entry of the same name', async () => {
  const a = await write('a.json', { mcpServers: { x: { command: 'one' }, y: { command: 'y' } } });
  const b = await write('b.json', { mcpServers: { x: { comand: 'two' } } });
  const read = await readConfig([a, b]);
  expect(Object.keys(read.servers)).toEqual(['y']);
  expect(Object.keys(read.misconfigured)).toEqual(['x']);
  const { config, diagnostics } = await importFiles([a, b]);
  expect(Object.keys(config.mcpServers)).toEqual(['y']);
  expect(diagnostics).toMatchObject([
    { code: 'duplicate-server', server: 'x', message: expect.stringContaining('cannot be understood') as string },
  ]);
  // And the other way round, where the later one is good.
  expect(Object.keys((await readConfig([b, a])).servers)).toEqual(['x', 'y']);
  const other = await importFiles([b, a]);
  expect(other.config.mcpServers['x']).toMatchObject({ command: 'one' });
  expect(other.diagnostics).toMatchObject([{ code: 'duplicate-server', server: 'x' }]);
});

test('CA-1 names what nobody knows in the settings of a tool', async () => {
  const tools = { perTool: { send: { aproval: 'prompt' } } };
  const { warnings, unknown } = await readConfig([
    await write('holdfast.json', { mcpServers: { a: { command: 'a', tools } } }),
  ]);
  expect(warnings).toMatchObject([{ code: 'unknown_field', server: 'a' }]);
  expect(unknown['a']).toEqual({ 'tools.perTool.send.aproval': 'prompt' });
});

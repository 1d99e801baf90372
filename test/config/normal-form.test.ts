/** What is written reads as what it came from. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importFiles, readConfig } from '../../src/config/index.ts';

const folder = fileURLToPath(new URL('../fixtures/config-cases/', import.meta.url));
const files = (await readdir(folder)).filter((file) => file !== 'expected.json');
const env = {
  HARBOR_TOKEN: 'harbor-demo',
  ATLAS_KEY: 'atlas-demo',
  REGION: 'north',
  LANTERN_PAT: 'lantern-demo',
  HOME: '/home/tester',
};
const given = { env, workspaceFolder: '/srv/sample', pluginRoot: '/plugins/sample', userHome: '/home/tester' };

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-normal-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

test.each(files)('CA-1 CA-3 the normal form of %s reads as the file itself', async (name) => {
  const inputs = { 'relay-host': 'relay.example', 'relay-token': 'relay-demo', 'project-ref': 'pr-42' };
  const file = join(directory, name);
  await writeFile(file, await readFile(join(folder, name)));
  const direct = await readConfig([file], { ...given, inputs });
  const report = await importFiles([file], given);
  const output = join(directory, 'holdfast.json');
  await writeFile(output, JSON.stringify(report.config));
  const again = await readConfig([output], {
    env: { ...env, INPUT_RELAY_HOST: 'relay.example', INPUT_RELAY_TOKEN: 'relay-demo', INPUT_PROJECT_REF: 'pr-42' },
  });
  expect(again.servers).toEqual(direct.servers);
  const unusable = Object.entries(direct.misconfigured).filter(([, { code }]) => code === 'server_misconfigured');
  expect(Object.keys(again.misconfigured)).toEqual(unusable.map(([server]) => server));
  // References stay references: no value of this machine is written down.
  for (const value of ['harbor-demo', 'atlas-demo', 'lantern-demo'])
    expect(JSON.stringify(report.config)).not.toContain(value);
});

test('CA-3 text that only looks like a reference comes out as it was', async () => {
  const file = join(directory, 'config.toml');
  await writeFile(
    file,
    `[mcp_servers.a]
command = "sh"
args = ["-c", "echo \${HOME} $HOME \${X%.js} \${input:x}"]
env_vars = ["REGION", "NOT_SET"]
[mcp_servers.a.env]
A = "\${HOME}/\${NOT_SET:-x}/\${odd thing}"
`,
  );
  const direct = await readConfig([file], given);
  const report = await importFiles([file], given);
  const output = join(directory, 'holdfast.json');
  await writeFile(output, JSON.stringify(report.config));
  const again = await readConfig([output], { env });
  expect(again.servers).toEqual(direct.servers);
  expect(again.misconfigured).toEqual({});
  expect(report.config.mcpServers['a']).toHaveProperty('env.REGION', '${REGION}');
  expect(report.diagnostics).toMatchObject([{ code: 'unset-variable', server: 'a' }]);
});

test('CA-1 policy and limits of several files are put together, and a policy nobody understands is said', async () => {
  const first = join(directory, 'one.json');
  const second = join(directory, 'two.json');
  await writeFile(first, '{"mcpServers":{},"policy":{"approval":"prompt"},"limits":{"callsPerServer":2}}');
  await writeFile(second, '{"mcpServers":{},"policy":{"approval":"sometimes"}}');
  const report = await importFiles([first, second]);
  expect(report.config).toEqual({ mcpServers: {}, policy: { approval: 'prompt' }, limits: { callsPerServer: 2 } });
  expect(report.diagnostics).toMatchObject([{ code: 'invalid-policy' }]);
});

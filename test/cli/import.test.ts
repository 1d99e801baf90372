/** `holdfast import` in process, on streams that are no terminal. */
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { createThread } from 'holdfast';
import { readConfig } from 'holdfast/config';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { runProgram } from '../../src/cli/program.ts';

const cases = fileURLToPath(new URL('../fixtures/config-cases/', import.meta.url));
const shape = z.object({
  files: z.array(
    z.looseObject({ file: z.string(), format: z.string(), servers: z.array(z.looseObject({ name: z.string() })) }),
  ),
  unreadable: z.array(z.looseObject({ file: z.string() })),
  config: z.object({ mcpServers: z.record(z.string(), z.unknown()) }),
});

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-import-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function write(name: string, content: string): Promise<string> {
  const path = join(directory, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return path;
}

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const streams = { output: new PassThrough(), errors: new PassThrough() };
  const input = new PassThrough();
  input.end();
  const code = await runProgram(['import', ...args], {
    input,
    ...streams,
    env: { HOME: join(directory, 'home'), ...env },
    directory: join(directory, 'project'),
    version: '1.2.3',
    createThread,
    onSignal: () => () => undefined,
    openStdout: () => streams.output,
  });
  const read = (stream: PassThrough) => String(stream.read() ?? '');
  return { code, output: read(streams.output), errors: read(streams.errors) };
}

test('CA-1 CL-1 import reads all files of the survey at once and prints JSON', async () => {
  const files = (await readdir(cases)).map((file) => join(cases, file));
  const { code, output, errors } = await run([...files, '--json']);
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  const report = shape.parse(JSON.parse(output));
  expect(report.files).toHaveLength(26);
  expect(report.files.flatMap(({ servers }) => servers)).toHaveLength(83);
});

test('CA-1 SE-1 import shows what it understood and left out, and no secret', async () => {
  const file = await write(
    'project/.gemini/settings.json',
    JSON.stringify({
      theme: 'Dusk',
      mcpServers: {
        a: { command: 'a', args: ['--token', 'hunter2hunter2'], env: { KEY: '$NOT_SET' }, colour: 1 },
        b: { link: 'x' },
      },
    }),
  );
  const { code, output } = await run([file]);
  expect(code).toBe(0);
  expect(output).toMatch(
    /settings\.json \(Gemini CLI, 1\)\n {2}a {2}a --token \[redacted\] {2}stdio · needs NOT_SET · env KEY\n/,
  );
  expect(output).toMatch(/unresolved[\s\S]*unknown-field[\s\S]*no-transport b: [\s\S]*left out: theme/);
  expect(output).toContain('1 server in all. Write them as one holdfast.json with "--output FILE".');
  expect(output).not.toContain('hunter2');
});

test('CA-1 SE-1 import shows folders that references name, in messages, arguments and directories', async () => {
  const file = await write(
    'payments-service/.cursor/mcp.json',
    JSON.stringify({
      mcpServers: {
        'payments-service': {
          command: '${workspaceFolderBasename}-mcp',
          args: ['${workspaceFolder}', '--key-file', '${workspaceFolder}/not-there', '${HERE}'],
          env: { ROOT: '${workspaceFolderBasename}', WF: '${workspaceFolder}', HOUSE: '${userHome}', T: '${TOKEN}' },
          colour: 1,
        },
      },
    }),
  );
  const folder = join(directory, 'payments-service');
  const { code, output } = await run([file, '--json'], { HERE: folder, TOKEN: 'hunter2-hunter2' });
  expect(code).toBe(0);
  expect(output).not.toContain('hunter2');
  expect(JSON.parse(output)).toMatchObject({
    files: [
      {
        file,
        servers: [
          {
            name: 'payments-service',
            command: 'payments-service-mcp',
            args: [folder, '--key-file', `${folder}/not-there`, folder],
            env: { ROOT: 'payments-service', WF: folder, HOUSE: join(directory, 'home'), T: '[redacted]' },
          },
        ],
      },
    ],
  });
  const all = (await readdir(cases)).map((name) => join(cases, name));
  const survey = await run([...all, '--json'], { HOME: '/home/tester' });
  expect(survey.output).not.toMatch(/"[^"]*\[redacted\][/\\]/);
});

test('CA-1 SE-1 import shows no user info of urls, however short', async () => {
  const file = await write(
    'project/.mcp.json',
    JSON.stringify({
      mcpServers: {
        web: { url: 'http://ann:pw1@a.example/mcp' },
        db: { command: 'db', args: ['postgres://ann:pw/2@db.example/x', '--proxy=http://pw3@b.example'] },
        given: { url: 'http://${NAME}:${PASS}@a.example/mcp' },
        bad: { url: 'ftp://ann:pw4@a.example/mcp', link: 'http://ann:pw5@a.example' },
      },
    }),
  );
  for (const flags of [[], ['--json']]) {
    const { output } = await run([file, ...flags], { NAME: 'ann', PASS: 'pw6' });
    expect(output).toContain('http://[redacted]@a.example/mcp');
    expect(output).not.toMatch(/ann|pw/);
  }
});

test('CA-1 import without files takes the usual places of the user and the project, the project last', async () => {
  const servers = (command: string) => JSON.stringify({ mcpServers: { both: { command }, [command]: { command } } });
  await write('home/.cursor/mcp.json', servers('user'));
  await write('home/.codex/config.toml', '[mcp_servers.codex]\ncommand = "codex"\n');
  await write(
    'home/.claude.json',
    JSON.stringify({ projects: { [join(directory, 'project')]: { mcpServers: { claude: { command: 'claude' } } } } }),
  );
  await write('project/.mcp.json', servers('project'));
  const { output } = await run(['--json']);
  const report = shape.parse(JSON.parse(output));
  expect(report.files.map(({ format }) => format)).toEqual(['claude-json', 'cursor', 'codex-toml', 'claude-mcp-json']);
  expect(report.config.mcpServers).toMatchObject({
    both: { command: 'project' },
    user: { command: 'user' },
    codex: { command: 'codex' },
    claude: { command: 'claude' },
  });
  expect(output).toContain('duplicate-server');
});

test('CA-1 import says so when there is nothing', async () => {
  await mkdir(join(directory, 'project'));
  expect(await run([])).toEqual({
    code: 0,
    output: 'No configuration of a known tool is here. Name a file.\n',
    errors: '',
  });
});

test('CA-1 SE-1 import writes one file only its user can read, secrets included, and never over another', async () => {
  const file = await write(
    'project/.mcp.json',
    '{"mcpServers":{"a":{"command":"a","env":{"KEY":"hunter2hunter2","REF":"${TOKEN}"}}}}',
  );
  const { code, output } = await run([file, '--output', 'holdfast.json'], { TOKEN: 'token-of-the-test' });
  expect(code).toBe(0);
  expect(output).toContain(`Wrote 1 server to "${join(directory, 'project', 'holdfast.json')}".`);
  const written = join(directory, 'project', 'holdfast.json');
  expect(await readFile(written, 'utf8')).not.toContain('token-of-the-test');
  if (process.platform !== 'win32') expect((await stat(written)).mode & 0o777).toBe(0o600);
  const config = await readConfig([written], { env: { TOKEN: 'token-of-the-test' } });
  expect(config.servers).toEqual({ a: { command: 'a', env: { KEY: 'hunter2hunter2', REF: 'token-of-the-test' } } });
  const again = await run([file, '--output', 'holdfast.json']);
  expect(again.code).toBe(2);
  expect(again.errors).toMatch(/Expected to write a new file/);
});

test('CA-1 import exits with 1 when a file cannot be read, and shows the others', async () => {
  const good = await write('project/good.json', '{"mcpServers":{"a":{"command":"a"}}}');
  const bad = await write('project/bad.toml', 'a = \n');
  const { code, output } = await run([good, bad, join(directory, 'none.json')]);
  expect(code).toBe(1);
  expect(output).toMatch(/good\.json \(Holdfast, 1\)[\s\S]*bad\.toml", line 1, column \d+[\s\S]*none\.json/);
});

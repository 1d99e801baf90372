/** Placeholders that are none, and those of other tools: what is said of them, and that they go nowhere. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { importFiles, readConfig } from '../../src/config/index.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-literal-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function write(name: string, servers: Readonly<Record<string, unknown>>, key = 'mcpServers'): Promise<string> {
  const path = join(directory, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify({ [key]: servers }));
  return path;
}

const env = { A: 'a', B: 'b', H: 'h', G: 'g', X: 'x' };
const malformed = ['${A${B}}', '${ H }', '${G-h}', '${G.h}', 'X=${ H }'];

describe('arguments', () => {
  test.each(malformed)(
    'CA-3 %s in an argument is told, and in an environment leaves the server misconfigured',
    async (text) => {
      const file = await write('holdfast.json', {
        told: { command: 'serve', args: ['--fine', text] },
        not: { command: 'serve', env: { V: text } },
        remote: { url: 'https://host.example/mcp', headers: { V: text } },
      });
      const { servers, misconfigured, warnings } = await readConfig([file], { env });
      expect(servers).toEqual({ told: { command: 'serve', args: ['--fine', text] } });
      expect(Object.keys(misconfigured)).toEqual(['not', 'remote']);
      expect(warnings).toMatchObject([{ code: 'literal_placeholder', server: 'told' }]);
      expect(warnings[0]?.message).toContain('"args 2" holds "${…}" that is no placeholder');
      const { files } = await importFiles([file], { env });
      expect(files[0]?.diagnostics).toContainEqual(
        expect.objectContaining({ code: 'literal-placeholder', server: 'told' }),
      );
    },
  );

  test.each([
    [['sh', '-c', 'echo ${X%.js} ${ H }']],
    [['/bin/bash', '-lc', 'echo ${X%.js}']],
    [['node', '--no-warnings', '-e', 'console.log(`${ process.pid }`)']],
    [['docker', 'exec', '-i', 'box', 'sh', '-c', 'echo ${X%.js}']],
  ])('CA-3 text of a script is on purpose: nothing is said of %j', async ([command, ...args]) => {
    const { servers, warnings } = await readConfig([await write('holdfast.json', { a: { command, args } })], { env });
    expect(servers).toEqual({ a: { command, args } });
    expect(warnings).toEqual([]);
  });

  test('CA-3 a variable for a container is no script', async () => {
    const args = ['run', '-e', 'TOKEN=${ H }', 'image'];
    const { warnings } = await readConfig([await write('holdfast.json', { a: { command: 'docker', args } })], { env });
    expect(warnings).toMatchObject([{ code: 'literal_placeholder' }]);
  });
});

test.each(['${UNSET:-${B}}', '${UNSET:-${B:-${A}}}', '${UNSET:-${B:-${A:-${X}}}}', '${A${B}}'])(
  'CA-3 says of %s that one placeholder within another is not supported, and lets no part of it out',
  async (text) => {
    const { misconfigured } = await readConfig(
      [await write('holdfast.json', { a: { command: 'a', env: { V: text } } })],
      {
        env,
      },
    );
    expect(misconfigured['a']?.message).toContain('A placeholder within another is not supported');
  },
);

test('CA-3 says how a placeholder is written where it is not', async () => {
  const file = await write('holdfast.json', { a: { command: 'a', env: { V: '${ H }', W: '${NOT_SET}' } } });
  expect((await readConfig([file], { env })).misconfigured['a']?.message).toBe(
    `Server "a" in "${file}": expected values for " H ", "NOT_SET", got none. A placeholder is written "\${NAME}" or "\${NAME:-default}": mend it. Set the variables, or give a default with "\${NAME:-default}".`,
  );
});

describe('commands', () => {
  test('CA-3 importing a command in a placeholder reports that holdfast.json has none, and the file says the same', async () => {
    const hub = await write('.config/mcphub/servers.json', {
      a: { command: 'a', env: { KEY: '${cmd: print-key}' } },
    });
    const { config, diagnostics } = await importFiles([hub], { env });
    expect(diagnostics).toEqual([
      {
        code: 'no-such-placeholder',
        server: 'a',
        message:
          'holdfast.json has no placeholders for commands and files: "cmd: print-key" never has a value there. Put the value into a variable, and write "${NAME}" instead.',
      },
    ]);
    const own = await write('holdfast.json', config.mcpServers);
    const asked: string[] = [];
    const { misconfigured } = await readConfig([own], {
      env,
      runCommand: ({ command }) => {
        asked.push(command);
        return Promise.resolve('key');
      },
    });
    expect(asked).toEqual([]);
    expect(misconfigured['a']?.message).toBe(
      `Server "a" in "${own}": expected a value for "cmd: print-key", got none. holdfast.json has no placeholders for commands: put what the command prints into a variable, and write "\${NAME}" instead.`,
    );
    // Where there are such placeholders, consent is what is missing.
    expect((await readConfig([hub], { env })).misconfigured['a']?.message).toContain('only with consent');
  });

  test('CA-3 importing a file in a placeholder reports that holdfast.json has none', async () => {
    const file = await write(
      'opencode.json',
      { a: { type: 'remote', url: 'https://host.example/mcp', headers: { K: '{file:~/key}' } } },
      'mcp',
    );
    const { diagnostics } = await importFiles([file], { env });
    expect(diagnostics).toMatchObject([{ code: 'no-such-placeholder', server: 'a' }]);
    expect((await readConfig([file], { env })).misconfigured['a']?.message).toContain(
      'Check that the file is there, and can be read.',
    );
  });
});

/** Files nobody should have written: each is refused with its reason, or read with a word about it, in bounded time. */
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findConfig, importFiles, readConfig, redactImport } from '../../src/config/index.ts';
import { HoldfastError } from '../../src/domain/errors.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-hostile-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function write(name: string, content: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

async function failureOf(promise: Promise<unknown>): Promise<HoldfastError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof HoldfastError)) throw new TypeError(`Expected a HoldfastError, got ${String(error)}.`);
  return error;
}

describe('too much', () => {
  test('CA-1 refuses a million servers by the size of their file', async () => {
    const many = Array.from({ length: 1_000_000 }, (_, index) => `"server-${index}":{"command":"x"}`).join(',');
    const error = await failureOf(readConfig([await write('x.json', `{"mcpServers":{${many}}}`)]));
    expect(error.code).toBe('config_invalid');
    expect(error.message).toMatch(/at most 10485760 bytes/);
  });

  test('CA-1 refuses more servers than 10,000 in a file of nearly 10 MiB', async () => {
    const many = Array.from({ length: 400_000 }, (_, index) => `"s${index}":{"command":"x"}`).join(',');
    const error = await failureOf(readConfig([await write('x.json', `{"mcpServers":{${many}}}`)]));
    expect(error.code).toBe('config_invalid');
    expect(error.message).toMatch(/at most 10000 servers, got 400000\. Split the file/);
  });

  test('CA-1 refuses more servers than 10,000 in several files', async () => {
    const files = await Promise.all(
      [0, 1].map(async (part) => {
        const many = Array.from({ length: 6_000 }, (_, index) => `"s${part}-${index}":{"command":"x"}`).join(',');
        return write(`${part}.json`, `{"mcpServers":{${many}}}`);
      }),
    );
    expect((await failureOf(readConfig(files))).message).toMatch(/at most 10000 servers in all files/);
  });

  test('CA-1 says of ten thousand equal keys only the first hundred, and how many more there are', async () => {
    const many = Array.from({ length: 10_000 }, () => '"a":{"command":"x"}').join(',');
    const config = await readConfig([await write('x.json', `{"mcpServers":{${many}}}`)]);
    expect(config.servers).toEqual({ a: { command: 'x' } });
    expect(config.warnings).toHaveLength(101);
    expect(config.warnings.at(-1)?.message).toContain('9899 more');
  });

  test.each([
    ['brackets without end', 'a.yaml', '['.repeat(100_000)],
    ['keys of keys', 'a.yaml', `${'? '.repeat(5_000)}a`],
    [
      'aliases that multiply',
      'a.yaml',
      `a: &a [1,2,3,4,5,6,7,8,9]\n${Array.from({ length: 9 }, (_, index) => `b${index}: &b${index} [${Array.from({ length: 9 }, () => (index === 0 ? '*a' : `*b${index - 1}`)).join(',')}]`).join('\n')}`,
    ],
    ['an alias that leads nowhere', 'a.yaml', 'mcpServers: *nowhere'],
    ['TOML nested without end', 'a.toml', `a = ${'['.repeat(100_000)}`],
    ['JSON nested without end', 'a.json', '['.repeat(100_000)],
    ...[300, 1_500, 3_000, 6_000, 20_000].flatMap((depth): [string, string, string][] => [
      [
        `JSON nested ${depth} deep`,
        'a.json',
        `{"mcpServers":{"a":{"command":"a","x":${'['.repeat(depth)}${']'.repeat(depth)}}}}`,
      ],
      [`JSON5 nested ${depth} deep`, 'a.json', `{x:${'{x:'.repeat(depth)}1${'}'.repeat(depth)}}`],
      [`tables nested ${depth} deep`, 'a.toml', `${'a.'.repeat(depth)}b = 1`],
    ]),
    ['YAML that holds itself', 'a.yaml', 'mcpServers: &a\n  a: { command: a, x: *a }'],
  ])('CA-1 refuses %s', async (_, name, text) => {
    expect((await failureOf(readConfig([await write(name, text)]))).code).toBe('config_syntax');
  });

  test('CA-1 refuses YAML that is larger than its parser is quick', async () => {
    const error = await failureOf(readConfig([await write('a.yaml', 'a: b\n'.repeat(200_000))]));
    expect(error.message).toMatch(/at most 524288 characters of YAML/);
  });
});

describe('what cannot be read', () => {
  test.each([
    ['a.toml', '[mcp_servers.a]\ncommand = hunter2hunter2\n', /line 2, column \d+: expected TOML/],
    ['a.toml', '[mcp_servers.a]\ncommand = "a"\n[mcp_servers.a]\n', /line 3, column \d+: expected TOML/],
    ['a.yaml', 'mcpServers:\n  a:\n\tcommand: hunter2hunter2\n', /line 3, column \d+: expected YAML/],
    ['a.yaml', 'mcpServers: {}\n---\nmcpServers: {}\n', /line 2, column \d+: .*several documents/],
    ['a.json', '{\n  mcpServers: {\n    a: hunter2hunter2 } }', /line 3, column 8: expected JSON5/],
  ])('CA-1 names line and column in %s, and quotes nothing of it: %j', async (name, text, message) => {
    const error = await failureOf(readConfig([await write(name, text)]));
    expect(error.code).toBe('config_syntax');
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('hunter2');
  });

  test('CA-1 says of links in a circle what they are, also when they are found', async () => {
    await symlink(join(directory, 'holdfast.json'), join(directory, '.mcp.json'));
    await symlink(join(directory, '.mcp.json'), join(directory, 'holdfast.json'));
    const files = await findConfig(directory);
    expect(files).toHaveLength(2);
    const error = await failureOf(readConfig(files));
    expect(error.code).toBe('config_invalid');
    expect(error.message).toMatch(/ELOOP/);
  });

  test.skipIf(process.platform === 'win32')('CA-1 does not wait for a pipe nobody writes to', async () => {
    const pipe = join(directory, 'pipe.json');
    const program = 'mkfifo';
    execFileSync(program, [pipe]);
    expect((await failureOf(readConfig([pipe]))).message).toMatch(/a device or a pipe/);
  });

  test('CA-1 reports a file that cannot be read beside those that can', async () => {
    const report = await importFiles([
      await write('good.json', '{"mcpServers":{"a":{"command":"a"}}}'),
      await write('bad.json', '{"mcpServers":'),
    ]);
    expect(report.files.map(({ servers }) => servers.length)).toEqual([1]);
    expect(report.unreadable).toMatchObject([{ failure: { code: 'config_syntax' } }]);
  });
});

describe('odd entries', () => {
  test('CA-1 takes names as they are', async () => {
    const names = ['with space', 'a/b', 'a.b', '🦀', 'x'.repeat(300), '', '__proto__', 'toString', '~/1', '"quoted"'];
    const text = `{"mcpServers":{${names.map((name) => `${JSON.stringify(name)}:{"command":"c"}`).join(',')}}}`;
    const config = await readConfig([await write('x.json', text)]);
    expect(Object.keys(config.servers)).toEqual(names);
    const report = await importFiles([join(directory, 'x.json')]);
    expect(Object.keys(report.config.mcpServers)).toEqual(names);
  });

  test('CA-1 keeps the siblings of an entry with both url and command, in every language', async () => {
    const files = [
      await write('a.json', '{"mcpServers":{"j":{"command":"a","url":"https://a.example"},"jGood":{"command":"a"}}}'),
      await write(
        'b.toml',
        '[mcp_servers.t]\ncommand="a"\nurl="https://a.example"\n[mcp_servers.tGood]\ncommand="a"\n',
      ),
      await write('goose.yaml', 'extensions:\n  y: {cmd: a, uri: "https://a.example"}\n  yGood: {cmd: a}\n'),
    ];
    const config = await readConfig(files);
    expect(Object.keys(config.servers)).toEqual(['jGood', 'tGood', 'yGood']);
    expect(Object.keys(config.misconfigured)).toEqual(['j', 't', 'y']);
    expect(config.misconfigured['t']?.message).toMatch(/expected "command" or "url", got both/);
  });

  test('CA-1 names a wrong field as the file does', async () => {
    const file = await write(
      'config.toml',
      '[mcp_servers.a]\ncommand = "a"\nenabled_tools = "all"\ntool_timeout_sec = "x"\n',
    );
    const { misconfigured } = await readConfig([file]);
    expect(misconfigured['a']?.issues?.map(({ path }) => path).toSorted()).toEqual([
      '/enabled_tools',
      '/tool_timeout_sec',
    ]);
  });

  test('CA-1 lets later files win by name across formats, with a warning', async () => {
    const first = await write('b.toml', '[mcp_servers.a]\ncommand = "first"\n');
    const second = await write('.mcp.json', '{"mcpServers":{"a":{"command":"second"}}}');
    const config = await readConfig([first, second]);
    expect(config.servers).toEqual({ a: { command: 'second' } });
    expect(config.warnings).toMatchObject([{ code: 'duplicate_server', server: 'a' }]);
  });

  test('CA-1 SE-1 imports secrets in plain text and shows none of them', async () => {
    const secrets = ['sk-live-0123456789', 'hunter2hunter2', 'query-secret-1', 'client-secret-2', 'flag-secret-33'];
    const [key, header, query, client, flag] = secrets;
    const file = await write(
      '.mcp.json',
      JSON.stringify({
        mcpServers: {
          a: { command: 'a', args: ['--api-key', flag], env: { API_KEY: key }, odd: { token: `x-${key}` } },
          b: {
            url: `https://b.example/?key=${query}`,
            headers: { Authorization: `Bearer ${header}` },
            oauth: { clientSecret: client },
          },
        },
      }),
    );
    const report = await importFiles([file]);
    const whole = JSON.stringify(report);
    for (const secret of secrets) expect(whole).toContain(secret);
    const shown = JSON.stringify(redactImport(report));
    for (const secret of secrets) expect(shown).not.toContain(secret);
    expect(shown).toContain('[redacted]');
  });
});

describe('commands in files', () => {
  const hub = `{ mcpServers: {
    a: { command: 'a', env: { KEY: '\${cmd: print-key}', TWICE: '\${cmd: print-key}' } },
    b: { url: 'https://b.example', headersHelper: 'print-headers', headers: { X: 'x' } },
    c: { command: 'c', env: { KEY: '\${cmd: fail}' } },
    d: { command: 'd' },
  } }`;

  async function hubFile(): Promise<string> {
    const file = join(directory, 'mcphub.json');
    await writeFile(file, hub);
    return file;
  }

  test('CA-3 no command runs without consent: its server is misconfigured, and named', async () => {
    const config = await readConfig([await hubFile()]);
    expect(Object.keys(config.servers)).toEqual(['b', 'd']);
    expect(config.misconfigured['a']).toMatchObject({ code: 'server_misconfigured' });
    expect(config.misconfigured['a']?.message).toMatch(/"cmd: print-key"[\s\S]*only with consent/);
    expect(config.warnings.map(({ code, server }) => [code, server])).toEqual([['headers_helper', 'b']]);
  });

  test('CA-3 with consent each command runs once; one that fails loses its own server only', async () => {
    const asked: string[] = [];
    const config = await readConfig([await hubFile()], {
      runCommand: ({ command, purpose, server }) => {
        asked.push(`${server} ${purpose} ${command}`);
        if (command === 'fail') return Promise.reject(new Error('exit 1'));
        return Promise.resolve(purpose === 'headers' ? '{"Authorization":"Bearer from-helper"}' : 'key-of-the-test\n');
      },
    });
    expect(asked).toEqual(['a placeholder print-key', 'b headers print-headers', 'c placeholder fail']);
    expect(config.servers).toEqual({
      a: { command: 'a', env: { KEY: 'key-of-the-test', TWICE: 'key-of-the-test' } },
      b: {
        url: 'https://b.example',
        headers: { X: 'x', Authorization: 'Bearer from-helper' },
        renewHeaders: expect.any(Function) as () => Promise<Record<string, string>>,
      },
      d: { command: 'd' },
    });
    expect(config.misconfigured['c']?.message).toMatch(/exit 1/);
    expect(config.secrets).toEqual(['key-of-the-test', 'Bearer from-helper']);
    expect(config.warnings).toEqual([]);
  });

  test('CA-3 a helper that prints no headers leaves its server misconfigured, and what it printed unsaid', async () => {
    const config = await readConfig([await hubFile()], { runCommand: () => Promise.resolve('hunter2hunter2') });
    expect(config.misconfigured['b']?.message).toMatch(/JSON object of texts/);
    expect(JSON.stringify(config.misconfigured)).not.toContain('hunter2');
  });
});

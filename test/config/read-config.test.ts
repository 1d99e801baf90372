import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findConfig, readConfig } from '../../src/config/index.ts';
import { HoldfastError } from '../../src/domain/errors.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-config-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function write(name: string, content: string | Uint8Array): Promise<string> {
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

describe('documents', () => {
  test('CA-1 reads holdfast.json with comments, trailing commas, a BOM and CRLF', async () => {
    const file = await write(
      'holdfast.json',
      '\uFEFF// servers\r\n{\r\n  "mcpServers": { /* one */ "echo": { "command": "node", "args": ["a // b",], }, },\r\n "policy": { "approval": "prompt" }, "limits": { "callsPerServer": 2 },\r\n}\r\n',
    );
    const config = await readConfig([file]);
    expect(config.servers).toEqual({ echo: { command: 'node', args: ['a // b'] } });
    expect(config.policy).toEqual({ approval: 'prompt' });
    expect(config.limits).toEqual({ callsPerServer: 2 });
    expect(config.warnings).toEqual([]);
  });

  test('CA-1 names line and column of a document it cannot read, and quotes none of it', async () => {
    const file = await write('holdfast.json', '{\n  "mcpServers": {\n    "a": { "command": hunter2hunter2 }\n  }\n}');
    const error = await failureOf(readConfig([file]));
    expect(error.code).toBe('config_syntax');
    expect(error.message).toContain('line 3, column 23');
    expect(error.message).not.toContain('hunter2');
    expect(error.data).toEqual({ file, line: 3, column: 23 });
  });

  test.each([
    ['a half-written file', '{ "mcpServers": { "a": { "command": "node"', 'config_syntax'],
    ['UTF-16', Buffer.from('\uFEFF{}', 'utf16le'), 'config_syntax'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'config_syntax'],
    ['nesting without end', '['.repeat(200_000), 'config_syntax'],
    ['a list at the top', '[1]', 'config_invalid'],
    [
      'a policy that cannot be understood',
      '{"mcpServers":{},"policy":{"elicitation":{"autoDeny":"yes"}}}',
      'config_invalid',
    ],
    ['more than 10 MiB', ' '.repeat(10 * 1024 * 1024 + 1), 'config_invalid'],
  ])('CA-1 refuses %s whole', async (_, content, code) => {
    const file = await write('holdfast.json', content);
    expect((await failureOf(readConfig([file]))).code).toBe(code);
  });

  test('CA-1 says where in the document a policy is wrong', async () => {
    const file = await write('holdfast.json', '{\n "mcpServers": {},\n "policy": { "approval": "never" }\n}');
    const error = await failureOf(readConfig([file]));
    expect(error.data).toMatchObject({ line: 3, column: 26 });
    expect(error.issues).toMatchObject([{ path: '/policy/approval' }]);
  });

  test('CA-1 refuses what is no file', async () => {
    expect((await failureOf(readConfig([join(directory, 'none.json')]))).code).toBe('config_invalid');
    expect((await failureOf(readConfig([directory]))).message).toContain('a directory');
  });

  test('CA-1 takes a document of comments only for one without servers', async () => {
    const config = await readConfig([await write('holdfast.json', '// { "mcpServers": {} }\n')]);
    expect(config.servers).toEqual({});
    expect(config.warnings.map((warning) => warning.code)).toEqual(['no_servers']);
  });
});

describe('entries', () => {
  test('CA-2 reads every setting of a stdio and of an HTTP server', async () => {
    const settings = {
      enabled: true,
      required: true,
      environment: 'remote',
      protocol: 'legacy',
      parallel: true,
      serialize: false,
      startTimeoutMs: 1,
      callTimeoutMs: 2,
      maxPauseMs: 3,
      retry: 'idempotent',
      approval: 'writes',
      tools: { allow: ['a'], deny: ['b'], perTool: { a: { approval: 'prompt' } } },
    };
    const stdio = { command: '/bin/x', args: ['1'], env: { A: 'b' }, cwd: '/srv', ...settings };
    const http = {
      url: 'https://a.example/mcp?x=1',
      headers: { a: 'b' },
      headersFrom: { c: 'D' },
      bearerTokenVariable: 'E',
      transport: 'sse',
      oauth: { clientId: 'i', scopes: ['s'], resource: 'r', callbackPort: 8080 },
      ...settings,
    };
    const config = await readConfig([await write('holdfast.json', JSON.stringify({ mcpServers: { stdio, http } }))]);
    expect(config.servers).toEqual({ stdio, http });
    expect(config.warnings).toEqual([]);
  });

  test('CA-1 keeps the good entries beside bad ones, which are named with their reason', async () => {
    const mcpServers = {
      good: { command: 'node' },
      both: { command: 'node', url: 'https://a.example' },
      neither: { args: [] },
      text: 'node',
      late: { command: 'node', callTimeoutMs: 1.5 },
      ftp: { url: 'ftp://a.example' },
      argument: { command: 'node', args: 'x' },
    };
    const config = await readConfig([await write('holdfast.json', JSON.stringify({ mcpServers }))]);
    expect(Object.keys(config.servers)).toEqual(['good']);
    expect(Object.keys(config.misconfigured)).toEqual(['both', 'neither', 'text', 'late', 'ftp', 'argument']);
    expect(config.misconfigured['both']).toMatchObject({ code: 'config_invalid', retryable: false });
    expect(config.misconfigured['neither']?.message).toMatch(/"command" or "url", got neither/);
    expect(config.misconfigured['late']?.issues).toMatchObject([{ path: '/callTimeoutMs' }]);
    expect(config.misconfigured['argument']?.issues).toMatchObject([{ path: '/args' }]);
  });

  test('CA-1 keeps unknown fields and reports them', async () => {
    const file = await write(
      'holdfast.json',
      '{"mcpServers":{"a":{"command":"x","gallery":true,"tools":{"hide":[]}}},"theme":1,"limits":{"speed":9}}',
    );
    const config = await readConfig([file]);
    expect(config.servers).toEqual({ a: { command: 'x', tools: {} } });
    expect(config.unknown).toEqual({ a: { gallery: true, 'tools.hide': [] } });
    expect(config.warnings.map((warning) => [warning.code, warning.server])).toEqual([
      ['unknown_field', undefined],
      ['unknown_field', 'a'],
    ]);
    expect(config.warnings[0]?.message).toContain('"theme", "limits.speed"');
  });

  test('CA-1 understands the types other tools write', async () => {
    const mcpServers = {
      a: { type: 'streamable-http', url: 'https://a.example' },
      b: { type: 'sse', url: 'https://b.example' },
      c: { type: 'stdio', command: 'c', url: 'https://c.example' },
      d: { type: 'http', command: 'd' },
      e: { command: 'e', disabled: true, env: { N: 3, B: true } },
    };
    const config = await readConfig([await write('.mcp.json', JSON.stringify({ mcpServers }))]);
    expect(config.servers).toEqual({
      a: { url: 'https://a.example', transport: 'http' },
      b: { url: 'https://b.example', transport: 'sse' },
      c: { command: 'c' },
      e: { command: 'e', enabled: false, env: { N: '3', B: 'true' } },
    });
    expect(Object.keys(config.misconfigured)).toEqual(['d']);
    expect(config.warnings.map((warning) => warning.code)).toEqual(['command_and_url', 'coerced_env']);
  });

  test('CA-1 treats names like "__proto__" as names', async () => {
    const config = await readConfig([
      await write('x.json', '{"mcpServers":{"__proto__":{"command":"p"},"constructor":{"command":"c"}}}'),
    ]);
    expect(Object.keys(config.servers)).toEqual(['__proto__', 'constructor']);
  });

  test('CA-1 uses the last of two equal keys and says so', async () => {
    const config = await readConfig([
      await write('x.json', '{"mcpServers":{"a":{"command":"1"},"a":{"command":"2"}}}'),
    ]);
    expect(config.servers).toEqual({ a: { command: '2' } });
    expect(config.warnings.map((warning) => warning.code)).toEqual(['duplicate_key']);
  });

  test('CA-1 runs a server that names a script beside its file where the file is', async () => {
    await write('server.mjs', '');
    const mcpServers = {
      script: { command: 'node', args: ['server.mjs'] },
      tool: { command: 'npx', args: ['-y', 'x'] },
      sub: { command: 'x', cwd: 'sub' },
    };
    const config = await readConfig([await write('holdfast.json', JSON.stringify({ mcpServers }))]);
    expect(config.servers).toEqual({
      script: { command: 'node', args: ['server.mjs'], cwd: directory },
      tool: { command: 'npx', args: ['-y', 'x'] },
      sub: { command: 'x', cwd: join(directory, 'sub') },
    });
  });
});

describe('placeholders', () => {
  const env = { TOKEN: 'secret-token-1', EMPTY: '', HOME: '/home/someone' };

  test('CA-3 puts values and defaults into every string field', async () => {
    const mcpServers = {
      a: {
        command: '${HOME}/bin',
        args: ['--x=${TOKEN}', '${PORT:-80}', '${EMPTY:-full}', '${EMPTY}'],
        env: { T: '${TOKEN}' },
        cwd: '${HOME}',
      },
      b: { url: '${BASE:-https://b.example}/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } },
    };
    const config = await readConfig([await write('holdfast.json', JSON.stringify({ mcpServers }))], { env });
    expect(config.servers).toEqual({
      a: {
        command: '/home/someone/bin',
        args: ['--x=secret-token-1', '80', 'full', ''],
        env: { T: 'secret-token-1' },
        cwd: '/home/someone',
      },
      b: { url: 'https://b.example/mcp', headers: { Authorization: 'Bearer secret-token-1' } },
    });
    expect(config.secrets).toEqual(['secret-token-1']);
  });

  test('CA-3 makes a server misconfigured by name when a variable is missing', async () => {
    const mcpServers = {
      a: { command: 'x', env: { A: '${NOT_SET}' } },
      b: { url: 'https://${HOST}/', headers: { h: '${input:key}' } },
      c: { command: 'c' },
    };
    const config = await readConfig([await write('.mcp.json', JSON.stringify({ mcpServers }))], { env });
    expect(Object.keys(config.servers)).toEqual(['c']);
    expect(config.misconfigured['a']).toMatchObject({ code: 'server_misconfigured' });
    expect(config.misconfigured['a']?.message).toContain('"NOT_SET"');
    expect(config.misconfigured['b']?.message).toContain('"HOST", "input:key"');
  });

  test('CA-3 scans a value once and refuses a placeholder within a default', async () => {
    const mcpServers = { once: { command: '${NESTED}' }, within: { command: 'x', env: { A: '${NOT_SET:-${TOKEN}}' } } };
    const config = await readConfig([await write('holdfast.json', JSON.stringify({ mcpServers }))], {
      env: { ...env, NESTED: '${TOKEN}' },
    });
    expect(config.servers).toEqual({ once: { command: '${TOKEN}' } });
    expect(Object.keys(config.misconfigured)).toEqual(['within']);
  });

  test('CA-3 leaves shell text in arguments alone', async () => {
    const args = ['-c', 'cd "$(pwd)" && echo ${X%.js} $HOME {a,b}'];
    const config = await readConfig(
      [await write('holdfast.json', JSON.stringify({ mcpServers: { sh: { command: 'sh', args } } }))],
      { env },
    );
    expect(config.servers).toEqual({ sh: { command: 'sh', args } });
  });

  test('CA-3 does not miss a variable of a server that is off', async () => {
    const config = await readConfig(
      [await write('x.json', '{"mcpServers":{"a":{"command":"${NOT_SET}","enabled":false}}}')],
      { env },
    );
    expect(config.servers).toEqual({ a: { command: '${NOT_SET}', enabled: false } });
    expect(config.misconfigured).toEqual({});
  });
});

describe('several files', () => {
  test('CA-1 lets the later file win by name, with a warning, and adds the rest up', async () => {
    const first = await write(
      '.mcp.json',
      '{"mcpServers":{"a":{"command":"1"},"b":{"command":"b"}},"policy":{"approval":"auto","elicitation":{"urls":false}}}',
    );
    const second = await write('holdfast.json', '{"mcpServers":{"a":{"command":"2"}},"policy":{"approval":"prompt"}}');
    const config = await readConfig([first, second]);
    expect(config.servers).toEqual({ a: { command: '2' }, b: { command: 'b' } });
    expect(config.policy).toEqual({ approval: 'prompt', elicitation: { urls: false } });
    expect(config.warnings).toMatchObject([
      { code: 'overridden_setting', file: second },
      { code: 'duplicate_server', server: 'a', file: second },
    ]);
    expect(config.files).toEqual([first, second]);
  });

  test('CL-1 finds holdfast.json and .mcp.json of a directory, the stronger one last', async () => {
    expect(await findConfig(directory)).toEqual([]);
    await write('holdfast.json', '{}');
    await write('.mcp.json', '{}');
    await mkdir(join(directory, 'sub'));
    expect(await findConfig(directory)).toEqual([join(directory, '.mcp.json'), join(directory, 'holdfast.json')]);
    expect(await findConfig(join(directory, 'sub'))).toEqual([]);
  });

  test('CA-1 reads ten thousand entries, good and bad', async () => {
    const mcpServers = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`s${index}`, index % 2 === 0 ? { command: 'x' } : { url: 'no' }]),
    );
    const config = await readConfig([await write('x.json', JSON.stringify({ mcpServers }))]);
    expect(Object.keys(config.servers)).toHaveLength(5_000);
    expect(Object.keys(config.misconfigured)).toHaveLength(5_000);
  });
});

test('CA-1 understands the quickstart wherever it is read from', async () => {
  const folder = fileURLToPath(new URL('../../examples/quickstart', import.meta.url));
  const config = await readConfig([join(folder, 'holdfast.json')]);
  expect(Object.keys(config.servers)).toEqual(['everything', 'restaurant']);
  expect(config.servers['everything']).toHaveProperty('cwd', folder);
  expect([...config.warnings, ...Object.keys(config.misconfigured)]).toEqual([]);
});

describe('what is no secret', () => {
  test('SE-1 CA-3 folders that references name are none, and values of variables that are places are none', async () => {
    await mkdir(join(directory, 'payments-service', '.cursor'), { recursive: true });
    const folder = join(directory, 'payments-service');
    const file = await write(
      'payments-service/.cursor/mcp.json',
      JSON.stringify({
        mcpServers: {
          a: {
            command: 'x',
            env: {
              NAME: '${workspaceFolderBasename}',
              DATA: '${workspaceFolder}/not-there',
              HERE: '${env:HERE}',
              MIXED: '${workspaceFolder}/${env:TOKEN}',
              LITERAL: 'hunter2-hunter2',
              TOKEN: '${env:TOKEN}',
            },
          },
          b: { command: 'y', env: { SIDE: '${/}', OTHER: 'other-value' } },
        },
      }),
    );
    const config = await readConfig([file], { env: { HERE: directory, TOKEN: 'token-12345678' } });
    expect(config.secrets).toEqual(['token-12345678']);
    expect(config.servers['a']?.notSecret).toEqual(['payments-service', `${folder}/not-there`]);
    expect(config.servers['b']).not.toHaveProperty('notSecret');
  });
});

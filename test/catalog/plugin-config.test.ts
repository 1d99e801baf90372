import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCatalogBuilder } from '../../src/catalog/builder.ts';
import { parsePluginConfig } from '../../src/catalog/plugin-config.ts';
import type { ParsePluginOptions, PluginConfig } from '../../src/catalog/plugin-config.ts';

const root = '/plugins/sample';

function read(servers: unknown, options: Partial<ParsePluginOptions> = {}): PluginConfig {
  return parsePluginConfig(JSON.stringify(servers), { root, ...options });
}

/** The one server `a`, or the message that says why there is none. */
function one(entry: unknown, options: Partial<ParsePluginOptions> = {}): unknown {
  const { servers, misconfigured } = read({ a: entry }, options);
  return servers['a'] ?? misconfigured['a']?.message;
}

const remote = { environment: 'box' };

describe('CA-6 shapes', () => {
  test('CA-6 a wrapper with anything beside it, and a map by itself, are the same', () => {
    const servers = { a: { command: 'x' }, b: { url: 'https://b.example/mcp' } };
    const expected = {
      a: { command: 'x', environment: 'local' },
      b: { url: 'https://b.example/mcp', environment: 'local' },
    };
    expect(read({ name: 'kit', version: '1.0.0', mcpServers: servers }).servers).toEqual(expected);
    expect(read(servers).servers).toEqual(expected);
  });

  test('CA-6 the wrapper has one spelling: in another it is a server, and a broken one', () => {
    expect(Object.keys(read({ mcp_servers: { a: { command: 'x' } } }).misconfigured)).toEqual(['mcp_servers']);
  });

  test('CA-6 a list of named entries is taken by name, with a warning', () => {
    const { servers, warnings } = read({ mcpServers: [{ name: 'a', command: 'x' }] });
    expect(Object.keys(servers)).toEqual(['a']);
    expect(warnings.map(({ code }) => code)).toEqual(['servers_list']);
  });

  test.each(['{ "a": ', '[]', 'null', '"text"', ''])('CA-6 a document that is no object fails whole: %j', (text) => {
    expect(() => parsePluginConfig(text, { root, file: 'kit/.mcp.json' })).toThrow(
      expect.objectContaining({
        code: expect.stringMatching(/^config_/) as unknown,
        message: expect.stringContaining('kit/.mcp.json') as unknown,
      }),
    );
  });

  test('CA-6 a bad entry is misconfigured by name, and its siblings stay', () => {
    const { servers, misconfigured } = read({
      good: { command: 'x' },
      neither: { args: ['y'] },
      both: { command: 'x', url: 'https://b.example' },
      text: 'npx server',
      nothing: null,
      number: { command: 7, required: true },
    });
    expect(Object.keys(servers)).toEqual(['good']);
    expect(misconfigured).toMatchObject({
      neither: { code: 'config_invalid', message: expect.stringContaining('"neither"') as unknown },
      both: { code: 'config_invalid' },
      text: { code: 'config_invalid' },
      nothing: { code: 'config_invalid' },
      number: { code: 'config_invalid', required: true },
    });
  });

  test('CA-6 what it gives registers as it is, misconfigured entries too', () => {
    const source = { kind: 'plugin', plugin: { id: 'kit', name: 'The kit' }, order: 0 } as const;
    const { servers } = createCatalogBuilder()
      .registerAll(source, read({ good: { command: 'x' }, bad: {} }))
      .build();
    expect(servers).toMatchObject({ good: { source, config: { command: 'x' } }, bad: { source, failure: {} } });
  });
});

describe('CA-6 fields', () => {
  test('CA-6 takes the names of Codex', () => {
    expect(
      one({
        type: 'stdio',
        command: 'x',
        env: { A: '1' },
        env_vars: ['KEY', { name: 'OTHER' }, { name: 'THIRD', source: 'local' }],
        startup_timeout_sec: 12.5,
        startup_timeout_ms: 1,
        tool_timeout_sec: 90,
        supports_parallel_tool_calls: true,
        default_tools_approval_mode: 'prompt',
        enabled_tools: ['heat'],
        disabled_tools: ['melt'],
        tools: { heat: { approval_mode: 'approve' } },
        required: null,
      }),
    ).toEqual({
      command: 'x',
      env: { A: '1' },
      envFrom: { KEY: 'KEY', OTHER: 'OTHER', THIRD: 'THIRD' },
      environment: 'local',
      startTimeoutMs: 12_500,
      callTimeoutMs: 90_000,
      parallel: true,
      approval: 'prompt',
      tools: { allow: ['heat'], deny: ['melt'], perTool: { heat: { approval: 'approve' } } },
    });
    expect(
      one({
        type: 'streamable_http',
        url: 'https://a.example',
        http_headers: { 'X-Plan': 'basic' },
        env_http_headers: { 'X-Region': 'REGION' },
        bearer_token_env_var: 'TOKEN',
        scopes: ['read'],
        oauth_resource: 'https://a.example',
      }),
    ).toEqual({
      url: 'https://a.example',
      headers: { 'X-Plan': 'basic' },
      headersFrom: { 'X-Region': 'REGION' },
      bearerTokenVariable: 'TOKEN',
      environment: 'local',
      oauth: { scopes: ['read'], resource: 'https://a.example' },
    });
  });

  test('CA-6 takes the names of Holdfast', () => {
    const entry = {
      command: 'x',
      envFrom: { A: 'B' },
      startTimeoutMs: 5,
      tools: { allow: ['heat'], perTool: { heat: { approval: 'prompt' } } },
    };
    expect(one(entry)).toEqual({ ...entry, environment: 'local' });
  });

  test('CA-6 of oauth the snake_case id wins, the port is kept, and an empty one is left out', () => {
    const url = 'https://a.example';
    expect(one({ url, oauth: { clientId: 'camel', client_id: 'snake', callbackPort: 4_711 } })).toMatchObject({
      oauth: { clientId: 'snake', callbackPort: 4_711 },
    });
    expect(one({ url, oauth: {} })).toEqual({ url, environment: 'local' });
  });

  test('CA-6 the type decides nothing but SSE, and an unknown one is a warning', () => {
    const url = 'https://a.example';
    expect(one({ type: 'stdio', url })).toEqual({ url, environment: 'local' });
    expect(one({ type: 'sse', url })).toEqual({ url, transport: 'sse', environment: 'local' });
    const { servers, warnings } = read({ a: { type: 'carrier-pigeon', url } });
    expect(servers['a']).toEqual({ url, environment: 'local' });
    expect(warnings).toMatchObject([{ code: 'unknown_type', server: 'a' }]);
  });

  test('CA-6 a token in plain text, and times that are none, are errors that name the field as written', () => {
    expect(one({ url: 'https://a.example', bearer_token: 'seeded-secret' })).toMatch(/bearer_token_env_var/);
    expect(one({ url: 'https://a.example', bearer_token: 'seeded-secret' })).not.toMatch(/seeded-secret/);
    expect(one({ command: 'x', startup_timeout_sec: 'soon' })).toMatch(/startup_timeout_sec/);
    expect(one({ command: 'x', tool_timeout_sec: 0 })).toMatch(/tool_timeout_sec/);
    expect(one({ command: 'x', env_vars: 'KEY' })).toMatch(/env_vars/);
    expect(one({ command: 'x', env_vars: [''] })).toMatch(/env_vars\/0/);
  });

  test('CA-6 fields nobody knows are warned of', () => {
    const { servers, warnings } = read({ a: { command: 'x', omit_tools_from: ['direct'] } });
    expect(servers).toHaveProperty('a');
    expect(warnings).toMatchObject([
      { code: 'unknown_field', server: 'a', message: expect.stringContaining('"omit_tools_from"') as unknown },
    ]);
  });
});

describe('CA-6 directories of a plugin of this machine', () => {
  test.each([
    ['tools', '/plugins/sample/tools'],
    ['./a/../b', '/plugins/sample/b'],
    ['.', '/plugins/sample'],
    ['..hidden', '/plugins/sample/..hidden'],
    ['/srv/data', '/srv/data'],
    ['file:///srv/data', '/srv/data'],
  ])('CA-6 %s is %s', (cwd, expected) => {
    expect(one({ command: 'x', cwd })).toMatchObject({ cwd: expected });
  });

  test.each(['..', '../other', 'a/../../other', '../sample-evil'])('CA-6 %s is outside, and an error', (cwd) => {
    expect(one({ command: 'x', cwd })).toMatch(/cwd: expected a directory inside the plugin/);
  });

  test('CA-6 without one the server runs where Holdfast does', () => {
    expect(one({ command: 'x', cwd: null })).toEqual({ command: 'x', environment: 'local' });
  });

  test('CA-6 one that is no text is an error', () => {
    expect(one({ command: 'x', cwd: 7 })).toMatch(/cwd/);
  });
});

describe('CA-6 a plugin of an environment', () => {
  test('CA-6 runs there, whatever it says itself, and in its root by default', () => {
    expect(one({ command: 'x', environment_id: 'local' }, remote)).toEqual({
      command: 'x',
      environment: 'box',
      cwd: root,
    });
    expect(one({ url: 'https://a.example', environment: 'elsewhere' }, remote)).toEqual({
      url: 'https://a.example',
      environment: 'box',
    });
  });

  test.each([
    ['tools', '/plugins/sample/tools'],
    ['/plugins/sample/tools', '/plugins/sample/tools'],
    ['file:///plugins/sample/a%20b', '/plugins/sample/a b'],
  ])('CA-6 the directory %s is %s', (cwd, expected) => {
    expect(one({ command: 'x', cwd }, remote)).toMatchObject({ cwd: expected });
  });

  test.each(['..', '/srv', '/plugins/sample-evil', 'file:///srv', 'file://%', '/plugins/sample/../other', 'a\0b'])(
    'CA-6 the directory %j is outside, and an error',
    (cwd) => {
      expect(one({ command: 'x', cwd }, remote)).toMatch(/cwd/);
      expect(one({ command: 'x', cwd }, { environment: 'local' })).toMatch(/cwd/);
    },
  );

  test('CA-6 roots and directories are read as their machine reads them', () => {
    const windows = { root: 'C:\\Plugins\\Sample', ...remote };
    expect(one({ command: 'x', cwd: 'tools\\a' }, windows)).toMatchObject({ cwd: 'C:\\Plugins\\Sample\\tools\\a' });
    expect(one({ command: 'x', cwd: 'c:/plugins/sample/b' }, windows)).toMatchObject({ cwd: 'c:\\plugins\\sample\\b' });
    expect(one({ command: 'x', cwd: 'D:\\Plugins\\Sample' }, windows)).toMatch(/inside the plugin/);
    expect(one({ command: 'x', cwd: '..\\Other' }, windows)).toMatch(/inside the plugin/);
    expect(one({ command: 'x' }, { root: 'file:///C:/Plugins', ...remote })).toMatchObject({ cwd: 'C:\\Plugins' });
    expect(one({ command: 'x' }, { root: 'file:///plugins/a', ...remote })).toMatchObject({ cwd: '/plugins/a' });
  });

  test.each(['plugins/sample', '', 'file://%', 'https://a.example'])('CA-6 %j is no root', (bad) => {
    expect(() => read({}, { root: bad })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });

  test('CA-6 takes variables of its own environment, and none of this machine', () => {
    expect(
      one({ command: 'x', env_vars: ['A', { name: 'B', source: 'remote' }, { name: 'C' }] }, remote),
    ).toMatchObject({
      envFrom: { A: 'A', B: 'B', C: 'C' },
    });
    expect(one({ command: 'x', env_vars: [{ name: 'A', source: 'local' }] }, remote)).toMatch(/env_vars\/0.*"local"/);
    expect(one({ command: 'x', env_vars: [{ name: 'A', source: 'remote' }] })).toMatch(/env_vars\/0.*"remote"/);
    expect(one({ command: 'x', env_vars: [{ name: 'A', source: 'remote' }] }, { environment: 'local' })).toMatch(
      /env_vars/,
    );
    expect(one({ command: 'x', environment_id: 'box', env_vars: ['A'] })).toMatchObject({
      environment: 'box',
      envFrom: { A: 'A' },
    });
  });

  test('CA-6 its servers over HTTP get no token and no header from variables of this machine', () => {
    const url = 'https://a.example';
    expect(one({ url, bearer_token_env_var: 'TOKEN' }, remote)).toMatch(/bearer_token_env_var/);
    expect(one({ url, env_http_headers: { 'X-A': 'A' } }, remote)).toMatch(/env_http_headers/);
    expect(one({ url, headersFrom: { 'X-A': 'A' } }, remote)).toMatch(/env_http_headers/);
    expect(one({ url, env_http_headers: {}, http_headers: { 'X-A': 'b' } }, remote)).toMatchObject({
      headers: { 'X-A': 'b' },
    });
    expect(one({ url, bearer_token_env_var: 'TOKEN' }, { environment: 'local' })).toMatchObject({
      bearerTokenVariable: 'TOKEN',
    });
  });
});

describe('CA-3 CA-6 placeholders', () => {
  const env = { KEY: 'seeded-secret', HOME: '/home/sample' };

  test('CA-3 CA-6 the root is known everywhere, and no secret', () => {
    const entry = {
      command: '${CLAUDE_PLUGIN_ROOT}/bin/x',
      args: ['--dir', '${CLAUDE_PLUGIN_ROOT}'],
      cwd: '${CLAUDE_PLUGIN_ROOT}/run',
    };
    for (const options of [{}, remote]) {
      const { servers, secrets } = read({ a: entry }, options);
      expect(servers['a']).toMatchObject({
        command: '/plugins/sample/bin/x',
        args: ['--dir', '/plugins/sample'],
        cwd: '/plugins/sample/run',
      });
      expect(secrets).toEqual([]);
    }
  });

  test('CA-3 CA-6 a local server finds values, which are secrets', () => {
    const { servers, secrets } = read({ a: { url: 'https://a.example', headers: { Key: '${KEY}' } } }, { env });
    expect(servers['a']).toMatchObject({ headers: { Key: 'seeded-secret' } });
    expect(secrets).toEqual(['seeded-secret']);
  });

  test('CA-3 CA-6 one of another environment finds none, and nothing literal goes out', () => {
    const { misconfigured, servers, secrets } = read(
      { a: { command: 'x', env: { KEY: '${KEY}' } } },
      { env, ...remote },
    );
    expect(servers).toEqual({});
    expect(misconfigured['a']).toMatchObject({
      code: 'server_misconfigured',
      message: expect.stringContaining('"KEY"') as unknown,
    });
    expect(secrets).toEqual([]);
  });

  test('CA-6 a disabled server needs no values', () => {
    expect(one({ command: 'x', args: ['${MISSING}'], enabled: false })).toMatchObject({ enabled: false });
  });
});

describe('CA-6 for anything a plugin may hold', () => {
  test('CA-6 every name is a server or has its reason, and no directory leaves the root', () => {
    const paths = fc
      .array(fc.constantFrom('..', '.', 'a', 'sample', '', '~', 'b c'), { maxLength: 6 })
      .map((parts) => parts.join('/'));
    const cwd = fc.oneof(
      paths,
      paths.map((path) => `${root}/${path}`),
      paths.map((path) => `file://${root}/${path}`),
    );
    fc.assert(
      fc.property(cwd, (path) => {
        const { servers, misconfigured } = read({ a: { command: 'x', cwd: path } }, remote);
        const server = servers['a'];
        if (server === undefined) expect(misconfigured).toHaveProperty('a');
        else expect(`${'cwd' in server ? server.cwd : ''}/`).toMatch(/^\/plugins\/sample\//);
      }),
    );
  });

  test('SE-3 CA-6 no document breaks it', () => {
    const field = fc.constantFrom(
      ...['command', 'url', 'cwd', 'env', 'env_vars', 'tools', 'oauth', 'type', 'headers', 'env_http_headers', 'args'],
      ...['startup_timeout_sec', 'enabled_tools', 'environment_id', 'bearer_token', 'required', 'scopes', '__proto__'],
    );
    const entry = fc.oneof(fc.dictionary(field, fc.jsonValue()), fc.jsonValue());
    fc.assert(
      fc.property(fc.dictionary(fc.string(), entry), fc.boolean(), (map, isRemote) => {
        const wrapped = { mcpServers: map };
        const { servers, misconfigured } = read(wrapped, isRemote ? remote : {});
        expect([...Object.keys(servers), ...Object.keys(misconfigured)].toSorted()).toEqual(
          Object.keys(map).toSorted(),
        );
      }),
    );
  });
});

test('SE-1 CA-6 the directory of a plugin and what is below it are no secrets, in any environment', () => {
  const env = { ROOT: '${CLAUDE_PLUGIN_ROOT}', DATA: '${CLAUDE_PLUGIN_ROOT}/data', KEY: 'hunter2-hunter2' };
  for (const options of [{}, remote])
    expect(read({ a: { command: 'x', env } }, options)).toMatchObject({
      servers: { a: { notSecret: [root, `${root}/data`] } },
      secrets: [],
    });
});

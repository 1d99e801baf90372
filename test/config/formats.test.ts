/** Every format by its usual path: its fields, its units, its syntax, and where it keeps what. */
import { describe, expect, test } from 'vitest';
import { importConfig, type ImportedServer } from '../../src/config/index.ts';

const env = { TOKEN: 'token-of-the-test', REGION: 'north' };
const given = { env, userHome: '/home/tester', workspaceFolder: '/srv/project' };

function read(path: string, content: unknown, options: Partial<Parameters<typeof importConfig>[1]> = {}) {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return importConfig(text, { path, ...given, ...options });
}

function server(imported: ReturnType<typeof importConfig>, name: string): ImportedServer {
  const found = imported.servers.find((each) => each.name === name);
  if (found === undefined) throw new TypeError(`Expected a server "${name}", got none.`);
  return found;
}

const codes = (imported: ReturnType<typeof importConfig>) =>
  imported.diagnostics.map(({ code, server: name }) => (name === undefined ? code : `${code} ${name}`));

describe('recognising a document', () => {
  const servers = { one: { command: 'one' } };

  test.each([
    ['/p/holdfast.json', { mcpServers: servers }, 'holdfast'],
    ['/p/anything.json', { mcpServers: servers }, 'holdfast'],
    ['/p/.mcp.json', { mcpServers: servers }, 'claude-mcp-json'],
    ['/home/u/.claude.json', { mcpServers: servers }, 'claude-json'],
    ['/x/Claude/claude_desktop_config.json', { mcpServers: servers }, 'claude-desktop'],
    ['/p/.claude-plugin/plugin.json', { mcpServers: servers }, 'claude-plugin'],
    ['/p/.vscode/mcp.json', { servers }, 'vscode'],
    ['/x/Code/User/mcp.json', { servers }, 'vscode'],
    ['C:\\Users\\u\\AppData\\Roaming\\Code\\User\\mcp.json', { servers }, 'vscode'],
    ['/p/.cursor/mcp.json', { mcpServers: servers }, 'cursor'],
    ['/p/.gemini/settings.json', { mcpServers: servers }, 'gemini'],
    ['/h/.codeium/windsurf/mcp_config.json', { mcpServers: servers }, 'mcp_config'],
    ['/h/.config/zed/settings.json', { context_servers: servers }, 'zed'],
    ['/p/opencode.json', { mcp: {} }, 'opencode'],
    ['/x/settings/cline_mcp_settings.json', { mcpServers: servers }, 'cline'],
    ['/p/.roo/mcp.json', { mcpServers: servers }, 'roo'],
    ['/h/.config/mcphub/servers.json', { mcpServers: servers }, 'mcp-hub'],
    ['/x/backup.json', { servers, inputs: [] }, 'vscode'],
    ['/x/backup.json', { settings: { mcp: { servers } } }, 'vscode'],
    ['/x/backup.json', { context_servers: servers }, 'zed'],
    ['/x/backup.json', { mcp: { a: { type: 'local', command: ['a'] } } }, 'opencode'],
    ['/x/backup.json', { mcp: { servers: { a: { type: 'remote', url: 'https://a.example' } } } }, 'opencode'],
    ['/x/backup.json', { mcpServers: { a: { httpUrl: 'https://a.example' } } }, 'gemini'],
    ['/x/backup.json', { projects: { '/p': { mcpServers: servers } } }, 'claude-json'],
    ['/x/my-roo-backup.json', { mcpServers: servers }, 'roo'],
  ])('CA-1 %s is recognised', (path, content, format) => {
    expect(read(path, content).format).toBe(format);
  });

  test.each([
    ['/h/.codex/config.toml', '[mcp_servers.a]\ncommand = "a"\n', 'codex-toml'],
    ['/x/config', '# mine\n\n[mcp_servers.a]\ncommand = "a"\n', 'codex-toml'],
    ['/h/.config/goose/config.yaml', 'extensions:\n  a: { type: stdio, cmd: a }\n', 'goose'],
    ['/x/config', 'GOOSE_MODE: auto\nextensions:\n  a:\n    type: stdio\n    cmd: a\n', 'goose'],
    ['/p/librechat.yaml', 'version: 1.2.1\nmcpServers:\n  a: { command: a }\n', 'librechat'],
    ['/x/servers.yml', 'mcpServers:\n  a: { command: a }\n', 'holdfast'],
    ['/x/servers', '// mine\n{ "mcpServers": { "a": { "command": "a" } } }', 'holdfast'],
  ])('CA-1 %s is recognised in its own language', (path, text, format) => {
    const imported = read(path, text);
    expect(imported.format).toBe(format);
    expect(server(imported, 'a')).toMatchObject({ transport: 'stdio', command: 'a' });
  });
});

test.each([
  '/p/holdfast.json',
  '/p/.mcp.json',
  '/h/.claude.json',
  '/x/claude_desktop_config.json',
  '/p/.claude-plugin/plugin.json',
  '/p/.cursor/mcp.json',
  '/p/.gemini/settings.json',
  '/h/mcp_config.json',
  '/x/cline_mcp_settings.json',
  '/p/.roo/mcp.json',
  '/h/mcphub/servers.json',
  '/p/librechat.yaml',
])('CA-2 every setting is honoured in %s, whose root is mcpServers', (path) => {
  const settings = {
    required: true,
    environment: 'e',
    protocol: 'legacy',
    parallel: true,
    serialize: true,
    maxPauseMs: 3,
    retry: 'idempotent',
  };
  const imported = read(path, {
    mcpServers: {
      a: {
        command: 'a',
        ...settings,
        startTimeoutMs: 1,
        callTimeoutMs: 2,
        approval: 'writes',
        tools: { allow: ['t'], deny: ['u'], perTool: { t: { approval: 'prompt' } } },
      },
      b: {
        url: 'https://b.example',
        headersFrom: { 'X-Region': 'REGION' },
        bearerTokenVariable: 'TOKEN',
        transport: 'sse',
        oauth: { clientId: 'i', scopes: ['s'] },
      },
    },
  });
  expect(server(imported, 'a')).toMatchObject({
    startupTimeoutMs: 1,
    timeoutMs: 2,
    settings,
    tools: { allow: ['t'], deny: ['u'], approvalMode: 'writes', perTool: { t: { approval: 'prompt' } } },
  });
  expect(server(imported, 'b')).toMatchObject({
    transport: 'sse',
    headers: { 'X-Region': 'north', Authorization: 'Bearer token-of-the-test' },
    oauth: { clientId: 'i', scopes: ['s'] },
  });
  expect(codes(imported)).toEqual([]);
});

test('CA-1 Claude Code: the servers of the project that is worked in join those of the user', () => {
  const imported = read('/h/.claude.json', {
    numStartups: 3,
    mcpServers: { shared: { command: 'user' }, off: { command: 'off' }, mine: { command: 'mine' } },
    projects: {
      '/srv/project': { mcpServers: { shared: { command: 'project' } }, disabledMcpServers: ['off'] },
      '/srv/other': { mcpServers: { secret: { command: 'other' } } },
    },
  });
  expect(imported.servers.map(({ name, command, enabled }) => [name, command, enabled])).toEqual([
    ['shared', 'project', true],
    ['off', 'off', false],
    ['mine', 'mine', true],
  ]);
  expect(codes(imported)).toEqual(['other-project']);
  expect(imported.leftOut).toEqual(['numStartups']);
});

test('CA-1 plugin manifests: servers inline and in files beside them', () => {
  const imported = read(
    '/plugins/kit/.claude-plugin/plugin.json',
    { name: 'kit', mcpServers: ['./more.json', { a: { command: '${CLAUDE_PLUGIN_ROOT}/bin/a' } }] },
    { env: {} },
  );
  expect(server(imported, 'a').command).toBe('/plugins/kit/bin/a');
  expect(codes(imported)).toEqual(['referenced-file']);
});

test('CA-1 VS Code: settings files, inputs, and variables from a file of them', () => {
  const settings = read('/p/.vscode/settings.json', { 'editor.tabSize': 2, mcp: { servers: { a: { command: 'a' } } } });
  expect(settings.servers.map(({ name }) => name)).toEqual(['a']);
  expect(settings.leftOut).toEqual(['editor.tabSize']);
  const imported = read('/p/.vscode/mcp.json', {
    inputs: [{ id: 'key', type: 'promptString' }],
    servers: { a: { command: 'a', env: { K: '${input:key}' } }, b: { command: 'b', envFile: '/nowhere/.env' } },
  });
  expect(server(imported, 'a').unresolved).toEqual(['input:key']);
  expect(server(imported, 'b').unresolved).toEqual(['file:/nowhere/.env']);
});

test('CA-1 Codex: tables by tool, scopes, and settings of both kinds of server', () => {
  const imported = read(
    '/h/.codex/config.toml',
    `[mcp_servers.a]
command = "a"
env_vars = ["TOKEN", { name = "REGION", source = "local" }, "NOT_SET"]
required = true
supports_parallel_tool_calls = true
startup_timeout_ms = 1500
since = 2020-01-01
[mcp_servers.a.tools.write]
approval_mode = "prompt"
[mcp_servers.b]
url = "https://b.example"
scopes = ["read"]
oauth_resource = "https://b.example"
oauth = { client_id = "me" }
`,
  );
  expect(server(imported, 'a')).toMatchObject({
    env: { TOKEN: 'token-of-the-test', REGION: 'north' },
    startupTimeoutMs: 1_500,
    settings: { required: true, parallel: true },
    tools: { perTool: { write: { approval: 'prompt' } } },
    metadata: { since: '2020-01-01' },
  });
  expect(server(imported, 'b').oauth).toEqual({ clientId: 'me', scopes: ['read'], resource: 'https://b.example' });
  expect(codes(imported)).toEqual(['unknown-field a']);
});

test('CA-1 Gemini CLI: lists that switch servers off, $VAR, and times in milliseconds', () => {
  const imported = read('/p/.gemini/settings.json', {
    mcp: { excluded: ['b'] },
    mcpServers: {
      a: { command: 'a', args: ['$REGION', '$NOT_SET', 'echo $(pwd)'], timeout: 5_000, trust: true },
      b: { command: 'b' },
      c: { url: 'https://c.example', headers: { X: '$NOT_SET' } },
    },
  });
  expect(server(imported, 'a')).toMatchObject({
    args: ['north', '$NOT_SET', 'echo $(pwd)'],
    timeoutMs: 5_000,
    trust: true,
  });
  expect(server(imported, 'b').enabled).toBe(false);
  expect(server(imported, 'c').unresolved).toEqual(['NOT_SET']);
});

test('CA-1 OpenCode version 2: servers one level down, disabled, times of two kinds', () => {
  const imported = read('/p/opencode.jsonc', {
    mcp: {
      timeout: { startup: 9_000, request: 8_000 },
      servers: {
        a: {
          type: 'local',
          command: ['a', 'b'],
          cwd: 'sub',
          environment: { K: '{env:TOKEN}' },
          disabled: true,
          timeout: { request: 7_000 },
        },
        b: {
          type: 'remote',
          url: 'https://b.example',
          oauth: { client_id: 'i', scope: 'x y', client_secret: 'very-secret-text' },
        },
        c: { type: 'remote', url: 'https://c.example', oauth: false },
      },
    },
  });
  expect(server(imported, 'a')).toMatchObject({
    command: 'a',
    args: ['b'],
    cwd: 'sub',
    env: { K: 'token-of-the-test' },
    enabled: false,
    timeoutMs: 7_000,
    startupTimeoutMs: 9_000,
  });
  expect(server(imported, 'b')).toMatchObject({ oauth: { clientId: 'i', scopes: ['x', 'y'] }, timeoutMs: 8_000 });
  expect(imported.secrets).toEqual(expect.arrayContaining(['token-of-the-test', 'very-secret-text']));
  expect(server(imported, 'c')).not.toHaveProperty('oauth');
});

test('CA-1 OpenCode version 1: an entry that only switches a server adds none', () => {
  const imported = read('/p/opencode.json', { mcp: { a: { enabled: false }, b: { type: 'local', command: ['b'] } } });
  expect(imported.servers.map(({ name }) => name)).toEqual(['b']);
  expect(codes(imported)).toEqual(['override-only a']);
});

test('CA-1 goose: extensions of both generations, keys from the keyring, what only goose runs', () => {
  const imported = read(
    '/h/.config/goose/config.yaml',
    `GOOSE_PROVIDER: any
extensions:
  developer: { type: builtin, enabled: true, bundled: true }
  files:
    type: stdio
    cmd: npx
    args: [-y, files-server, 8080]
    envs: { MODE: "$REGION" }
    env_keys: [TOKEN, KEYRING_ONLY]
    timeout: 300
    enabled: true
    available_tools: []
  web:
    type: streamable_http
    uri: https://web.example/mcp
    headers: { Authorization: Bearer $TOKEN }
    available_tools: [search]
  old:
    enabled: false
    config: { type: sse, uri: https://old.example/sse }
`,
  );
  expect(server(imported, 'files')).toMatchObject({
    command: 'npx',
    args: ['-y', 'files-server', '8080'],
    env: { MODE: '$REGION', TOKEN: 'token-of-the-test' },
    timeoutMs: 300_000,
    unresolved: ['KEYRING_ONLY'],
  });
  expect(server(imported, 'web')).toMatchObject({
    transport: 'http',
    headers: { Authorization: 'Bearer token-of-the-test' },
    tools: { allow: ['search'] },
  });
  expect(server(imported, 'old')).toMatchObject({ transport: 'sse', enabled: false });
  expect(codes(imported)).toEqual(['needs-extension developer', 'unresolved files', 'foreign-placeholder files']);
});

test('CA-1 MCP Hub: JSON5, empty values from the environment, names of lists', () => {
  const imported = read(
    '/h/.config/mcphub/servers.json',
    `{ mcpServers: { a: { command: 'a', env: { TOKEN: null, REGION: '', MODE: 'x' }, autoApprove: true, disabled_tools: ['t'], }, }, // end
    }`,
  );
  expect(server(imported, 'a')).toMatchObject({
    env: { TOKEN: 'token-of-the-test', REGION: 'north', MODE: 'x' },
    tools: { deny: ['t'], approvalMode: 'approve' },
  });
});

test('CA-1 LibreChat: times, and values each user is asked for', () => {
  const imported = read(
    '/p/librechat.yaml',
    `version: 1.3.1
endpoints: {}
mcpServers:
  a:
    type: streamable-http
    url: https://a.example
    headers: { X-User: "{{LIBRECHAT_USER_ID}}", X-Token: "\${TOKEN}" }
    timeout: 60000
    initTimeout: 15000
    serverInstructions: true
  b: { type: websocket, url: "wss://b.example" }
`,
  );
  expect(server(imported, 'a')).toMatchObject({
    headers: { 'X-Token': 'token-of-the-test' },
    timeoutMs: 60_000,
    startupTimeoutMs: 15_000,
    unresolved: ['input:LIBRECHAT_USER_ID'],
  });
  expect(codes(imported)).toEqual(['unresolved a', 'invalid-entry b']);
  expect(imported.leftOut).toEqual(['endpoints']);
});

describe('placeholders', () => {
  test('CA-3 a format resolves its own syntax and no other', () => {
    const entry = { command: 'a', env: { A: '${TOKEN}', B: '${env:TOKEN}', C: '{env:TOKEN}', D: '$TOKEN' } };
    const envOf = (path: string, content: unknown) => server(read(path, content), 'a').env;
    expect(envOf('/p/.cursor/mcp.json', { mcpServers: { a: entry } })).toEqual({
      A: 'token-of-the-test',
      B: 'token-of-the-test',
      C: '{env:TOKEN}',
      D: '$TOKEN',
    });
    expect(envOf('/p/.gemini/settings.json', { mcpServers: { a: entry } })).toMatchObject({ D: 'token-of-the-test' });
    const own = read('/p/holdfast.json', { mcpServers: { a: entry } });
    expect(server(own, 'a')).toMatchObject({
      env: { A: 'token-of-the-test', B: '${env:TOKEN}' },
      unresolved: ['env:TOKEN'],
    });
    expect(envOf('/p/opencode.json', { mcp: { a: { ...entry, type: 'local' } } })).toEqual({
      A: '${TOKEN}',
      B: '${env:TOKEN}',
      C: 'token-of-the-test',
      D: '$TOKEN',
    });
  });

  test('CA-3 a value is not scanned again, and a placeholder within a placeholder has no value', () => {
    const imported = read(
      '/p/.cursor/mcp.json',
      {
        mcpServers: {
          a: { command: '${NESTED}' },
          b: { command: 'b', env: { X: '${NOT_SET:-${TOKEN}}', Y: '${${TOKEN}}' } },
        },
      },
      { env: { ...env, NESTED: '${TOKEN}' } },
    );
    expect(server(imported, 'a')).toMatchObject({ command: '${TOKEN}', unresolved: [] });
    expect(server(imported, 'b').unresolved).toEqual(['NOT_SET:-${TOKEN}', '${TOKEN}']);
  });
});

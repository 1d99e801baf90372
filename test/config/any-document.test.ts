/** Whatever a document holds: it is read, or refused with a HoldfastError; and what is shown of it holds no secret. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { importConfig } from '../../src/config/index.ts';
import { HoldfastError } from '../../src/domain/errors.ts';

const paths = [
  'holdfast.json',
  '.mcp.json',
  '.claude.json',
  'claude_desktop_config.json',
  '.claude-plugin/plugin.json',
  '.vscode/mcp.json',
  '.vscode/settings.json',
  '.cursor/mcp.json',
  '.gemini/settings.json',
  'mcp_config.json',
  '.zed/settings.json',
  'opencode.json',
  'cline_mcp_settings.json',
  '.roo/mcp.json',
  'mcphub/servers.json',
  'goose/config.yaml',
  'librechat.yaml',
  'unknown.json',
] as const;

const wrappers = ['mcpServers', 'servers', 'mcp', 'context_servers', 'extensions', 'projects', 'mcp_servers'] as const;
const fields = [
  ...['command', 'args', 'env', 'cwd', 'url', 'headers', 'type', 'enabled', 'disabled', 'timeout', 'tools', 'oauth'],
  ...['environment', 'cmd', 'envs', 'env_keys', 'uri', 'config', 'autoApprove', 'trust', 'envFile', 'headersHelper'],
  ...[
    'httpUrl',
    'serverUrl',
    'source',
    'settings',
    'disabledTools',
    'includeTools',
    'name',
    '__proto__',
    'constructor',
  ],
  ...['transport', 'approval', 'startTimeoutMs', 'headersFrom', 'bearerTokenVariable', 'available_tools'],
];
const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    'stdio',
    'local',
    'remote',
    'http',
    'npx',
    'https://a.example',
    '${A}',
    '${input:x}',
    '$A',
    '{env:A}',
  ),
  fc.constantFrom(
    '${cmd: x}',
    '{{A}}',
    '${A:-${B}}',
    '${',
    '${}',
    '{file:/nowhere}',
    'builtin',
    '*',
    '${workspaceFolder}',
  ),
);
const value = fc.oneof(
  text,
  fc.array(text, { maxLength: 4 }),
  fc.dictionary(fc.constantFrom('path', 'args', 'A', 'perTool', 'allow', 'scope', '__proto__', 'startup'), text),
  fc.jsonValue({ maxDepth: 2 }),
);
const entry = fc.oneof(
  { weight: 5, arbitrary: fc.dictionary(fc.constantFrom(...fields), value) },
  { weight: 1, arbitrary: value },
);
const section = fc.oneof(
  { weight: 5, arbitrary: fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'servers', ''), entry) },
  { weight: 1, arbitrary: fc.array(entry, { maxLength: 3 }) },
  { weight: 1, arbitrary: value },
);
const document = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.dictionary(fc.constantFrom(...wrappers, 'policy', 'limits', '$schema', 'other'), section),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
);

describe('any document', () => {
  test.each(paths)('CA-1 CA-3 %s is read or refused, and nothing else happens', (path) => {
    fc.assert(
      fc.property(document, (content) => {
        try {
          const imported = importConfig(JSON.stringify(content), { path: `/p/${path}`, env: { A: 'value-of-a' } });
          expect(JSON.parse(JSON.stringify(imported))).toEqual(imported);
          for (const server of imported.servers)
            expect(server.command !== undefined || server.url !== undefined).toBe(true);
        } catch (error) {
          if (!(error instanceof HoldfastError)) throw error;
          expect(error.code).toBe('config_invalid');
        }
      }),
      { numRuns: 60 },
    );
  });

  test('CA-1 any text in any language is read or refused', () => {
    const names = fc.constantFrom('a.json', 'a.toml', 'a.yaml', 'a');
    const texts = fc.oneof(
      fc.string(),
      fc.string({
        unit: fc.constantFrom(
          '{',
          '}',
          '[',
          ']',
          ':',
          ',',
          '"',
          "'",
          '\n',
          ' ',
          'a',
          '=',
          '-',
          '#',
          '/',
          '*',
          '&',
          '!',
          '?',
          '|',
          '>',
          '\t',
        ),
      }),
    );
    fc.assert(
      fc.property(names, texts, (name, content) => {
        try {
          importConfig(content, { path: `/p/${name}`, env: {} });
        } catch (error) {
          if (!(error instanceof HoldfastError)) throw error;
          expect(error.message).toMatch(/\/p\/a/);
        }
      }),
      { numRuns: 500 },
    );
  });
});

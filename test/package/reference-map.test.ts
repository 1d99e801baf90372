/** docs/reference-map.md names files and names that exist, and leaves out nothing of what was to be matched. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/reference-map.md', root), 'utf8');

/** The exports of the crate, in its order. */
const exported = [
  'McpConnectionManager',
  'tool_is_model_visible',
  'ElicitationRequestRouter',
  'ElicitationReviewRequest',
  'ElicitationReviewer',
  'ElicitationReviewerHandle',
  'McpResourceClient',
  'McpResourceClientCacheKey',
  'McpResourcePage',
  'McpResourceReadResult',
  'MCP_SANDBOX_STATE_META_CAPABILITY',
  'McpRuntimeContext',
  'SandboxState',
  'ToolInfo',
  'declared_openai_file_input_param_names',
  'McpPluginAttribution',
  'McpServerSource',
  'McpServerRegistration',
  'McpCatalogBuilder',
  'ResolvedMcpCatalog',
  'ResolvedMcpServer',
  'McpServerConflict',
  'McpServerConflictAction',
  'CODEX_APPS_MCP_SERVER_NAME',
  'McpConfig',
  'ToolPluginProvenance',
  'tool_plugin_provenance',
  'EffectiveMcpServer',
  'configured_mcp_servers',
  'effective_mcp_servers',
  'effective_mcp_servers_from_configured',
  'host_owned_codex_apps_enabled',
  'codex_apps_mcp_server_config',
  'hosted_plugin_runtime_mcp_server_config',
  'qualified_mcp_tool_name_prefix',
  'MCP_TOOL_CODEX_APPS_META_KEY',
  'CodexAppsConnectorAuthFailure',
  'connector_auth_failure_from_tool_result',
  'build_auth_elicitation_plan',
  'CodexAppsAuthElicitationPlan',
  'build_auth_elicitation',
  'CodexAppsAuthElicitation',
  'auth_elicitation_id',
  'auth_elicitation_completed_result',
  'CodexAppsToolsCache',
  'CodexAppsToolsCacheKey',
  'codex_apps_tools_cache_key',
  'PluginMcpConfigParseOutcome',
  'PluginMcpServerParseError',
  'parse_plugin_mcp_config',
  'parse_executor_plugin_mcp_config',
  'McpServerStatusSnapshot',
  'McpSnapshotDetail',
  'collect_mcp_server_status_snapshot_with_detail',
  'read_mcp_resource',
  'McpAuthStatusEntry',
  'compute_auth_statuses',
  'McpOAuthLoginConfig',
  'McpOAuthLoginSupport',
  'oauth_login_support',
  'oauth_login_support_with_http_client',
  'discover_supported_scopes',
  'discover_supported_scopes_with_http_client',
  'McpOAuthScopesSource',
  'ResolvedMcpOAuthScopes',
  'resolve_oauth_scopes',
  'should_retry_without_scopes',
  'McpPermissionPromptAutoApproveContext',
  'mcp_permission_prompt_is_auto_approved',
];

interface Row {
  readonly there: readonly string[];
  readonly here: readonly string[];
  readonly files: readonly string[];
  readonly text: string;
}

const rows = page
  .split('\n')
  .filter((line) => line.startsWith('|') && !line.startsWith('| There') && !line.startsWith('| ---'))
  .map((line): Row => {
    const [, there = '', here = '', where = ''] = line.split('|').map((cell) => cell.trim());
    return { there: codeIn(there), here: codeIn(here), files: codeIn(where), text: `${here} ${where}` };
  });

function codeIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

/** The last word of `thread.snapshot().servers` is `servers`; what is no chain of words is looked for as it is. */
function wordOf(name: string): string {
  return /^[\w.$()]+$/.test(name) ? (name.replaceAll('()', '').split('.').at(-1) ?? name) : name;
}

test('names every export of the reference once, in a row of its own', () => {
  const own = new Set(exported);
  const named = rows.flatMap(({ there }) => there).filter((name) => own.has(name));
  expect(named.toSorted()).toEqual(exported.toSorted());
});

test.each(rows.map((row) => [row.there.join(', ') || row.text, row] as const))(
  'names for %s what exists, or says why it is not needed',
  (_, { here, files, text }) => {
    const missing = files.filter((file) => !existsSync(new URL(`src/${file}`, root)));
    expect(missing).toEqual([]);
    if (files.length === 0) {
      expect(text).toMatch(/^Nothing: .* not needed$/);
      return;
    }
    const sources = files.map((file) => readFileSync(new URL(`src/${file}`, root), 'utf8'));
    const unknown = here.filter(
      (name) => !name.startsWith('holdfast ') && !sources.some((source) => has(source, name)),
    );
    expect(unknown).toEqual([]);
  },
);

function has(source: string, name: string): boolean {
  const word = wordOf(name);
  return /^[\w$]+$/.test(word)
    ? new RegExp(`(?<![\\w$])${word.replaceAll('$', '\\$')}(?![\\w$])`).test(source)
    : source.includes(word);
}

/** Codex: `mcp_servers` in `config.toml`. Nothing is interpolated; variables are named in fields of their own. */
import { isRecord } from '../../domain/json.ts';
import { noSyntax } from '../placeholders.ts';
import {
  as,
  type FieldReader,
  type FieldTable,
  headersHelper,
  inert,
  oauth,
  ownFields,
  time,
  tools,
} from './fields.ts';
import type { ConfigFormat } from './format.ts';
import { readSections } from './sections.ts';

/** Names of variables to pass on, or `{ name, source }`. One that is not set is left out, as Codex does. */
const envVars: FieldReader = (draft, value, name) => {
  if (!Array.isArray(value)) {
    draft.ignore(name, value, 'it is no list');
    return;
  }
  for (const item of value) {
    const variable: unknown = isRecord(item) ? item['name'] : item;
    if (typeof variable === 'string') draft.variables.set(variable, { from: variable, isRequired: false });
    else draft.ignore(name, value, 'something in it is no name');
  }
};

/** Settings by tool: `approval_mode` here is `approval`. */
const perTool: FieldReader = (draft, value, name) => {
  if (!isRecord(value)) {
    draft.ignore(name, value, 'it is no table');
    return;
  }
  const settings = Object.entries(value).map(([tool, inner]) => {
    const { approval_mode: approval, ...rest } = isRecord(inner) ? inner : {};
    for (const [key, other] of Object.entries(rest)) draft.keepUnknown(`${name}.${tool}.${key}`, other);
    return [tool, approval === undefined ? {} : { approval }];
  });
  draft.setWithin('tools', 'perTool', Object.fromEntries(settings), name);
};

const fields: FieldTable = {
  command: ownFields['command'] ?? inert,
  args: ownFields['args'] ?? inert,
  env: as('env'),
  env_vars: envVars,
  cwd: as('cwd'),
  url: as('url'),
  type: as('type'),
  http_headers: as('headers'),
  env_http_headers: as('headersFrom'),
  http_headers_helper: headersHelper,
  bearer_token_env_var: as('bearerTokenVariable'),
  enabled: as('enabled'),
  required: as('required'),
  environment_id: as('environment'),
  supports_parallel_tool_calls: as('parallel'),
  startup_timeout_sec: time('startTimeoutMs', 1_000),
  startup_timeout_ms: time('startTimeoutMs', 1),
  tool_timeout_sec: time('callTimeoutMs', 1_000),
  default_tools_approval_mode: as('approval'),
  enabled_tools: tools('allow'),
  disabled_tools: tools('deny'),
  tools: perTool,
  scopes: (draft, value, name) => draft.setWithin('oauth', 'scopes', value, name),
  oauth_resource: (draft, value, name) => draft.setWithin('oauth', 'resource', value, name),
  oauth: (draft, value, name) => {
    const before = draft.fields.get('oauth');
    draft.fields.delete('oauth');
    oauth(draft, value, name);
    if (isRecord(before)) for (const [key, inner] of Object.entries(before)) draft.setWithin('oauth', key, inner, key);
  },
  auth: inert,
  description: inert,
};

export const codexFormat: ConfigFormat = {
  id: 'codex-toml',
  product: 'Codex',
  placeholders: noSyntax,
  urlTransport: 'http',
  hint: /codex/,
  detectPath: (path) => /(?:^|\/)\.codex\/[^/]+\.toml$/.test(path),
  detectContent: ({ syntax }) => syntax === 'toml',
  read: (root) => readSections(root, { wrapper: 'mcp_servers', others: ['mcpServers'], fields }),
};

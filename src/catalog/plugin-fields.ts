/**
 * The fields of a plugin's server entry under the names Holdfast uses.
 *
 * Plugins write them as Codex does (`startup_timeout_sec`, `env_vars`), in Holdfast's names, or mixed. Where one is there
 * under both names, Holdfast's is taken; of `oauth` the one of Codex, as it does itself.
 */
import type { Issue } from '../domain/errors.ts';
import { isRecord, shown } from '../domain/json.ts';

/** An entry in Holdfast's names, not checked yet, and what was wrong or odd about it. */
export interface PluginFields {
  readonly entry: Record<string, unknown>;
  readonly issues: readonly Issue[];
  readonly notes: readonly { readonly code: string; readonly message: string }[];
}

interface Draft {
  readonly entry: Record<string, unknown>;
  readonly issues: Issue[];
  readonly notes: { readonly code: string; readonly message: string }[];
  /** Whether the server runs on this machine. */
  readonly isLocal: boolean;
}

const renamed = {
  bearer_token_env_var: 'bearerTokenVariable',
  http_headers: 'headers',
  env_http_headers: 'headersFrom',
  startup_timeout_ms: 'startTimeoutMs',
  supports_parallel_tool_calls: 'parallel',
  default_tools_approval_mode: 'approval',
} as const;

const knownTypes: ReadonlySet<unknown> = new Set([
  'stdio',
  'local',
  'http',
  'streamable_http',
  'streamable-http',
  'streamableHttp',
  'remote',
  'sse',
]);

const longestMs = 2 ** 31 - 1;

/** The environment an entry names for itself. */
export function declaredEnvironment(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const name = value['environment'] ?? value['environment_id'];
  return typeof name === 'string' ? name : undefined;
}

/** Renames, and turns into what Holdfast means, everything of an entry that has another form. `null` counts as absent. */
export function pluginFields(value: unknown, environment: string): PluginFields {
  const entries = Object.entries(isRecord(value) ? value : {}).filter(([, field]) => field !== null);
  const draft: Draft = {
    entry: Object.fromEntries(entries),
    issues: [],
    notes: [],
    isLocal: environment === 'local',
  };
  draft.entry['environment'] = environment;
  delete draft.entry['environment_id'];
  takeType(draft);
  takeSeconds(draft, 'startup_timeout_sec', 'startTimeoutMs');
  takeSeconds(draft, 'tool_timeout_sec', 'callTimeoutMs');
  for (const [from, to] of Object.entries(renamed)) rename(draft.entry, from, to);
  takeTools(draft);
  takeOauth(draft);
  takeVariables(draft);
  checkSecrets(draft);
  return draft;
}

function take(entry: Record<string, unknown>, key: string): unknown {
  const value = entry[key];
  delete entry[key];
  return value;
}

function rename(entry: Record<string, unknown>, from: string, to: string): void {
  const value = take(entry, from);
  if (value !== undefined && entry[to] === undefined) entry[to] = value;
}

/** Which transport it is follows from `command` or `url`; only SSE has to be said. */
function takeType({ entry, notes }: Draft): void {
  const type = take(entry, 'type');
  if (type === 'sse' && entry['transport'] === undefined) entry['transport'] = 'sse';
  if (type === undefined || knownTypes.has(type)) return;
  notes.push({
    code: 'unknown_type',
    message: `nothing here knows the type ${shown(type)}. "command" or "url" decides`,
  });
}

function takeSeconds({ entry, issues }: Draft, from: string, to: string): void {
  const seconds = take(entry, from);
  if (seconds === undefined || entry[to] !== undefined) return;
  const ms = typeof seconds === 'number' ? Math.ceil(seconds * 1_000) : Number.NaN;
  if (ms >= 1 && ms <= longestMs) entry[to] = ms;
  else issues.push({ path: `/${from}`, message: `expected a number of seconds above 0, got ${shown(seconds)}` });
}

/** `enabled_tools`, `disabled_tools` and `tools.NAME.approval_mode` to `tools`. */
function takeTools({ entry }: Draft): void {
  const { tools } = entry;
  const isCodex = isRecord(tools) && !isToolSettings(tools);
  const settings: Record<string, unknown> = {
    ...(isCodex ? { perTool: perToolOf(tools) } : isRecord(tools) ? tools : {}),
  };
  const allow = take(entry, 'enabled_tools');
  const deny = take(entry, 'disabled_tools');
  if (allow !== undefined) settings['allow'] ??= allow;
  if (deny !== undefined) settings['deny'] ??= deny;
  if (Object.keys(settings).length > 0) entry['tools'] = settings;
}

function isToolSettings(tools: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(tools).every(([key, value]) =>
    key === 'perTool' ? isRecord(value) : (key === 'allow' || key === 'deny') && !isRecord(value),
  );
}

function perToolOf(tools: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(tools).map(([name, settings]) => {
      if (!isRecord(settings)) return [name, settings];
      const { approval_mode: mode, ...rest } = settings;
      return [name, { ...(mode === undefined ? {} : { approval: mode }), ...rest }];
    }),
  );
}

function takeOauth({ entry }: Draft): void {
  const given = take(entry, 'oauth');
  if (given !== undefined && !isRecord(given)) {
    entry['oauth'] = given;
    return;
  }
  const oauth: Record<string, unknown> = { ...given };
  for (const [from, to] of [
    ['client_id', 'clientId'],
    ['callback_port', 'callbackPort'],
  ] as const) {
    const value = take(oauth, from);
    if (value !== undefined) oauth[to] = value;
  }
  const scopes = take(entry, 'scopes');
  const resource = take(entry, 'oauth_resource');
  if (scopes !== undefined) oauth['scopes'] ??= scopes;
  if (resource !== undefined) oauth['resource'] ??= resource;
  if (Object.keys(oauth).length > 0) entry['oauth'] = oauth;
}

/** `env_vars`: variables handed on where the server runs. One that names the other place cannot be had there. */
function takeVariables({ entry, issues, isLocal }: Draft): void {
  const variables = take(entry, 'env_vars');
  if (variables === undefined) return;
  if (!Array.isArray(variables)) {
    issues.push({ path: '/env_vars', message: `expected a list of names, got ${shown(variables)}` });
    return;
  }
  const from: Record<string, unknown> = isRecord(entry['envFrom']) ? { ...entry['envFrom'] } : {};
  const list: readonly unknown[] = variables;
  for (const [index, variable] of list.entries()) {
    const { name, source }: Record<string, unknown> = isRecord(variable) ? variable : { name: variable };
    const path = `/env_vars/${String(index)}`;
    if (typeof name !== 'string' || name === '' || !(source == null || source === 'local' || source === 'remote'))
      issues.push({ path, message: `expected a name, or {name, source: "local" or "remote"}, got ${shown(variable)}` });
    else if (source === 'remote' && isLocal)
      issues.push({
        path,
        message: `expected "${name}" from this machine, where the server runs, got source "remote"`,
      });
    else if (source === 'local' && !isLocal)
      issues.push({ path, message: `expected "${name}" from the environment the server runs in, got source "local"` });
    else from[name] ??= name;
  }
  if (Object.keys(from).length > 0) entry['envFrom'] = from;
}

/** A plugin of another environment gets nothing that only this machine has. */
function checkSecrets({ entry, issues, isLocal }: Draft): void {
  if (entry['bearer_token'] !== undefined)
    issues.push({
      path: '/bearer_token',
      message: 'expected "bearer_token_env_var", the name of a variable, got a token itself',
    });
  delete entry['bearer_token'];
  if (isLocal || entry['url'] === undefined) return;
  if (entry['bearerTokenVariable'] !== undefined)
    issues.push({
      path: '/bearer_token_env_var',
      message: 'expected none for a server of another environment, whose variables are not known here',
    });
  const { headersFrom } = entry;
  if (headersFrom !== undefined && !(isRecord(headersFrom) && Object.keys(headersFrom).length === 0))
    issues.push({
      path: '/env_http_headers',
      message: 'expected none for a server of another environment, whose variables are not known here',
    });
}

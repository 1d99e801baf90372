/**
 * The servers a plugin brings (SPEC CA-6): `{ "mcpServers": { NAME: … } }`, or the map of names by itself.
 *
 * - P1 One bad entry never loses its siblings: it is misconfigured, by name, with its reason.
 * - P2 No server works outside its plugin's directory, unless a plugin of this machine says so with an absolute path.
 * - P3 A plugin of another environment takes no variable of this machine.
 */
import { existsSync } from 'node:fs';
import { checkOptions, checkText } from '../config/check-arguments.ts';
import { maxConfigBytes, parseDocument } from '../config/document.ts';
import { type Environment, resolvePlaceholders } from '../config/placeholders.ts';
import { parseServer } from '../config/server-schema.ts';
import type { MisconfiguredServer, ServerConfig } from '../domain/config.ts';
import { type ErrorCode, HoldfastError, type Issue } from '../domain/errors.ts';
import { isRecord, shown } from '../domain/json.ts';
import { isPlace, withPlain } from '../domain/secrets.ts';
import { declaredEnvironment, pluginFields } from './plugin-fields.ts';
import { placeCwd, pluginRoot } from './plugin-root.ts';
import type { PluginRoot } from './plugin-root.ts';

/** How a plugin's configuration is read. */
export interface ParsePluginOptions {
  /** The directory of the plugin, where it is: an absolute path or a `file:` url. Relative directories start from it. */
  readonly root: string;
  /**
   * The environment all its servers run in, whatever they say themselves; their directories are then inside the root, and
   * the root by default. Without it each server runs where it says, `local` by default.
   */
  readonly environment?: string;
  /** Where `${NAME}` of local servers finds values. Default none. `${CLAUDE_PLUGIN_ROOT}` is the root, everywhere. */
  readonly env?: Environment;
  /** What messages call the document. Default `plugin configuration`. */
  readonly file?: string;
}

/** Something worth telling about a plugin's configuration; nothing was lost. */
export interface PluginWarning {
  readonly code: string;
  readonly message: string;
  readonly server?: string;
}

/** What a plugin's configuration comes to: a catalog builder's `registerAll` takes it as it is. */
export interface PluginConfig {
  readonly servers: Readonly<Record<string, ServerConfig>>;
  readonly misconfigured: Readonly<Record<string, MisconfiguredServer>>;
  /** Values that came from placeholders: to be redacted (SPEC SE-1). */
  readonly secrets: readonly string[];
  readonly warnings: readonly PluginWarning[];
}

/**
 * Reads a plugin's configuration.
 *
 * @throws HoldfastError `config_syntax` with line and column; `config_invalid` for a document that is no object or larger
 * than 10 MiB; `invalid_argument` for a root that is no absolute path.
 */
export function parsePluginConfig(text: string, options: ParsePluginOptions): PluginConfig {
  checkText(text, 'the text of parsePluginConfig');
  checkOptions(options, 'parsePluginConfig', 'root');
  const file = options.file ?? 'plugin configuration';
  const reading: Reading = {
    file,
    root: pluginRoot(options.root),
    env: options.env ?? {},
    secrets: new Set(),
    warnings: [],
    ...(options.environment === undefined ? {} : { environment: options.environment }),
  };
  const servers: [string, ServerConfig][] = [];
  const misconfigured: [string, MisconfiguredServer][] = [];
  for (const [name, value] of entriesOf(text, reading)) {
    const read = readEntry(name, value, reading);
    if ('config' in read) servers.push([name, read.config]);
    else misconfigured.push([name, read.failure]);
  }
  return {
    servers: Object.fromEntries(servers),
    misconfigured: Object.fromEntries(misconfigured),
    secrets: [...reading.secrets],
    warnings: reading.warnings,
  };
}

interface Reading {
  readonly file: string;
  readonly root: PluginRoot;
  readonly environment?: string;
  readonly env: Environment;
  readonly secrets: Set<string>;
  readonly warnings: PluginWarning[];
}

type ReadEntry = { readonly config: ServerConfig } | { readonly failure: MisconfiguredServer };

function entriesOf(text: string, { file, warnings }: Reading): readonly (readonly [string, unknown])[] {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > maxConfigBytes)
    throw documentError(file, `at most ${String(maxConfigBytes)} bytes`, String(bytes.length));
  const { value, duplicates } = parseDocument(file, bytes);
  for (const pointer of duplicates)
    warnings.push({
      code: 'duplicate_key',
      message: `"${file}": expected each key once, got "${pointer}" again. The last one is used.`,
    });
  if (!isRecord(value)) throw documentError(file, 'an object of servers', shown(value));
  const wrapped = Object.hasOwn(value, 'mcpServers') ? value['mcpServers'] : undefined;
  if (isRecord(wrapped)) return Object.entries(wrapped);
  if (!Array.isArray(wrapped)) return Object.entries(value);
  warnings.push({
    code: 'servers_list',
    message: `"${file}": expected "mcpServers" to be an object, got a list. Its entries were taken by their "name".`,
  });
  return wrapped.map((entry: unknown, index) => {
    const { name, ...rest }: Record<string, unknown> = isRecord(entry) ? entry : {};
    return [typeof name === 'string' && name !== '' ? name : `#${String(index + 1)}`, rest];
  });
}

function readEntry(name: string, value: unknown, reading: Reading): ReadEntry {
  const { file, root, secrets, warnings } = reading;
  const isRequired = isRecord(value) && value['required'] === true;
  const failed = (code: ErrorCode, problem: string, issues?: readonly Issue[]): ReadEntry => ({
    failure: {
      code,
      message: `Server "${name}" in "${file}": ${problem}.`,
      retryable: false,
      ...(issues === undefined ? {} : { issues }),
      ...(isRequired ? { required: true } : {}),
    },
  });
  const environment = reading.environment ?? declaredEnvironment(value) ?? 'local';
  const { entry, issues, notes } = pluginFields(value, environment);
  const isOff = entry['enabled'] === false || (entry['enabled'] === undefined && entry['disabled'] === true);
  const missing = isOff ? [] : expand(entry, environment === 'local' ? reading : { root, secrets, env: {} });
  if (missing.length > 0) return failed('server_misconfigured', missingProblem(missing, environment));
  const found = [...issues, ...placeEntry(entry, reading)];
  const parsed = parseServer(entry);
  if (parsed.kind === 'invalid') found.push(...parsed.issues);
  if (parsed.kind === 'invalid' || found.length > 0)
    return failed('config_invalid', found.map(describe).join('; '), found);
  const unknown = Object.keys(parsed.unknown);
  if (unknown.length > 0)
    warnings.push(warning(name, file, 'unknown_field', `nothing here knows ${quoted(unknown)}, and it does nothing`));
  for (const { code, message } of [...notes, ...parsed.notes]) warnings.push(warning(name, file, code, message));
  const { path } = reading.root;
  return { config: withPlain(parsed.config, (each) => each === path || each.startsWith(`${path}/`)) };
}

/** Puts the working directory of a process where it belongs; gives what is wrong with it. */
function placeEntry(entry: Record<string, unknown>, { root, environment }: Reading): readonly Issue[] {
  if (typeof entry['command'] !== 'string') return [];
  const { cwd } = entry;
  const contained = environment !== undefined;
  if (cwd === undefined) {
    if (contained) entry['cwd'] = root.path;
    return [];
  }
  if (typeof cwd !== 'string') return [];
  const placed = placeCwd(cwd, root, { contained, isLocal: entry['environment'] === 'local' });
  if ('problem' in placed) return [{ path: '/cwd', message: placed.problem }];
  entry['cwd'] = placed.cwd;
  return [];
}

const rootVariable = 'CLAUDE_PLUGIN_ROOT';

/** Puts values into the strings of an entry; gives the names that have none. */
function expand(
  entry: Record<string, unknown>,
  { root, env, secrets }: Pick<Reading, 'root' | 'env' | 'secrets'>,
): readonly string[] {
  const missing = new Set<string>();
  const values = { ...env, [rootVariable]: root.path };
  const put = (value: unknown, shell: boolean): unknown => {
    if (typeof value === 'string') {
      const resolved = resolvePlaceholders(value, values, { shell });
      for (const name of resolved.missing) missing.add(name);
      for (const secret of resolved.secrets)
        if (secret !== root.path && !isPlace(secret, existsSync)) secrets.add(secret);
      return resolved.text;
    }
    if (Array.isArray(value)) return value.map((inner: unknown) => (isRecord(inner) ? inner : put(inner, shell)));
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, typeof inner === 'string' ? put(inner, shell) : inner]),
    );
  };
  for (const field of ['command', 'args', 'env', 'cwd', 'url', 'headers'])
    if (Object.hasOwn(entry, field)) entry[field] = put(entry[field], field === 'args');
  return [...missing];
}

function missingProblem(missing: readonly string[], environment: string): string {
  const one = missing.length === 1;
  const where =
    environment === 'local'
      ? `Set ${one ? 'the variable' : 'the variables'}, or give a default with "\${NAME:-default}"`
      : `A server of environment "${environment}" takes none from this machine; name them in "env_vars"`;
  return `expected ${one ? 'a value' : 'values'} for ${quoted(missing)}, got none. ${where}`;
}

function warning(server: string, file: string, code: string, message: string): PluginWarning {
  return { code, message: `Server "${server}" in "${file}": ${message.replace(/\.$/, '')}.`, server };
}

function documentError(file: string, expected: string, got: string): HoldfastError {
  return new HoldfastError('config_invalid', `"${file}": expected ${expected}, got ${got}. Nothing of it was used.`);
}

function describe(issue: Issue): string {
  return issue.path === '' ? issue.message : `${issue.path}: ${issue.message}`;
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

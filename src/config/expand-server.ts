/** One entry of a file, placeholders put in: a server that can start, or the reason it cannot. */
import { statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { ServerConfig } from '../domain/config.ts';
import { type Failure, HoldfastError, type Issue, toFailure } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';
import { type Environment, resolvePlaceholders } from './placeholders.ts';
import { parseServer } from './server-schema.ts';

/** Where an entry comes from. */
export interface EntrySource {
  readonly file: string;
  /** The directory of the file, absolute: what relative paths of the entry start from. */
  readonly directory: string;
  readonly env: Environment;
}

/** Something worth telling about an entry. */
export interface EntryNote {
  readonly code: string;
  readonly message: string;
}

/** What became of an entry. */
export type ExpandedServer = {
  readonly notes: readonly EntryNote[];
  readonly secrets: readonly string[];
  readonly unknown: Readonly<Record<string, unknown>>;
} & (
  | { readonly kind: 'server'; readonly config: ServerConfig }
  | { readonly kind: 'misconfigured'; readonly failure: Failure }
);

const fields = ['command', 'args', 'env', 'cwd', 'url', 'headers'] as const;

/** Resolves and checks one entry. Never throws. */
export function expandServer(name: string, value: unknown, source: EntrySource): ExpandedServer {
  const found = { missing: new Set<string>(), secrets: new Set<string>() };
  const isOff =
    isRecord(value) && (value['enabled'] === false || (value['enabled'] === undefined && value['disabled'] === true));
  const expanded = isRecord(value) ? expandFields(value, source.env, found) : value;
  const secrets = [...found.secrets];
  // A disabled server never starts, so what it lacks is no fault, and its strings stay as they are written.
  const hasGaps = found.missing.size > 0 && !isOff;
  const parsed = parseServer(isOff ? value : expanded);
  // The url of a server that lacks a value need not be one yet: the missing value is the thing to say.
  if (hasGaps) {
    const failure = toFailure(missingError(name, source.file, [...found.missing]));
    return {
      kind: 'misconfigured',
      failure,
      notes: [],
      secrets,
      unknown: parsed.kind === 'server' ? parsed.unknown : {},
    };
  }
  if (parsed.kind === 'invalid') {
    return {
      kind: 'misconfigured',
      failure: toFailure(invalidError(name, source.file, parsed.issues)),
      notes: [],
      secrets,
      unknown: {},
    };
  }
  const unknown = Object.keys(parsed.unknown);
  const notes = parsed.notes.map((note) => ({
    code: note.code,
    message: `Server "${name}" in "${source.file}": ${note.message}`,
  }));
  if (unknown.length > 0)
    notes.push({
      code: 'unknown_field',
      message: `Server "${name}" in "${source.file}": nothing here knows ${quoted(unknown)}. It is kept, and does nothing.`,
    });
  return { kind: 'server', config: settle(parsed.config, source.directory), notes, secrets, unknown: parsed.unknown };
}

interface Found {
  readonly missing: Set<string>;
  readonly secrets: Set<string>;
}

function expandFields(
  value: Readonly<Record<string, unknown>>,
  env: Environment,
  found: Found,
): Record<string, unknown> {
  const result = { ...value };
  for (const field of fields) {
    if (Object.hasOwn(value, field)) result[field] = expandValue(value[field], { env, found, shell: field === 'args' });
  }
  return result;
}

function expandValue(
  value: unknown,
  options: { readonly env: Environment; readonly found: Found; readonly shell: boolean },
): unknown {
  if (typeof value === 'string') {
    const { text, missing, secrets } = resolvePlaceholders(value, options.env, { shell: options.shell });
    for (const name of missing) options.found.missing.add(name);
    for (const secret of secrets) options.found.secrets.add(secret);
    return text;
  }
  if (Array.isArray(value))
    return value.map((inner) => (typeof inner === 'string' ? expandValue(inner, options) : (inner as unknown)));
  if (isRecord(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        typeof inner === 'string' ? expandValue(inner, options) : inner,
      ]),
    );
  return value;
}

/**
 * Gives a stdio server the directory it belongs in.
 *
 * A relative `cwd` starts from the file. Without one, a server whose command or arguments name something that exists
 * relative to the file runs there, wherever Holdfast itself was started.
 */
function settle(config: ServerConfig, directory: string): ServerConfig {
  if (!('command' in config)) return config;
  if (config.cwd !== undefined)
    return isAbsolute(config.cwd) ? config : { ...config, cwd: resolve(directory, config.cwd) };
  if (resolve(directory) === process.cwd()) return config;
  const candidates = [...(/[\\/]/.test(config.command) ? [config.command] : []), ...(config.args ?? [])];
  return candidates.some((path) => isRelativePath(path) && exists(join(directory, path)))
    ? { ...config, cwd: resolve(directory) }
    : config;
}

function isRelativePath(text: string): boolean {
  return text !== '' && text.length < 4_096 && !text.startsWith('-') && !isAbsolute(text) && !text.includes('\0');
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function missingError(name: string, file: string, missing: readonly string[]): HoldfastError {
  const one = missing.length === 1;
  return new HoldfastError(
    'server_misconfigured',
    `Server "${name}" in "${file}": expected ${one ? 'a value' : 'values'} for ${quoted(missing)}, got none. Set ${one ? 'the variable' : 'the variables'}, or give a default with "\${NAME:-default}".`,
  );
}

function invalidError(name: string, file: string, issues: readonly Issue[]): HoldfastError {
  const said = issues
    .map((issue) => (issue.path === '' ? issue.message : `${issue.path}: ${issue.message}`))
    .join('; ');
  return new HoldfastError('config_invalid', `Server "${name}" in "${file}": ${said}.`, { issues });
}

function quoted(names: readonly string[]): string {
  return names.map((key) => `"${key}"`).join(', ');
}

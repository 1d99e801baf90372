/** One entry of a file, references resolved and fields checked: a server that can start, or the reason it cannot. */
import { isAbsolute, join, resolve } from 'node:path';
import { existsSync } from 'node:fs';
import type { ServerConfig } from '../domain/config.ts';
import { type Failure, HoldfastError, type Issue, toFailure } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';
import { isPlace, withPlain } from '../domain/secrets.ts';
import { entryNotes } from './entry-notes.ts';
import type { Draft, Note } from './formats/draft.ts';
import type { ConfigFormat, NamedDraft } from './formats/format.ts';
import { describeIssue } from './issue-words.ts';
import { missingError } from './missing-values.ts';
import { type Given, ownValue, type Reference, replaceReferences, resolveText } from './placeholders.ts';
import { type InvalidReason, parseServer } from './server-schema.ts';

/** Where an entry comes from. */
export interface EntrySource {
  readonly file: string;
  /** The directory relative paths of the entry start from, absolute. */
  readonly directory: string;
  readonly format: ConfigFormat;
  readonly given: Given;
}

/** What became of an entry. */
export interface ReadEntry {
  readonly name: string;
  readonly source: EntrySource;
  readonly draft: Draft | undefined;
  readonly isNameless: boolean;
  /** Present when the entry can be understood, even while values for it are missing. */
  readonly config: ServerConfig | undefined;
  /** The fields of {@link config} as text was put into them, before anything was added. */
  readonly headersHelper: string | undefined;
  /** Why it is no server, as a code. */
  readonly reason: InvalidReason | 'left-out' | undefined;
  /** Why it cannot start. */
  readonly failure: Failure | undefined;
  /** References without a value. */
  readonly missing: readonly string[];
  readonly notes: readonly Note[];
  readonly secrets: readonly string[];
  /** Fields that do nothing here, as they came. */
  readonly kept: Readonly<Record<string, unknown>>;
}

/** The fields text is put into. */
export const textFields = ['command', 'args', 'env', 'cwd', 'url', 'headers', 'caFile'] as const;

/** Resolves and checks one entry. Never throws. */
export function readEntry({ name, draft, isNameless = false }: NamedDraft, source: EntrySource): ReadEntry {
  const base = { name, source, draft, isNameless };
  if (draft === undefined || draft.leftOut !== undefined) {
    const left = draft?.leftOut;
    return {
      ...base,
      config: undefined,
      headersHelper: undefined,
      missing: [],
      secrets: [],
      kept: Object.fromEntries(draft?.kept ?? []),
      reason: left === undefined ? 'not-an-object' : 'left-out',
      failure: left === undefined ? toFailure(invalidError(name, source.file, [notAnObject])) : undefined,
      notes: left === undefined ? [] : [left],
    };
  }
  const found: Found = { missing: new Set(), secrets: new Set(), plain: new Set() };
  const fields = withVariables(draft, resolveFields(draft, source, found), source, found);
  const headersHelper =
    draft.headersHelper === undefined ? undefined : resolveField(draft.headersHelper, 'headersHelper', source, found);
  const missing = [...found.missing];
  const parsed = isNameless
    ? ({ kind: 'invalid', reason: 'invalid-entry', issues: [nameless] } as const)
    : parseServer(fields, { hasGaps: missing.length > 0 });
  const isOff = parsed.kind === 'server' && parsed.config.enabled === false;
  const kept = new Map([...draft.kept, ...(parsed.kind === 'server' ? Object.entries(parsed.unknown) : [])]);
  const unknown = [...draft.unknown, ...(parsed.kind === 'server' ? Object.keys(parsed.unknown) : [])];
  return {
    ...base,
    headersHelper: typeof headersHelper === 'string' ? headersHelper : undefined,
    missing,
    secrets: [...found.secrets].filter((value) => !isPlace(value, existsSync)),
    kept: Object.fromEntries(kept),
    ...(parsed.kind === 'invalid'
      ? {
          config: undefined,
          reason: parsed.reason,
          // The missing value is the thing to say: what is wrong besides may come of it.
          failure: toFailure(
            missing.length > 0 && parsed.reason === 'invalid-entry'
              ? missingError({ name, ...source }, missing)
              : invalidError(
                  name,
                  source.file,
                  parsed.issues.map((issue) => asWritten(issue, draft)),
                ),
          ),
          notes: draft.notes,
        }
      : {
          config: withPlain(withApproved(withTransport(parsed.config, source.format), draft), (value) =>
            found.plain.has(value),
          ),
          reason: undefined,
          // A disabled server never starts, so what it lacks is no fault.
          failure: missing.length === 0 || isOff ? undefined : toFailure(missingError({ name, ...source }, missing)),
          notes: [
            ...draft.notes,
            ...parsed.notes,
            ...entryNotes(parsed.config, draft, source.format),
            ...(headersHelper === undefined || isOff
              ? []
              : [
                  {
                    code: 'headers-helper',
                    message: '"headersHelper" is a command. It was not run: that needs consent.',
                  },
                ]),
            ...(unknown.length === 0
              ? []
              : [
                  {
                    code: 'unknown-field',
                    message: `nothing here knows ${quoted(unknown)}. It is kept, and does nothing.`,
                  },
                ]),
          ],
        }),
  };
}

/**
 * Gives a stdio server the directory it belongs in.
 *
 * A relative `cwd` starts from the file's project. Without one, a server whose command or arguments name something that
 * exists there runs there, wherever Holdfast itself was started.
 */
export function settle(config: ServerConfig, directory: string): ServerConfig {
  if (!('command' in config)) return withCaFile(config, directory);
  if (config.cwd !== undefined)
    return isAbsolute(config.cwd) ? config : { ...config, cwd: resolve(directory, config.cwd) };
  if (resolve(directory) === process.cwd()) return config;
  const candidates = [...(/[\\/]/.test(config.command) ? [config.command] : []), ...(config.args ?? [])];
  return candidates.some((path) => isRelativePath(path) && existsSync(join(directory, path)))
    ? { ...config, cwd: resolve(directory) }
    : config;
}

function withCaFile(config: ServerConfig, directory: string): ServerConfig {
  return 'url' in config && config.caFile !== undefined
    ? { ...config, caFile: resolve(directory, config.caFile) }
    : config;
}

interface Found {
  readonly missing: Set<string>;
  readonly secrets: Set<string>;
  readonly plain: Set<string>;
}

const notAnObject: Issue = { path: '', message: 'expected an object, got something else' };
const nameless: Issue = { path: '/name', message: 'expected a name, got none. Give it one' };

function resolveFields(draft: Draft, source: EntrySource, found: Found): Record<string, unknown> {
  const fields = Object.fromEntries(draft.fields);
  for (const field of textFields)
    if (draft.fields.has(field)) fields[field] = resolveField(fields[field], field, source, found);
  return fields;
}

function resolveField(value: unknown, field: string, source: EntrySource, found: Found): unknown {
  const { placeholders } = source.format;
  if (placeholders.fields?.includes(field) === false) return value;
  const put = (inner: unknown): unknown => {
    if (typeof inner !== 'string') return inner;
    const { text, missing, secrets, plain } = resolveText(inner, placeholders, source.given, {
      shell: field === 'args',
    });
    for (const name of missing) found.missing.add(name);
    for (const secret of secrets) found.secrets.add(secret);
    for (const each of plain) found.plain.add(each);
    return text;
  };
  return mapTexts(value, put);
}

/** The references an entry holds, as written. */
export function referencesOf({ draft, source }: Pick<ReadEntry, 'draft' | 'source'>): readonly Reference[] {
  const { placeholders } = source.format;
  const found: Reference[] = [];
  for (const field of textFields) {
    if (draft === undefined || placeholders.fields?.includes(field) === false) continue;
    mapTexts(draft.fields.get(field), (inner) => {
      if (typeof inner === 'string')
        replaceReferences(inner, placeholders, field === 'args', (reference, text) => {
          found.push(reference);
          return text;
        });
      return inner;
    });
  }
  return found;
}

/** Maps a text, or the texts in a list or a map. */
export function mapTexts(value: unknown, map: (inner: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(map);
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, map(inner)]));
  return map(value);
}

/** Adds the variables that come from files of them and from this machine; what the entry sets itself wins. */
function withVariables(
  draft: Draft,
  fields: Record<string, unknown>,
  { given, format }: EntrySource,
  found: Found,
): Record<string, unknown> {
  if (draft.variables.size === 0 && draft.envFiles.length === 0) return fields;
  const env = new Map<string, string>();
  for (const file of draft.envFiles) {
    const path = resolveText(file, format.placeholders, given).text;
    const text = given.readFile?.(path);
    if (text === undefined) found.missing.add(`file:${path}`);
    for (const [key, value] of variablesOf(text ?? '')) {
      env.set(key, value);
      if (value.length >= 8) found.secrets.add(value);
    }
  }
  for (const [key, { from, isRequired }] of draft.variables) {
    const value = ownValue(given.env, from);
    if (value !== undefined) {
      env.set(key, value);
      if (value.length >= 8) found.secrets.add(value);
    } else if (isRequired && !env.has(key)) found.missing.add(from);
  }
  const own = fields['env'];
  if (own !== undefined && !isRecord(own)) return fields;
  return { ...fields, env: Object.fromEntries([...env, ...Object.entries(own ?? {})]) };
}

/** The lines `NAME=value` of a file, quotes taken off. */
function variablesOf(text: string): readonly (readonly [string, string])[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [start = '', name] = /^\s*(?:export\s+)?([A-Za-z_][\w.]*)\s*=/.exec(line) ?? [];
    if (name === undefined) return [];
    const value = line.slice(start.length).trim();
    const comment = value.search(/\s#/);
    const bare = /^(["'])(.*)\1$/.exec(value)?.[2] ?? (comment < 0 ? value : value.slice(0, comment).trimEnd());
    return [[name, bare] as const];
  });
}

function withTransport(config: ServerConfig, format: ConfigFormat): ServerConfig {
  return 'url' in config && config.transport === undefined && format.urlTransport !== undefined
    ? { ...config, transport: format.urlTransport }
    : config;
}

/** Tools that are called without asking become settings by tool; what is set by tool wins. */
function withApproved(config: ServerConfig, draft: Draft): ServerConfig {
  if (draft.autoApprove.size === 0) return config;
  const approved = [...draft.autoApprove].map((tool) => [tool, { approval: 'approve' as const }] as const);
  return {
    ...config,
    tools: { ...config.tools, perTool: { ...Object.fromEntries(approved), ...config.tools?.perTool } },
  };
}

/** An issue under the name the file has for the field. */
function asWritten(issue: Issue, draft: Draft): Issue {
  const [, first = '', second = ''] = issue.path.split('/');
  const nested = draft.writtenAs.get(`${first}/${second}`);
  if (nested !== undefined)
    return { ...issue, path: `/${nested}${issue.path.slice(first.length + second.length + 2)}` };
  const written = draft.writtenAs.get(first);
  return written === undefined ? issue : { ...issue, path: `/${written}${issue.path.slice(first.length + 1)}` };
}

function isRelativePath(text: string): boolean {
  return text !== '' && text.length < 4_096 && !text.startsWith('-') && !isAbsolute(text) && !text.includes('\0');
}

function invalidError(name: string, file: string, issues: readonly Issue[]): HoldfastError {
  const said = issues.map(describeIssue).join('; ');
  return new HoldfastError('config_invalid', `Server "${name}" in "${file}": ${said}.`, { issues });
}

function quoted(names: readonly string[]): string {
  return names.map((key) => `"${key}"`).join(', ');
}

/**
 * Files to servers (SPEC CA-1 to CA-3): `holdfast.json`, `.mcp.json`, and any file with `mcpServers`.
 *
 * C1 One bad entry never loses its siblings: it is `misconfigured`, by name, with its reason.
 * C2 A document that cannot be read as one fails whole, with line and column.
 * C3 Later files win by name, and it is said.
 */
import { access } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Limits, Policy, ServerConfig } from '../domain/config.ts';
import { type Failure, HoldfastError, type Issue } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';
import { type ConfigDocument, escapePointer, readDocument } from './document.ts';
import { type ExpandedServer, expandServer } from './expand-server.ts';
import type { Environment } from './placeholders.ts';
import { limitsSchema, mergePolicy, policySchema } from './policy-schema.ts';
import { beyond, toIssues } from './server-schema.ts';

/** Something worth telling about a configuration; nothing was lost. */
export interface ConfigWarning {
  /** `unknown_field`, `duplicate_server`, `duplicate_key`, `coerced_env`, `command_and_url`, `servers_list`, `no_servers`, `invalid_limit`. */
  readonly code: string;
  readonly message: string;
  readonly file: string;
  readonly server?: string;
}

/** What files come to. `createThread` and `replaceRuntime` take it as it is. */
export interface ResolvedConfig {
  readonly servers: Readonly<Record<string, ServerConfig>>;
  /** Entries that cannot start, with the reason. */
  readonly misconfigured: Readonly<Record<string, Failure>>;
  /** Values that came from placeholders: to be redacted (SPEC SE-1). */
  readonly secrets: readonly string[];
  readonly policy?: Policy;
  readonly limits?: Limits;
  readonly warnings: readonly ConfigWarning[];
  /** Fields nobody here knows, by server. */
  readonly unknown: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The files read, absolute, in order. */
  readonly files: readonly string[];
}

/** How files are read. */
export interface ReadConfigOptions {
  /** Where placeholders find their values. Default `process.env`. */
  readonly env?: Environment;
}

/**
 * Reads configuration files, in order.
 *
 * @throws HoldfastError `config_syntax` with line and column; `config_invalid` when a file cannot be read, is no object,
 * or has a `policy` that cannot be understood.
 */
export async function readConfig(files: readonly string[], options: ReadConfigOptions = {}): Promise<ResolvedConfig> {
  const paths = files.map((file) => resolve(file));
  const documents = await Promise.all(paths.map((path) => readDocument(path)));
  const collected = new ConfigCollector(options.env ?? process.env);
  for (const document of documents) collected.add(document);
  return collected.result(paths);
}

/** The configuration files a directory has, in the order {@link readConfig} wants: `holdfast.json` wins by name. */
export async function findConfig(directory: string): Promise<readonly string[]> {
  const candidates = ['.mcp.json', 'holdfast.json'].map((name) => join(directory, name));
  const present = await Promise.all(
    candidates.map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return candidates.filter((_, index) => present[index]);
}

type Entry = ExpandedServer & { readonly file: string };

const rootShape = { $schema: true, mcpServers: true, policy: true, limits: true };

/** Puts the documents together, in order. */
class ConfigCollector {
  readonly #env: Environment;
  readonly #entries = new Map<string, Entry>();
  readonly #warnings: ConfigWarning[] = [];
  #policy: Policy | undefined;
  #limits: Limits | undefined;

  constructor(env: Environment) {
    this.#env = env;
  }

  add(document: ConfigDocument): void {
    const { file, value } = document;
    for (const pointer of document.duplicates)
      this.#warn(
        file,
        'duplicate_key',
        `"${file}": expected each key once, got "${pointer}" again. The last one is used.`,
      );
    if (value === undefined) {
      this.#warn(
        file,
        'no_servers',
        `"${file}": expected "mcpServers", got a document without a value. It adds nothing.`,
      );
      return;
    }
    if (!isRecord(value)) throw documentError(document, [], 'expected an object with "mcpServers"');
    this.#addSections(document, value);
    const strangers = isBareMap(value)
      ? []
      : [
          ...beyond(value, rootShape, ''),
          ...beyond(value['policy'], policySchema.shape, 'policy.'),
          ...beyond(value['limits'], limitsSchema.shape, 'limits.'),
        ];
    if (strangers.length > 0)
      this.#warn(
        file,
        'unknown_field',
        `"${file}": nothing here knows ${quoted(strangers.map(([name]) => name))}. It does nothing.`,
      );
    for (const [name, entry] of this.#serversOf(file, value)) this.#addServer(document, name, entry);
  }

  result(files: readonly string[]): ResolvedConfig {
    const servers: [string, ServerConfig][] = [];
    const misconfigured: [string, Failure][] = [];
    const unknown: [string, Readonly<Record<string, unknown>>][] = [];
    const secrets = new Set<string>();
    for (const [name, entry] of this.#entries) {
      if (entry.kind === 'server') servers.push([name, entry.config]);
      else misconfigured.push([name, entry.failure]);
      if (Object.keys(entry.unknown).length > 0) unknown.push([name, entry.unknown]);
      for (const secret of entry.secrets) secrets.add(secret);
    }
    return {
      servers: Object.fromEntries(servers),
      misconfigured: Object.fromEntries(misconfigured),
      unknown: Object.fromEntries(unknown),
      secrets: [...secrets],
      ...(this.#policy === undefined ? {} : { policy: this.#policy }),
      ...(this.#limits === undefined ? {} : { limits: this.#limits }),
      warnings: this.#warnings,
      files,
    };
  }

  #warn(file: string, code: string, message: string, server?: string): void {
    this.#warnings.push({ code, message, file, ...(server === undefined ? {} : { server }) });
  }

  #addSections(document: ConfigDocument, root: Readonly<Record<string, unknown>>): void {
    const { file } = document;
    if (Object.hasOwn(root, 'policy')) {
      const parsed = policySchema.safeParse(root['policy']);
      // A policy protects: one that cannot be understood must not be dropped in silence.
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        throw documentError(
          document,
          ['policy', ...(issue?.path ?? []).map((part) => (typeof part === 'number' ? part : String(part)))],
          `in "policy", ${toIssues(parsed.error).map(describe).join('; ')}`,
        );
      }
      this.#policy = mergePolicy(this.#policy, parsed.data);
    }
    if (Object.hasOwn(root, 'limits')) this.#limits = { ...this.#limits, ...this.#limitsOf(file, root['limits']) };
  }

  #limitsOf(file: string, value: unknown): Limits {
    const parsed = limitsSchema.safeParse(value);
    if (parsed.success) return parsed.data;
    this.#warn(
      file,
      'invalid_limit',
      `"${file}": in "limits", ${toIssues(parsed.error).map(describe).join('; ')}. The default is used for each.`,
    );
    if (!isRecord(value)) return {};
    const bad = new Set(parsed.error.issues.map((issue) => issue.path[0]));
    const again = limitsSchema.safeParse(Object.fromEntries(Object.entries(value).filter(([key]) => !bad.has(key))));
    return again.success ? again.data : {};
  }

  #serversOf(file: string, root: Readonly<Record<string, unknown>>): readonly (readonly [string, unknown])[] {
    if (!Object.hasOwn(root, 'mcpServers')) {
      if (isBareMap(root)) return Object.entries(root);
      if (!Object.hasOwn(root, 'policy') && !Object.hasOwn(root, 'limits')) {
        this.#warn(
          file,
          'no_servers',
          `"${file}": expected "mcpServers", got ${Object.keys(root).length === 0 ? 'an empty object' : quoted(Object.keys(root).slice(0, 8))}. It adds no server.`,
        );
      }
      return [];
    }
    const section = root['mcpServers'];
    if (isRecord(section)) return Object.entries(section);
    if (!Array.isArray(section)) {
      this.#warn(
        file,
        'no_servers',
        `"${file}": expected "mcpServers" to be an object, got ${section === null ? 'null' : typeof section}. It adds no server.`,
      );
      return [];
    }
    this.#warn(
      file,
      'servers_list',
      `"${file}": expected "mcpServers" to be an object, got a list. Its entries were taken by their "name".`,
    );
    return section.map((entry: unknown, index) => named(entry, index));
  }

  #addServer({ file }: ConfigDocument, name: string, value: unknown): void {
    const entry = expandServer(name, value, { file, directory: dirname(file), env: this.#env });
    const earlier = this.#entries.get(name);
    if (earlier !== undefined) {
      this.#warn(
        file,
        'duplicate_server',
        `Server "${name}" is in "${earlier.file}" and in "${file}". The later one is used.`,
        name,
      );
      this.#entries.delete(name);
    }
    this.#entries.set(name, { ...entry, file });
    for (const note of entry.notes) this.#warn(file, note.code, note.message, name);
  }
}

function isBareMap(root: Readonly<Record<string, unknown>>): boolean {
  const values = Object.values(root);
  return (
    values.length > 0 &&
    values.every(
      (value) => isRecord(value) && (typeof value['command'] === 'string' || typeof value['url'] === 'string'),
    )
  );
}

function named(entry: unknown, index: number): readonly [string, unknown] {
  if (!isRecord(entry) || typeof entry['name'] !== 'string' || entry['name'] === '') return [`#${index + 1}`, {}];
  const { name, ...rest } = entry;
  return [name, rest];
}

function documentError(document: ConfigDocument, path: readonly (string | number)[], problem: string): HoldfastError {
  const { line, column } = document.locate(path);
  return new HoldfastError(
    'config_invalid',
    `"${document.file}", line ${line}, column ${column}: ${problem}. Mend the file; nothing of it was used.`,
    {
      issues: [{ path: path.map((part) => `/${escapePointer(String(part))}`).join(''), message: problem }],
      data: { file: document.file, line, column },
    },
  );
}

function describe(issue: Issue): string {
  return issue.path === '' ? issue.message : `${issue.path}: ${issue.message}`;
}

function quoted(names: readonly string[]): string {
  return names.map((key) => `"${key}"`).join(', ');
}

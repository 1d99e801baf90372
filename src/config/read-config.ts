/**
 * Files to servers (SPEC CA-1 to CA-3): `holdfast.json`, and what other tools write.
 *
 * C1 One bad entry never loses its siblings: it is `misconfigured`, by name, with its reason.
 * C2 A document that cannot be read as one fails whole, with line and column.
 * C3 Later files win by name, and it is said.
 * C4 No command of a file runs unless the caller gives a function that runs it.
 */
import { lstat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ServerProvenance } from '../domain/catalog.ts';
import type { Limits, MisconfiguredServer, Policy, ServerConfig } from '../domain/config.ts';
import { HoldfastError } from '../domain/errors.ts';
import { nearest } from '../domain/nearest.ts';
import { checkFiles, checkOptions, checkText } from './check-arguments.ts';
import {
  type CommandRunner,
  entryKey,
  nothingRan,
  type RanCommands,
  runAsked,
  runHelperOf,
  withHeaders,
} from './consent.ts';
import { readDocument } from './document.ts';
import { maxServers } from './formats/format.ts';
import type { Environment, Given } from './placeholders.ts';
import {
  describeUnknown,
  limitsOf,
  limitsSchema,
  policySchema,
  SettingsMerge,
  type UnknownSetting,
  unknownSettings,
} from './policy-schema.ts';
import { type ReadEntry, settle } from './read-entry.ts';
import { documentError, readSource, type SourceReading } from './read-source.ts';
import { describeIssue, issueInWords } from './issue-words.ts';
import { readSmallFile } from './small-file.ts';
import { toIssues } from './server-schema.ts';

/** Something worth telling about a configuration; nothing was lost. */
export interface ConfigWarning {
  /** In snake_case: `unknown_field`, `duplicate_server`, `overridden_setting`, `duplicate_key`, `coerced_env`, `no_servers`, `foreign_placeholder` and others. */
  readonly code: string;
  readonly message: string;
  readonly file: string;
  readonly server?: string;
}

/** What files come to. `createThread` and `replaceRuntime` take it as it is. */
export interface ResolvedConfig {
  readonly servers: Readonly<Record<string, ServerConfig>>;
  /** Entries that cannot start, with the reason. */
  readonly misconfigured: Readonly<Record<string, MisconfiguredServer>>;
  /** Values that came from placeholders: to be redacted (SPEC SE-1). */
  readonly secrets: readonly string[];
  readonly policy?: Policy;
  readonly limits?: Limits;
  readonly warnings: readonly ConfigWarning[];
  /** Which file each server is in, those that cannot start included. */
  readonly provenance: Readonly<Record<string, ServerProvenance>>;
  /** Fields that do nothing here, by server. */
  readonly unknown: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The files read, absolute, in order. */
  readonly files: readonly string[];
}

/** Where the values of references come from. */
export interface ConfigValues {
  /** Where placeholders find their values. Default `process.env`. */
  readonly env?: Environment;
  /** Answers to the `inputs` of VS Code, by id. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** `${workspaceFolder}`. Default: the project a file belongs to. */
  readonly workspaceFolder?: string;
  /** `${CLAUDE_PLUGIN_ROOT}`. Default: the variable of that name; for a plugin's own files, the plugin. */
  readonly pluginRoot?: string;
  /** `${userHome}`. Default: the home directory of the user. */
  readonly userHome?: string;
}

/** How files are read. */
export interface ReadConfigOptions extends ConfigValues {
  /**
   * Runs a command that stands in a placeholder (`${cmd: …}`) or helps with headers, and resolves with what it printed.
   * Giving it is the consent. Without it no command runs: a placeholder leaves its server misconfigured, and a headers
   * helper is left out, with a warning.
   */
  readonly runCommand?: CommandRunner;
}

/**
 * Reads configuration files, in order: of each, the format is recognised by its path and its content.
 *
 * @throws HoldfastError `config_syntax` with line and column; `config_invalid` when a file cannot be read, is no object,
 * has a `policy` that cannot be understood, or when there are more than 10,000 servers; `invalid_argument`.
 */
export async function readConfig(files: readonly string[], options: ReadConfigOptions = {}): Promise<ResolvedConfig> {
  checkFiles(files, 'readConfig');
  checkOptions(options, 'readConfig');
  return (await readFiles(files, options)).config;
}

/** As {@link readConfig}, with the files that were empty as they were read: looked at later they may be another edit. */
export async function readFiles(
  files: readonly string[],
  options: ReadConfigOptions,
): Promise<{ readonly config: ResolvedConfig; readonly empty: readonly string[] }> {
  const paths = files.map((file) => resolve(file));
  const documents = await Promise.all(paths.map((path) => readDocument(path)));
  const given = givenOf(options);
  const { runCommand } = options;
  const read = ({ outputs }: RanCommands): readonly SourceReading[] =>
    documents.map((document) => {
      const commands = outputs.get(document.file);
      return readSource(document, commands === undefined ? given : { ...given, commands });
    });
  let sources = read(nothingRan);
  let ran = nothingRan;
  if (runCommand !== undefined) {
    ran = await runAsked(sources, runCommand);
    if (ran.outputs.size > 0) sources = read(ran);
  }
  const collected = new ConfigCollector(ran, runCommand);
  for (const source of sources) collected.add(source);
  const empty = documents.filter(({ isEmpty }) => isEmpty).map(({ file }) => file);
  return { config: collected.result(paths), empty };
}

/** What references may point to, defaults filled in. */
export function givenOf(values: ConfigValues): Given {
  const { inputs, workspaceFolder, pluginRoot } = values;
  return {
    env: values.env ?? process.env,
    userHome: values.userHome ?? homedir(),
    readFile: readSmallFile,
    ...(inputs === undefined ? {} : { inputs }),
    ...(workspaceFolder === undefined ? {} : { workspaceFolder }),
    ...(pluginRoot === undefined ? {} : { pluginRoot }),
  };
}

/** The configuration files a directory has, in the order {@link readConfig} wants: `holdfast.json` wins by name. */
export async function findConfig(directory: string): Promise<readonly string[]> {
  checkText(directory, 'the directory of findConfig');
  const candidates = ['.mcp.json', 'holdfast.json'].map((name) => join(directory, name));
  // A link that leads nowhere, or round in a circle, is there: reading it says what is wrong.
  const present = await Promise.all(
    candidates.map((path) =>
      lstat(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return candidates.filter((_, index) => present[index]);
}

/** Codes of warnings that are not the diagnostic's own in snake_case. */
const warningCodes: Readonly<Record<string, string>> = {
  'array-wrapper': 'servers_list',
  'no-mcp-section': 'no_servers',
  'no-value': 'no_servers',
};

/** What is right for Holdfast, and worth a word only to somebody who imports. */
const importOnly = new Set(['type-inferred', 'empty-env-value']);

/** Puts the documents together, in order. */
class ConfigCollector {
  readonly #ran: RanCommands;
  readonly #run: CommandRunner | undefined;
  readonly #entries = new Map<string, ReadEntry>();
  readonly #warnings: ConfigWarning[] = [];
  readonly #settings = new SettingsMerge();

  constructor(ran: RanCommands, run: CommandRunner | undefined) {
    this.#ran = ran;
    this.#run = run;
  }

  add(source: SourceReading): void {
    const { document, format, root, leftOut, notes } = source;
    const { file } = document;
    const hasSections = format.hasSections === true && root !== undefined;
    if (hasSections) this.#addSections(source, root);
    const strangers = hasSections ? strangersOf(root, leftOut) : [];
    if (strangers.length > 0)
      this.#warn(file, 'unknown-field', `"${file}": ${describeUnknown(strangers, 'It does nothing.')}`);
    const isSettingsOnly = hasSections && ('policy' in root || 'limits' in root);
    for (const { code, message, server, isInfo } of notes)
      if (isInfo !== true && !(code === 'no-mcp-section' && isSettingsOnly))
        this.#warn(file, code, `"${file}": ${message}`, server);
    for (const entry of source.entries) this.#addEntry(entry);
    if (this.#entries.size > maxServers)
      throw new HoldfastError(
        'config_invalid',
        `Expected at most ${maxServers} servers in all files, got more with "${file}". Leave some files out.`,
      );
  }

  /** How the headers of an entry are got again, where a command may run for them. */
  #renewal(entry: ReadEntry): (() => Promise<Readonly<Record<string, string>>>) | undefined {
    const run = this.#run;
    return run === undefined || entry.headersHelper === undefined ? undefined : () => runHelperOf(entry, run);
  }

  result(files: readonly string[]): ResolvedConfig {
    const { policy, limits } = this.#settings;
    const servers: [string, ServerConfig][] = [];
    const misconfigured: [string, MisconfiguredServer][] = [];
    const unknown: [string, Readonly<Record<string, unknown>>][] = [];
    const secrets = new Set<string>();
    for (const [name, entry] of this.#entries) {
      const failure = this.#ran.failures.get(entryKey(entry)) ?? entry.failure;
      const headers = this.#ran.headers.get(entryKey(entry));
      if (failure !== undefined)
        misconfigured.push([name, isRequired(entry) ? { ...failure, required: true } : failure]);
      else if (entry.config !== undefined)
        servers.push([name, withHeaders(settle(entry.config, entry.source.directory), headers, this.#renewal(entry))]);
      if (Object.keys(entry.kept).length > 0) unknown.push([name, entry.kept]);
      for (const secret of [...entry.secrets, ...Object.values(headers ?? {})]) secrets.add(secret);
    }
    return {
      servers: Object.fromEntries(servers),
      misconfigured: Object.fromEntries(misconfigured),
      provenance: Object.fromEntries(
        [...this.#entries].map(([name, { source }]) => [name, { source: 'config', file: source.file }]),
      ),
      unknown: Object.fromEntries(unknown),
      secrets: [...secrets],
      ...(policy === undefined ? {} : { policy }),
      ...(limits === undefined ? {} : { limits }),
      warnings: this.#warnings,
      files,
    };
  }

  #warn(file: string, code: string, message: string, server?: string): void {
    this.#warnings.push({
      code: (Object.hasOwn(warningCodes, code) ? warningCodes[code] : undefined) ?? code.replaceAll('-', '_'),
      message,
      file,
      ...(server === undefined ? {} : { server }),
    });
  }

  #addSections({ document }: SourceReading, root: Readonly<Record<string, unknown>>): void {
    const { file } = document;
    const sections: { policy?: Policy; limits?: Limits } = {};
    if (Object.hasOwn(root, 'policy')) {
      const parsed = policySchema.safeParse(root['policy'], { error: issueInWords });
      // A policy protects: one that cannot be understood must not be dropped in silence.
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        throw documentError(
          document,
          ['policy', ...(issue?.path ?? []).map((part) => (typeof part === 'number' ? part : String(part)))],
          `in "policy", ${toIssues(parsed.error).map(describeIssue).join('; ')}`,
        );
      }
      sections.policy = parsed.data;
    }
    if (Object.hasOwn(root, 'limits')) {
      const { limits, problem } = limitsOf(root['limits'], limitsSchema);
      if (problem !== undefined) this.#warn(file, 'invalid-limit', `"${file}": ${problem}`);
      sections.limits = limits;
    }
    for (const message of this.#settings.add(file, sections)) this.#warn(file, 'overridden-setting', message);
  }

  #addEntry(entry: ReadEntry): void {
    const { name, source } = entry;
    const { file } = source;
    const earlier = this.#entries.get(name);
    if (entry.reason !== 'left-out') {
      if (earlier !== undefined) {
        this.#warn(
          file,
          'duplicate-server',
          `Server "${name}" is in "${earlier.source.file}" and in "${file}". The one in "${file}" is used.`,
          name,
        );
        this.#entries.delete(name);
      }
      this.#entries.set(name, entry);
    }
    const hasRun = this.#ran.headers.has(entryKey(entry)) || this.#ran.failures.has(entryKey(entry));
    for (const { code, message } of entry.failure === undefined ? entry.notes : [])
      if (!importOnly.has(code) && !(code === 'headers-helper' && hasRun))
        this.#warn(file, code, `Server "${name}" in "${file}": ${message}`, name);
  }
}

/** Nothing is published without it, whatever else is wrong with its entry. */
function isRequired({ config, draft }: ReadEntry): boolean {
  if (config !== undefined) return config.required === true && config.enabled !== false;
  return draft?.fields.get('required') === true && draft.fields.get('enabled') !== false;
}

/** Keys of a document, and of its sections, that nobody here knows. */
function strangersOf(root: Readonly<Record<string, unknown>>, leftOut: readonly string[]): readonly UnknownSetting[] {
  const known = ['mcpServers', 'policy', 'limits'];
  return [...leftOut.map((path) => ({ path, meant: nearest(path, known) })), ...unknownSettings(root)];
}

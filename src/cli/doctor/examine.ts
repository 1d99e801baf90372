/** What `doctor` has to check: the files, what is wrong with them, and each of their servers. */
import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  type Failure,
  HoldfastError,
  type Root,
  type ServerConfig,
  type Thread,
  type ThreadOptions,
} from '../../index.ts';
import {
  type CommandRunner,
  type ConfigPlace,
  type ConfigPlaces,
  type ConfigWarning,
  findConfig,
  readConfig,
  readPlaces,
  type ResolvedConfig,
} from '../../config/index.ts';
import { errorRecord } from '../jsonl/error-record.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { isObject } from '../values.ts';
import type { PlacedCheck, ServerCheck } from './check.ts';
import { diagnose, misconfiguredCheck } from './diagnose.ts';

/** What the command line gives. */
export interface DoctorOptions {
  /** Raw names; all of the configuration without any. */
  readonly servers: readonly string[];
  readonly config: readonly string[];
  readonly roots: readonly Root[];
  readonly json?: boolean;
  /** How long each server may take to start. Default: its own limit. */
  readonly timeoutMs?: number;
}

/** What surrounds the command. */
export interface DoctorIo {
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  readonly createThread: (options: ThreadOptions) => Thread;
  readonly runCommand: CommandRunner;
  /** Aborted by a signal: what is checked is shown, the rest is not checked. */
  readonly signal: AbortSignal;
}

/** What is wrong with a file as a whole. */
type Problem = Failure & Partial<ConfigPlace>;

/** What there is to check. */
export interface Checkup {
  readonly files: readonly string[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly ConfigWarning[];
  readonly names: readonly string[];
  readonly check: (name: string) => Promise<PlacedCheck>;
}

/** More servers than that are checked in the order they were read in: looking each up takes its time. */
const mostSorted = 500;

/**
 * Reads the files, and says how each of their servers is checked.
 *
 * @throws UsageError for a file that does not exist and a server that is in none.
 */
export async function examine(options: DoctorOptions, io: DoctorIo): Promise<Checkup> {
  const named = options.config.map((file) => resolve(io.directory, file));
  const missing = named.find((file) => !isThere(file));
  if (missing !== undefined) throw new UsageError(`Expected a file "${missing}", got none. Check the path.`);
  const found = named.length > 0 ? named : await findConfig(io.directory);
  const files: string[] = [];
  const problems: Problem[] = [];
  for (const file of found) {
    try {
      await readConfig([file], { env: io.env });
      files.push(file);
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      problems.push({ file, ...placeOf(error.data), ...errorRecord(error) });
    }
  }
  const config = await readConfig(files, { env: io.env, runCommand: io.runCommand });
  const all = [...new Set([...Object.keys(config.servers), ...Object.keys(config.misconfigured)])];
  const strange = options.servers.find((name) => !all.includes(name));
  if (strange !== undefined && problems.length === 0)
    throw new UsageError(
      `Expected the name of a server, got "${strange}". ${all.length === 0 ? 'There is none.' : `There are ${all.map((name) => `"${name}"`).join(', ')}.`}`,
    );
  const places = await readPlaces(files);
  return {
    files,
    problems,
    warnings: config.warnings,
    names: asWritten(
      // One that is in a file that cannot be read is not known: what is wrong with the file is said.
      options.servers.length === 0 ? all : options.servers.filter((name) => all.includes(name)),
      files,
      places,
    ),
    check: async (name) => {
      const check = await checkOne(name, config, options, io);
      return { ...check, ...places.find(name, check.error?.issues?.[0]?.path) };
    },
  };
}

/** A link that leads nowhere, or round in a circle, is there: reading it says what is wrong. */
function isThere(file: string): boolean {
  try {
    lstatSync(file);
    return true;
  } catch (error) {
    return !(isObject(error) && (error['code'] === 'ENOENT' || error['code'] === 'ENOTDIR'));
  }
}

/** Names in the order of the files, as far as that is looked up. */
function asWritten(names: readonly string[], files: readonly string[], places: ConfigPlaces): readonly string[] {
  const unique = [...new Set(names)];
  if (unique.length > mostSorted) return unique;
  const at = new Map(unique.map((name) => [name, places.find(name)]));
  const fileOf = (name: string): number => files.indexOf(at.get(name)?.file ?? '');
  const compare = (a: string, b: string): number =>
    fileOf(a) - fileOf(b) ||
    (at.get(a)?.line ?? 0) - (at.get(b)?.line ?? 0) ||
    (at.get(a)?.column ?? 0) - (at.get(b)?.column ?? 0);
  return unique.toSorted(compare);
}

/** The place the errors of documents carry. */
function placeOf(data: unknown): Partial<ConfigPlace> {
  const { line, column } = isObject(data) ? data : {};
  return typeof line === 'number' && typeof column === 'number' ? { line, column } : {};
}

async function checkOne(
  name: string,
  { servers, misconfigured, secrets }: ResolvedConfig,
  { timeoutMs, roots, config: named }: DoctorOptions,
  { createThread, signal, env }: DoctorIo,
): Promise<ServerCheck> {
  const failure = Object.hasOwn(misconfigured, name) ? misconfigured[name] : undefined;
  if (failure !== undefined) return misconfiguredCheck(name, failure);
  const config: ServerConfig | undefined = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (config === undefined) throw new HoldfastError('internal', `Expected a server "${name}", got none.`);
  return diagnose(name, config, {
    createThread,
    secrets,
    signal,
    env,
    ...(roots.length === 0 ? {} : { roots }),
    ...(timeoutMs === undefined ? {} : { startTimeoutMs: timeoutMs }),
    login: loginCommand(name, named),
  });
}

/** The command that signs in to a server, as it is typed. */
function loginCommand(name: string, files: readonly string[]): string {
  const words = ['holdfast', 'login', name, ...files.flatMap((file) => ['--config', file])];
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ');
}

/** `holdfast doctor`: starts each server of the configuration and says what is right, or how to mend it (SPEC CL-1). */
import { existsSync } from 'node:fs';
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
  type ConfigWarning,
  findConfig,
  findUsualFiles,
  readConfig,
  readPlaces,
  type ResolvedConfig,
} from '../../config/index.ts';
import { errorRecord } from '../jsonl/error-record.ts';
import { ProgressLine } from '../progress-line.ts';
import type { Terminal } from '../terminal.ts';
import { exitCodes, UsageError } from '../usage-error.ts';
import { isObject } from '../values.ts';
import type { PlacedCheck, ServerCheck } from './check.ts';
import { diagnose, misconfiguredCheck } from './diagnose.ts';
import { formatCheck, formatEnd, formatFile, formatProblem } from './format-doctor.ts';

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

/** Servers that are started at the same time. */
const atOnce = 6;

/** What is wrong with a file as a whole. */
type Problem = Failure & Partial<ConfigPlace>;

interface Checkup {
  readonly files: readonly string[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly ConfigWarning[];
  readonly names: readonly string[];
  readonly check: (name: string) => Promise<PlacedCheck>;
}

/**
 * Checks every server, a few at a time, and shows each as soon as it and those before it are known.
 *
 * @returns the exit code: 0 when all is right, 1 when something is to be mended.
 * @throws UsageError for a file that does not exist and a server that is in none.
 */
export async function runDoctor(options: DoctorOptions, io: DoctorIo): Promise<number> {
  const { terminal } = io;
  const checkup = await examine(options, io);
  const { files, problems, warnings, names } = checkup;
  const isJson = options.json === true;
  if (!isJson) {
    for (const file of files) terminal.output.write(`${formatFile(file, terminal)}\n`);
    for (const problem of problems) terminal.output.write(`${formatProblem(problem.message, terminal)}\n`);
    for (const { message, server } of warnings)
      if (server === undefined || !names.includes(server))
        terminal.output.write(`${formatProblem(message, terminal, 'yellow')}\n`);
  }
  const width = Math.min(32, Math.max(0, ...names.map((name) => name.length)));
  const checks = await inOrder(names, checkup.check, {
    progress: new ProgressLine(terminal.errors, 'checking'),
    tell: (check) => {
      if (isJson) return;
      const notes = warnings.filter(({ server }) => server === check.server).map(({ message }) => message);
      terminal.output.write(`${formatCheck(check, notes, width, terminal)}\n`);
    },
  });
  const isRight = problems.length === 0 && checks.every(({ verdict }) => verdict === 'right' || verdict === 'off');
  if (isJson) {
    const report = { isRight, files, problems, warnings, servers: checks };
    terminal.output.write(`${JSON.stringify(report, null, 2)}\n`);
  } else terminal.output.write(`${formatEnd(checks, problems.length, await otherFiles(files, io), terminal)}\n`);
  return isRight ? exitCodes.ok : exitCodes.failed;
}

/** Reads the files, and says how each of their servers is checked. */
async function examine(options: DoctorOptions, io: DoctorIo): Promise<Checkup> {
  const named = options.config.map((file) => resolve(io.directory, file));
  const missing = named.find((file) => !existsSync(file));
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
    names: options.servers.length === 0 ? all : all.filter((name) => options.servers.includes(name)),
    check: async (name) => {
      const check = await checkOne(name, config, options, io);
      return { ...check, ...places.find(name, check.error?.issues?.[0]?.path) };
    },
  };
}

/** The place the errors of documents carry. */
function placeOf(data: unknown): Partial<ConfigPlace> {
  const { line, column } = isObject(data) ? data : {};
  return typeof line === 'number' && typeof column === 'number' ? { line, column } : {};
}

async function checkOne(
  name: string,
  { servers, misconfigured, secrets }: ResolvedConfig,
  { timeoutMs, roots }: DoctorOptions,
  { createThread, signal, env }: DoctorIo,
): Promise<ServerCheck> {
  const failure = misconfigured[name];
  if (failure !== undefined) return misconfiguredCheck(name, failure);
  const config: ServerConfig | undefined = servers[name];
  if (config === undefined) throw new HoldfastError('internal', `Expected a server "${name}", got none.`);
  return diagnose(name, config, {
    createThread,
    secrets,
    signal,
    env,
    ...(roots.length === 0 ? {} : { roots }),
    ...(timeoutMs === undefined ? {} : { startTimeoutMs: timeoutMs }),
  });
}

/** Checks a few at a time; tells each in the order of the names. */
async function inOrder(
  names: readonly string[],
  check: (name: string) => Promise<PlacedCheck>,
  { tell, progress }: { readonly tell: (check: PlacedCheck) => void; readonly progress: ProgressLine },
): Promise<readonly PlacedCheck[]> {
  const done = new Map<string, PlacedCheck>();
  const told: PlacedCheck[] = [];
  const waiting = [...names];
  const work = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      done.set(name, await check(name));
      progress.update({ progress: done.size, total: names.length });
      for (;;) {
        const next = done.get(names[told.length] ?? '');
        if (next === undefined) break;
        told.push(next);
        progress.pause();
        tell(next);
        if (told.length < names.length) progress.resume();
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
  } finally {
    progress.pause();
  }
  return told;
}

/** What other tools have here, where there is nothing of Holdfast's. */
async function otherFiles(files: readonly string[], { directory, env }: DoctorIo): Promise<readonly string[]> {
  if (files.length > 0) return [];
  return findUsualFiles(directory, { env, ...(env['HOME'] === undefined ? {} : { home: env['HOME'] }) });
}

/** Commands that stand in configuration: found, and run only by a function the caller gives (SPEC CA-3). */
import type { ServerConfig } from '../domain/config.ts';
import { type Failure, HoldfastError, messageOf, toFailure } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';
import { type ReadEntry, referencesOf } from './read-entry.ts';
import type { SourceReading } from './read-source.ts';

/** A command somebody wrote into a file. */
export interface AskedCommand {
  readonly command: string;
  readonly file: string;
  readonly server: string;
  /** What its output is for: the value of a placeholder, or headers as one JSON object. */
  readonly purpose: 'placeholder' | 'headers';
}

/**
 * Runs a command and resolves with what it printed. A rejection leaves the server that needs it misconfigured; with
 * `not_approved` it says that nobody consented, and its message how to.
 */
export type CommandRunner = (asked: AskedCommand) => Promise<string>;

/** What came of commands. */
export interface RanCommands {
  /** What those in placeholders printed, by file and command. */
  readonly outputs: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly headers: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly failures: ReadonlyMap<string, Failure>;
}

/** No command ran. */
export const nothingRan: RanCommands = { outputs: new Map(), headers: new Map(), failures: new Map() };

/** Names an entry in the maps of {@link RanCommands}. */
export function entryKey({ name, source }: Pick<ReadEntry, 'name' | 'source'>): string {
  return `${source.file}\n${name}`;
}

/** Runs the commands the servers of some documents need, one after the other, each once a document. Never rejects. */
export async function runAsked(sources: readonly SourceReading[], run: CommandRunner): Promise<RanCommands> {
  const outputs = new Map<string, Map<string, string | HoldfastError>>();
  const headers = new Map<string, Readonly<Record<string, string>>>();
  const failures = new Map<string, Failure>();
  for (const entry of sources.flatMap((source) => source.entries)) {
    if (entry.config?.enabled === false) continue;
    for (const asked of askedBy(entry)) {
      const ofFile = outputs.get(asked.file) ?? new Map<string, string | HoldfastError>();
      outputs.set(asked.file, ofFile);
      const output = ofFile.get(asked.command) ?? (await runOne(asked, run));
      ofFile.set(asked.command, output);
      const result = asked.purpose === 'headers' && typeof output === 'string' ? headersOf(asked, output) : output;
      if (result instanceof HoldfastError) failures.set(entryKey(entry), toFailure(result));
      else if (typeof result !== 'string') headers.set(entryKey(entry), result);
    }
  }
  return {
    outputs: new Map([...outputs].map(([file, ofFile]) => [file, textsOf(ofFile)])),
    headers,
    failures,
  };
}

/** Puts the headers a helper printed over those the entry has; the helper runs again when the server refuses them. */
export function withHeaders(
  config: ServerConfig,
  headers: Readonly<Record<string, string>> | undefined,
  renewHeaders: (() => Promise<Readonly<Record<string, string>>>) | undefined,
): ServerConfig {
  if (headers === undefined || !('url' in config)) return config;
  const all = { ...config, headers: { ...config.headers, ...headers } };
  return renewHeaders === undefined ? all : { ...all, renewHeaders };
}

/** Runs the headers helper of an entry again. */
export async function runHelperOf(entry: ReadEntry, run: CommandRunner): Promise<Readonly<Record<string, string>>> {
  const asked = askedBy(entry).find(({ purpose }) => purpose === 'headers');
  const output = asked === undefined ? '' : await runOne(asked, run);
  const headers = asked === undefined || typeof output !== 'string' ? output : headersOf(asked, output);
  if (headers instanceof HoldfastError) throw headers;
  return typeof headers === 'string' ? {} : headers;
}

function textsOf(outputs: ReadonlyMap<string, string | HoldfastError>): Readonly<Record<string, string>> {
  const texts = [...outputs].flatMap(([command, output]) =>
    typeof output === 'string' ? [[command, output.replace(/\r?\n$/, '')] as const] : [],
  );
  return Object.fromEntries(texts);
}

async function runOne(asked: AskedCommand, run: CommandRunner): Promise<string | HoldfastError> {
  try {
    return await run(asked);
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'not_approved')
      return new HoldfastError(
        'server_misconfigured',
        `Server "${asked.server}" in "${asked.file}": expected consent to run a command in it, got none. ${error.message}`,
        { cause: error },
      );
    return failed(asked, `expected a command in it to run, got: ${messageOf(error)}. Mend the command`, error);
  }
}

function failed(asked: AskedCommand, problem: string, cause?: unknown): HoldfastError {
  return new HoldfastError(
    'server_misconfigured',
    `Server "${asked.server}" in "${asked.file}": ${problem}, or set a variable instead.`,
    cause === undefined ? {} : { cause },
  );
}

function askedBy(entry: ReadEntry): readonly AskedCommand[] {
  const { name, source, headersHelper } = entry;
  const about = { file: source.file, server: name };
  const found = referencesOf(entry).flatMap((reference): AskedCommand[] =>
    reference.kind === 'command' ? [{ ...about, command: reference.command, purpose: 'placeholder' }] : [],
  );
  if (headersHelper !== undefined && entry.failure === undefined)
    found.push({ ...about, command: headersHelper, purpose: 'headers' });
  return found;
}

function headersOf(asked: AskedCommand, output: string): Readonly<Record<string, string>> | HoldfastError {
  const value = parse(output);
  const entries = isRecord(value) ? Object.entries(value) : [];
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return isRecord(value) && texts.length === entries.length
    ? Object.fromEntries(texts)
    : failed(asked, 'expected its headers helper to print a JSON object of texts, got something else. Mend the helper');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Said by the caller, without what was printed: it may be secret.
    return undefined;
  }
}

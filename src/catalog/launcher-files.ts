/** Reading and finding files for launchers: here, and behind a command. Loaded when there is something to read. */
import { execFile } from 'node:child_process';
import type { Dirent } from 'node:fs';
import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import type { FindFilesOptions, ReadFileOptions } from '../domain/environment.ts';
import { HoldfastError, messageOf } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';

/** The words that run a script, with its arguments, in a place behind a command. */
export type ShellWords = (script: string, ...args: readonly string[]) => readonly [string, ...string[]];

/** Exit code for a file that is not there: `EX_NOINPUT`. */
const missingCode = 66;
/** Exit code for a file that leads out: `EX_NOPERM`. */
const outsideCode = 77;
/** Exit code for what is no file that may be read: `EX_CONFIG`. */
const unreadableCode = 78;
const readScript = `[ -e "$1" ] || exit ${String(missingCode)}
[ -f "$1" ] && [ -r "$1" ] || exit ${String(unreadableCode)}
exec cat "$1"`;
const readInsideScript = `[ -e "$1" ] || exit ${String(missingCode)}
real=$(readlink -f "$1") && root=$(readlink -f "$2") || exit
case "$real" in "$root"/*)
  [ -f "$real" ] && [ -r "$real" ] || exit ${String(unreadableCode)}
  exec cat "$real";;
esac
exit ${String(outsideCode)}`;
/** Names end with NUL, so that one with a line break is one. */
const findScript = `[ -d "$1" ] || exit ${String(missingCode)}
exec find "$1" -maxdepth "$2" -type f -name "$3" -exec printf '%s\\0' {} +`;
const maxFileBytes = 10 * 1024 * 1024;
const readTimeoutMs = 30_000;

/** The text of a file of this machine; `undefined` if there is none. */
export function readLocalFile(path: string, { signal, within }: ReadFileOptions): Promise<string | undefined> {
  return ifThere(async () => {
    signal.throwIfAborted();
    const real = within === undefined ? path : await realpath(path);
    if (within !== undefined && !isInside(real, await realpath(within))) throw outsideError(path, within);
    const found = await stat(real);
    // Nothing else ends: a pipe waits for somebody to write.
    if (!found.isFile()) throw unreadableError(path, 'it is a directory or the like');
    if (found.size > maxFileBytes) throw tooLargeError(path, String(found.size));
    return readFile(real, { encoding: 'utf8', signal });
  }).catch((error: unknown) => {
    throw isRecord(error) && faultsOfFiles.has(error['code']) ? unreadableError(path, messageOf(error)) : error;
  });
}

/** What is wrong with a file, not with the place it is in. */
const faultsOfFiles: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'ELOOP', 'EISDIR', 'ENAMETOOLONG', 'EINVAL']);

/** The files of one name below a directory of this machine; `undefined` if there is no such directory. */
export function findLocalFiles(directory: string, options: FindFilesOptions): Promise<readonly string[] | undefined> {
  return ifThere(() => filesBelow(directory, options));
}

/** As {@link readLocalFile}, in the place the words lead to. */
export function readFileThere(
  shell: ShellWords,
  path: string,
  { signal, within }: ReadFileOptions,
): Promise<string | undefined> {
  const faults: Faults = {
    [unreadableCode]: () => unreadableError(path, 'it is a directory or the like, or may not be read'),
    ERR_CHILD_PROCESS_STDIO_MAXBUFFER: () => tooLargeError(path, 'more'),
    ...(within === undefined ? {} : { [outsideCode]: () => outsideError(path, within) }),
  };
  const words = within === undefined ? shell(readScript, path) : shell(readInsideScript, path, within);
  return run(words, signal, { faults });
}

/** As {@link findLocalFiles}, in the place the words lead to. */
export async function findFilesThere(
  shell: ShellWords,
  directory: string,
  { name, depth, limit, signal }: FindFilesOptions,
): Promise<readonly string[] | undefined> {
  const text = await run(shell(findScript, directory, String(depth), name), signal, { isPartFine: true });
  const paths = text?.split('\0').filter((path) => path !== '');
  return paths?.slice(0, limit).map((path) => path.replace('/./', '/'));
}

async function ifThere<TValue>(read: () => Promise<TValue>): Promise<TValue | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isRecord(error) && (error['code'] === 'ENOENT' || error['code'] === 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** Level by level, so that a limit leaves out what is deepest. */
async function filesBelow(directory: string, options: FindFilesOptions): Promise<readonly string[]> {
  const { name, depth, limit, signal } = options;
  const found: string[] = [];
  let level = (await lstat(directory)).isDirectory() ? [directory] : [];
  for (let left = depth; left > 0 && level.length > 0 && found.length < limit; left -= 1) {
    const deeper: string[] = [];
    for (const at of level) {
      signal.throwIfAborted();
      for (const entry of await entriesOf(at, directory)) {
        if (entry.isFile() && entry.name === name && found.length < limit) found.push(join(at, entry.name));
        if (entry.isDirectory()) deeper.push(join(at, entry.name));
      }
    }
    level = deeper;
  }
  return found;
}

/** A directory below that may not be read hides what is in it, and nothing else. */
async function entriesOf(at: string, top: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(at, { withFileTypes: true });
  } catch (error) {
    if (at === top || !isRecord(error) || !faultsOfFiles.has(error['code'])) throw error;
    return [];
  }
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function outsideError(path: string, within: string): HoldfastError {
  return new HoldfastError(
    'invalid_result',
    `Expected "${path}" to be inside "${within}", and it leads out of it. It was not read.`,
    { retryable: false },
  );
}

function unreadableError(path: string, why: string): HoldfastError {
  return new HoldfastError('invalid_result', `Expected "${path}" to be a file that can be read, and ${why}.`, {
    retryable: false,
  });
}

function tooLargeError(path: string, size: string): HoldfastError {
  return new HoldfastError(
    'limit_exceeded',
    `Expected "${path}" to have at most ${String(maxFileBytes)} bytes, got ${size}. It was not read.`,
    { retryable: false },
  );
}

/** What is wrong with a file, by exit code or error code. */
type Faults = Readonly<Record<string, () => HoldfastError>>;

interface RunOptions {
  readonly faults?: Faults;
  /** Whether what was written before it failed counts: `find` says what it found and what it may not look into. */
  readonly isPartFine?: boolean;
}

function run(
  [command, ...args]: readonly [string, ...string[]],
  signal: AbortSignal,
  { faults = {}, isPartFine = false }: RunOptions,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const options = { signal, timeout: readTimeoutMs, maxBuffer: maxFileBytes, encoding: 'utf8' as const };
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      const fault = new Map(Object.entries(faults)).get(String(error?.code));
      if (error === null || (isPartFine && error.code === 1 && stdout !== '')) resolve(stdout);
      else if (error.code === missingCode) resolve(undefined);
      else if (fault !== undefined) reject(fault());
      else
        reject(
          new HoldfastError(
            'server_unavailable',
            `Expected "${command}" to read a file in its environment, got: ${stderr.trim() === '' ? messageOf(error) : stderr.trim()}`,
            { cause: error },
          ),
        );
    });
    child.stdin?.end();
  });
}

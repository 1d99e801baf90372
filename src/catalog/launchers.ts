/** Starting servers on this machine, and in a place that a command leads into: `docker exec -i box`, `ssh host`, … */
import { execFile } from 'node:child_process';
import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import type { FindFilesOptions, Launcher, LaunchRequest } from '../domain/environment.ts';
import { HoldfastError, messageOf } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';

/** Starts servers on this machine. */
export const localLauncher: Launcher = {
  launch({ command, args, env, envFrom, cwd }) {
    const handedOn = Object.entries(envFrom).flatMap(([name, variable]) => {
      const value = process.env[variable];
      return value === undefined ? [] : [[name, value] as const];
    });
    return {
      command,
      args,
      env: { ...Object.fromEntries(handedOn), ...env },
      ...(cwd === undefined ? {} : { cwd }),
    };
  },
  async readFile(path, { signal, within }) {
    return ifThere(async () => {
      const real = within === undefined ? path : await realpath(path);
      if (within !== undefined && !isInside(real, await realpath(within))) throw outsideError(path, within);
      const { size } = await stat(real);
      if (size > maxFileBytes) throw tooLargeError(path, size);
      return readFile(real, { encoding: 'utf8', signal });
    });
  },
  async findFiles(directory, options) {
    return ifThere(() => filesBelow(directory, options));
  },
};

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
      for (const entry of await readdir(at, { withFileTypes: true })) {
        if (entry.isFile() && entry.name === name && found.length < limit) found.push(join(at, entry.name));
        if (entry.isDirectory()) deeper.push(join(at, entry.name));
      }
    }
    level = deeper;
  }
  return found;
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function outsideError(path: string, within: string): HoldfastError {
  return new HoldfastError(
    'server_unavailable',
    `Expected "${path}" to be inside "${within}", and it leads out of it. It was not read.`,
    { retryable: false },
  );
}

function tooLargeError(path: string, size: number): HoldfastError {
  return new HoldfastError(
    'limit_exceeded',
    `Expected "${path}" to have at most ${String(maxFileBytes)} bytes, got ${String(size)}. It was not read.`,
    { retryable: false },
  );
}

/** A command that leads into another place. */
export interface CommandLauncherOptions {
  /** What comes before the command of a server: `['docker', 'exec', '-i', 'box']`, `['ssh', 'host']`. */
  readonly prefix: readonly [string, ...string[]];
  /**
   * What the prefix does with the words after it: `none` passes them on as they are, `shell` puts them together for a
   * shell to take apart, as `ssh` does. Default `none`.
   */
  readonly quoting?: 'none' | 'shell';
  /**
   * How the variables of a server get there: as `arguments` of the prefix, which others on this machine may see in the
   * list of processes; or `inherited` through it, where it hands its own on (`ip netns exec`, `nsenter`, `chroot`).
   * Default `arguments`.
   */
  readonly variables?: 'arguments' | 'inherited';
}

/**
 * Starts servers behind a command prefix. The place needs a POSIX `sh` for servers with variables or a directory, and for
 * reading files.
 */
export function commandLauncher({
  prefix,
  quoting = 'none',
  variables = 'arguments',
}: CommandLauncherOptions): Launcher {
  const [command, ...before] = prefix;
  const quote = (words: readonly string[]): readonly string[] => (quoting === 'shell' ? words.map(quoted) : words);
  return {
    launch(request) {
      const isInherited = variables === 'inherited';
      const words = wordsOf(isInherited ? { ...request, env: {} } : request, request.env);
      return { command, args: [...before, ...quote(words)], env: isInherited ? request.env : {} };
    },
    async readFile(path, { signal, within }) {
      const words = within === undefined ? [readScript, shellName, path] : [readInsideScript, shellName, path, within];
      return run(command, [...before, ...quote(['sh', '-c', ...words])], signal);
    },
    async findFiles(directory, { name, depth, limit, signal }) {
      const words = [findScript, shellName, directory, String(depth), name];
      const text = await run(command, [...before, ...quote(['sh', '-c', ...words])], signal);
      const paths = text?.split('\0').filter((path) => path !== '');
      return paths?.slice(0, limit).map((path) => path.replace('/./', '/'));
    },
  };
}

/** What scripts are called in messages of the shell. */
const shellName = 'holdfast';

/** Exit code for a file that is not there: `EX_NOINPUT`. */
const missingCode = 66;
const readScript = `[ -e "$1" ] || exit ${String(missingCode)}; exec cat "$1"`;
const readInsideScript = `[ -e "$1" ] || exit ${String(missingCode)}
real=$(readlink -f "$1") && root=$(readlink -f "$2") || exit
case "$real" in "$root"/*) exec cat "$real";; esac
echo "Expected \\"$1\\" to be inside \\"$2\\", and it leads out of it." >&2; exit 1`;
/** Names end with NUL, so that one with a line break is one. */
const findScript = `[ -d "$1" ] || exit ${String(missingCode)}
exec find "$1" -maxdepth "$2" -type f -name "$3" -exec printf '%s\\0' {} +`;
const maxFileBytes = 10 * 1024 * 1024;
const readTimeoutMs = 30_000;

/** The words to run there: the command itself, or a shell that first goes to its directory and sets its variables. */
function wordsOf({ command, args, env, envFrom, cwd }: LaunchRequest, wins: LaunchRequest['env']): readonly string[] {
  const script: string[] = [];
  const values: string[] = [];
  if (cwd !== undefined) {
    script.push('cd "$1" || exit; shift');
    values.push(cwd);
  }
  for (const [name, variable] of Object.entries(envFrom)) {
    if (Object.hasOwn(wins, name)) continue;
    checkVariable(name);
    checkVariable(variable);
    script.push(`if [ -n "\${${variable}+x}" ]; then export ${name}="$${variable}"; fi`);
  }
  for (const [name, value] of Object.entries(env)) {
    checkVariable(name);
    script.push(`export ${name}="$1"; shift`);
    values.push(value);
  }
  if (script.length === 0) return [command, ...args];
  return ['sh', '-c', [...script, 'exec "$@"'].join('; '), shellName, ...values, command, ...args];
}

function checkVariable(name: string): void {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return;
  throw new HoldfastError(
    'server_misconfigured',
    `Expected names of variables with letters, digits and "_" in an environment behind a command, got ${JSON.stringify(name)}. Rename it.`,
  );
}

/** One word for a POSIX shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function run(command: string, args: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const options = { signal, timeout: readTimeoutMs, maxBuffer: maxFileBytes, encoding: 'utf8' as const };
    const child = execFile(command, [...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else if (error.code === missingCode) resolve(undefined);
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

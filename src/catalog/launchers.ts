/** Starting servers on this machine, and in a place that a command leads into: `docker exec -i box`, `ssh host`, … */
import type { Launcher, LaunchRequest } from '../domain/environment.ts';
import { HoldfastError } from '../domain/errors.ts';
import { shown } from '../domain/json.ts';
import type { ShellWords } from './launcher-files.ts';

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
  async readFile(path, options) {
    const { readLocalFile } = await import('./launcher-files.ts');
    return readLocalFile(path, options);
  },
  async findFiles(directory, options) {
    const { findLocalFiles } = await import('./launcher-files.ts');
    return findLocalFiles(directory, options);
  },
};

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
 *
 * @throws HoldfastError `invalid_argument` for a prefix without a command.
 */
export function commandLauncher({
  prefix,
  quoting = 'none',
  variables = 'arguments',
}: CommandLauncherOptions): Launcher {
  if (!isCommand(prefix))
    throw new HoldfastError(
      'invalid_argument',
      `Expected "prefix" to be the words of a command, such as ["docker", "exec", "-i", "box"], got ${shown(prefix)}.`,
    );
  const [command, ...before] = prefix;
  const quote = (words: readonly string[]): readonly string[] => (quoting === 'shell' ? words.map(quoted) : words);
  const shell: ShellWords = (script, ...words) => [
    command,
    ...before,
    ...quote(['sh', '-c', script, shellName, ...words]),
  ];
  return {
    launch(request) {
      const isInherited = variables === 'inherited';
      const words = wordsOf(isInherited ? { ...request, env: {} } : request, request.env);
      return { command, args: [...before, ...quote(words)], env: isInherited ? request.env : {} };
    },
    async readFile(path, options) {
      const { readFileThere } = await import('./launcher-files.ts');
      return readFileThere(shell, path, options);
    },
    async findFiles(directory, options) {
      const { findFilesThere } = await import('./launcher-files.ts');
      return findFilesThere(shell, directory, options);
    },
  };
}

function isCommand(prefix: unknown): boolean {
  return Array.isArray(prefix) && prefix.length > 0 && prefix.every((word) => typeof word === 'string');
}

/** What scripts are called in messages of the shell. */
const shellName = 'holdfast';

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

/** How a server process is started: its environment, its command line, and the error when there is nothing to start. */
import { existsSync, statSync } from 'node:fs';
import { delimiter, extname, join, resolve } from 'node:path';
import { HoldfastError, messageOf } from '../../domain/errors.ts';
import { isRecord } from '../../domain/json.ts';

/** What a server inherits without being told to (SPEC CN-1). Everything else must be configured. */
export const inheritedVariables = {
  posix: ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'USER', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'TZ'],
  windows: [
    'APPDATA',
    'COMSPEC',
    'HOMEDRIVE',
    'HOMEPATH',
    'LOCALAPPDATA',
    'PATH',
    'PATHEXT',
    'PROCESSOR_ARCHITECTURE',
    'PROGRAMDATA',
    'PROGRAMFILES',
    'PROGRAMFILES(X86)',
    'PROGRAMW6432',
    'SYSTEMDRIVE',
    'SYSTEMROOT',
    'TEMP',
    'TMP',
    'TZ',
    'USERNAME',
    'USERPROFILE',
    'WINDIR',
  ],
} as const satisfies Record<string, readonly string[]>;

/** Marks every process of one connection, so that those that left its process group can still be found. */
export const markerVariable = 'HOLDFAST_CONNECTION';

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  /** The arguments are quoted already (Windows shims). */
  readonly verbatim: boolean;
}

/** The environment of a server: the inherited few, then the configured values, then the marker. */
export function serverEnvironment(
  configured: Readonly<Record<string, string>>,
  marker: string,
  from: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of process.platform === 'win32' ? inheritedVariables.windows : inheritedVariables.posix) {
    const value = from[name];
    // A value that begins with "()" is a function exported by an old shell, not data.
    if (value !== undefined && !value.startsWith('()')) env[name] = value;
  }
  Object.assign(env, configured);
  // A process that itself was started by a connection keeps that mark too: both owners must find its children.
  const outer = from[markerVariable];
  env[markerVariable] = outer === undefined ? marker : `${outer},${marker}`;
  return env;
}

/** Resolves the command line. Only on Windows is it changed: `.cmd` and `.bat` shims (npx, uvx) run through the shell. */
export function resolveLaunch(command: string, args: readonly string[], env: Record<string, string>): Launch {
  const plain: Launch = { command, args, env, verbatim: false };
  if (process.platform !== 'win32') return plain;
  const file = findOnWindows(command, env);
  if (file === undefined || !/\.(?:cmd|bat)$/i.test(file)) return plain;
  const line = [quoteForShell(file), ...args.map(quoteForShell)].join(' ');
  return { command: env['COMSPEC'] ?? 'cmd.exe', args: ['/d', '/s', '/c', `"${line}"`], env, verbatim: true };
}

/** Says why a working directory cannot be used; `undefined` if it can. */
export function cwdProblem(cwd: string | undefined): string | undefined {
  if (cwd === undefined) return undefined;
  try {
    return statSync(cwd).isDirectory() ? undefined : 'it is not a directory';
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'it does not exist' : messageOf(error);
  }
}

/** The error of a process that did not start. */
export function launchError(command: string, cwd: string | undefined, cause: unknown): HoldfastError {
  const problem = cwdProblem(cwd);
  if (problem !== undefined) {
    return unavailable(
      `Expected the working directory "${cwd ?? ''}" of command "${command}" to be usable, but ${problem}. Correct "cwd".`,
      cause,
    );
  }
  const isPath = command.includes('/') || command.includes('\\');
  if (isPath && isDirectory(resolve(cwd ?? '', command)))
    return unavailable(
      `Expected the command "${command}" to be a program, but it is a directory. Name the program in it as "command".`,
      cause,
    );
  switch (codeOf(cause)) {
    case 'ENOENT':
      return unavailable(
        isPath
          ? `Expected the command "${command}" to be a program, but there is no such file (or its interpreter is missing). Correct "command".`
          : `Expected the command "${command}" on PATH, but it was not found. Install it, or give its full path as "command".`,
        cause,
      );
    case 'EACCES':
    case 'EPERM':
      return unavailable(
        `Expected the command "${command}" to be executable, got permission denied. Check its file mode.`,
        cause,
      );
    default:
      return unavailable(`Expected the command "${command}" to start, got "${messageOf(cause)}".`, cause);
  }
}

function unavailable(message: string, cause: unknown): HoldfastError {
  return new HoldfastError('server_unavailable', message, { cause });
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function codeOf(error: unknown): unknown {
  return isRecord(error) ? error['code'] : undefined;
}

function findOnWindows(command: string, env: Record<string, string>): string | undefined {
  const folders = /[\\/]/.test(command) ? [''] : (env['PATH'] ?? '').split(delimiter);
  const extensions = extname(command) === '' ? (env['PATHEXT'] ?? '.COM;.EXE;.BAT;.CMD').split(';') : [''];
  for (const folder of folders) {
    for (const extension of extensions) {
      const file = folder === '' ? command + extension : join(folder, command + extension);
      if (existsSync(file)) return file;
    }
  }
  return undefined;
}

/** Quotes one word for `cmd.exe /s /c` and, twice, for the shim that passes it on. */
function quoteForShell(word: string): string {
  const quoted = `"${word.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, '$1$1')}"`;
  return escapeForShell(escapeForShell(quoted));
}

function escapeForShell(text: string): string {
  return text.replaceAll(/[()\][%!^"`<>&|;, *?]/g, '^$&');
}

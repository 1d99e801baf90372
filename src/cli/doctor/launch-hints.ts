/** Why a command does not start, or ends at once: looked up on this machine, and said in a way that can be acted on. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { delimiter, extname, isAbsolute, join, resolve } from 'node:path';
import type { StdioServer } from '../../index.ts';

type Env = Readonly<Record<string, string | undefined>>;

const node = 'It comes with Node.js: https://nodejs.org.';
const uv = 'It comes with uv: https://docs.astral.sh/uv/getting-started/installation.';
const python = 'Install Python: https://www.python.org/downloads.';

/** Where well-known commands come from. */
const sources: ReadonlyMap<string, string> = new Map([
  ['node', node],
  ['npm', node],
  ['npx', node],
  ['pnpm', 'Install pnpm: https://pnpm.io/installation.'],
  ['yarn', 'Install Yarn: https://yarnpkg.com/getting-started/install.'],
  ['bun', 'It comes with Bun: https://bun.sh.'],
  ['bunx', 'It comes with Bun: https://bun.sh.'],
  ['deno', 'Install Deno: https://deno.com.'],
  ['uv', uv],
  ['uvx', uv],
  ['python', python],
  ['python3', python],
  ['pipx', 'Install pipx: https://pipx.pypa.io.'],
  ['docker', 'Install Docker: https://docs.docker.com/get-docker.'],
  ['podman', 'Install Podman: https://podman.io.'],
  ['go', 'Install Go: https://go.dev/dl.'],
  ['cargo', 'It comes with Rust: https://rustup.rs.'],
  ['java', 'Install a Java runtime: https://adoptium.net.'],
  ['dotnet', 'Install .NET: https://dotnet.microsoft.com/download.'],
  ['ruby', 'Install Ruby: https://www.ruby-lang.org.'],
]);

/** Commands that fetch what they run. */
const fetchers = new Set(['npx', 'bunx', 'uvx', 'pipx', 'pnpm', 'yarn', 'docker', 'podman']);

/** What helps with a command that did not start. Nothing, where the error says it all. */
export function launchHints(server: StdioServer, env: Env): readonly string[] {
  const { command, cwd } = server;
  if (/[\\/]/.test(command)) return interpreterHints(isAbsolute(command) ? command : resolve(cwd ?? '', command));
  if (findOnPath(command, server.env?.['PATH'] ?? env['PATH'] ?? '') !== undefined) return [];
  const source = sources.get(nameOf(command));
  return [
    ...(source === undefined ? [] : [source]),
    ...(server.env?.['PATH'] === undefined ? [] : ['Its "env" sets PATH, and only what is on that one is found.']),
  ];
}

/** What helps with a server that gave no answer in time. */
export function silenceHints({ command, args = [] }: StdioServer): readonly string[] {
  return fetchers.has(nameOf(command))
    ? [
        `"${nameOf(command)}" may be fetching it still, or waiting for a yes: run it once by hand${nameOf(command) === 'npx' && !args.some((each) => each === '-y' || each === '--yes') ? ', or add "-y" to "args"' : ''}.`,
      ]
    : [];
}

/** What helps with a server that ended: variables its last words ask for. */
export function stderrHints(server: StdioServer, stderr: string, env: Env): readonly string[] {
  const hints: string[] = [];
  for (const line of stderr.split('\n')) {
    if (!asking.test(line)) continue;
    for (const [name] of line.matchAll(variable)) {
      if (server.env?.[name] !== undefined) continue;
      const isHere = env[name] !== undefined;
      hints.push(
        isHere
          ? `It may need ${name}, which is set here, but servers get only what is configured: name it in "env".`
          : `It may need the variable ${name}: set it in "env".`,
      );
    }
  }
  return [...new Set(hints)].slice(0, 5);
}

const asking =
  /\b(?:required|missing|not set|unset|not found|undefined|must|need|needs|expected|provide|environment)\b/i;
const variable = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g;

function nameOf(command: string): string {
  return command.toLowerCase().replace(/\.(?:exe|cmd|bat)$/, '');
}

function findOnPath(command: string, path: string): string | undefined {
  const extensions = process.platform === 'win32' && extname(command) === '' ? ['.com', '.exe', '.bat', '.cmd'] : [''];
  for (const folder of path.split(delimiter))
    for (const extension of extensions) {
      const file = join(folder, command + extension);
      if (isFile(file)) return file;
    }
  return undefined;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // Whatever keeps it from being looked at, it is no file that could be used.
    return false;
  }
}

/** A script whose first line names a program that is not there fails as if it were not there itself. */
function interpreterHints(path: string): readonly string[] {
  const [, interpreter = '', first] = /^#!\s*(\S+)(?:[ \t]+(\S+))?/.exec(firstBytes(path)) ?? [];
  if (interpreter === '') return [];
  const name = /[\\/]env$/.test(interpreter) ? first : undefined;
  const isThere = name === undefined ? isFile(interpreter) : findOnPath(name, process.env['PATH'] ?? '') !== undefined;
  return isThere ? [] : [`Its first line asks for "${name ?? interpreter}", which is not here. Install that.`];
}

function firstBytes(path: string): string {
  if (!isFile(path)) return '';
  try {
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(256);
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    // Not readable here: nothing to say about it.
    return '';
  }
}

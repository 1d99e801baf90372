/** Runs one command line of a configuration file, and leaves nothing of it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { dirname } from 'node:path';

/** How a command is run. */
export interface RunCommandOptions {
  /** The file it stands in: it runs where that is. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** How long a command may take. */
const timeoutMs = 60_000;
/** How much it may print. */
const maxBytes = 1_048_576;
/** How much of the end of its stderr is kept for the error. */
const keptOfStderr = 200;

/** Runs a command line in a shell and resolves with its stdout. Rejects when it fails, takes or prints too much, or is aborted. */
export async function runCommandLine(command: string, { file, env, signal }: RunCommandOptions): Promise<string> {
  const child = spawn(command, {
    shell: true,
    cwd: dirname(file),
    env: { ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that what it starts can be ended with it.
    detached: process.platform !== 'win32',
  });
  const limit = AbortSignal.timeout(timeoutMs);
  const chunks: Buffer[] = [];
  let size = 0;
  let stderr = '';
  const end = (): void => endGroup(child);
  for (const each of [signal, limit]) each.addEventListener('abort', end, { once: true });
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) end();
    else chunks.push(chunk);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr = (stderr + chunk).slice(-keptOfStderr);
  });
  try {
    // The shell can be gone while something it left behind holds the pipes: that is ended here as well.
    child.once('exit', end);
    const code = await codeOf(child);
    if (signal.aborted) throw new Error('it was interrupted');
    if (limit.aborted) throw new Error(`it took more than ${timeoutMs} ms`);
    if (size > maxBytes) throw new Error(`it printed more than ${maxBytes} bytes`);
    if (code !== 0)
      throw new Error(`it ended with ${String(code)}${stderr.trim() === '' ? '' : ` ("${stderr.trim()}")`}`);
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    for (const each of [signal, limit]) each.removeEventListener('abort', end);
  }
}

async function codeOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, ended) => resolve(code ?? ended ?? 'nothing'));
  });
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

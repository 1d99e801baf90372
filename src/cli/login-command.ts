/** `holdfast login` and `holdfast logout`: sign in to a server of the configuration, and out of it (SPEC CL-1, AU-2). */
import type { HttpServer, ServerMap, Thread, ThreadOptions } from '../index.ts';
import { forgetCredentials } from '../mcp/index.ts';
import { errorRecord } from './jsonl/error-record.ts';
import { ProgressLine } from './progress-line.ts';
import { describeError } from './shell/render-end.ts';
import { plain, type Terminal } from './terminal.ts';
import { exitCodes, UsageError } from './usage-error.ts';

/** What both commands work with. */
export interface LoginIo {
  /** Those of the configuration. */
  readonly servers: ServerMap;
  readonly secrets: readonly string[];
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly createThread: (options: ThreadOptions) => Thread;
  /** Aborted by a signal. */
  readonly signal: AbortSignal;
}

/** Signs in anew: shows where, and waits until the browser came back. Resolves with the exit code. */
export async function runLogin(name: string, scopes: readonly string[], io: LoginIo): Promise<number> {
  const { terminal, signal, createThread } = io;
  const server = serverNamed(name, io.servers);
  const thread = createThread({ servers: { [name]: { ...server, required: false } }, secrets: io.secrets });
  const progress = new ProgressLine(terminal.errors, `waiting for you to sign in to ${name}`);
  const shown = new Set<string>();
  const watching = thread.elicitations$.subscribe((questions) => {
    for (const { token, kind, url } of questions) {
      if (kind !== 'url' || url === undefined || shown.has(token)) continue;
      shown.add(token);
      progress.pause();
      if (io.json) print(io, { server: name, url });
      else terminal.output.write(`Open this in your browser to sign in to ${name}:\n\n  ${plain(url)}\n\n`);
      progress.resume();
    }
  });
  try {
    await thread.authorize(name, { anew: true, signal, ...(scopes.length === 0 ? {} : { scopes }) });
    progress.pause();
    if (io.json) print(io, { server: name, signedIn: true });
    else terminal.output.write(`${terminal.paint('green', `Signed in to ${name}.`)}\n`);
    return exitCodes.ok;
  } catch (error) {
    progress.pause();
    return failed(error, io);
  } finally {
    progress.pause();
    watching.unsubscribe();
    await thread.close({ reason: 'the command is done' });
  }
}

/** Removes the credentials of a server. Resolves with the exit code, which is 0 too when there were none. */
export async function runLogout(name: string, io: LoginIo): Promise<number> {
  const config = serverNamed(name, io.servers);
  try {
    const { removed, revoked } = await forgetCredentials({ server: name, config, signal: io.signal });
    if (io.json) print(io, { server: name, removed, revoked });
    else io.terminal.output.write(`${saidOf(name, removed, revoked)}\n`);
    return exitCodes.ok;
  } catch (error) {
    return failed(error, io);
  }
}

function saidOf(name: string, removed: boolean, revoked: boolean): string {
  if (!removed) return `There was nothing to sign out of: no credentials of ${name} are kept.`;
  return revoked
    ? `Signed out of ${name}: its credentials are removed, and revoked.`
    : `Signed out of ${name}: its credentials are removed from this machine.`;
}

function serverNamed(name: string, servers: ServerMap): HttpServer {
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server !== undefined && 'url' in server) return server;
  const known = Object.entries(servers).flatMap(([each, config]) => ('url' in config ? [`"${each}"`] : []));
  throw new UsageError(
    `Expected the name of a server with a url, got "${name}". ${known.length === 0 ? 'There is none.' : `There are ${known.join(', ')}.`}`,
  );
}

function failed(error: unknown, io: LoginIo): number {
  if (io.json) print(io, { error: errorRecord(error) });
  else io.terminal.errors.write(`${describeError(error, io.terminal)}\n`);
  return exitCodes.failed;
}

/** One object a line: where to sign in comes before how it ended. */
function print({ terminal }: LoginIo, value: unknown): void {
  terminal.output.write(`${JSON.stringify(value)}\n`);
}

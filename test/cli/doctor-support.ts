/** `holdfast doctor` in process, over real configuration files and real servers. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createThread, type ServerConfig } from 'holdfast';
import { z } from 'zod';
import type { EndSignal } from '../../src/cli/jsonl/host-command.ts';
import { runProgram } from '../../src/cli/program.ts';

export interface DoctorRun {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** A way to send the program a signal. */
export interface Signals {
  send?: (signal: EndSignal) => void;
}

export interface RunOptions {
  readonly directory: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly signals?: Signals;
  /** Whether stderr is a terminal. */
  readonly isTerminal?: boolean;
}

/** Runs one command line and resolves with everything it wrote. */
export async function runIn(
  args: readonly string[],
  { directory, env = {}, signals, isTerminal = false }: RunOptions,
): Promise<DoctorRun> {
  const streams = {
    output: new PassThrough(),
    errors: Object.assign(new PassThrough(), { isTTY: isTerminal, columns: 80 }),
  };
  const input = new PassThrough();
  input.end();
  const listeners = new Set<(signal: EndSignal) => void>();
  if (signals !== undefined)
    signals.send = (signal) => {
      for (const listener of listeners) listener(signal);
    };
  const code = await runProgram(args, {
    input,
    ...streams,
    env: { PATH: process.env['PATH'], HOME: join(directory, 'home'), ...env },
    directory,
    version: '1.2.3',
    createThread,
    onSignal: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    openStdout: () => streams.output,
  });
  const read = (stream: PassThrough) => String(stream.read() ?? '');
  return { code, output: read(streams.output), errors: read(streams.errors) };
}

/** Writes `holdfast.json` in a directory. */
export async function writeServers(
  directory: string,
  servers: Readonly<Record<string, ServerConfig | Readonly<Record<string, unknown>>>>,
): Promise<string> {
  const file = join(directory, 'holdfast.json');
  await writeFile(file, JSON.stringify({ mcpServers: servers }, null, 2));
  return file;
}

const report = z.looseObject({
  isRight: z.boolean(),
  files: z.array(z.string()),
  problems: z.array(z.looseObject({ code: z.string(), message: z.string(), line: z.number().optional() })),
  warnings: z.array(z.looseObject({ code: z.string() })),
  servers: z.array(
    z.looseObject({
      server: z.string(),
      verdict: z.enum(['right', 'mend', 'off', 'unchecked']),
      message: z.string(),
      hints: z.array(z.string()),
    }),
  ),
});

/** What `--json` printed, by server. */
export function parseReport(output: string) {
  const parsed = report.parse(JSON.parse(output));
  const find = (name: string) => {
    const found = parsed.servers.find(({ server }) => server === name);
    if (found === undefined) throw new TypeError(`Expected a check of "${name}".`);
    return found;
  };
  return { ...parsed, find, said: (name: string) => [find(name).message, ...find(name).hints].join(' ') };
}

/** An HTTP server on loopback that does what it is told. */
export class PlainHttp implements AsyncDisposable {
  readonly #server: Server;

  constructor(listener: RequestListener) {
    this.#server = createServer(listener);
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new TypeError('Expected a TCP port.');
    return address.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** An HTTP server that answers everything alike. */
export async function answering(
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): Promise<PlainHttp> {
  return new PlainHttp((_, response) => {
    response.writeHead(status, headers).end(body);
  }).listen();
}

/**
 * One MCP server as a child process, spoken to over its stdin and stdout (SPEC CN-1, RT-11).
 *
 * Owns the process, its group, and whatever it starts. Receives lines, sends lines.
 * Invariants: `S1` no output of the server, however long or odd, ends the connection or grows memory past one line;
 * `S2` stderr is always read; `S3` the listener hears of the end once, and never after `close`; `S4` nothing here becomes
 * an unhandled error; `S5` a server that reads nothing grows memory no further than {@link StdioTransportOptions.unsentLimits}.
 */
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { HoldfastError } from '../../domain/errors.ts';
import type { CallErrorOutcome } from '../../domain/errors.ts';
import { startOf } from '../process-tree.ts';
import type { ProcessRoot } from '../process-tree.ts';
import { isWireMessage, messagesIn, parseJson, peekAnsweredId, unsendable } from './json-rpc.ts';
import { LineReader } from './line-reader.ts';
import type { OversizedLine } from './line-reader.ts';
import { LineWriter } from './line-writer.ts';
import { endServerProcess } from './stdio-close.ts';
import { cwdProblem, launchError, resolveLaunch, serverEnvironment } from './stdio-launch.ts';
import { TextTail } from './text-tail.ts';
import type { ExitInfo, WireListener, WireTransport } from './transport.ts';
import { describeLine, WarningCounter } from './warnings.ts';

export interface StdioTransportOptions {
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the few inherited variables, and wins over them. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly listener: WireListener;
  /** Time the server has after the end of stdin, and again after SIGTERM. Default 2,000. */
  readonly graceMs?: number;
  /** Longest line that is read. Default 8 MiB. */
  readonly maxLineBytes?: number;
  /**
   * What may wait for a server that does not read its stdin: with more replies its stdout is not read until it does, with
   * more of anything the connection ends. Default 4 and 64 MiB.
   */
  readonly unsentLimits?: { readonly replies: number; readonly all: number };
}

const defaultUnsentLimits = { replies: 4 * 1_024 * 1_024, all: 64 * 1_024 * 1_024 };

const defaultLineBytes = 8 * 1_024 * 1_024;

/** Makes the transport of one server process; `start` starts the process. */
export function createStdioTransport(options: StdioTransportOptions): WireTransport {
  return new StdioTransport(options);
}

/** How long the output of an exited server is still read when something else holds it open. */
const drainMs = 500;
const killMs = 10_000;

class StdioTransport implements WireTransport {
  readonly kind = 'stdio';
  readonly hasPerRequestStream = false;
  readonly sessionId = undefined;
  readonly #options: StdioTransportOptions;
  readonly #listener: WireListener;
  readonly #stderr = new TextTail();
  readonly #noise: WarningCounter;
  readonly #marker = randomBytes(16).toString('hex');
  #state: 'idle' | 'open' | 'ended' = 'idle';
  #child: ChildProcessWithoutNullStreams | undefined;
  #root: ProcessRoot | undefined;
  #exited: Promise<void> = Promise.resolve();
  #exit: ExitInfo | undefined;
  #drainTimer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;
  #writer: LineWriter | undefined;
  #isGivenUp = false;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.#listener = options.listener;
    this.#noise = new WarningCounter((message) => {
      if (!this.#isClosing()) this.#listener.onWarning('stdout_noise', message);
    });
  }

  get pid(): number | undefined {
    return this.#root?.pid;
  }

  get unsent(): number {
    return this.#writer?.unsent ?? 0;
  }

  get #limits(): { readonly replies: number; readonly all: number } {
    return this.#options.unsentLimits ?? defaultUnsentLimits;
  }

  async start(): Promise<void> {
    const { command, args = [], env = {}, cwd } = this.#options;
    if (this.#state !== 'idle' || this.#isClosing()) throw this.#lost('not-sent');
    this.#state = 'open';
    try {
      if (cwdProblem(cwd) !== undefined) throw launchError(command, cwd, undefined);
      const launch = resolveLaunch(command, args, serverEnvironment(env, this.#marker));
      const child = spawn(launch.command, [...launch.args], {
        ...(cwd === undefined ? {} : { cwd }),
        env: launch.env,
        stdio: 'pipe',
        // Its own process group (and session), so that the whole of it can be signalled.
        detached: process.platform !== 'win32',
        windowsHide: true,
        windowsVerbatimArguments: launch.verbatim,
      });
      this.#child = child;
      this.#exited = new Promise((resolve) => {
        child.once('exit', () => {
          resolve();
        });
      });
      this.#writer = new LineWriter({
        stream: child.stdin,
        gone: this.#exited,
        onRepliesSent: () => {
          if (child.stdout.isPaused() && !this.#hasTooManyReplies()) child.stdout.resume();
        },
      });
      this.#listen(child);
      if (child.pid !== undefined) this.#root = { pid: child.pid, marker: this.#marker, startedAt: startOf(child.pid) };
      await once(child, 'spawn');
    } catch (error) {
      this.#state = 'ended';
      throw error instanceof HoldfastError ? error : launchError(command, cwd, error);
    }
    if (this.#isClosing()) throw this.#lost('not-sent');
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (!this.#isOpen() || this.#writer === undefined) return Promise.reject(this.#lost('not-sent'));
    if (this.#writer.unsent > this.#limits.all) {
      this.#giveUp();
      return Promise.reject(this.#lost('not-sent'));
    }
    try {
      const sent = this.#writer.write(JSON.stringify(message), !('method' in message));
      if (this.#hasTooManyReplies()) this.#child?.stdout.pause();
      return sent;
    } catch (error) {
      return Promise.reject(unsendable(message, error));
    }
  }

  setProtocolVersion(): void {
    // Said in the messages themselves.
  }

  stderrTail(): string {
    return this.#stderr.text();
  }

  exitInfo(): ExitInfo | undefined {
    return this.#exit;
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#writer?.flush();
    this.#state = 'ended';
    this.#child?.stdout.resume();
    clearTimeout(this.#drainTimer);
    if (this.#child === undefined || this.#root === undefined) return;
    const left = await endServerProcess({
      child: this.#child,
      root: this.#root,
      exited: this.#exited,
      graceMs: this.#options.graceMs ?? 2_000,
      killMs,
    });
    this.#releaseStreams();
    if (left.length > 0) {
      this.#listener.onWarning(
        'process_left',
        `Expected the processes ${left.join(', ')} to end on SIGKILL, but the system still holds them.`,
      );
    }
  }

  #listen(child: ChildProcessWithoutNullStreams): void {
    const reader = new LineReader({
      maxLineBytes: this.#options.maxLineBytes ?? defaultLineBytes,
      onLine: (line) => {
        this.#readLine(line);
      },
      onOversized: (line) => {
        this.#reportOversized(line);
      },
    });
    child.stdout.on('data', (chunk: Buffer) => {
      reader.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr.push(chunk);
    });
    const drainThenEnd = (): void => {
      this.#drainTimer ??= setTimeout(() => {
        this.#lose();
      }, drainMs);
    };
    child.on('exit', (code, signal) => {
      this.#exit = { code, signal };
      child.stdout.resume();
      drainThenEnd();
    });
    // A server that closes its stdout can answer nothing more, even if it runs on.
    child.stdout.on('end', drainThenEnd);
    child.on('close', () => {
      this.#lose();
    });
    // Errors of the pipes (EPIPE) are followed by the exit, or by the end of stdout; a failed start is reported by `start`.
    child.stdin.on('error', drainThenEnd);
    child.stdout.on('error', drainThenEnd);
    child.stderr.on('error', ignore);
    child.on('error', ignore);
  }

  #readLine(line: string): void {
    let hasNoise = false;
    for (const message of messagesIn(parseJson(line))) {
      if (!this.#isOpen()) return;
      if (isWireMessage(message)) this.#listener.onMessage(message);
      else hasNoise = true;
    }
    if (hasNoise && line.trim() !== '')
      this.#noise.add(
        `Expected JSON-RPC messages on stdout, got "${describeLine(line)}". It was skipped; log to stderr instead.`,
      );
  }

  #reportOversized(line: OversizedLine): void {
    if (!this.#isOpen()) return;
    const limit = this.#options.maxLineBytes ?? defaultLineBytes;
    const text = `Expected a line of at most ${String(limit)} bytes on stdout, got ${String(line.bytes)}. The line was dropped.`;
    this.#listener.onWarning('oversized_line', text);
    const id = peekAnsweredId(line.head, line.tail);
    if (id !== undefined)
      this.#listener.onRequestFailed(
        id,
        new HoldfastError('limit_exceeded', text, { outcome: 'failed', retryable: false }),
      );
  }

  #isOpen(): boolean {
    return this.#state === 'open' && !this.#isClosing() && !this.#isGivenUp;
  }

  #hasTooManyReplies(): boolean {
    return this.#writer !== undefined && this.#exit === undefined && this.#writer.unsentReplies > this.#limits.replies;
  }

  /** Who sends this moment learns it from that; everyone else, a turn later. */
  #giveUp(): void {
    this.#isGivenUp = true;
    setImmediate(() => {
      this.#lose();
    });
  }

  #isClosing(): boolean {
    return this.#closing !== undefined;
  }

  #lose(): void {
    clearTimeout(this.#drainTimer);
    if (this.#state !== 'open') return;
    this.#state = 'ended';
    if (this.#isClosing()) return;
    this.#releaseStreams();
    if (this.#root !== undefined) this.#listener.onClosed(this.#lost('unknown'));
  }

  /** Something the server started may hold its ends open for ever. */
  #releaseStreams(): void {
    this.#child?.stdout.destroy();
    this.#child?.stderr.destroy();
    this.#child?.stdin.destroy();
  }

  #lost(outcome: CallErrorOutcome): HoldfastError {
    const stderr = this.#stderr.text();
    return new HoldfastError(
      'connection_lost',
      `Expected the server process "${this.#options.command}" to run, but ${this.#ending()}. ${stderr === '' ? 'It wrote nothing to stderr: run it by hand to see why' : 'Look at what it wrote to stderr'}.`,
      {
        outcome,
        ...(stderr === '' ? {} : { stderr }),
      },
    );
  }

  #ending(): string {
    if (this.#isClosing()) return 'its connection was closed';
    if (this.#isGivenUp) return `it does not read its stdin, where more than ${String(this.#limits.all)} bytes wait`;
    if (this.#exit === undefined) return this.#state === 'idle' ? 'it was not started' : 'it closed its stdout';
    return this.#exit.signal === null
      ? `it exited with code ${String(this.#exit.code)}`
      : `it was ended by ${this.#exit.signal}`;
  }
}

function ignore(): void {
  // Said elsewhere: see where it is used.
}

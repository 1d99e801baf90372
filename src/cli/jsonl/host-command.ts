/**
 * `holdfast host --jsonl`: stdin, stdout, signals and exit codes around one session (SPEC CL-2).
 *
 * Receives bytes and signals; ends when a `close` was answered, the input ended, stdout broke, or a signal came, and
 * always closes the thread first (SPEC RT-11).
 */
import type { Readable, Writable } from 'node:stream';
import type { ApprovalMode, Thread, ThreadOptions } from '../../index.ts';
import { readConfig } from '../../config/index.ts';
import { createConsent } from '../consent.ts';
import { listenForEnd } from '../ending.ts';
import { followFiles } from '../follow-files.ts';
import { loadConfig, rootsOf, withApproval } from '../load-config.ts';
import { exitCodes, UsageError } from '../usage-error.ts';
import { LineReader } from './line-reader.ts';
import { LineWriter } from './line-writer.ts';
import { Session } from './session.ts';

/** The options of the command line. */
export interface HostCommandOptions {
  readonly jsonl: boolean;
  readonly config: readonly string[];
  readonly approval?: ApprovalMode;
  readonly root: readonly string[];
  readonly sampling: boolean;
  readonly store?: string;
  readonly thread?: string;
  readonly watch: boolean;
  readonly allowCommands?: boolean;
}

/** A signal that ends the host. */
export type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** What surrounds the host: the process, or a test's streams. */
export interface HostIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly directory: string;
  readonly createThread: (options: ThreadOptions) => Thread;
  /** Calls back for each signal until the returned function is called. */
  readonly onSignal: (listener: (signal: EndSignal) => void) => () => void;
}

const signalCodes = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.hangup,
} as const satisfies Record<EndSignal, number>;

/** How long the last lines may take to be read when the host ends. */
const flushTimeoutMs = 2_000;

/**
 * Runs the host and resolves with the exit code.
 *
 * @throws UsageError for options that cannot be served and files that cannot be read.
 */
export async function runHost(options: HostCommandOptions, io: HostIo): Promise<number> {
  checkOptions(options);
  const roots = rootsOf(options.root);
  const ending = listenForEnd(io.onSignal, { isInteractive: false });
  // Stdin and stdout are for lines: nobody can be asked.
  const consent = createConsent({ isAllowed: options.allowCommands === true, env: process.env });
  const runCommand = consent.runner({ canAsk: false, signal: ending.signal });
  const { config, unreadable } = await loadConfig(options.config, io.directory, runCommand);
  const { servers, misconfigured, provenance, secrets, limits } = config;
  const policy = withApproval(config.policy, options.approval);
  const thread = io.createThread({
    servers,
    misconfigured,
    provenance,
    secrets,
    ...(policy === undefined ? {} : { policy }),
    ...(limits === undefined ? {} : { limits }),
    ...(roots.length === 0 ? {} : { roots }),
    ...(options.sampling ? { sampling: 'ask' as const } : {}),
  });
  let exitCode: number = ending.code ?? exitCodes.ok;
  const writer = new LineWriter(io.stdout, {
    onBroken: () => void session.close('stdout is broken'),
    onDrain: () => io.stdin.resume(),
  });
  const session = new Session({ thread, writer, readFiles: async (files) => readConfig(files, { runCommand }) });
  for (const error of unreadable) session.warn({ code: error.code, message: error.message });
  for (const warning of config.warnings) session.warn(warning);
  const stopFollowing = options.watch
    ? followFiles(config, {
        replace: async (next) => session.replacements.replace(() => next, {}),
        setPolicy: (given) => {
          thread.setPolicy(withApproval(given, options.approval) ?? {});
        },
        warn: (warning) => session.warn(warning),
        runCommand,
      })
    : undefined;
  const stopListening = io.onSignal((signal) => {
    if (exitCode === exitCodes.ok) exitCode = signalCodes[signal];
    void session.close(`the host got ${signal}`);
  });
  if (ending.code !== undefined) void session.close('a signal came before the start');
  feed(io.stdin, writer, session);
  try {
    await session.finished;
    await writer.flush(flushTimeoutMs);
  } finally {
    stopFollowing?.();
    stopListening();
    ending.stop();
    io.stdin.destroy();
  }
  return exitCode;
}

function checkOptions(options: HostCommandOptions): void {
  if (!options.jsonl) throw new UsageError('Expected "holdfast host --jsonl", got no format. Add "--jsonl".');
  const missing = (['store', 'thread'] as const).filter((name) => options[name] !== undefined);
  if (missing.length > 0) {
    throw new UsageError(
      `unsupported: this version keeps no store, so ${missing.map((name) => `"--${name}"`).join(' and ')} cannot be served. Leave it out.`,
    );
  }
}

function feed(stdin: Readable, writer: LineWriter, session: Session): void {
  const reader = new LineReader();
  stdin.on('data', (chunk: Buffer | string) => {
    for (const line of reader.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)) session.receive(line);
    if (writer.isBlocked) stdin.pause();
  });
  const end = () => {
    for (const line of reader.end()) session.receive(line);
    void session.close('the input ended');
  };
  stdin.once('end', end);
  stdin.once('error', end);
  stdin.once('close', end);
}

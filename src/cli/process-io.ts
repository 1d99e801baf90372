/** The process as the command line uses it: streams, signals, and a last net under everything. */
import { closeSync, fstatSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { EndSignal } from './jsonl/host-command.ts';
import { exitCodes } from './usage-error.ts';

/**
 * Stdout as a stream that never blocks the process.
 *
 * `process.stdout` writes to pipes synchronously: a reader that stops reading would stop timers and signals too.
 */
export function openStdout(): Writable {
  const stats = fstatSync(1);
  return stats.isFIFO() || stats.isSocket() ? new Socket({ fd: 1, readable: false, writable: true }) : process.stdout;
}

/** Calls back for each signal that ends a program, and as for SIGHUP when the terminal is gone, until told to stop. */
export function onSignal(listener: (signal: EndSignal) => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const hangUp = () => listener('SIGHUP');
  for (const signal of signals) process.on(signal, listener);
  hangUps.add(hangUp);
  return () => {
    for (const signal of signals) process.off(signal, listener);
    hangUps.delete(hangUp);
  };
}

/**
 * Keeps the process alive through what nobody caught (SPEC RT-12): it is said on stderr.
 *
 * A closed pipe behind stdout or stderr is no reason to end in the middle of things either. A terminal that fails is gone:
 * that counts as a hang-up, and nothing touches it again.
 */
export function catchStrays(): void {
  process.on('unhandledRejection', say);
  process.on('uncaughtException', say);
  const { stdin, stdout, stderr } = process;
  for (const stream of [stdout, stderr]) stream.on('error', stream.isTTY ? loseTerminal : ignore);
  if (!stdin.isTTY) return;
  const emit = stdin.emit.bind(stdin);
  // Prompts throw what their input tells, in the middle of putting themselves away: they are not told.
  Object.defineProperty(stdin, 'emit', {
    value: (name: string | symbol, ...args: readonly unknown[]) =>
      name === 'error' ? loseTerminal() : emit(name, ...args),
  });
}

/** Where the process was started. Ends it when that is there no longer: every path would lead nowhere. */
export function startDirectory(): string {
  try {
    return process.cwd();
  } catch {
    process.stderr.write(
      'holdfast: Expected a working directory, got one that was deleted, or that cannot be looked at. Change to another one, and try again.\n',
    );
    process.exit(exitCodes.failed);
  }
}

/** Who hears that the terminal is gone. */
const hangUps = new Set<() => void>();
let isTerminalLost = false;

/** Every further touch would fail: closing a prompt sets a mode, closing a form draws, and each error would come up there. */
function loseTerminal(): true {
  if (isTerminalLost) return true;
  isTerminalLost = true;
  const { stdin, stdout, stderr } = process;
  if (stdin.isTTY) Object.defineProperty(stdin, 'setRawMode', { value: () => stdin });
  for (const stream of [stdout, stderr])
    if (stream.isTTY) Object.defineProperty(stream, 'write', { value: () => true });
  process.once('exit', putAwayStdio);
  for (const hangUp of hangUps) hangUp();
  return true;
}

/** Node gives terminals their settings back as it ends, and crashes on one that is gone; so they are files by then. */
function putAwayStdio(): void {
  for (const [descriptor, stream] of [process.stdin, process.stdout, process.stderr].entries()) {
    if (!stream.isTTY) continue;
    closeSync(descriptor);
    // Takes the lowest number that is free: the same one.
    openSync(devNull, 'r+');
  }
}

function say(error: unknown): void {
  process.stderr.write(`holdfast: nobody caught this: ${error instanceof Error ? error.message : String(error)}\n`);
}

function ignore(): void {
  // Whoever read it is gone.
}

/** The process as the command line uses it: streams, signals, and a last net under everything. */
import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { EndSignal } from './jsonl/host-command.ts';

/**
 * Stdout as a stream that never blocks the process.
 *
 * `process.stdout` writes to pipes synchronously: a reader that stops reading would stop timers and signals too.
 */
export function openStdout(): Writable {
  const stats = fstatSync(1);
  return stats.isFIFO() || stats.isSocket() ? new Socket({ fd: 1, readable: false, writable: true }) : process.stdout;
}

/** Calls back for each signal that ends a program, until the returned function is called. */
export function onSignal(listener: (signal: EndSignal) => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}

/**
 * Keeps the process alive through what nobody caught (SPEC RT-12): it is said on stderr.
 *
 * A closed pipe behind stdout or stderr is no reason to end in the middle of things either.
 */
export function catchStrays(): void {
  process.on('unhandledRejection', say);
  process.on('uncaughtException', say);
  process.stdout.on('error', ignore);
  process.stderr.on('error', ignore);
}

function say(error: unknown): void {
  process.stderr.write(`holdfast: nobody caught this: ${error instanceof Error ? error.message : String(error)}\n`);
}

function ignore(): void {
  // Whoever read it is gone.
}

/**
 * Closing threads when the process is asked to end (SPEC RT-11).
 *
 * Owns the threads of this process that asked for it, and the two listeners they share.
 * - L1 The process exits only when every one of them is closed: none cuts short what another is still ending.
 */
import type { Thread } from './api.ts';

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

const threads = new Set<Thread>();

/**
 * Closes the thread on SIGINT or SIGTERM; with the last one closed, the process exits with 130 or 143. A second signal
 * ends it at once. The returned function lets go of the thread.
 */
export function closeOnSignals(thread: Thread): () => void {
  if (threads.size === 0) listen();
  threads.add(thread);
  return () => {
    threads.delete(thread);
    if (threads.size === 0) letGo();
  };
}

function onSignal(signal: keyof typeof exitCodes): void {
  letGo();
  const reason = `the process received ${signal}`;
  void Promise.allSettled([...threads].map((thread) => thread.close({ reason }))).then(() => {
    process.exit(exitCodes[signal]);
  });
}

function listen(): void {
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
}

function letGo(): void {
  process.off('SIGINT', onSignal);
  process.off('SIGTERM', onSignal);
}

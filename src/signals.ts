/** Closing a thread when the process is asked to end (SPEC RT-11). */
import type { Thread } from './api.ts';

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/** Closes the thread on SIGINT or SIGTERM, then exits with 130 or 143. The returned function lets go of the signals. */
export function closeOnSignals(thread: Thread): () => void {
  const onSignal = (signal: keyof typeof exitCodes): void => {
    release();
    void thread.close({ reason: `the process received ${signal}` }).finally(() => {
      process.exit(exitCodes[signal]);
    });
  };
  const release = (): void => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return release;
}

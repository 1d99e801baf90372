/** What the tests of processes share: who is alive, and what a process of ours still holds. */
import { readFileSync } from 'node:fs';

/** Whether a process runs. One that ended and was not yet reaped by its parent does not. */
export function isAlive(pid: number): boolean {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
      return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
    } catch {
      return false;
    }
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The kinds of what keeps this process awake: timers, sockets, pipes, children. Sorted. */
export function resources(): readonly string[] {
  return process.getActiveResourcesInfo().toSorted();
}

/** How many listeners this process has on events a library might listen to. */
export function processListeners(): Readonly<Record<string, number>> {
  return Object.fromEntries(
    ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit', 'beforeExit', 'uncaughtException', 'unhandledRejection'].map((name) => [
      name,
      process.listenerCount(name),
    ]),
  );
}

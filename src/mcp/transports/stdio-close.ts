/**
 * Ends a server process and everything it started (SPEC RT-11).
 *
 * End of stdin, 2 s, SIGTERM to the group and to every descendant, 2 s, SIGKILL. What a server left behind when it exited
 * by itself gets the last two. Invariant `E1`: settles only when nothing that was found still runs, or has survived
 * SIGKILL for {@link EndOptions.killMs}.
 */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { descendantsOf, killTreeOnWindows, signalAll, stillRunning } from '../process-tree.ts';
import type { ProcessEntry, ProcessRoot } from '../process-tree.ts';

export interface EndOptions {
  readonly child: ChildProcess;
  readonly root: ProcessRoot;
  /** Settles when the child has exited. */
  readonly exited: Promise<void>;
  /** Between end of stdin and SIGTERM, and again before SIGKILL. */
  readonly graceMs: number;
  /** How long after SIGKILL a process may still be there before it is given up. */
  readonly killMs: number;
}

const pollMs = 20;

/** Resolves with the pids that survived SIGKILL: none, unless the system holds them. */
export async function endServerProcess(options: EndOptions): Promise<readonly number[]> {
  const { child, root, exited, graceMs } = options;
  if (process.platform === 'win32') return endOnWindows(options);
  const known = new Map<number, ProcessEntry>();
  // Before the child goes: afterwards its children have another parent.
  await remember(known, root);
  child.stdin?.end();
  await within(exited, graceMs);
  let left = await remember(known, root);
  if (!hasExited(child) || left.length > 0) left = await signalUntilGone(options, known, 'SIGTERM', graceMs);
  if (!hasExited(child) || left.length > 0) left = await signalUntilGone(options, known, 'SIGKILL', options.killMs);
  return hasExited(child) ? left.map((entry) => entry.pid) : [root.pid, ...left.map((entry) => entry.pid)];
}

/** Signals once, and again whatever appears meanwhile, until nothing is left or the time is over. */
async function signalUntilGone(
  { child, root, exited }: EndOptions,
  known: Map<number, ProcessEntry>,
  signal: 'SIGTERM' | 'SIGKILL',
  limitMs: number,
): Promise<readonly ProcessEntry[]> {
  const until = performance.now() + limitMs;
  const signalled = new Set<ProcessEntry>();
  if (!hasExited(child)) child.kill(signal);
  for (;;) {
    const left = await remember(known, root);
    const fresh = left.filter((entry) => !signalled.has(entry));
    signalAll(fresh, root.pid, signal);
    for (const entry of fresh) signalled.add(entry);
    if ((hasExited(child) && left.length === 0) || performance.now() >= until) return left;
    if (hasExited(child)) await wait(pollMs);
    else await within(exited, pollMs);
  }
}

/** Adds what is found now to what was found before, and answers what of all that still runs. */
async function remember(known: Map<number, ProcessEntry>, root: ProcessRoot): Promise<readonly ProcessEntry[]> {
  try {
    for (const entry of await descendantsOf(root)) {
      if (known.get(entry.pid)?.startedAt !== entry.startedAt) known.set(entry.pid, entry);
    }
    return await stillRunning(known.values());
  } catch {
    // No process table on this system: the group is all that can be ended.
    return [];
  }
}

async function endOnWindows({ child, root, exited, graceMs, killMs }: EndOptions): Promise<readonly number[]> {
  child.stdin?.end();
  await within(exited, graceMs);
  await killTreeOnWindows(root.pid);
  await within(exited, killMs);
  return hasExited(child) ? [] : [root.pid];
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Waits for `done`, but no longer than `ms`, and leaves no timer behind. */
async function within(done: Promise<void>, ms: number): Promise<void> {
  const timer = new AbortController();
  const late = wait(ms, undefined, { signal: timer.signal }).catch(() => undefined);
  await Promise.race([done, late]);
  timer.abort();
}

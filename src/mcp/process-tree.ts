/**
 * Finds and ends the processes a server started, own sessions and orphans included (SPEC RT-11).
 *
 * Linux: `/proc`, no process is started for it. Other POSIX systems: one `ps`. Windows: `taskkill /T`.
 * Invariants: a process is signalled only while it is the one that was found (`P1`: same pid and same start time), and
 * never this process (`P2`).
 */
import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { promisify } from 'node:util';

/** One process at one moment. `pid` and `startedAt` together name it for ever. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Start time in a form that only compares for equality, except on Linux, where a later start is a larger number. */
  readonly startedAt: string;
}

/** The process a server was started as, and the mark its whole tree carries in its environment. */
export interface ProcessRoot {
  readonly pid: number;
  readonly marker: string;
  /** From {@link startOf}, taken while it ran; tells it from a later process with its pid (P1). */
  readonly startedAt: string | undefined;
}

const run = promisify(execFile);

/**
 * Lists what lives of a server's tree, the root excluded.
 *
 * A process belongs to it by parentage, by the root's process group or session (it survives the root), or by the marker
 * in its environment (it survives orphans with sessions of their own; Linux only).
 */
export async function descendantsOf(root: ProcessRoot): Promise<readonly ProcessEntry[]> {
  const table = await processTable();
  const found = new Map<number, ProcessEntry>();
  const holder = table.find((entry) => entry.pid === root.pid);
  // While anything of the old group lives, its number is not given away: a stranger there means that nothing does.
  const isRootsPid = holder === undefined || root.startedAt === undefined || holder.startedAt === root.startedAt;
  const others = table.filter((entry) => entry.pid !== process.pid && !(isRootsPid && entry.pid === root.pid));
  for (const entry of others) {
    const isMember = isRootsPid && (entry.group === root.pid || entry.session === root.pid);
    if (isMember || (Number(entry.startedAt) >= Number(root.startedAt ?? 0) && hasMarker(entry.pid, root.marker)))
      found.set(entry.pid, entry);
  }
  for (let grew = true; grew;) {
    grew = false;
    for (const entry of others) {
      const isChild = (isRootsPid && entry.parent === root.pid) || found.has(entry.parent);
      if (!isChild || found.has(entry.pid)) continue;
      found.set(entry.pid, entry);
      grew = true;
    }
  }
  return [...found.values()];
}

/** The start time of a running process, for {@link ProcessRoot}. Linux only; elsewhere `undefined`. */
export function startOf(pid: number): string | undefined {
  return process.platform === 'linux' ? parseStat(pid, readText(`/proc/${String(pid)}/stat`))?.startedAt : undefined;
}

/** Those of `entries` that still run, dead ones nobody has collected yet excluded (P1). */
export async function stillRunning(entries: Iterable<ProcessEntry>): Promise<readonly ProcessEntry[]> {
  const wanted = [...entries];
  if (wanted.length === 0) return [];
  const now = new Map((await processTable()).map((entry) => [entry.pid, entry.startedAt]));
  return wanted.filter((entry) => now.get(entry.pid) === entry.startedAt);
}

/** Signals each process, and as a whole the process group `group` if one of them is in it. */
export function signalAll(entries: readonly ProcessEntry[], group: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (entries.some((entry) => entry.group === group)) send(-group, signal);
  for (const entry of entries) {
    if (entry.pid !== process.pid && entry.pid > 1) send(entry.pid, signal);
  }
}

/** Ends a process tree on Windows. Never rejects: what is gone already is no error. */
export async function killTreeOnWindows(pid: number): Promise<void> {
  try {
    await run('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true });
  } catch {
    // It exited by itself in between.
  }
}

let sharedTable: readonly ProcessEntry[] | undefined;

/** Read once per turn of the event loop: twenty servers that close together look at one table. */
async function processTable(): Promise<readonly ProcessEntry[]> {
  if (process.platform !== 'linux') return processTableFromPs();
  if (sharedTable === undefined) {
    sharedTable = processTableFromProc();
    setImmediate(() => {
      sharedTable = undefined;
    });
  }
  return sharedTable;
}

function processTableFromProc(): readonly ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const entry = parseStat(pid, readText(`/proc/${name}/stat`));
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

/** Reads the fields after the command name, which may itself hold spaces and parentheses. */
function parseStat(pid: number, stat: string | undefined): ProcessEntry | undefined {
  if (stat === undefined) return undefined;
  const [state, parent, group, session, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const startedAt = rest[15];
  if (startedAt === undefined || state === 'Z' || state === 'X') return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), startedAt };
}

async function processTableFromPs(): Promise<readonly ProcessEntry[]> {
  const { stdout } = await run('ps', ['-axo', 'pid=,ppid=,pgid=,stat=,lstart='], {
    env: { ...process.env, LC_ALL: 'C' },
  });
  const entries: ProcessEntry[] = [];
  for (const line of stdout.split('\n')) {
    const [pid, parent, group, state, ...start] = line.trim().split(/\s+/);
    if (state === undefined || state.startsWith('Z')) continue;
    entries.push({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: 0,
      startedAt: start.join(' '),
    });
  }
  return entries;
}

function hasMarker(pid: number, marker: string): boolean {
  return process.platform === 'linux' && (readText(`/proc/${String(pid)}/environ`)?.includes(marker) ?? false);
}

/** `undefined` for a process that is gone or is not ours to read. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

function send(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone in between, or not ours to signal: the next look at the table says which.
  }
}

/**
 * A lock among processes: a file that exists while it is held.
 *
 * Its holder touches it; one that is not touched, or whose process is gone, is taken over.
 */
import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../domain/errors.ts';
import { isRecord } from '../../domain/json.ts';

/** A holder that has not touched the file for this long is taken for gone. */
const staleMs = 30_000;
const touchMs = 5_000;
const retryMs = 25;
/** How long to wait for others; a refresh takes seconds. */
const patienceMs = 60_000;

/** Runs while this process holds the lock. @throws HoldfastError `store_locked` when it cannot be had in a minute. */
export async function withProcessLock<TResult>(
  path: string,
  run: () => Promise<TResult>,
  signal?: AbortSignal,
): Promise<TResult> {
  const own = JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() });
  await take(path, own, signal);
  const touching = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(ignore);
  }, touchMs);
  touching.unref();
  try {
    return await run();
  } finally {
    clearInterval(touching);
    if ((await contentOf(path)) === own) await rm(path, { force: true });
  }
}

async function take(path: string, own: string, signal: AbortSignal | undefined): Promise<void> {
  const until = Date.now() + patienceMs;
  while (!(await create(path, own))) {
    if (Date.now() > until)
      throw new HoldfastError(
        'store_locked',
        `Expected to get hold of "${path}" within ${String(patienceMs)} ms, and another process kept it. Remove it if that process is gone.`,
      );
    await discardStale(path);
    await sleep(retryMs, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      throw new HoldfastError('aborted', 'The wait for the credentials was given up.', { cause: error });
    });
  }
}

async function create(path: string, own: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(own);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (isRecord(error) && (error['code'] === 'EEXIST' || error['code'] === 'EPERM')) return false;
    throw error;
  }
}

/** Moves a lock nobody holds out of the way. What turns out to be a newer one is put back. */
async function discardStale(path: string): Promise<void> {
  const found = await contentOf(path);
  if (found === undefined || !(await isStale(path, found))) return;
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  if ((await contentOf(aside)) !== found) await link(aside, path).catch(ignore);
  await rm(aside, { force: true });
}

async function isStale(path: string, content: string): Promise<boolean> {
  const age = await stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  );
  if (age > staleMs) return true;
  const holder = parseHolder(content);
  return holder !== undefined && holder.host === hostname() && !isAlive(holder.pid);
}

function parseHolder(content: string): { readonly pid: number; readonly host: string } | undefined {
  try {
    const value: unknown = JSON.parse(content);
    if (!isRecord(value)) return undefined;
    const { pid, host } = value;
    return typeof pid === 'number' && typeof host === 'string' ? { pid, host } : undefined;
  } catch {
    // It is being written.
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !isRecord(error) || error['code'] !== 'ESRCH';
  }
}

async function contentOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}

function ignore(): void {
  // It is gone, or another's.
}

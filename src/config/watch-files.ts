/**
 * Tells that files may have changed: written, replaced, removed, put back, or reached by another link.
 *
 * Owns one watcher for each directory an entry of interest is in, never of what is below or beside it.
 *
 * - N1 What is told is a hint: who hears it reads the files.
 * - N2 After every hint the trails are followed again, so that a new link or a new directory is watched, too.
 * - N3 A directory that was made anew gets a new watcher: the old one watches what is gone.
 * - N4 Once it is stopped nothing is told any more. Timers with which chokidar thins out its events may run on, for a
 *   second at most.
 */
import { basename, join } from 'node:path';
import { watch } from 'chokidar';
import type { FSWatcher } from 'chokidar';
import { Observable } from 'rxjs';
import type { TrailEntry } from './link-trail.ts';
import { trailOf } from './link-trail.ts';

/** Emits whenever one of the files may have changed, and once as soon as all are watched. Never fails, never completes. */
export function watchFiles(files: readonly string[]): Observable<void> {
  return new Observable((subscriber) => {
    const watching = new Watching(files, () => subscriber.next());
    watching.follow();
    return () => watching.stop();
  });
}

interface WatchedDirectory {
  readonly watcher: FSWatcher;
  readonly names: Set<string>;
}

class Watching {
  readonly #files: readonly string[];
  readonly #tell: () => void;
  readonly #directories = new Map<string, WatchedDirectory>();
  #isStopped = false;
  #isFollowing = false;
  #followAgain = false;

  constructor(files: readonly string[], tell: () => void) {
    this.#files = files;
    this.#tell = tell;
  }

  stop(): void {
    this.#isStopped = true;
    for (const { watcher } of this.#directories.values()) void watcher.close();
    this.#directories.clear();
  }

  /** Follows the trails, one at a time; what is noticed meanwhile makes one more round. */
  follow(): void {
    this.#followAgain = true;
    if (!this.#isFollowing) void this.#followAll();
  }

  async #followAll(): Promise<void> {
    this.#isFollowing = true;
    while (this.#followAgain && !this.#isStopped) {
      this.#followAgain = false;
      const trails = await Promise.all(this.#files.map(trailOf));
      this.#watch(trails.flat());
    }
    this.#isFollowing = false;
  }

  #watch(entries: readonly TrailEntry[]): void {
    if (this.#isStopped) return;
    const wanted = new Map<string, { readonly directory: string; readonly names: Set<string> }>();
    for (const { directory, device, name } of entries) {
      const key = `${device} ${directory}`;
      const { names } = wanted.get(key) ?? { names: new Set() };
      wanted.set(key, { directory, names: names.add(name) });
    }
    for (const [key, { watcher }] of this.#directories) {
      if (wanted.has(key)) continue;
      this.#directories.delete(key);
      void watcher.close();
    }
    for (const [key, { directory, names }] of wanted) {
      const known = this.#directories.get(key);
      if (known !== undefined && [...names].every((name) => known.names.has(name))) continue;
      void known?.watcher.close();
      this.#directories.set(key, { watcher: this.#open(directory, names), names });
    }
  }

  #open(directory: string, names: ReadonlySet<string>): FSWatcher {
    const of = [...names].map((name) => join(directory, name));
    const watcher = watch(directory, {
      depth: 0,
      followSymlinks: false,
      ignoreInitial: true,
      // Holds removals back for a moment, to call two of an editor's steps one: here the reader waits, not the watcher.
      atomic: false,
      ignored: (path) => path !== directory && !of.includes(path),
    });
    const hint = (): void => {
      if (this.#isStopped) return;
      this.follow();
      this.#tell();
    };
    watcher.on('ready', hint);
    watcher.on('all', hint);
    // What chokidar holds to be the same change as the last one is told here all the same.
    watcher.on('raw', (_event, path) => {
      if (typeof path !== 'string' || names.has(basename(path)) || basename(path) === basename(directory)) hint();
    });
    // A watcher that fails has lost its directory: the next round opens another, or waits for the directory.
    watcher.on('error', hint);
    return watcher;
  }
}

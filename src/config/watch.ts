/**
 * Files that change to configurations (SPEC CA-4).
 *
 * - L1 A configuration is read when its files have been quiet for a while, so that no half of a file is taken for a whole;
 *   files that are written without end are read all the same, now and then.
 * - L2 Files that cannot be read are read once more after a while, and again while somebody writes them: an editor may be
 *   between its two steps. Then it is told, once, and the last good configuration stays.
 * - L3 What comes to the same configuration as the last one is no change.
 */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  asyncScheduler,
  connect,
  debounceTime,
  defer,
  distinctUntilChanged,
  exhaustMap,
  filter,
  map,
  merge,
  of,
  startWith,
  switchMap,
  take,
  tap,
  timer,
} from 'rxjs';
import type { MonoTypeOperatorFunction, Observable, SchedulerLike } from 'rxjs';
import { HoldfastError, messageOf } from '../domain/errors.ts';
import { checkFiles, checkOptions } from './check-arguments.ts';
import type { ReadConfigOptions, ResolvedConfig } from './read-config.ts';
import { readFiles } from './read-config.ts';
import { watchFiles } from './watch-files.ts';

/** An edit that was not taken over, and why. */
export interface WatchWarning {
  /** `config_syntax` or `config_invalid`. */
  readonly code: string;
  readonly message: string;
}

/** How files are watched. */
export interface WatchConfigOptions extends ReadConfigOptions {
  /** How long the files must have been quiet before they are read, in milliseconds. Default 75. */
  readonly debounceMs?: number;
  /**
   * How long a change may wait for files that are never quiet, in milliseconds. Default 1,000, or
   * `debounceMs` where that is longer. What cannot be read then counts as half-written.
   */
  readonly maxWaitMs?: number;
  /** How long files that cannot be read, are empty or are gone may still be the middle of an edit. Default 500. */
  readonly graceMs?: number;
  /** Called once for each edit that cannot be taken over. What it throws fails the stream. */
  readonly onWarning?: (warning: WatchWarning) => void;
  /** Where the times above run. Default: real time. */
  readonly scheduler?: SchedulerLike;
}

/** The defaults of {@link WatchConfigOptions}. */
const watchDefaults = { debounceMs: 75, maxWaitMs: 1_000, graceMs: 500 } as const satisfies WatchConfigOptions;

/**
 * Reads configuration files now, and again after each change; emits each configuration that differs from the last.
 *
 * Files may be written in place or in steps, replaced by renaming, reached through links that move, removed and put back,
 * and need not be there yet. A file that becomes empty counts as half-written. Each subscriber watches for itself, until
 * it unsubscribes. Files that placeholders refer to are not watched.
 *
 * @example
 * const catalog = watchConfig(['holdfast.json']).pipe(
 *   map((config) => createCatalogBuilder().registerAll({ kind: 'config' }, config).build()),
 * );
 * const thread = createThread({ catalog });
 */
export function watchConfig(files: readonly string[], options: WatchConfigOptions = {}): Observable<ResolvedConfig> {
  checkFiles(files, 'watchConfig');
  checkOptions(options, 'watchConfig');
  const paths = files.map((file) => resolve(file));
  const {
    debounceMs = watchDefaults.debounceMs,
    maxWaitMs = Math.max(debounceMs, watchDefaults.maxWaitMs),
    graceMs = watchDefaults.graceMs,
    scheduler = asyncScheduler,
    onWarning = ignore,
  } = options;
  return defer(() => {
    const reader = new Reader(paths, options);
    const readAgain = (before: BadReading, left: number): Observable<Reading> =>
      timer(graceMs, scheduler).pipe(
        switchMap(() => reader.read()),
        switchMap((now) =>
          now.kind === 'good' || now.stamp === before.stamp || left === 0 ? of(now) : readAgain(now, left - 1),
        ),
      );
    const readWhole = (): Observable<Reading> =>
      defer(() => reader.read()).pipe(
        switchMap((first) => (first.kind === 'good' ? of(first) : readAgain(first, maxReadings))),
      );
    const settled = watchFiles(paths).pipe(whenQuiet(debounceMs, maxWaitMs, scheduler));
    return merge(of(undefined), settled).pipe(
      switchMap(readWhole),
      distinctUntilChanged(isSameReading),
      tap((reading) => {
        if (reading.kind === 'bad') onWarning(reading.warning);
        else reader.take(reading);
      }),
      filter((reading) => reading.kind === 'good'),
      map(({ config }) => config),
      distinctUntilChanged(isSame),
    );
  });
}

/** Emits once for each burst of hints: when it is over, or has lasted too long; what comes after that is the next one. */
function whenQuiet(quietMs: number, longestMs: number, scheduler: SchedulerLike): MonoTypeOperatorFunction<void> {
  return connect((hints) =>
    hints.pipe(
      exhaustMap(() =>
        merge(
          hints.pipe(startWith(undefined), debounceTime(quietMs, scheduler)),
          timer(longestMs, scheduler).pipe(map(ignore)),
        ).pipe(take(1)),
      ),
    ),
  );
}

interface GoodReading {
  readonly kind: 'good';
  readonly config: ResolvedConfig;
  readonly empty: readonly string[];
}

interface BadReading {
  readonly kind: 'bad';
  readonly warning: WatchWarning;
  /** Another one when a file was written since. */
  readonly stamp: string;
}

type Reading = GoodReading | BadReading;

/** How often files are read anew that cannot be read, and are still being written. */
const maxReadings = 8;

class Reader {
  readonly #paths: readonly string[];
  readonly #options: ReadConfigOptions;
  /** Files without a byte that were so in the last good reading, too. */
  #empty: ReadonlySet<string> | undefined;

  constructor(paths: readonly string[], options: ReadConfigOptions) {
    this.#paths = paths;
    this.#options = options;
  }

  /** Notes what was taken over. */
  take({ empty }: GoodReading): void {
    this.#empty = new Set(empty);
  }

  async read(): Promise<Reading> {
    try {
      const { config, empty } = await readFiles(this.#paths, this.#options);
      const emptied = empty.find((file) => this.#empty?.has(file) === false);
      return emptied === undefined ? { kind: 'good', config, empty } : await this.#bad(emptiedError(emptied));
    } catch (error) {
      return this.#bad(error);
    }
  }

  async #bad(error: unknown): Promise<BadReading> {
    const code = error instanceof HoldfastError ? error.code : 'config_invalid';
    const warning = { code, message: `An edit was not taken over: ${messageOf(error)}` };
    return { kind: 'bad', warning, stamp: (await Promise.all(this.#paths.map(stampOf))).join(' ') };
  }
}

/** When a file was written last; empty for one that is not there. */
async function stampOf(path: string): Promise<string> {
  try {
    return String((await stat(path, { bigint: true })).mtimeNs);
  } catch {
    // It is gone, or out of reach: what is wrong with it was said by reading it.
    return '';
  }
}

/** The same edit is told once, however often its file is touched. */
function isSameReading(a: Reading, b: Reading): boolean {
  return a.kind === 'bad' && b.kind === 'bad' ? isSame(a.warning, b.warning) : isSame(a, b);
}

function emptiedError(file: string): HoldfastError {
  return new HoldfastError(
    'config_invalid',
    `"${file}": expected a document, got an empty file. Write {} to have no servers.`,
  );
}

/** `isDeepStrictEqual` as what it is to rxjs: a question about two of the same. */
function isSame<TValue>(a: TValue, b: TValue): boolean {
  return isDeepStrictEqual(a, b);
}

function ignore(): void {
  // The default of `onWarning`; what a timer says.
}

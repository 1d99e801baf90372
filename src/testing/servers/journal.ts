/** What happened at a scripted server, in order: the record tests wait on and count. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { HoldfastError } from '../../domain/errors.ts';
import { isRecord } from '../../domain/json.ts';

/**
 * What an entry reports.
 *
 * `started` a process or a connection began; `initialized` the legacy handshake is done; `listed` tools were listed; `called`
 * a tool began; `parked` a call waits for its release; `ended` a call returned or threw; `cancelled` the client aborted a
 * call or its task; `task` a request about a task came: `tool` is its method, `key` the task; `asked` and `answered` frame a question; `closed` a connection ended; `crashed` is the last of its kind.
 */
export type JournalKind =
  | 'started'
  | 'initialized'
  | 'listed'
  | 'called'
  | 'parked'
  | 'ended'
  | 'cancelled'
  | 'task'
  | 'asked'
  | 'answered'
  | 'closed'
  | 'crashed';

/** Something that happened at a scripted server. */
export interface JournalEntry {
  readonly kind: JournalKind;
  /** The process that wrote it. */
  readonly pid: number;
  /** Number of the call within its process, for all entries of one call. */
  readonly call?: number;
  readonly tool?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** Of a parked call. */
  readonly key?: string;
  /** `answered`: what the client answered. `cancelled`: its reason. */
  readonly value?: unknown;
  /** The `_meta` of a call. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

interface Waiter {
  readonly matches: (entry: JournalEntry) => boolean;
  readonly resolve: (entry: JournalEntry) => void;
}

/** Collects entries, tells those who wait, and copies each to a file if there is one. */
export class Journal {
  readonly #entries: JournalEntry[] = [];
  readonly #waiters = new Set<Waiter>();
  readonly #file: string | undefined;

  constructor(file?: string) {
    this.#file = file;
  }

  /** All entries so far, oldest first. */
  get entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  /** Adds an entry. In the file before this returns, so that a crash right after cannot lose it. */
  add(entry: Omit<JournalEntry, 'pid'>): void {
    const whole: JournalEntry = { ...entry, pid: process.pid };
    this.#entries.push(whole);
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(whole)}\n`);
    for (const waiter of this.#waiters) {
      if (!waiter.matches(whole)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(whole);
    }
  }

  /** Resolves with the first entry that matches, past or future, leaving out the first `from` entries. */
  until(matches: (entry: JournalEntry) => boolean, from = 0): Promise<JournalEntry> {
    const found = this.#entries.slice(from).find(matches);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => this.#waiters.add({ matches, resolve }));
  }

  /** How often a tool began to run; of all tools without a name. */
  calls(tool?: string): number {
    return this.#entries.filter((entry) => entry.kind === 'called' && (tool === undefined || entry.tool === tool))
      .length;
  }
}

/**
 * Reads the journal file of a child process; empty if it does not exist yet.
 *
 * @throws HoldfastError `invalid_argument` for a line that is no entry.
 */
export function readJournal(file: string): readonly JournalEntry[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map(parseEntry);
}

function parseEntry(line: string): JournalEntry {
  const value: unknown = JSON.parse(line);
  if (!isRecord(value) || typeof value['kind'] !== 'string') {
    throw new HoldfastError('invalid_argument', `Expected a journal entry, got "${line}".`);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own child wrote it
  return value as unknown as JournalEntry;
}

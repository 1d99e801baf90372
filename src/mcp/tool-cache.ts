/**
 * The tools of a person's servers, kept on disk between runs (SPEC RE-2).
 *
 * Owns one file a server in a folder of its own; nothing of a person or a server can be read from the names. What cannot be
 * read (another version, no JSON, another shape) is not there. A disk that fails costs only what it would have kept.
 *
 * - D1 each file is read once a process, and written whole or not at all.
 * - D2 a fetch that began earlier never replaces what a later one brought.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HoldfastError } from '../domain/errors.ts';
import { isRecord, shown } from '../domain/json.ts';
import type { ToolCache } from '../domain/tool-cache.ts';
import type { ListedTool } from '../domain/tool.ts';
import { usableTools } from './listing.ts';

/** The version of the files. Files of another one are not read. */
export const toolCacheVersion = 1;

/** How many servers are kept in one folder: of more, those that were written longest ago are forgotten. */
export const toolCacheFiles = 512;

/** Where tools are kept, and of whom. */
export interface ToolCacheOptions {
  /** Made when it is not there, readable by its owner only. */
  readonly directory: string;
  /** Whose tools they are: an account, a workspace. What was kept under one key is not found under another. */
  readonly key: string | Readonly<Record<string, string | number | boolean | null>>;
  /** Hears why something could not be kept. Default: nobody. */
  readonly onError?: (error: unknown) => void;
}

/** Caches of this process, by folder and key: who asks for the same has the same. */
const caches = new Map<string, DiskToolCache>();

/**
 * Makes, or finds, the cache of one person in a folder. Give it to `createHost` as `toolCache`.
 *
 * @throws HoldfastError `invalid_argument` without a directory or a key.
 */
export function createToolCache(options: ToolCacheOptions): ToolCache {
  const { directory, key } = options;
  if (typeof directory !== 'string' || directory === '')
    throw new HoldfastError('invalid_argument', `Expected directory to be a path, got ${shown(directory)}.`);
  if (key === '' || !(typeof key === 'string' || isRecord(key)))
    throw new HoldfastError('invalid_argument', `Expected key to be a text or an object, got ${shown(key)}.`);
  const whose = typeof key === 'string' ? key : JSON.stringify(Object.entries(key).toSorted(byName));
  const folder = resolve(directory);
  const id = JSON.stringify([folder, typeof key, whose]);
  const cache = caches.get(id) ?? new DiskToolCache(folder, `${typeof key} ${whose}`, options.onError);
  caches.set(id, cache);
  return cache;
}

/** What is known of one server. */
interface Entry {
  readonly ticket: number;
  readonly tools: readonly ListedTool[] | undefined;
}

class DiskToolCache implements ToolCache {
  readonly isDurable = true;
  readonly #folder: string;
  readonly #whose: string;
  readonly #onError: (error: unknown) => void;
  readonly #entries = new Map<string, Entry>();
  #tickets = 0;

  constructor(folder: string, whose: string, onError: ((error: unknown) => void) | undefined) {
    this.#folder = folder;
    this.#whose = whose;
    this.#onError = onError ?? nobody;
  }

  get(identity: string): readonly ListedTool[] | undefined {
    return this.#entryOf(identity).tools;
  }

  begin(): number {
    this.#tickets += 1;
    return this.#tickets;
  }

  put(identity: string, ticket: number, tools: readonly ListedTool[]): readonly ListedTool[] {
    const known = this.#entryOf(identity);
    if (known.tools !== undefined && known.ticket >= ticket) return known.tools;
    this.#entries.set(identity, { ticket, tools });
    if (JSON.stringify(known.tools) !== JSON.stringify(tools)) this.#write(identity, tools);
    return tools;
  }

  #entryOf(identity: string): Entry {
    const known = this.#entries.get(identity);
    if (known !== undefined) return known;
    const entry = { ticket: 0, tools: readTools(this.#fileOf(identity)) };
    this.#entries.set(identity, entry);
    return entry;
  }

  #fileOf(identity: string): string {
    const name = createHash('sha256')
      .update(JSON.stringify([this.#whose, identity]))
      .digest('hex');
    return join(this.#folder, `${name}.json`);
  }

  #write(identity: string, tools: readonly ListedTool[]): void {
    const file = this.#fileOf(identity);
    const draft = `${file}.${randomUUID()}`;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeFileSync(draft, JSON.stringify({ version: toolCacheVersion, tools }), { mode: 0o600 });
      renameSync(draft, file);
      prune(this.#folder);
    } catch (error) {
      removeIfThere(draft);
      this.#onError(error);
    }
  }
}

function readTools(file: string): readonly ListedTool[] | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isRecord(content) || content['version'] !== toolCacheVersion || !Array.isArray(content['tools']))
      return undefined;
    return usableTools(content['tools'], 'cache', nobody);
  } catch {
    // Not there, not readable, no JSON: all the same to who asks.
    return undefined;
  }
}

/** Another process may do the same at the same time: what is gone already is fine. */
function prune(folder: string): void {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  if (names.length <= toolCacheFiles) return;
  const dated = names.map((name) => {
    const file = join(folder, name);
    return { file, at: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
  });
  const old = dated.toSorted((a, b) => a.at - b.at).slice(0, names.length - toolCacheFiles);
  for (const { file } of old) rmSync(file, { force: true });
}

function removeIfThere(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The folder it would be in is none: there is nothing to remove.
  }
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function nobody(): void {
  // Nobody wanted to know.
}

/**
 * What the connections of one scripted server share.
 *
 * Owns: the tools, the parked calls, the finished urls, the journal, the ways to notify clients. Receives: tool handlers
 * and the test's own calls. Sends: list changes and completions to every open connection.
 * - T1 a parked call ends exactly once: released, or given up because its client is gone.
 * - T2 a release that comes before its call is remembered for it.
 */
import { HoldfastError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { ListedTool } from '../../domain/tool.ts';
import { deferred } from '../deferred.ts';
import type { Deferred } from '../deferred.ts';
import { Journal } from './journal.ts';
import type { ScriptedTask } from './scripted-task.ts';
import type { ServerScript } from './script.ts';

/** Tells the client of one connection, or all clients of one endpoint, about a change. */
export interface Publisher {
  toolsChanged(): Promise<void> | void;
  resourceUpdated(uri: string): Promise<void> | void;
  urlCompleted(elicitationId: string): Promise<void> | void;
  taskChanged(task: JsonObject): Promise<void> | void;
}

/** The state behind one scripted server, whichever way it is served. */
export class Stage {
  readonly script: ServerScript;
  readonly journal: Journal;
  readonly publishers = new Set<Publisher>();
  /** How to end each open connection. */
  readonly connections = new Set<() => Promise<void>>();
  readonly completedUrls = new Set<string>();
  /** By id. They outlive the connection they were made on. */
  readonly tasks = new Map<string, ScriptedTask>();
  readonly addedTools = new Map<string, ListedTool>();
  readonly removedTools = new Set<string>();
  listings = 0;
  #nextCall = 1;
  readonly #parked = new Map<string, Set<Deferred<unknown>>>();
  readonly #released = new Map<string, unknown[]>();

  constructor(script: ServerScript) {
    this.script = script;
    this.journal = new Journal(script.journalFile);
  }

  nextCall(): number {
    return this.#nextCall++;
  }

  /** The keys of the calls that wait, one for each call. */
  get parked(): readonly string[] {
    return [...this.#parked].flatMap(([key, calls]) => [...calls].map(() => key));
  }

  /** Resolves when a call is parked under `key`: at once if one is now. */
  async untilParked(key: string): Promise<void> {
    if (this.#parked.has(key)) return;
    await this.journal.until((entry) => entry.kind === 'parked' && entry.key === key, this.journal.entries.length);
  }

  /** Waits for `release(key)`; resolves with the value given to it. Rejects when `signal` aborts. */
  async park(key: string, options: { readonly call: number; readonly signal: AbortSignal }): Promise<unknown> {
    const early = this.#released.get(key);
    if (early !== undefined && early.length > 0) return early.shift();
    const waiting = deferred<unknown>();
    const calls = this.#parked.get(key) ?? new Set();
    this.#parked.set(key, calls.add(waiting));
    const giveUp = (): void => {
      waiting.reject(new HoldfastError('aborted', `The client gave up the call parked under "${key}".`));
    };
    options.signal.addEventListener('abort', giveUp, { once: true });
    this.journal.add({ kind: 'parked', key, call: options.call });
    try {
      return await waiting.promise;
    } finally {
      options.signal.removeEventListener('abort', giveUp);
      calls.delete(waiting);
      if (calls.size === 0) this.#parked.delete(key);
    }
  }

  /** Ends every call parked under `key`; with none, the next one ends at once. */
  release(key: string, value?: unknown): void {
    const calls = this.#parked.get(key);
    if (calls === undefined) {
      this.#released.set(key, [...(this.#released.get(key) ?? []), value]);
      return;
    }
    for (const waiting of calls) waiting.resolve(value);
  }

  async addTool(tool: ListedTool): Promise<void> {
    this.removedTools.delete(tool.name);
    this.addedTools.set(tool.name, tool);
    await this.publish((publisher) => publisher.toolsChanged());
  }

  async removeTool(name: string): Promise<void> {
    this.addedTools.delete(name);
    this.removedTools.add(name);
    await this.publish((publisher) => publisher.toolsChanged());
  }

  async completeUrl(elicitationId: string): Promise<void> {
    this.completedUrls.add(elicitationId);
    await this.publish((publisher) => publisher.urlCompleted(elicitationId));
  }

  /** Tells every open connection. One that closes meanwhile needs no telling. */
  async publish(tell: (publisher: Publisher) => Promise<void> | void): Promise<void> {
    await Promise.allSettled([...this.publishers].map(async (publisher) => tell(publisher)));
  }
}

/** A tool that returns its arguments as JSON. */
export function plainTool(name: string, description = `Returns its arguments (${name}).`): ListedTool {
  return { name, description, inputSchema: { type: 'object' } };
}

/**
 * One task of a scripted server: what was asked for, how far it is, and what it will bring.
 *
 * Owns its state; shared by the connections of its server, so that it outlives each of them. It goes on when it is asked
 * after, answered or released: nothing here runs by the clock.
 */
import { relatedTaskKey } from '../../domain/task.ts';
import type { TaskStatus } from '../../domain/task.ts';
import type { Era } from '../../domain/snapshot.ts';
import type { JsonObject } from '../../domain/json.ts';
import { deferred } from '../deferred.ts';
import type { ScriptedArgs } from './tool.ts';

/** A question of a task: a form, or what the script names instead. */
export interface TaskQuestion {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface ScriptedTaskOptions {
  readonly id: string;
  /** The number of its call in the journal. */
  readonly call: number;
  readonly era: Era;
  readonly args: ScriptedArgs;
  readonly question: TaskQuestion;
  /** Something a client may be told of has changed. */
  readonly changed: () => void;
}

export class ScriptedTask {
  readonly id: string;
  readonly call: number;
  /** Aborted when the client cancels it. */
  readonly cancelled = new AbortController();
  /** Answers by the keys of their questions. */
  readonly answers = new Map<string, unknown>();
  readonly #options: ScriptedTaskOptions;
  readonly #createdAt = new Date().toISOString();
  readonly #ended = deferred<undefined>();
  #isReleased: boolean;
  #value: unknown;
  #polls = 0;
  #isCancelled = false;
  #isForgotten = false;
  #failure: { readonly code: number; readonly message: string } | undefined;

  constructor(options: ScriptedTaskOptions) {
    this.#options = options;
    this.id = options.id;
    this.call = options.call;
    this.#isReleased = options.args.string('key', '') === '';
  }

  /** Whether the server still knows it; asking after it is what makes it forget. */
  get isKnown(): boolean {
    return !this.#isForgotten;
  }

  get status(): TaskStatus {
    const { args } = this.#options;
    if (this.#isCancelled) return 'cancelled';
    if (this.#failure !== undefined) return 'failed';
    if (this.openKeys.length > 0) return 'input_required';
    if (!this.#isReleased || this.#polls <= args.number('steps', 0)) return 'working';
    if (args.flag('givesUp')) return 'cancelled';
    return args.record('error') === undefined ? 'completed' : 'failed';
  }

  /** The keys of the questions that have no answer yet. */
  get openKeys(): readonly string[] {
    const count = this.#options.args.number('questions', 0);
    return Array.from({ length: count }, (_, index) => `question-${String(index + 1)}`).filter(
      (key) => !this.answers.has(key),
    );
  }

  /** Its questions, as the extension lists them. */
  get inputRequests(): Readonly<Record<string, TaskQuestion>> {
    return Object.fromEntries(this.openKeys.map((key) => [key, this.#options.question]));
  }

  /** Its question, as a server of 2025-11-25 asks it. */
  get question(): TaskQuestion {
    const { method, params } = this.#options.question;
    return { method, params: { ...params, _meta: { [relatedTaskKey]: { taskId: this.id } } } };
  }

  /** The result of its call; undefined when that ended with an error. */
  get result(): JsonObject {
    const answers = [...this.answers.values()];
    const said = answers.length === 0 ? (this.#value ?? this.#options.args.string('text', 'done')) : answers;
    const text = typeof said === 'string' ? said : JSON.stringify(said);
    const { args } = this.#options;
    return { content: [{ type: 'text', text }], ...(args.flag('isError') ? { isError: true } : {}) };
  }

  /** The JSON-RPC error of its call, when it has one. */
  get error(): { readonly code: number; readonly message: string } | undefined {
    const error = this.#options.args.record('error');
    if (this.#failure !== undefined) return this.#failure;
    if (error === undefined) return undefined;
    const { code, message } = error;
    return {
      code: typeof code === 'number' ? code : -32_603,
      message: typeof message === 'string' ? message : 'The work went wrong.',
    };
  }

  /** Somebody asks how it is. */
  look(): void {
    this.#polls += 1;
    const forgetsAfter = this.#options.args.number('forgets', Number.POSITIVE_INFINITY);
    if (this.#polls > forgetsAfter) this.#isForgotten = true;
    this.#settle();
  }

  answer(key: string, value: unknown): void {
    if (!this.openKeys.includes(key)) return;
    this.answers.set(key, value);
    this.#changed();
  }

  release(value: unknown): void {
    this.#isReleased = true;
    this.#value = value;
    this.#changed();
  }

  /** It cannot go on. */
  fail(message: string): void {
    this.#failure = { code: -32_603, message };
    this.#changed();
  }

  cancel(): void {
    this.#isCancelled = true;
    this.cancelled.abort();
    this.#changed();
  }

  /** Resolves when it has ended. What only waits to be asked after does not wait any longer. */
  async ended(): Promise<void> {
    this.#polls = Number.MAX_SAFE_INTEGER;
    this.#settle();
    await this.#ended.promise;
  }

  /** The record, with what goes with its status in the extension. */
  record(): JsonObject {
    const { args, era } = this.#options;
    const { status } = this;
    const ttl = args.all['ttlMs'];
    const ttlMs = typeof ttl === 'number' ? ttl : null;
    const steps = args.number('steps', 0);
    const step = `step ${String(Math.min(this.#polls, steps))} of ${String(steps)}`;
    const message = args.string('message', steps > 0 && this.#polls > 0 ? step : '');
    const poll = args.all['pollMs'];
    const pollMs = typeof poll === 'number' ? poll : 100;
    return {
      taskId: this.id,
      status,
      ...(message === '' ? {} : { statusMessage: message }),
      createdAt: this.#createdAt,
      lastUpdatedAt: new Date().toISOString(),
      ...(era === 'modern' ? { ttlMs, pollIntervalMs: pollMs } : { ttl: ttlMs, pollInterval: pollMs }),
    };
  }

  #changed(): void {
    this.#settle();
    this.#options.changed();
  }

  #settle(): void {
    if (this.status !== 'working' && this.status !== 'input_required') this.#ended.resolve(undefined);
  }
}

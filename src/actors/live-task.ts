/** A task beside its call: what must not be in a context (SPEC ER-3). */
import { tasksExtension } from '../domain/task.ts';
import type { TaskStyle } from '../domain/task.ts';
import { isRecord } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Link } from '../domain/link.ts';
import { hasPath } from './call-params.ts';
import type { CallRecord, CallTask } from './call-record.ts';
import type { Effects } from './effects.ts';
import { isUsable } from './servers.ts';

/** Owns the ways in which a server tells of one task by itself, and the way to tell it that nobody waits. */
export class LiveTask implements CallTask {
  readonly id: string;
  readonly style: TaskStyle;
  /** The link it was made on. */
  readonly madeOn: Link | undefined;
  /** Hears what the server tells of the task by itself. */
  listener: ((task: JsonObject) => void) | undefined;
  readonly #effects: Effects;
  readonly #record: CallRecord;
  readonly #before: CallTask | undefined;
  #told: string | null = null;
  #isCancelled = false;

  constructor(effects: Effects, record: CallRecord, task: { readonly id: string; readonly style: TaskStyle }) {
    this.#effects = effects;
    this.#record = record;
    this.id = task.id;
    this.style = task.style;
    this.madeOn = record.link;
    this.#before = record.task;
  }

  /** Tells the caller what the server says of the task, once. Numbers are those of its last real progress. */
  tell(message: string | null): void {
    if (message === null || message === this.#told) return;
    this.#told = message;
    this.#effects.calls.onProgress(this.#record, { ...(this.#record.progress ?? { progress: 0 }), message });
  }

  hear(task: JsonObject): void {
    this.listener?.(task);
  }

  cancel(): void {
    const { connection } = this.#record;
    if (this.#isCancelled || connection?.link === undefined || !isUsable(connection)) return;
    this.#isCancelled = true;
    cancelTask(connection.link, this.id, this.style);
  }

  end(): void {
    this.#before?.end();
    this.listener = undefined;
  }
}

/** Tells a server that nobody waits for a task any more, if it can be told. Nobody waits for what it says to that. */
export function cancelTask(link: Link, taskId: string, style: TaskStyle): void {
  if (style === 'core' && !hasPath(link.info.capabilities, ['tasks', 'cancel'])) return;
  link.send({ method: 'tasks/cancel', params: { taskId } }, deaf);
}

/** Whether a server says that it tells of tasks to those who ask it to. */
export function tellsOfTasks({ info }: Link): boolean {
  const { extensions } = info.capabilities;
  return info.era === 'modern' && isRecord(extensions) && Object.hasOwn(extensions, tasksExtension);
}

/** Hears nothing. */
export const deaf = { onResult: nothing, onFailure: nothing };

function nothing(): void {}

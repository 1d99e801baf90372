/**
 * Where tasks begin: what asks after them is loaded with the first one, since few threads ever meet any (PE-5).
 *
 * Owns the places in the charts of calls that a task's chart goes into.
 */
import { messageOf } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import type { TaskStyle } from '../domain/task.ts';
import type { CallRecord } from './call-record.ts';
import type { Effects } from './effects.ts';
import type { begin } from './tasks.ts';

/** The actors of a chart, by slot. */
export type ActorSlots = { task?: unknown };

const slots = new Set<ActorSlots>();

/** Notes a chart of calls: its slot `task` is filled with the first task. */
export function addTaskSlot(actors: ActorSlots): void {
  slots.add(actors);
}

/** Loads what tasks need. A thread that is restored with tasks in it waits for this first. */
export async function loadTasks(): Promise<typeof begin> {
  const tasks = await import('./tasks.ts');
  for (const actors of slots) actors.task = tasks.taskLogic;
  return tasks.begin;
}

/** A server made a task of a call. Never rejects. */
export async function beginTask(
  effects: Effects,
  record: CallRecord,
  made: { readonly task: JsonObject; readonly style: TaskStyle },
): Promise<void> {
  try {
    const beginLoaded = await loadTasks();
    beginLoaded(effects, record, made);
  } catch (error) {
    const message = `The task of "${record.input.name}" cannot be followed: ${messageOf(error)}`;
    effects.calls.fail(record, { code: 'internal', message, retryable: false, outcome: 'unknown' });
  }
}

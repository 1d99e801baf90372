/** Tasks: a call whose server answers later, and is asked how it is until then (SPEC ER-3). */
import type { Failure } from './errors.ts';
import { isJsonObject } from './json.ts';
import type { JsonObject } from './json.ts';

/** How a task is. The last three are its end. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** The key under which servers of 2025-11-25 say which task a message belongs to. */
export const relatedTaskKey = 'io.modelcontextprotocol/related-task';

/** The extension of 2026-07-28, as both sides name it among their capabilities. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

/**
 * Which of the two protocols of tasks a server speaks.
 *
 * `core`: 2025-11-25, where the client asks for a task and fetches its result. `extension`: 2026-07-28, where the server
 * decides, and the task carries its questions and its result.
 */
export type TaskStyle = 'core' | 'extension';

/** What a server last said of a task. */
export interface TaskRecord {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  /** How long the server keeps it, from its creation. Absent or null: it did not say, or without limit. */
  readonly ttlMs?: number | null;
  readonly pollIntervalMs?: number;
}

/** How a task ended, as its call hears it. */
export type TaskEnd =
  | { readonly kind: 'result'; readonly result: JsonObject }
  | {
      readonly kind: 'failure';
      readonly failure: Failure;
      /** The JSON-RPC error the call ended with, if that is why. */
      readonly rpc?: { readonly code: number; readonly message: string; readonly data?: unknown };
    };

/** How often a task is asked after: what its server wishes, within these bounds. */
export const pollBounds = { leastMs: 100, usualMs: 1_000, mostMs: 60_000 } as const;

/** The wait between two questions after a task. */
export function pollDelayMs({ pollIntervalMs }: Pick<TaskRecord, 'pollIntervalMs'>): number {
  const wished = pollIntervalMs ?? pollBounds.usualMs;
  return Math.min(Math.max(wished, pollBounds.leastMs), pollBounds.mostMs);
}

/** Whether a task has ended. */
export function isTerminal(status: TaskStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** The id of the task a message of a 2025-11-25 server belongs to. */
export function relatedTaskOf(params: JsonObject): string | undefined {
  const meta = params['_meta'];
  const related = isJsonObject(meta) ? meta[relatedTaskKey] : undefined;
  const id = isJsonObject(related) ? related['taskId'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** Reads what a server says of a task: its record, its end, what it asks. A text says what is wrong with it (SPEC ER-3). */
import type { Failure } from '../domain/errors.ts';
import { isJsonObject } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type { TaskEnd, TaskRecord, TaskStatus } from '../domain/task.ts';
import { clip, parseRpcError, textLimits } from '../mcp/wire.ts';

const statuses: ReadonlySet<unknown> = new Set(['working', 'input_required', 'completed', 'failed', 'cancelled']);

/** The longest time a server can name, in milliseconds: longer ones are as good as no limit. */
const longestMs = 2 ** 52;

/** Reads a record; `taskId` is the one that was asked for. */
export function readTask(task: JsonObject, taskId?: string): TaskRecord | string {
  const id = task['taskId'];
  if (typeof id !== 'string' || id === '' || id.length > textLimits.label)
    return `an id of at most ${String(textLimits.label)} characters in "taskId", got ${shapeOf(id)}`;
  if (taskId !== undefined && id !== taskId) return 'the task that was asked for, got another one';
  const { status, statusMessage } = task;
  if (!isStatus(status))
    return `a status of working, input_required, completed, failed or cancelled, got ${shapeOf(status)}`;
  const ttlMs = timeOf(task['ttlMs'] ?? task['ttl']);
  const pollIntervalMs = timeOf(task['pollIntervalMs'] ?? task['pollInterval']);
  if (ttlMs === 'wrong') return 'a time to live in milliseconds, or null, got something else';
  if (pollIntervalMs === 'wrong') return 'a poll interval in milliseconds, got something else';
  return {
    taskId: id,
    status,
    ...(typeof statusMessage === 'string' ? { statusMessage: clip(statusMessage, textLimits.label) } : {}),
    ...(ttlMs === undefined ? {} : { ttlMs }),
    ...(pollIntervalMs === undefined ? {} : { pollIntervalMs }),
  };
}

/** How a task of the extension ended, if it has; a cancelled one has no more to say. */
export function readEnd(server: string, task: JsonObject): TaskEnd | undefined {
  const { status, result, error, statusMessage } = task;
  if (status === 'failed') return refusedBy(server, error, statusMessage);
  if (status !== 'completed') return undefined;
  if (isJsonObject(result)) return endOf(server, result);
  return failed(unreadable(server, 'the result of a task that is completed', shapeOf(result)));
}

/** The end of a task that brings a result: that of a call, and nothing that would begin anew. */
export function endOf(server: string, result: JsonObject): TaskEnd {
  const { resultType } = result;
  if (resultType === undefined || resultType === 'complete') return { kind: 'result', result };
  return failed(unreadable(server, 'the result of the call that became a task', `one of type ${shapeOf(resultType)}`));
}

/** The end of a task that brings a JSON-RPC error. */
export function refusedBy(server: string, error: unknown, statusMessage: unknown): TaskEnd {
  const rpc = parseRpcError(error);
  const more = typeof statusMessage === 'string' && statusMessage !== '' ? `: ${clip(statusMessage)}` : '';
  const said = rpc.message === '' ? '' : ` (${clip(rpc.message)})`;
  const message = `Server "${server}": expected a result of its task, got error ${String(rpc.code)}${said}${more}.`;
  return { kind: 'failure', failure: { code: 'protocol_error', message, retryable: false, outcome: 'failed' }, rpc };
}

/** What a server says of a task makes no sense; what became of the call is not known. */
export function unreadable(server: string, expected: string, got: string): Failure {
  const message = `Server "${server}": expected ${expected}, got ${got}. This is a fault of the server; the call may have run.`;
  return { code: 'protocol_error', message, retryable: false, outcome: 'unknown' };
}

function failed(failure: Failure): TaskEnd {
  return { kind: 'failure', failure };
}

function isStatus(value: unknown): value is TaskStatus {
  return statuses.has(value);
}

function timeOf(value: unknown): number | undefined | 'wrong' {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || Number.isNaN(value) || value < 0) return 'wrong';
  return value > longestMs ? undefined : value;
}

function shapeOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(clip(value, 80));
  return value === null || value === undefined ? String(value) : `a value of type ${typeof value}`;
}

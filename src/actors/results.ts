/** Reads what came back for a request: a result, a request for input, a task, or none of these. */
import { isTooDeep, maxDepth } from '../domain/depth.ts';
import type { Failure } from '../domain/errors.ts';
import { isJsonObject, isRecord } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type { TaskStyle } from '../domain/task.ts';

export type CheckedResult =
  | { readonly kind: 'complete'; readonly result: JsonObject }
  | { readonly kind: 'inputRequired' }
  | { readonly kind: 'task'; readonly task: JsonObject; readonly style: TaskStyle }
  | { readonly kind: 'bad'; readonly failure: Failure };

/** Checks a result lightly: its kind, and for a tool call that its content is content. `asTask`: it was sent as one. */
export function checkResult(method: string, server: string, result: JsonObject, asTask = false): CheckedResult {
  const { resultType } = result;
  // What is asked is read, and refused, question by question.
  const whole = resultType === 'input_required' ? { ...result, inputRequests: null } : result;
  if (isTooDeep(whole)) return tooDeep(server);
  if (resultType === 'input_required') return { kind: 'inputRequired' };
  if (resultType === 'task' && method === 'tools/call') return { kind: 'task', task: result, style: 'extension' };
  if (resultType !== undefined && resultType !== 'complete') {
    return bad(
      resultType === 'task' ? 'protocol_error' : 'unsupported',
      `Expected a result of server "${server}", got one of type ${JSON.stringify(resultType)}, which is not supported for "${method}".`,
    );
  }
  const complete = plain(result);
  if (method !== 'tools/call') return { kind: 'complete', result: complete };
  const { content } = complete;
  if (content === undefined && complete['structuredContent'] !== undefined)
    return { kind: 'complete', result: { content: [], ...complete } };
  if (Array.isArray(content) && content.every(isBlock)) return { kind: 'complete', result: complete };
  if (asTask && isJsonObject(complete['task'])) return { kind: 'task', task: complete['task'], style: 'core' };
  return bad(
    'protocol_error',
    `Expected server "${server}" to return { content: [{ type, … }] }, got ${shapeOf(content)} as its content. This is a fault of the server.`,
  );
}

/** The result without what only says that it is one. Most have nothing to leave out, and are not copied. */
function plain(result: JsonObject): JsonObject {
  if (!('resultType' in result)) return result;
  const { resultType, ...rest } = result;
  return resultType === undefined ? result : rest;
}

function isBlock(block: unknown): boolean {
  return isRecord(block) && typeof block['type'] === 'string';
}

function tooDeep(server: string): CheckedResult {
  return bad(
    'invalid_result',
    `Expected a result of server "${server}" of at most ${String(maxDepth)} levels, got a deeper one. Ask it for less at once.`,
  );
}

function bad(code: 'unsupported' | 'protocol_error' | 'invalid_result', message: string): CheckedResult {
  return { kind: 'bad', failure: { code, message, retryable: false, outcome: 'failed' } };
}

function shapeOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list with something else in it';
  return value === null ? 'null' : `a value of type ${typeof value}`;
}

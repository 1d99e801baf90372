/** What is told of a call: its stages and its progress. Requests other than tool calls are not told of. */
import { messageOf } from '../domain/errors.ts';
import type { Failure } from '../domain/errors.ts';
import type { CallFacts, CallOutcome } from '../domain/events.ts';
import { isoTime } from '../domain/question.ts';
import type { Progress } from '../domain/tool.ts';
import type { CallContext } from '../machines/call-context.ts';
import type { CallRecord } from './call-record.ts';
import type { CallRequest } from './call-request.ts';
import type { Facts } from './facts.ts';

/** The stages of a call that carry nothing else. */
export type CallStage = 'call.started' | 'call.paused' | 'call.resumed';

export function tellStage(facts: Facts, input: CallRequest, type: CallStage): void {
  if (isTold(facts, input)) facts.tell({ type, ...callFacts(input) });
}

export function tellEnd(
  facts: Facts,
  input: CallRequest,
  outcome: CallOutcome,
  more: { isError?: boolean; error?: Failure },
): void {
  if (isTold(facts, input)) facts.tell({ type: 'call.ended', ...callFacts(input), outcome, ...more });
}

/** Tells who listens, and who called: what they throw is theirs. */
export function tellProgress(facts: Facts, { input, onProgress }: CallRecord, progress: Progress): void {
  if (isTold(facts, input)) facts.tell({ type: 'call.progressed', ...callFacts(input), ...progress });
  const failed = (error: unknown): void => {
    facts.warn('listener_failed', `onProgress of "${input.name}" threw: ${messageOf(error)}. The call goes on.`);
  };
  try {
    const given: unknown = onProgress?.(progress);
    if (given instanceof Promise) given.catch(failed);
  } catch (error) {
    failed(error);
  }
}

/** When a running call times out, for the snapshot. */
export function deadlineOf({ runningSince, remainingMs }: CallContext): string | undefined {
  return runningSince === null ? undefined : isoTime(runningSince + remainingMs);
}

function isTold(facts: Facts, input: CallRequest): boolean {
  return facts.observed && input.method === 'tools/call';
}

/** What every event of a call names. */
function callFacts(input: CallRequest): CallFacts {
  const { step = '', call, request, name, server, tool } = input;
  return { step, call, ...(request === undefined ? {} : { request }), name, server, tool };
}

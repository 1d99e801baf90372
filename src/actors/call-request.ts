/** A call as it is asked for, and what its actor is given. */
import type { CallInput } from '../machines/call-context.ts';

/** A call before it is known whether there is a turn for it. */
export type CallRequest = Omit<CallInput, 'admitted' | 'at'>;

/** The input of a call that starts now. Written out: a spread of the request costs as much as its whole way (PE-1). */
export function callInputOf(request: CallRequest, admitted: boolean, at: number): CallInput {
  const { call, name, server, tool, generation, method, params, timeLimitMs } = request;
  const input: { -readonly [TKey in keyof CallInput]: CallInput[TKey] } = {
    call,
    name,
    server,
    tool,
    generation,
    method,
    params,
    timeLimitMs,
    admitted,
    at,
  };
  if (request.step !== undefined) input.step = request.step;
  if (request.request !== undefined) input.request = request.request;
  if (request.maxPauseMs !== undefined) input.maxPauseMs = request.maxPauseMs;
  if (request.sandboxState !== undefined) input.sandboxState = request.sandboxState;
  if (request.asTask !== undefined) input.asTask = request.asTask;
  if (request.approval !== undefined) input.approval = request.approval;
  return input;
}

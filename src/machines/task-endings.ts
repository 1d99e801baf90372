/** How tasks end when they bring no result: the failure the caller of the call reads. */
import type { Failure } from '../domain/errors.ts';
import type { Settlement } from '../domain/question.ts';
import { maxTaskQuestions } from './task-context.ts';
import type { TaskContext } from './task-context.ts';

const lookFirst = 'The call may have run: look before you try again.';

/** The server keeps a task for a time, and that time is over. */
export function taskExpired({ input, ttlMs }: TaskContext): Failure {
  const message = `Expected the task of "${input.name}" to end within the ${String(ttlMs)} ms that server "${input.server}" keeps it, and it did not. ${lookFirst}`;
  return { code: 'timeout', message, retryable: true, outcome: 'unknown' };
}

/** The server does not know the task any more: its time is over, its process is another one, or it is at fault. */
export function taskForgotten(
  context: TaskContext,
  { at, moved, why }: { readonly at: number; readonly moved: boolean; readonly why: string },
): Failure {
  if (context.expiresAt !== null && at >= context.expiresAt) return taskExpired(context);
  const { server, name } = context.input;
  if (moved) {
    const message = `The connection to server "${server}" was lost while it worked on "${name}", and what answers there now does not know the task (${why}). ${lookFirst}`;
    return { code: 'connection_lost', message, retryable: true, outcome: 'unknown' };
  }
  const message = `Expected server "${server}" to know the task it made of "${name}", and it does not (${why}). ${lookFirst}`;
  return { code: 'protocol_error', message, retryable: false, outcome: 'unknown' };
}

/** The server, or somebody else it listens to, cancelled the task. */
export function taskCancelled({ input, statusMessage }: TaskContext): Failure {
  const why = statusMessage === null ? '' : `: ${statusMessage}`;
  const message = `Server "${input.server}" cancelled its task of "${input.name}"${why}.`;
  return { code: 'aborted', message, retryable: false, outcome: 'failed' };
}

/** The task wants a model, and did not get one (ER-4). */
export function taskRefused({ input }: TaskContext, settlement: Settlement): Failure {
  const message = `Server "${input.server}" asked for sampling during "${input.name}", and it was not approved: ${settlement.reason ?? settlement.outcome}.`;
  return { code: 'not_approved', message, retryable: false, outcome: 'failed' };
}

/** It failed too often to ask the server how the task is. */
export function taskUnheard({ input }: TaskContext, failure: Failure): Failure {
  const message = `Expected server "${input.server}" to say how its task of "${input.name}" is, and it did not, several times: ${failure.message} ${lookFirst}`;
  return { code: failure.code, message, retryable: failure.retryable, outcome: 'unknown' };
}

/** What works on the task failed inside. */
export function taskBroken({ input }: TaskContext): Failure {
  const message = `The task of "${input.name}" on server "${input.server}" could not be followed inside Holdfast; the call was given up. This is a fault of Holdfast.`;
  return { code: 'internal', message, retryable: false, outcome: 'unknown' };
}

/** No person answers that much. */
export function taskAsksTooMuch({ input }: TaskContext): Failure {
  const message = `Expected server "${input.server}" to ask at most ${String(maxTaskQuestions)} questions during "${input.name}", and it asked more. This is a fault of the server.`;
  return { code: 'limit_exceeded', message, retryable: false, outcome: 'failed' };
}

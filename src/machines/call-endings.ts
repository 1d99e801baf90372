/** How calls end when they do not complete: the failure each caller reads. */
import type { CallErrorOutcome } from '../domain/errors.ts';
import type { Settlement } from '../domain/question.ts';
import { maxRounds } from './call-context.ts';
import type { CallContext, CallEnding } from './call-context.ts';

export function aborted(context: CallContext, reason: string): CallEnding {
  return {
    outcome: 'aborted',
    failure: {
      code: 'aborted',
      message: `The call of "${context.input.name}" was aborted: ${reason}.`,
      retryable: false,
      outcome: sentOutcome(context),
    },
  };
}

function sentOutcome(context: CallContext): 'not-sent' | 'unknown' {
  return context.runningSince === null && context.pausedSince === null ? 'not-sent' : 'unknown';
}

export function timedOut(context: CallContext): CallEnding {
  const message = `Expected "${context.input.name}" on server "${context.input.server}" to end within ${String(context.input.timeLimitMs)} ms, and it did not. Raise callTimeoutMs or timeoutMs if it needs longer.`;
  return { outcome: 'timedOut', failure: { code: 'timeout', message, retryable: true, outcome: 'unknown' } };
}

export function tooManyRounds(context: CallContext): CallEnding {
  const message = `Expected server "${context.input.server}" to be done asking after ${String(maxRounds)} rounds, and it asked again for "${context.input.name}". This is a fault of the server.`;
  return { outcome: 'failed', failure: { code: 'limit_exceeded', message, retryable: false, outcome: 'failed' } };
}

export function notApproved(context: CallContext, settlement: Settlement): CallEnding {
  const message = `The call of "${context.input.name}" on server "${context.input.server}" was not approved: ${settlement.reason ?? settlement.outcome}. It was not sent.`;
  return { outcome: 'not-sent', failure: { code: 'not_approved', message, retryable: false, outcome: 'not-sent' } };
}

export function refused(context: CallContext, settlement: Settlement): CallEnding {
  const why = settlement.reason ?? settlement.outcome;
  if (context.round?.waiting[settlement.token]?.ends === 'authorization') {
    const message = `Server "${context.input.server}" wants a sign-in before "${context.input.name}", and it was not done: ${why}. The call did not run.`;
    return {
      outcome: 'not-sent',
      failure: { code: 'authorization_declined', message, retryable: false, outcome: 'not-sent' },
    };
  }
  const message = `Server "${context.input.server}" asked for sampling during "${context.input.name}", and it was not approved: ${why}.`;
  return { outcome: 'failed', failure: { code: 'not_approved', message, retryable: false, outcome: 'failed' } };
}

export function stillUnauthorized(context: CallContext, outcome: CallErrorOutcome = 'failed'): CallEnding {
  const message = `Expected server "${context.input.server}" to take "${context.input.name}" after the sign-in, and it asked for it again. Check the account that signed in.`;
  return { outcome: 'failed', failure: { code: 'auth_required', message, retryable: false, outcome } };
}

/** How the open questions of a call that ended are settled: expired if its server went away (EL-3). */
export function endOfQuestions({ ending }: CallContext): { reason: string; expired: boolean } {
  const failure = ending === null || ending.outcome === 'completed' ? undefined : ending.failure;
  const expired = failure?.code === 'connection_lost' || failure?.code === 'session_lost';
  return {
    reason: failure === undefined ? 'its call ended' : expired ? 'its server went away' : failure.message,
    expired,
  };
}

export function broken(context: CallContext): CallEnding {
  const message = `A question or task of "${context.input.name}" on server "${context.input.server}" failed inside Holdfast; the call was given up. This is a fault of Holdfast.`;
  return { outcome: 'failed', failure: { code: 'internal', message, retryable: false, outcome: 'failed' } };
}

/** What is known of a call that met a failure (SPEC RT-7, RT-10). */
import type { CallErrorOutcome, ErrorCode, Failure } from '../domain/errors.ts';
import type { CallRecord } from './calls.ts';
import type { LiveConnection } from './servers.ts';

/** How long a call waits for a server on its way up, at most. */
export const reconnectLimitMs = 10_000;

const notSentCodes: ReadonlySet<ErrorCode> = new Set([
  'server_unavailable',
  'session_lost',
  'auth_required',
  'invalid_argument',
  'invalid_arguments',
]);

/** The outcome that goes with a code, where the link did not say. */
export function failureOutcome(code: ErrorCode): CallErrorOutcome {
  if (code === 'connection_lost') return 'unknown';
  return notSentCodes.has(code) ? 'not-sent' : 'failed';
}

/** Whether a call found no session, or no server that could be let go of meanwhile: it is worth a try on the next link. */
export function foundNothing(failure: Failure, status: number | undefined, isLetGo: boolean): boolean {
  if (failure.code === 'session_lost') return true;
  return failure.code === 'server_unavailable' && failure.outcome === 'not-sent' && status === undefined && isLetGo;
}

/** The failure of a call whose server cannot take it; one that was with the server before may have run (RT-10). */
export function unavailable({ input, wasSent }: CallRecord, connection: LiveConnection | undefined): Failure {
  const state = connection?.state ?? 'not part of the runtime of this step';
  const reason = connection?.failure === undefined ? '' : ` Its last failure: ${connection.failure.message}`;
  const fate = wasSent
    ? 'The call was sent before and may have run; look before you try again.'
    : 'The call was not sent; try again when it is ready.';
  const message = `Expected server "${input.server}" to be ready for "${input.name}", and it is ${state}. ${fate}${reason}`;
  return { code: 'server_unavailable', message, retryable: true, outcome: wasSent ? 'unknown' : 'not-sent' };
}

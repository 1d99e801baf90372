/** Pins the stable error codes. Callers branch on them: adding one is a decision, renaming one breaks a user. */
import { expect, test } from 'vitest';
import { errorCodes } from '../../src/domain/errors.ts';

test('the error codes are the documented ones, each once', () => {
  expect([...errorCodes]).toEqual([
    'invalid_request',
    'unknown_request',
    'invalid_argument',
    'unknown_step',
    'step_ended',
    'unknown_tool',
    'tool_denied',
    'invalid_arguments',
    'not_approved',
    'authorization_declined',
    'auth_required',
    'timeout',
    'aborted',
    'thread_closed',
    'ready_timeout',
    'runtime_failed',
    'server_unavailable',
    'server_misconfigured',
    'connection_lost',
    'session_lost',
    'protocol_error',
    'invalid_result',
    'limit_exceeded',
    'config_syntax',
    'config_invalid',
    'store_locked',
    'snapshot_version',
    'unsupported',
    'internal',
  ]);
  expect(new Set(errorCodes).size).toBe(errorCodes.length);
});

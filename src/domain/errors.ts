/** Every failure Holdfast reports: one class, stable codes, and the plain record a snapshot keeps of it. */
import { withoutDump } from './issue-dumps.ts';

/** The stable error codes (SPEC "Error codes"). Frozen by a test. */
export const errorCodes = [
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
] as const;

/** One of the stable error codes. */
export type ErrorCode = (typeof errorCodes)[number];

/**
 * What is known about a call that ended in an error.
 *
 * - `not-sent` the server never got the call.
 * - `unknown` it was on the wire when the connection went; it may have run.
 * - `failed` the server, or Holdfast on its result, said no.
 */
export type CallErrorOutcome = 'not-sent' | 'unknown' | 'failed';

/** One thing that is wrong with a value: where, and what was expected. */
export interface Issue {
  /** JSON Pointer into the value, `''` for the whole. */
  readonly path: string;
  readonly message: string;
  /** What came, where the message cannot hold it; redacted. */
  readonly value?: unknown;
}

/** What an error carries beside its code and message. */
export interface ErrorDetails {
  /** Whether the same request may succeed later. Default by code, see {@link isRetryable}. */
  readonly retryable?: boolean;
  readonly outcome?: CallErrorOutcome;
  readonly issues?: readonly Issue[];
  /** The last lines a server wrote to stderr, redacted. */
  readonly stderr?: string;
  /** How long the server asked to be left alone (`Retry-After`), counted from when it said so. */
  readonly retryAfterMs?: number;
  /** Plain data for the reader of the error; redacted. */
  readonly data?: unknown;
  readonly cause?: unknown;
}

/** The one error class Holdfast throws and rejects with. Branch on `code`, never on `message`. */
export class HoldfastError extends Error {
  override readonly name: string = 'HoldfastError';
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly outcome: CallErrorOutcome | undefined;
  readonly issues: readonly Issue[] | undefined;
  readonly stderr: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly data: unknown;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.retryable = details.retryable ?? isRetryable(code);
    this.outcome = details.outcome;
    this.issues = details.issues;
    this.stderr = details.stderr;
    this.retryAfterMs = details.retryAfterMs;
    this.data = details.data;
  }
}

/** An error as plain data: what machines, snapshots and events keep. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly outcome?: CallErrorOutcome;
  readonly issues?: readonly Issue[];
  readonly stderr?: string;
  /** How long the server asked to be left alone. */
  readonly retryAfterMs?: number;
}

/** Makes the plain record of any thrown value. What is not a `HoldfastError` becomes `internal`. */
export function toFailure(error: unknown, fallback: ErrorCode = 'internal'): Failure {
  if (isOurs(error)) {
    return {
      code: error.code,
      message: error.message,
      retryable: error.retryable,
      ...(error.outcome === undefined ? {} : { outcome: error.outcome }),
      ...(error.issues === undefined ? {} : { issues: error.issues }),
      ...(error.stderr === undefined ? {} : { stderr: error.stderr }),
      ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    };
  }
  return { code: fallback, message: messageOf(error), retryable: isRetryable(fallback) };
}

/** A value whose traps throw is none of ours. */
function isOurs(error: unknown): error is HoldfastError {
  try {
    return error instanceof HoldfastError;
  } catch {
    return false;
  }
}

/** Makes the error a caller sees from the record a machine kept. */
export function toError(failure: Failure): HoldfastError {
  return new HoldfastError(failure.code, failure.message, failure);
}

/** The message of any thrown value, one that has no text too. Never throws. */
export function messageOf(error: unknown): string {
  try {
    return withoutDump(String(error instanceof Error ? error.message : error));
  } catch {
    return 'a value without text';
  }
}

const retryableCodes: ReadonlySet<ErrorCode> = new Set([
  'timeout',
  'ready_timeout',
  'runtime_failed',
  'server_unavailable',
  'connection_lost',
  'session_lost',
  'limit_exceeded',
  'store_locked',
]);

/** Whether an error of this code is worth the same request again, later. */
export function isRetryable(code: ErrorCode): boolean {
  return retryableCodes.has(code);
}

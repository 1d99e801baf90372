/** The error of a reply (SPEC CL-2, "Shapes"). */
import { type CallErrorOutcome, type ErrorCode, HoldfastError, type Issue } from '../../index.ts';

/** What a reply says of an error. */
export interface ErrorRecord {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly outcome?: CallErrorOutcome;
  readonly issues?: readonly Issue[];
  /** The last lines of a server's stderr, where the error is about its start or its end. */
  readonly stderr?: string;
}

/** Makes the record of anything that was thrown. */
export function errorRecord(error: unknown): ErrorRecord {
  if (!(error instanceof HoldfastError))
    return { code: 'internal', message: error instanceof Error ? error.message : String(error), retryable: false };
  const { code, message, retryable, outcome, issues, stderr } = error;
  return {
    code,
    message,
    retryable,
    ...(outcome === undefined ? {} : { outcome }),
    ...(issues === undefined ? {} : { issues }),
    ...(stderr === undefined ? {} : { stderr }),
  };
}

/** A command that was written wrongly: its message goes to stderr, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The exit codes of the command line. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  storeLocked: 3,
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const;

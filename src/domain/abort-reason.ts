/** Why a signal aborted, in words that fit after "was aborted:". */

/** What the caller gave `abort` as text; without one, that it was the signal. */
export function abortReason(signal: AbortSignal): string {
  const reason: unknown = signal.reason;
  return typeof reason === 'string' && reason !== '' ? reason : 'its signal was aborted';
}

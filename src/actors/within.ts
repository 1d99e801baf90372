/** Waits for what other people's code does, for so long and no longer. */
import type { Clock } from '../api.ts';

/** How long a wait may last. Once `signal` aborts nobody looks at the clock any more. */
export interface WaitLimit {
  readonly ms: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** What `work` comes to, or what `late` gives when the time is up; what `work` comes to after that is ignored. */
export function within<TResult>(
  work: Promise<TResult>,
  { ms, clock, signal }: WaitLimit,
  late: () => TResult,
): Promise<TResult> {
  if (signal.aborted) return work;
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', end);
    };
    const timer = clock.setTimeout(() => {
      end();
      resolve(late());
    }, ms);
    signal.addEventListener('abort', end);
    work.finally(end).then(resolve, reject);
  });
}

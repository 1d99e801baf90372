/** Waiting for the first runtime of a thread (SPEC RT-6). */
import type { Clock } from './api.ts';
import type { Publications } from './actors/publications.ts';
import { abortReason } from './domain/abort-reason.ts';
import { HoldfastError } from './domain/errors.ts';
import type { ThreadSnapshot } from './domain/snapshot.ts';

export interface ReadyWait {
  readonly clock: Clock;
  readonly publications: Publications;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly snapshot: () => ThreadSnapshot;
}

/** Resolves when a runtime is current; rejects when it failed, the time is over, the signal aborts or the thread closes. */
export function waitReady({ clock, publications, timeoutMs, signal, snapshot }: ReadyWait): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortedError('Waiting for the first runtime', signal));
      return;
    }
    const settle =
      <TArgs extends readonly unknown[]>(then: (...args: TArgs) => void) =>
      (...args: TArgs): void => {
        clock.clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        stop?.();
        then(...args);
      };
    const onAbort = settle(() => reject(abortedError('Waiting for the first runtime', signal)));
    const timer = clock.setTimeout(
      settle(() => reject(notReady(timeoutMs, snapshot()))),
      timeoutMs,
    );
    let stop: (() => void) | undefined;
    signal?.addEventListener('abort', onAbort, { once: true });
    stop = publications.whenReady({ resolve: settle(resolve), reject: settle(reject) });
  });
}

/** The error of what its own signal aborted. */
export function abortedError(what: string, signal: AbortSignal | undefined): HoldfastError {
  return new HoldfastError(
    'aborted',
    `${what} was aborted: ${signal === undefined ? 'its caller gave up' : abortReason(signal)}.`,
  );
}

function notReady(timeoutMs: number, { servers }: ThreadSnapshot): HoldfastError {
  const states = servers.map(({ name, state }) => `"${name}" is ${state}`).join(', ');
  return new HoldfastError(
    'ready_timeout',
    `Expected the first runtime within ${String(timeoutMs)} ms, and it is not there: ${states === '' ? 'no server has begun' : states}. Raise timeoutMs or limits.readyTimeoutMs, or see why the server is slow.`,
  );
}

/**
 * One abort listener a signal, however many calls share it: no listener warnings, no cost that grows (SPEC PE-4).
 *
 * - G1 A signal no call waits on has no listener after one turn of the event loop: a signal made by `AbortSignal.any` is kept
 *   by the runtime for as long as somebody listens to it.
 */

export interface Signals {
  /** Runs `onAbort` when the signal aborts. The returned function lets go. */
  listen(signal: AbortSignal, onAbort: () => void): () => void;
}

interface Entry {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

/** Makes the table of the signals of one thread. */
export function createSignals(): Signals {
  const entries = new Map<AbortSignal, Entry>();
  // Signals no call waits on. Not let go of at once: the next call on the same signal comes in the same turn as a rule.
  const idle = new Set<AbortSignal>();

  function entryOf(signal: AbortSignal): Entry {
    const known = entries.get(signal);
    if (known !== undefined) return known;
    const callbacks = new Set<() => void>();
    const listener = (): void => {
      entries.delete(signal);
      for (const callback of callbacks) callback();
    };
    const entry = { callbacks, listener };
    entries.set(signal, entry);
    signal.addEventListener('abort', listener, { once: true });
    return entry;
  }

  function sweep(): void {
    for (const signal of idle) {
      const entry = entries.get(signal);
      if (entry === undefined || entry.callbacks.size > 0) continue;
      entries.delete(signal);
      signal.removeEventListener('abort', entry.listener);
    }
    idle.clear();
  }

  function letGo(signal: AbortSignal): void {
    if (idle.size === 0) setImmediate(sweep);
    idle.add(signal);
  }

  return {
    listen(signal, onAbort) {
      const { callbacks } = entryOf(signal);
      callbacks.add(onAbort);
      return () => {
        if (callbacks.delete(onAbort) && callbacks.size === 0) letGo(signal);
      };
    },
  };
}

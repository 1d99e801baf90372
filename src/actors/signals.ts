/** One abort listener a signal, however many calls share it: no listener warnings, no cost that grows (SPEC PE). */

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
  const entries = new WeakMap<AbortSignal, Entry>();

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

  return {
    listen(signal, onAbort) {
      const { callbacks } = entryOf(signal);
      callbacks.add(onAbort);
      return () => {
        callbacks.delete(onAbort);
      };
    },
  };
}

/** Small questions about unknown values, for the whole command line. */

/** Tells whether a value is an object with keys: not null, not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A promise and the function that resolves it. */
export interface Deferred<TValue> {
  readonly promise: Promise<TValue>;
  readonly resolve: (value: TValue) => void;
}

/** Makes a promise that somebody else resolves. */
export function deferred<TValue>(): Deferred<TValue> {
  let settle: (value: TValue) => void = ignore;
  const promise = new Promise<TValue>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value) => settle(value) };
}

function ignore(): void {
  // Replaced before anybody can call it.
}

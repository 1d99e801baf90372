/** A promise settled from outside: what tests use to say when something happens. */

/** A promise with its own `resolve` and `reject`. */
export interface Deferred<TValue> {
  readonly promise: Promise<TValue>;
  /** Whether `resolve` or `reject` was called. */
  readonly settled: boolean;
  /** Settles the promise. Only the first of `resolve` and `reject` counts. */
  resolve(value: TValue): void;
  /** Settles the promise with an error. Only the first of `resolve` and `reject` counts. */
  reject(reason: unknown): void;
}

/**
 * Makes a promise that the test settles.
 *
 * A rejection nobody awaits is not reported as unhandled.
 */
export function deferred<TValue = void>(): Deferred<TValue> {
  let settle: ((value: TValue) => void) | undefined;
  let fail: ((reason: unknown) => void) | undefined;
  let settled = false;
  const promise = new Promise<TValue>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  promise.catch(() => undefined);
  return {
    promise,
    get settled() {
      return settled;
    },
    resolve(value) {
      settled = true;
      settle?.(value);
    },
    reject(reason) {
      settled = true;
      fail?.(reason);
    },
  };
}

/** Small questions about unknown values, for the whole command line. */

/** Tells whether a value is an object with keys: not null, not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What an unknown value is, in words: for what came instead of what was expected. Never its text: that may be a secret. */
export function nameOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** The same, but with text itself, where it is one of a few words. */
export function wordOrNameOf(value: unknown): string {
  return typeof value === 'string' && value.length <= 60 ? JSON.stringify(value) : nameOf(value);
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

/** Copies of plain data that nobody can change: what is handed out is not what is kept. */
import { isRecord } from './json.ts';

/** Deeper than this, a value is left out: nothing that is kept here is that deep. */
const maxDepth = 512;

/**
 * A deep, frozen copy of plain data. What is frozen already is taken as it is: data made here is frozen all through.
 *
 * What is neither a list nor a plain object stays the same value.
 */
export function frozenCopy<TValue>(value: TValue): TValue;
export function frozenCopy(value: unknown): unknown {
  return copyOf(value, 0);
}

function copyOf(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (depth > maxDepth) return undefined;
  if (Array.isArray(value)) return Object.freeze(value.map((entry: unknown) => copyOf(entry, depth + 1)));
  if (!isRecord(value) || !isPlain(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, entry] of Object.entries(value)) define(copy, key, copyOf(entry, depth + 1));
  return Object.freeze(copy);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Sets a key as a key, `__proto__` too. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/** One text for equal data, whatever order its keys were made in: how two states are told apart. */
import { HoldfastError } from '../../domain/errors.ts';

/**
 * Writes plain data as JSON with sorted keys; values that are undefined are left out.
 *
 * `rename` maps every text, keys included: give it to treat states alike that differ only in names.
 *
 * @throws HoldfastError `invalid_argument` for what JSON cannot carry: it would not survive being saved (H9).
 */
export function canonicalJson(value: unknown, rename: (text: string) => string = same): string {
  return write(value, rename) ?? 'null';
}

/** `undefined` for what JSON leaves out. */
function write(value: unknown, rename: (text: string) => string): string | undefined {
  if (typeof value === 'string') return JSON.stringify(rename(value));
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return JSON.stringify(value);
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return `[${value.map((item) => write(item, rename) ?? 'null').join(',')}]`;
  if (!isPlainObject(value)) throw notPlain(value);
  const entries: string[] = [];
  for (const key in value) {
    const text = write(value[key], rename);
    if (text !== undefined) entries.push(`${JSON.stringify(rename(key))}:${text}`);
  }
  return `{${entries.toSorted().join(',')}}`;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function notPlain(value: unknown): HoldfastError {
  const kind = typeof value === 'object' && value !== null ? value.constructor.name : typeof value;
  return new HoldfastError(
    'invalid_argument',
    `Expected plain data in a saved state, got a ${kind}. It would be lost when the state is saved; keep data only.`,
  );
}

function same(text: string): string {
  return text;
}

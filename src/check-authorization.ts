/** Checks what a caller gives for signing in, before anything begins. */
import { HoldfastError } from './domain/errors.ts';
import { isRecord, shown } from './domain/json.ts';

/** The fields of {@link AuthorizationOptions} that are text. */
const texts = ['clientName', 'clientUri', 'clientMetadataUrl', 'redirectUrl'];
const methods = ['get', 'set', 'delete', 'exclusively'];

/** @throws HoldfastError `invalid_argument` */
export function checkAuthorization(given: unknown): void {
  if (given === undefined) return;
  if (!isRecord(given)) throw invalid('authorization', 'an object', given);
  const { credentials, signInTimeoutMs } = given;
  for (const field of texts) {
    const value = given[field];
    if (value !== undefined && typeof value !== 'string') throw invalid(`authorization.${field}`, 'text', value);
  }
  if (credentials !== undefined && !isStore(credentials))
    throw invalid('authorization.credentials', `a store with ${methods.join(', ')}`, credentials);
  const isTime = typeof signInTimeoutMs === 'number' && Number.isInteger(signInTimeoutMs) && signInTimeoutMs > 0;
  if (signInTimeoutMs !== undefined && (!isTime || signInTimeoutMs >= 2 ** 31))
    throw invalid('authorization.signInTimeoutMs', 'whole milliseconds from 1 to 2147483647', signInTimeoutMs);
}

function isStore(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    methods.every((name) => typeof Reflect.get(value, name) === 'function')
  );
}

function invalid(what: string, wanted: string, got: unknown): HoldfastError {
  return new HoldfastError('invalid_argument', `Expected "${what}" to be ${wanted}, got ${shown(got)}.`);
}

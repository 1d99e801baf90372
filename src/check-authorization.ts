/** Checks what a caller gives for signing in, before anything begins. */
import { checkName, checkTimeout } from './check-arguments.ts';
import type { AuthorizationOptions } from './domain/authorization.ts';
import { HoldfastError } from './domain/errors.ts';
import { shown } from './domain/json.ts';

const methods = ['get', 'set', 'delete', 'exclusively'] as const;

/** @throws HoldfastError `invalid_argument` for a store that is none, a text that is none, or a time that is none. */
export function checkAuthorization({ credentials, signInTimeoutMs, ...texts }: AuthorizationOptions = {}): void {
  checkTimeout(signInTimeoutMs, 'authorization.signInTimeoutMs');
  for (const [field, value] of Object.entries<unknown>(texts))
    if (value !== undefined) checkName(value, `authorization.${field}`);
  if (credentials === undefined || methods.every((name) => typeof credentials[name] === 'function')) return;
  const wanted = `a store with ${methods.join(', ')}`;
  throw new HoldfastError(
    'invalid_argument',
    `Expected authorization.credentials to be ${wanted}, got ${shown(credentials)}.`,
  );
}

/** Checks what a thread is asked to sign in to. */
import { checkAbortSignal, checkName, checkOptions } from './check-arguments.ts';
import { HoldfastError } from './domain/errors.ts';
import { shown } from './domain/json.ts';
import type { AuthorizeOptions } from './api.ts';

/** @throws HoldfastError `invalid_argument` for what `thread.authorize` cannot be given. */
export function checkSignIn(server: unknown, options: AuthorizeOptions): asserts server is string {
  checkName(server, 'server');
  checkOptions(options, 'authorize');
  checkAbortSignal(options.signal);
  const scopes: unknown = options.scopes;
  const anew: unknown = options.anew;
  const areTexts = Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string');
  if (scopes !== undefined && !areTexts) throw invalid('scopes', 'a list of strings', scopes);
  if (anew !== undefined && typeof anew !== 'boolean') throw invalid('anew', 'true or false', anew);
}

/** @throws HoldfastError `invalid_argument` for what is no url. */
export function checkCallbackUrl(url: unknown): asserts url is string {
  if (typeof url !== 'string' || !URL.canParse(url))
    throw invalid('callbackUrl', 'the whole url a browser was sent back to', url);
}

function invalid(what: string, wanted: string, got: unknown): HoldfastError {
  return new HoldfastError('invalid_argument', `Expected "${what}" to be ${wanted}, got ${shown(got)}.`);
}

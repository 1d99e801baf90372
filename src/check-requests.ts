/** Checks what a thread is asked for, before anything of it is begun. */
import { checkAbortSignal, checkOptions, checkTimeout } from './check-arguments.ts';
import type { ReadyOptions, ReplaceOptions } from './api.ts';
import { checkBesideServers, checkServers } from './check-servers.ts';
import { HoldfastError } from './domain/errors.ts';
import { isRecord, shown } from './domain/json.ts';

const publishModes: readonly unknown[] = [undefined, 'settled', 'immediate'];

/** @throws HoldfastError `invalid_argument` for options of a wait that are none. */
export function checkWait(options: ReadyOptions, of: string): void {
  checkOptions(options, of);
  checkTimeout(options.timeoutMs);
  checkAbortSignal(options.signal);
}

/** @throws HoldfastError `config_invalid` for servers or a catalog that cannot be used, `invalid_argument` for options. */
export function checkReplacement(given: unknown, options: ReplaceOptions): void {
  checkOptions(options, 'replaceRuntime');
  checkAbortSignal(options.signal);
  if (!publishModes.includes(options.publish)) {
    const message = `Expected publish to be "settled" or "immediate", got ${shown(options.publish)}.`;
    throw new HoldfastError('invalid_argument', message);
  }
  if (!isRecord(given)) checkServers(given);
  else if ('catalog' in given) checkCatalog(given['catalog']);
  else {
    checkServers(given['servers']);
    checkBesideServers(given);
  }
}

function checkCatalog(catalog: unknown): void {
  if (isRecord(catalog) && isRecord(catalog['servers'])) return;
  const wanted = 'a catalog, as createCatalogBuilder().build() makes it';
  throw new HoldfastError('config_invalid', `Expected ${wanted}, got ${shown(catalog)}.`);
}

/** Credentials that are gone with the process: a scenario must not find those of another, nor touch anybody's keyring. */
import type { ThreadOptions } from 'holdfast';

type CredentialStore = NonNullable<NonNullable<ThreadOptions['authorization']>['credentials']>;

/** Makes a store for one scenario. */
export function forgetfulCredentials(): CredentialStore {
  const entries = new Map<string, string>();
  let last: Promise<unknown> = Promise.resolve();
  return {
    get: (key) => Promise.resolve(entries.get(key)),
    set(key, value) {
      entries.set(key, value);
      return Promise.resolve();
    },
    delete(key) {
      entries.delete(key);
      return Promise.resolve();
    },
    exclusively(_key, run) {
      const next = last.then(run);
      last = next.catch(() => undefined);
      return next;
    },
  };
}

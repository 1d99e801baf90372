/** Credentials that are gone with the process. */
import type { CredentialStore } from '../../domain/authorization.ts';
import { KeyedQueue } from './keyed-queue.ts';

/** Makes a store in memory: for tests, and for hosts that keep nothing. */
export function createMemoryCredentials(): CredentialStore {
  const entries = new Map<string, string>();
  const queue = new KeyedQueue();
  return {
    get: (key) => Promise.resolve(entries.get(key)),
    set: (key, value) => {
      entries.set(key, value);
      return Promise.resolve();
    },
    delete: (key) => {
      entries.delete(key);
      return Promise.resolve();
    },
    exclusively: (key, run, options) => queue.run(key, run, options?.signal),
  };
}

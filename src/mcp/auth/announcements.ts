/** Who uses the same credentials in this process hears of a sign-in of another: nobody is asked twice (SPEC AU-3). */
import type { CredentialStore } from '../../domain/authorization.ts';

type Listener = () => void;

const listeners = new WeakMap<CredentialStore, Map<string, Set<Listener>>>();

/** Hears of sign-ins for an entry of a store until what it returns is called. */
export function hearOfSignIns(store: CredentialStore, key: string, listener: Listener): () => void {
  const ofStore = listeners.get(store) ?? new Map<string, Set<Listener>>();
  listeners.set(store, ofStore);
  const ofEntry = ofStore.get(key) ?? new Set();
  ofStore.set(key, ofEntry);
  ofEntry.add(listener);
  return () => {
    ofEntry.delete(listener);
    if (ofEntry.size === 0 && ofStore.get(key) === ofEntry) ofStore.delete(key);
  };
}

/** Tells all who listen that an entry has new credentials. */
export function announceSignIn(store: CredentialStore, key: string): void {
  for (const listener of listeners.get(store)?.get(key) ?? []) listener();
}

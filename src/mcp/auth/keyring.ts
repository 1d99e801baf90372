/** The keyring of the operating system, where there is one that works (SPEC AU-2). */
import { randomUUID } from 'node:crypto';

/** Keeps one secret a name. */
export interface Keyring {
  get(name: string): Promise<string | undefined>;
  /** @throws any error: too long, locked, gone. */
  set(name: string, value: string): Promise<void>;
  delete(name: string): Promise<void>;
}

const service = 'holdfast';

/**
 * Opens it: `undefined` where there is none, or where what is written cannot be read again.
 *
 * `isProbed` writes, reads and removes an entry nobody needs first.
 */
export async function openKeyring({ isProbed }: { readonly isProbed: boolean }): Promise<Keyring | undefined> {
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring');
    const keyring: Keyring = {
      get: async (name) => (await new AsyncEntry(service, name).getPassword()) ?? undefined,
      set: (name, value) => new AsyncEntry(service, name).setPassword(value),
      delete: async (name) => {
        await new AsyncEntry(service, name).deletePassword();
      },
    };
    return !isProbed || (await works(keyring)) ? keyring : undefined;
  } catch {
    return undefined;
  }
}

async function works(keyring: Keyring): Promise<boolean> {
  const name = `probe ${randomUUID()}`;
  await keyring.set(name, name);
  const found = await keyring.get(name);
  await keyring.delete(name);
  return found === name;
}

/**
 * Credentials that outlive the process: in the keyring of the system, else in a file only its user can read (SPEC AU-2).
 *
 * Each entry has a file of its own in one directory. It says where its value is: in the keyring, or in the file itself. So
 * a server nobody ever signed in to costs one look for a file, and no keyring is opened for it.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { CredentialStore } from '../../domain/authorization.ts';
import { HoldfastError } from '../../domain/errors.ts';
import { isRecord } from '../../domain/json.ts';
import { keyDigest } from './credentials.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { openKeyring } from './keyring.ts';
import type { Keyring } from './keyring.ts';
import { withProcessLock } from './process-lock.ts';

/** How credentials are kept. */
export interface KeptCredentialsOptions {
  /** Where the files are. Default: `holdfast/credentials` in the user's configuration directory. */
  readonly directory?: string;
  /** `auto` uses the keyring of the system where it works, `never` only files. Default `auto`. */
  readonly keyring?: 'auto' | 'never';
}

const recordSchema = z.discriminatedUnion('in', [
  z.object({ version: z.literal(1), key: z.string(), in: z.literal('file'), value: z.string() }),
  z.object({ version: z.literal(1), key: z.string(), in: z.literal('keyring') }),
]);

type StoredRecord = z.infer<typeof recordSchema>;

/** Makes a store that keeps credentials for this user, shared by all their processes. Nothing is touched before it is used. */
export function createKeptCredentials(options: KeptCredentialsOptions = {}): CredentialStore {
  return new KeptCredentials(options);
}

/** Where credentials are kept by default. */
export function credentialsDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const roaming = env['APPDATA'] ?? join(homedir(), 'AppData', 'Roaming');
  const base = process.platform === 'win32' ? roaming : (env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'));
  return join(base, 'holdfast', 'credentials');
}

class KeptCredentials implements CredentialStore {
  readonly #directory: string;
  readonly #mayUseKeyring: boolean;
  readonly #queue = new KeyedQueue();
  #probed: Promise<Keyring | undefined> | undefined;
  #opened: Promise<Keyring | undefined> | undefined;

  constructor({ directory, keyring = 'auto' }: KeptCredentialsOptions) {
    this.#directory = directory ?? credentialsDirectory();
    this.#mayUseKeyring = keyring === 'auto';
  }

  async get(key: string): Promise<string | undefined> {
    const record = await this.#record(key);
    if (record === undefined) return undefined;
    if (record.in === 'file') return record.value;
    const keyring = await this.#keyring();
    if (keyring === undefined)
      throw new HoldfastError(
        'server_unavailable',
        'Expected the keyring that credentials are kept in, and it cannot be opened. Unlock it, or sign in again.',
      );
    return keyring.get(keyDigest(key));
  }

  async set(key: string, value: string): Promise<void> {
    const isInKeyring = await this.#putInKeyring(key, value);
    const record: StoredRecord = isInKeyring
      ? { version: 1, key, in: 'keyring' }
      : { version: 1, key, in: 'file', value };
    await this.#makeDirectory();
    await writeWhole(this.#path(key), JSON.stringify(record));
  }

  async delete(key: string): Promise<void> {
    const record = await this.#record(key);
    if (record?.in === 'keyring') await (await this.#keyring())?.delete(keyDigest(key));
    await rm(this.#path(key), { force: true });
  }

  exclusively<TResult>(
    key: string,
    run: () => Promise<TResult>,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<TResult> {
    return this.#queue.run(
      key,
      async () => {
        await this.#makeDirectory();
        return withProcessLock(`${this.#path(key)}.lock`, run, signal);
      },
      signal,
    );
  }

  #path(key: string): string {
    return join(this.#directory, `${keyDigest(key)}.json`);
  }

  async #record(key: string): Promise<StoredRecord | undefined> {
    let text: string;
    try {
      text = await readFile(this.#path(key), 'utf8');
    } catch (error) {
      if (isRecord(error) && error['code'] === 'ENOENT') return undefined;
      throw error;
    }
    const parsed = recordSchema.safeParse(parseJson(text));
    return parsed.success && parsed.data.key === key ? parsed.data : undefined;
  }

  /** An entry that says it is in the keyring shows that there is one. */
  #keyring(): Promise<Keyring | undefined> {
    this.#opened ??= openKeyring({ isProbed: false });
    return this.#opened;
  }

  async #putInKeyring(key: string, value: string): Promise<boolean> {
    if (!this.#mayUseKeyring) return false;
    this.#probed ??= openKeyring({ isProbed: true });
    const keyring = await this.#probed;
    if (keyring === undefined) return false;
    try {
      await keyring.set(keyDigest(key), value);
      return true;
    } catch {
      // Some keyrings take short values only. What was there is not good any more.
      await keyring.delete(keyDigest(key)).catch(() => undefined);
      return false;
    }
  }

  async #makeDirectory(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
  }
}

/** Writes a file whole or not at all, for its user only. */
async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Credentials in the keyring of the system, with one that works whatever system this is. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const entries = vi.hoisted(() => new Map<string, string>());
const limits = vi.hoisted(() => ({ length: Infinity, works: true }));

vi.mock('@napi-rs/keyring', () => ({
  AsyncEntry: class {
    readonly #name: string;

    constructor(service: string, name: string) {
      this.#name = `${service} ${name}`;
    }

    getPassword(): Promise<string | null> {
      return Promise.resolve(limits.works ? (entries.get(this.#name) ?? null) : null);
    }

    setPassword(value: string): Promise<void> {
      if (value.length > limits.length) return Promise.reject(new Error('too long'));
      entries.set(this.#name, value);
      return Promise.resolve();
    }

    deletePassword(): Promise<boolean> {
      return Promise.resolve(entries.delete(this.#name));
    }
  },
}));

const { createKeptCredentials } = await import('../../../src/mcp/auth/kept-credentials.ts');

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-keyring-'));
});

afterEach(async () => {
  entries.clear();
  limits.length = Infinity;
  limits.works = true;
  await rm(directory, { recursive: true, force: true });
});

async function files(): Promise<string> {
  const names = await readdir(directory);
  return (await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')))).join('\n');
}

test('AU-2 the keyring has the secret, and the file only says so', async () => {
  const store = createKeptCredentials({ directory });
  await store.set('notes', 'a secret of somebody');
  expect([...entries.values()]).toEqual(['a secret of somebody']);
  expect(await files()).not.toContain('somebody');
  expect(await createKeptCredentials({ directory }).get('notes')).toBe('a secret of somebody');
  await store.delete('notes');
  expect(entries.size).toBe(0);
});

test('AU-2 a keyring that does not give back what it was given is not used', async () => {
  limits.works = false;
  const store = createKeptCredentials({ directory });
  await store.set('notes', 'a secret of somebody');
  expect(await store.get('notes')).toBe('a secret of somebody');
  expect(await files()).toContain('somebody');
});

test('AU-2 what is too long for the keyring goes to the file', async () => {
  limits.length = 100;
  const store = createKeptCredentials({ directory });
  await store.set('notes', 'short');
  await store.set('notes', 'x'.repeat(101));
  expect(await store.get('notes')).toBe('x'.repeat(101));
  expect(entries.size).toBe(0);
});

test('AU-2 without a keyring to be asked, nothing is written to one', async () => {
  const store = createKeptCredentials({ directory, keyring: 'never' });
  await store.set('notes', 'a secret of somebody');
  expect(entries.size).toBe(0);
});

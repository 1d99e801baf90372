/** Credentials that outlive the process: files, rights, locks. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKeptCredentials } from '../../../src/mcp/auth/kept-credentials.ts';
import { createMemoryCredentials } from '../../../src/mcp/auth/memory-credentials.ts';
import { credentialKey, keyDigest } from '../../../src/mcp/auth/credentials.ts';
import { withProcessLock } from '../../../src/mcp/auth/process-lock.ts';
import { deferred } from '../../../src/testing/index.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-credentials-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

describe('kept credentials', () => {
  test('AU-2 are in a file of mode 0600 in a directory of mode 0700 where there is no keyring', async () => {
    const inner = join(directory, 'holdfast', 'credentials');
    const store = createKeptCredentials({ directory: inner, keyring: 'never' });
    expect(await store.get('notes')).toBeUndefined();
    await store.set('notes', 'a secret');
    expect(await store.get('notes')).toBe('a secret');
    const [file = ''] = await readdir(inner);
    expect((await stat(join(inner, file))).mode & 0o777).toBe(0o600);
    expect((await stat(inner)).mode & 0o777).toBe(0o700);
  });

  test('AU-2 are seen by another store over the same directory, and gone when they are deleted', async () => {
    const one = createKeptCredentials({ directory, keyring: 'never' });
    const other = createKeptCredentials({ directory, keyring: 'never' });
    await one.set('notes', 'first');
    await one.set('notes', 'second');
    expect(await other.get('notes')).toBe('second');
    await other.delete('notes');
    expect(await one.get('notes')).toBeUndefined();
    expect(await readdir(directory)).toEqual([]);
  });

  test('AU-2 that are not readable count as none, and are written over', async () => {
    const store = createKeptCredentials({ directory, keyring: 'never' });
    await writeFile(join(directory, `${keyDigest('notes')}.json`), '{"version":1,"key":"notes","in":"fi');
    expect(await store.get('notes')).toBeUndefined();
    await store.set('notes', 'a secret');
    expect(await store.get('notes')).toBe('a secret');
  });

  test('AU-2 use the keyring of the system where it works, else the file, and say which', async () => {
    const store = createKeptCredentials({ directory });
    await store.set('notes', 'a secret');
    const record: unknown = JSON.parse(await readFile(join(directory, `${keyDigest('notes')}.json`), 'utf8'));
    const kept = Object(record) as { readonly in: string; readonly value?: string };
    expect(kept.in === 'keyring' ? kept.value : kept.in).toBe(kept.in === 'keyring' ? undefined : 'file');
    expect(await store.get('notes')).toBe('a secret');
    await store.delete('notes');
    expect(await store.get('notes')).toBeUndefined();
  });

  test('AU-2 of a server do not follow its name to another place', () => {
    expect(credentialKey('notes', 'https://a.example/mcp?key=1')).toBe(credentialKey('notes', 'https://a.example/mcp'));
    expect(credentialKey('notes', 'https://a.example/mcp')).not.toBe(credentialKey('notes', 'https://b.example/mcp'));
    expect(credentialKey('notes', 'https://a.example/mcp')).not.toBe(credentialKey('other', 'https://a.example/mcp'));
  });
});

describe.each([
  ['in memory', () => createMemoryCredentials()],
  ['in files', () => createKeptCredentials({ directory, keyring: 'never' })],
])('the lock of credentials %s', (_where, make) => {
  test('AU-2 lets one in at a time for a key, and others for another', async () => {
    const store = make();
    const order: string[] = [];
    const gate = deferred<undefined>();
    const entered = deferred<undefined>();
    const first = store.exclusively('notes', async () => {
      order.push('first in');
      entered.resolve(undefined);
      await gate.promise;
      order.push('first out');
    });
    await entered.promise;
    const second = store.exclusively('notes', () => {
      order.push('second');
      return Promise.resolve();
    });
    await store.exclusively('other', () => {
      order.push('other');
      return Promise.resolve();
    });
    gate.resolve(undefined);
    await Promise.all([first, second]);
    expect(order).toEqual(['first in', 'other', 'first out', 'second']);
  });

  test('AU-2 is let go of by work that fails', async () => {
    const store = make();
    await expect(store.exclusively('notes', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await store.exclusively('notes', () => Promise.resolve('yes'))).toBe('yes');
  });
});

describe('the lock among processes', () => {
  test('AU-2 is taken over from a process that is gone', async () => {
    const path = join(directory, 'lock');
    const gone = spawn(process.execPath, ['-e', '']);
    await once(gone, 'close');
    await writeFile(path, JSON.stringify({ pid: gone.pid, host: hostname(), id: 'x' }));
    expect(await withProcessLock(path, () => Promise.resolve('mine'))).toBe('mine');
    expect(await readdir(directory)).toEqual([]);
  });

  test('AU-2 is taken over when nobody touched it for half a minute', async () => {
    const path = join(directory, 'lock');
    await writeFile(path, JSON.stringify({ pid: process.pid, host: 'elsewhere', id: 'x' }));
    const before = new Date(Date.now() - 31_000);
    await utimes(path, before, before);
    expect(await withProcessLock(path, () => Promise.resolve('mine'))).toBe('mine');
  });

  test('AU-2 is waited for no longer than its waiter wants to', async () => {
    const path = join(directory, 'lock');
    await writeFile(path, JSON.stringify({ pid: process.pid, host: hostname(), id: 'x' }));
    const controller = new AbortController();
    const waiting = withProcessLock(path, () => Promise.resolve(), controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
  });
});

/** Processes that share the credentials of a user: each refresh token is used once, by whoever comes first. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createKeptCredentials } from '../../../src/mcp/index.ts';
import { scene, signIn } from './support.ts';

const program = fileURLToPath(new URL('../../fixtures/hosts/sign-in-race.ts', import.meta.url));

interface Host {
  readonly isUp: Promise<unknown>;
  /** Lets it go; resolves with what it printed. */
  go(): Promise<string>;
}

function host(url: string, directory: string): Host {
  const child = spawn(process.execPath, ['--import', 'tsx', program, url, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  const ended = once(child, 'close');
  return {
    isUp: once(child.stdout, 'data'),
    async go() {
      child.stdin.write('go\n');
      await ended;
      return said;
    },
  };
}

test('AU-2 renews once when two processes find the same token ended, and both go on with the new one', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-credentials-'));
  try {
    const credentials = createKeptCredentials({ directory, keyring: 'never' });
    await using it = await scene({ thread: { authorization: { credentials } } });
    await it.thread.ready();
    await signIn(it);
    const files = (await readdir(directory)).filter((name) => name.endsWith('.json'));
    const texts = await Promise.all(files.map((name) => readFile(join(directory, name), 'utf8')));
    const at = texts.findIndex((each) => each.includes('refresh_token'));
    const path = join(directory, files[at] ?? '');
    // As it is after an hour: each of them finds it at its end.
    const text = texts[at] ?? '';
    await writeFile(path, text.replaceAll(/\\"(expiresAt|renewAt)\\":\d+/g, String.raw`\"$1\":1`));

    const hosts = [host(it.server.url, directory), host(it.server.url, directory)];
    await Promise.all(hosts.map(({ isUp }) => isUp));
    const said = await Promise.all(hosts.map((each) => each.go()));

    for (const each of said) expect(each).toMatch(/"text":"\d+"/);
    expect(it.authorizationServer.count('refresh_token')).toBe(1);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await readdir(directory)).filter((name) => name.endsWith('.lock'))).toEqual([]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}, 60_000);

/** `holdfast login` and `holdfast logout` on a real authorization server. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createThread } from 'holdfast';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { AuthorizationServer } from '../integration/sign-in/authorization-server.ts';
import { browse } from '../integration/sign-in/browser.ts';
import { GuardedServer } from '../integration/sign-in/guarded-server.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-login-'));
  vi.stubEnv('XDG_CONFIG_HOME', directory);
  vi.stubEnv('APPDATA', directory);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true, force: true });
});

interface Running {
  readonly code: Promise<number>;
  output(): string;
  errors(): string;
  /** Resolves with the first url that is shown. */
  readonly url: Promise<string>;
  /** Resolves once this was shown. */
  shows(text: string): Promise<void>;
  type(line: string): void;
  interrupt(): void;
}

function start(...args: readonly string[]): Running {
  let output = '';
  let errors = '';
  let interrupt: () => void = () => undefined;
  const streams = { output: new PassThrough(), errors: new PassThrough() };
  const url = new Promise<string>((resolve) => {
    streams.output.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+\/auth\?[^\s"]+/.exec(output)?.[0];
      if (found !== undefined) resolve(found);
    });
  });
  streams.errors.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const input = new PassThrough();
  if (args[0] !== '--config') input.end();
  const code = runProgram(args, {
    input,
    ...streams,
    env: {},
    directory,
    version: '1.2.3',
    createThread,
    onSignal: (listener) => {
      interrupt = () => listener('SIGINT');
      return () => undefined;
    },
    openStdout: () => streams.output,
  });
  const shows = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (output.includes(text)) resolve();
        else streams.output.once('data', () => setImmediate(look));
      };
      look();
    });
  const type = (line: string): void => {
    input.write(`${line}\n`);
  };
  return { code, url, shows, type, output: () => output, errors: () => errors, interrupt: () => interrupt() };
}

interface Scene extends AsyncDisposable {
  readonly file: string;
  readonly authorizationServer: AuthorizationServer;
}

async function scene({ isRequired = true } = {}): Promise<Scene> {
  const authorizationServer = await AuthorizationServer.start();
  const server = await GuardedServer.start({ script: { tools: ['echo'] }, authorizationServer });
  const file = join(directory, 'holdfast.json');
  const servers = {
    notes: { url: server.url, required: isRequired },
    local: { command: 'a-command-that-is-not-there' },
  };
  await writeFile(file, JSON.stringify({ mcpServers: servers }));
  return {
    file,
    authorizationServer,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await authorizationServer[Symbol.asyncDispose]();
    },
  };
}

const objects = (text: string): readonly unknown[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));

describe('login and logout', () => {
  test('CL-1 AU-2 shows where to sign in, keeps the credentials for the next command, and forgets them', async () => {
    await using it = await scene();
    const login = start('login', 'notes', '--config', it.file);
    await browse(await login.url);
    expect(await login.code).toBe(0);
    expect(login.output()).toContain('Signed in to notes.');

    const tools = start('tools', 'notes', '--config', it.file);
    expect(await tools.code).toBe(0);
    expect(tools.output()).toContain('echo');

    const logout = start('logout', 'notes', '--config', it.file);
    expect(await logout.code).toBe(0);
    expect(logout.output()).toContain('revoked');
    expect(await readdir(join(directory, 'holdfast', 'credentials'))).toEqual([]);

    const after = start('tools', 'notes', '--config', it.file);
    expect(await after.code).toBe(1);
  });

  test('CL-1 says the same as JSON, one object a line', async () => {
    await using it = await scene();
    const login = start('login', 'notes', '--json', '--scope', 'mcp:read', '--config', it.file);
    const url = await login.url;
    expect(new URL(url).searchParams.get('scope')).toBe('mcp:read offline_access');
    await browse(url);
    expect(await login.code).toBe(0);
    expect(objects(login.output())).toEqual([
      { server: 'notes', url },
      { server: 'notes', signedIn: true },
    ]);
    const logout = start('logout', 'notes', '--json', '--config', it.file);
    await logout.code;
    expect(objects(logout.output())).toEqual([{ server: 'notes', removed: true, revoked: true }]);
    const again = start('logout', 'notes', '--json', '--config', it.file);
    expect(await again.code).toBe(0);
    expect(objects(again.output())).toEqual([{ server: 'notes', removed: false, revoked: false }]);
  });

  test('CL-1 exits with 1 when the person goes back without signing in', async () => {
    await using it = await scene();
    const login = start('login', 'notes', '--json', '--config', it.file);
    await browse(await login.url, { does: 'abort' });
    expect(await login.code).toBe(1);
    expect(objects(login.output()).at(-1)).toMatchObject({ error: { code: 'authorization_declined' } });
  });

  test('CL-1 exits with 130 and leaves nothing open when it is interrupted', async () => {
    await using it = await scene();
    const login = start('login', 'notes', '--config', it.file);
    const redirect = new URL(await login.url).searchParams.get('redirect_uri') ?? '';
    login.interrupt();
    expect(await login.code).toBe(130);
    await expect(fetch(redirect)).rejects.toBeInstanceOf(TypeError);
  });

  test('CL-1 AU-3 signs in from the shell, beside its prompt', async () => {
    await using it = await scene({ isRequired: false });
    const shell = start('--config', it.file);
    shell.type('login notes');
    await browse(await shell.url);
    await shell.shows('Signed in to notes.');
    shell.type('tools notes');
    await shell.shows('echo');
    shell.type('quit');
    expect(await shell.code).toBe(0);
  });

  test.each(['login', 'logout'])(
    'CL-1 %s exits with 2 for a server without a url, and names those with one',
    async (command) => {
      await using it = await scene();
      const run = start(command, 'local', '--config', it.file);
      expect(await run.code).toBe(2);
      expect(run.errors()).toContain('"notes"');
    },
  );
});

/** What starts where, proven by starting it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { commandLauncher, HoldfastError, localLauncher } from '../../src/index.ts';
import type { Launcher, LaunchRequest } from '../../src/index.ts';

let directory = '';

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-launch-')));
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

const nasty = `a "b" 'c' $HOME \`id\` \\ ; & | * ü\n\tz`;

const request: LaunchRequest = { command: process.execPath, args: [], env: {}, envFrom: {} };

/** Starts it, and reads back its arguments, its directory and some of its variables. */
function start(launcher: Launcher, given: Partial<LaunchRequest>): unknown {
  const script =
    'const { A, B, C } = process.env; console.log(JSON.stringify({ args: process.argv.slice(1), cwd: process.cwd(), A, B, C }))';
  const launch = launcher.launch({ ...request, ...given, args: ['-e', script, '--', ...(given.args ?? [])] });
  const output = execFileSync(launch.command, [...launch.args], {
    cwd: launch.cwd ?? '/',
    env: { PATH: process.env['PATH'], ...launch.env },
    encoding: 'utf8',
  });
  const parsed: unknown = JSON.parse(output);
  return parsed;
}

test.each([[[]], [[5]], ['docker'], [undefined]])('CA-7 refuses %j for a prefix', (prefix) => {
  expect(() => commandLauncher({ prefix: prefix as never })).toThrow(
    expect.objectContaining({ code: 'invalid_argument' }) as Error,
  );
});

/** Puts its words together for a shell, as `ssh` does. */
const likeSsh = ['sh', '-c', 'exec sh -c "$*"', 'ssh'] as const;
/** Sets a variable on its way, as a container has its own. */
const likeDocker = ['env', 'THERE=value of there'] as const;

const launchers: readonly (readonly [string, Launcher])[] = [
  ['a prefix that passes words on', commandLauncher({ prefix: [...likeDocker] })],
  ['a prefix that passes words to a shell', commandLauncher({ prefix: [...likeSsh], quoting: 'shell' })],
  ['a prefix that hands variables on', commandLauncher({ prefix: [...likeDocker], variables: 'inherited' })],
  ['this machine', localLauncher],
];

describe.each(launchers)('%s', (_, launcher) => {
  test('CA-7 SE-3 takes arguments, values and the directory as they are, whatever is in them', () => {
    const there = join(directory, "it's $HOME");
    execFileSync('mkdir', [there]);
    expect(start(launcher, { args: [nasty, ''], env: { A: nasty, B: '' }, cwd: there })).toEqual({
      args: [nasty, ''],
      cwd: there,
      A: nasty,
      B: '',
    });
  });

  test('CA-7 starts a command without variables or directory', () => {
    expect(start(launcher, { args: ['-x'] })).toEqual({ args: ['-x'], cwd: '/' });
  });

  test('CA-7 reads a file, tells that there is none, and says why one cannot be read', async () => {
    const { signal } = new AbortController();
    const file = join(directory, "plug in's");
    writeFileSync(file, nasty);
    expect(await launcher.readFile?.(file, { signal })).toBe(nasty);
    expect(await launcher.readFile?.(join(directory, 'none'), { signal })).toBeUndefined();
    await expect(launcher.readFile?.(directory, { signal })).rejects.toThrow(/directory/i);
  });

  test('WS-2 reads a file only within the directory it must be in, wherever links lead', async () => {
    const { signal } = new AbortController();
    const within = join(directory, "plug in's root");
    mkdirSync(join(within, 'deep'), { recursive: true });
    writeFileSync(join(within, 'deep/file'), nasty);
    writeFileSync(join(directory, 'secret'), 'secret');
    symlinkSync(join(within, 'deep/file'), join(within, 'inner'));
    symlinkSync(join(directory, 'secret'), join(within, 'outer'));
    symlinkSync(directory, join(within, 'up'));
    symlinkSync(within, join(directory, 'way'));
    const read = (path: string, root = within) => launcher.readFile?.(path, { signal, within: root });
    expect(await read(join(within, 'deep/file'))).toBe(nasty);
    expect(await read(join(within, 'inner'))).toBe(nasty);
    expect(await read(join(directory, 'way/inner'), join(directory, 'way'))).toBe(nasty);
    expect(await read(join(within, 'none'))).toBeUndefined();
    for (const path of ['outer', 'up/secret', '../secret', 'deep/../../secret'])
      await expect(read(`${within}/${path}`)).rejects.toThrow(/leads out of it/);
    await expect(read(`${within}x/file`, within)).resolves.toBeUndefined();
  });

  test('WS-2 finds files by name, so many levels down, and follows no link', async () => {
    const { signal } = new AbortController();
    const names = ['SKILL.md', "a b'/SKILL.md", "a b'/c\nd/SKILL.md", 'x/y/z/SKILL.md', 'other.md'];
    for (const name of names) {
      mkdirSync(dirname(join(directory, name)), { recursive: true });
      writeFileSync(join(directory, name), '');
    }
    mkdirSync(join(directory, 'x/SKILL.md'));
    symlinkSync(join(directory, 'SKILL.md'), join(directory, 'x/y/SKILL.md'));
    symlinkSync(join(directory, 'x'), join(directory, 'linked'));
    const find = (path: string, depth: number, limit = 100) =>
      launcher.findFiles?.(path, { signal, name: 'SKILL.md', depth, limit });
    const found = (paths: readonly string[]) => paths.map((path) => join(directory, path)).toSorted();
    expect((await find(directory, 3))?.toSorted()).toEqual(found(names.slice(0, 3)));
    expect((await find(`${directory}/.`, 1))?.toSorted()).toEqual(found(['SKILL.md']));
    expect(await find(directory, 9, 2)).toHaveLength(2);
    expect((await find(join(directory, 'linked'), 9)) ?? []).toEqual([]);
    expect(await find(`${directory}/linked/.`, 9)).toHaveLength(1);
    expect(await find(join(directory, 'none'), 9)).toBeUndefined();
    expect((await find(join(directory, 'SKILL.md'), 9)) ?? []).toEqual([]);
  });

  test('CA-7 a reading that is aborted ends', async () => {
    await expect(launcher.readFile?.(directory, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
  });
});

describe('variables by name', () => {
  test('CA-7 SE-3 are resolved where the server runs, and those of this machine stay here', () => {
    vi.stubEnv('THERE', 'value of here');
    const launcher = commandLauncher({ prefix: [...likeDocker] });
    const envFrom = { A: 'THERE', B: 'THERE', C: 'NOWHERE' };
    expect(start(launcher, { envFrom, env: { B: 'own' } })).toMatchObject({ A: 'value of there', B: 'own' });
    expect(start(launcher, { envFrom })).not.toHaveProperty('C');
    expect(start(localLauncher, { envFrom, env: { B: 'own' } })).toMatchObject({ A: 'value of here', B: 'own' });
  });

  test('CA-7 values that are handed on are in no list of processes', () => {
    const launcher = commandLauncher({ prefix: ['ip', 'netns', 'exec', 'box'], variables: 'inherited' });
    const launch = launcher.launch({ ...request, env: { TOKEN: 'hunter2hunter2' }, envFrom: { TOKEN: 'OTHER' } });
    expect(launch.args.join(' ')).not.toContain('hunter2');
    expect(launch.env).toEqual({ TOKEN: 'hunter2hunter2' });
  });

  test.each([[{ env: { 'A;id': 'x' } }], [{ envFrom: { A: '$(id)' } }], [{ envFrom: { '': 'A' } }]])(
    'CA-7 refuses %j: a name is never run',
    (given) => {
      const launch = () => commandLauncher({ prefix: ['env'] }).launch({ ...request, ...given });
      expect(launch).toThrow(HoldfastError);
      expect(launch).toThrow(/names of variables/);
    },
  );
});

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { isAlive } from './support.ts';

const running = new Set<ChildProcess>();

/** What the programs started: a test that fails must not leave it behind. */
const started = new Set<number>();

afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  for (const pid of started) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  running.clear();
  started.clear();
});

/** Runs a program of test/fixtures/hosts; resolves with its first line of output. */
async function start(
  name: string,
): Promise<{ readonly child: ChildProcess; readonly line: unknown; readonly ended: Promise<unknown[]> }> {
  const program = fileURLToPath(new URL(`../../fixtures/hosts/${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  const ended = once(child, 'exit');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, line: JSON.parse(line) as unknown, ended };
}

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('RT-11 H10 on %s a host leaves nothing and exits with %i', async (signal, code) => {
  const { child, line, ended } = await start('on-signal');
  const pids = line as readonly number[];
  for (const pid of pids) if (pid > 0) started.add(pid);
  expect(started.size).toBe(6);
  expect(pids.map(isAlive)).toEqual(pids.map(() => true));
  child.kill(signal);
  expect(await ended).toEqual([code, null]);
  expect(pids.map(isAlive)).toEqual(pids.map(() => false));
});

test('RT-11 H10 a host that closed its thread ends by itself', async () => {
  const { line, ended } = await start('leaves-nothing');
  const { before, after } = line as { readonly before: readonly string[]; readonly after: readonly string[] };
  expect(after.toSorted()).toEqual(before.toSorted());
  expect(await ended).toEqual([0, null]);
});

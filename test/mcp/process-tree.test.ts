import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { descendantsOf, signalAll, startOf, stillRunning } from '../../src/mcp/process-tree.ts';

const started: ChildProcess[] = [];

afterEach(async () => {
  for (const child of started.splice(0)) {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
});

const parent = `const c = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
console.log(c.pid); setInterval(() => {}, 1000);`;

/** A process with one child, in its own group. */
async function tree(): Promise<{ pid: number; childPid: number; startedAt: string | undefined }> {
  const child = spawn(process.execPath, ['-e', parent], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  started.push(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const pid = child.pid ?? 0;
  return { pid, childPid: Number(line.toString()), startedAt: startOf(pid) };
}

describe.runIf(process.platform === 'linux')('on Linux', () => {
  test('RT-11 finds the children of a process, and ends them', async () => {
    const { pid, childPid, startedAt } = await tree();
    const found = await descendantsOf({ pid, marker: 'unused-marker', startedAt });
    expect(found.map((entry) => entry.pid)).toEqual([childPid]);
    signalAll(found, -1, 'SIGKILL');
    while ((await stillRunning(found)).length > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await descendantsOf({ pid, marker: 'unused-marker', startedAt })).toEqual([]);
  });

  test('RT-11 leaves alone a process that got the number of one that is gone', async () => {
    const { pid, childPid, startedAt } = await tree();
    expect(await descendantsOf({ pid, marker: 'unused-marker', startedAt: '1' })).toEqual([]);
    const [entry] = await descendantsOf({ pid, marker: 'unused-marker', startedAt });
    expect(entry?.pid).toBe(childPid);
    expect(await stillRunning(entry === undefined ? [] : [{ ...entry, startedAt: '1' }])).toEqual([]);
    signalAll(entry === undefined ? [] : [entry], pid, 'SIGKILL');
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readJournal, stdioServerConfig } from '../../src/testing/index.ts';
import type { ServerScript } from '../../src/testing/index.ts';
import { overStdio } from './peers.ts';

let directory: string;
const started: number[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'scripted-'));
});

afterEach(async () => {
  for (const pid of started.splice(0)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  await rm(directory, { recursive: true });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Starts the child by hand, with its pipes in view. */
function start(script: ServerScript) {
  const { command, args } = stdioServerConfig(script);
  const child = spawn(command, args ?? [], { stdio: 'pipe' });
  if (child.pid !== undefined) started.push(child.pid);
  return child;
}

const initialize = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
})}\n`;

describe('TK-1 a scripted child', () => {
  for (const era of ['legacy', 'modern'] as const) {
    const mode = era === 'legacy' ? 'legacy' : 'auto';

    test(`exits with the code it is told, in the ${era} era, and its journal survives`, async () => {
      const journalFile = join(directory, 'journal');
      await using peer = await overStdio({ era, journalFile }, { mode });
      expect(Number(await peer.call('pid'))).not.toBe(process.pid);
      await expect(peer.call('crash', { code: 3 })).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
      const journal = readJournal(journalFile);
      expect(journal.filter(({ kind, tool }) => kind === 'called' && tool === 'crash')).toHaveLength(1);
      expect(journal.at(-1)?.kind).toBe('crashed');
      expect(new Set(journal.map(({ pid }) => pid)).has(process.pid)).toBe(false);
    });

    test(`keeps answering through a flood of noise in the ${era} era`, async () => {
      await using peer = await overStdio({ era, stdoutOnStart: ['Starting up …', '{"half":'] }, { mode });
      expect(await peer.call('flood', { lines: 200, bytes: 1000 })).toBe('flooded');
      expect(await peer.call('flood', { lines: 200, bytes: 1000, stderr: true })).toBe('flooded');
      expect(await peer.call('echo', { text: 'still here' })).toBe('still here');
    });
  }

  test('ends when its stdin ends, parked calls or not', async () => {
    const child = start({});
    child.stdin.write(initialize);
    await once(child.stdout, 'data');
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'park' } })}\n`);
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('stays when its stdin ends if it is stubborn, until it is told to go', async () => {
    const child = start({ stubborn: 'stdin' });
    child.stdin.write(initialize);
    await once(child.stdout, 'data');
    child.stdin.end();
    await once(child.stdin, 'finish');
    expect(child.exitCode).toBe(null);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([null, 'SIGTERM']);
  });

  test('ignores SIGTERM if it is more stubborn still', async () => {
    const child = start({ stubborn: 'sigterm' });
    child.stdin.write(initialize);
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    child.stdin.write(initialize.replace('"id":1', '"id":2'));
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  });

  test('exits at the start with a last word', async () => {
    const child = start({ exitOnStart: { code: 7, stderr: 'No such database.\n' }, stderrOnStart: 'Looking …\n' });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const exited = once(child, 'exit');
    await once(child.stderr, 'close');
    expect(await exited).toEqual([7, null]);
    expect(stderr).toBe('Looking …\nNo such database.\n');
  });

  test('never answers the handshake when told, and still ends with its stdin', async () => {
    const child = start({ hangOnStart: true });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stdin.end(initialize);
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(stdout).toBe('');
  });

  test('shows the environment it was given', async () => {
    await using peer = await overStdio({}, { mode: 'legacy' });
    expect(JSON.parse(await peer.call('env', { names: ['PATH', 'NOT_SET'] }))).toEqual({
      PATH: process.env['PATH'],
      NOT_SET: null,
    });
    expect(JSON.parse(await peer.call('env'))).toContain('PATH');
  });

  for (const options of [{}, { detached: true, deaf: true }, { inherit: true }]) {
    test(`starts a grandchild that outlives it: ${JSON.stringify(options)}`, async () => {
      const peer = await overStdio({}, { mode: 'legacy' });
      const pid = Number(await peer.call('fork', options));
      started.push(pid);
      expect(isAlive(pid)).toBe(true);
      if ('deaf' in options) process.kill(pid, 'SIGTERM');
      const child = Number(await peer.call('pid'));
      const crashed = peer.call('crash');
      crashed.catch(() => undefined);
      await vi.waitFor(() => expect(isAlive(child)).toBe(false));
      expect(isAlive(pid)).toBe(true);
      // One that inherited stdout keeps the pipe open: the client hears of the crash only now.
      process.kill(pid, 'SIGKILL');
      await expect(crashed).rejects.toBeInstanceOf(Error);
      await peer[Symbol.asyncDispose]();
    });
  }
});

test('TK-1 a journal that was never written is empty, and a broken one is refused', async () => {
  expect(readJournal(join(directory, 'none'))).toEqual([]);
  const { writeFile } = await import('node:fs/promises');
  await writeFile(join(directory, 'broken'), '{"a":1}\n');
  expect(() => readJournal(join(directory, 'broken'))).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
});

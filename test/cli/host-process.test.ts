/** The JSON-lines host as a process of its own: signals, pipes and what is left behind. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { stdioServerConfig } from 'holdfast/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isRecord } from '../../src/domain/json.ts';
import { toolName } from './jsonl-host.ts';

type Host = ChildProcessByStdio<Writable, Readable, Readable>;

const root = fileURLToPath(new URL('../../', import.meta.url));
const running = new Set<Host>();
let directory = '';
let config = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-process-'));
  config = join(directory, 'holdfast.json');
  await writeFile(config, JSON.stringify({ mcpServers: { one: stdioServerConfig() } }));
});

afterEach(async () => {
  for (const host of running) {
    if (host.exitCode === null && host.signalCode === null) {
      host.kill('SIGKILL');
      await once(host, 'exit');
    }
  }
  running.clear();
  await rm(directory, { recursive: true, force: true });
});

function start(...args: readonly string[]): Host {
  const host = spawn(process.execPath, ['--import', 'tsx', join(root, 'src/cli/main.ts'), ...args], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  running.add(host);
  return host;
}

async function exitOf(host: Host): Promise<number | null> {
  if (host.exitCode === null) await once(host, 'exit');
  return host.exitCode;
}

/** Talks to a host line by line. */
class Conversation {
  readonly #host: Host;
  readonly #lines: AsyncIterator<string>;

  constructor(host: Host) {
    this.#host = host;
    this.#lines = createInterface({ input: host.stdout })[Symbol.asyncIterator]();
  }

  /** Sends a request and reads up to its reply. */
  async ask(request: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>> {
    this.#host.stdin.write(`${JSON.stringify(request)}\n`);
    return this.until((record) => record['id'] === request['id']);
  }

  async until(
    matches: (record: Readonly<Record<string, unknown>>) => boolean,
  ): Promise<Readonly<Record<string, unknown>>> {
    for (;;) {
      const line = await this.#lines.next();
      if (line.done === true) throw new Error('Expected a line, got the end of stdout.');
      const record: unknown = JSON.parse(line.value);
      if (isRecord(record) && matches(record)) return record;
    }
  }
}

/** Begins a step and starts a process beside the server; gives the pids of both. */
async function forkOn(conversation: Conversation): Promise<readonly number[]> {
  const { result: step } = await conversation.ask({ id: 1, do: 'beginStep' });
  if (!isRecord(step)) throw new TypeError('Expected a step.');
  const call = async (id: number, tool: string): Promise<number> => {
    const { result } = await conversation.ask({
      id,
      do: 'callTool',
      step: step['step'],
      name: toolName(step, 'one', tool),
    });
    return Number(/\d+/.exec(JSON.stringify(result))?.[0]);
  };
  return [await call(2, 'pid'), await call(3, 'fork')];
}

/** Running, and not merely a zombie nobody has collected yet. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return (
      process.platform !== 'linux' || !/^\d+ \(.*\) [ZX] /.test(readFileSync(`/proc/${String(pid)}/stat`, 'latin1'))
    );
  } catch {
    return false;
  }
}

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)(
  'CL-2 RT-11 H10 leaves no process behind on %s and exits with %i',
  async (signal, code) => {
    const host = start('host', '--jsonl', '--config', config);
    const conversation = new Conversation(host);
    const pids = await forkOn(conversation);
    expect(pids.map(isRunning)).toEqual([true, true]);
    host.kill(signal);
    await conversation.until(({ event }) => isRecord(event) && event['type'] === 'thread.closed');
    expect(await exitOf(host)).toBe(code);
    expect(pids.map(isRunning)).toEqual([false, false]);
  },
  30_000,
);

test('CL-2 H10 leaves no process behind when its input ends, and exits with 0', async () => {
  const host = start('host', '--jsonl', '--config', config);
  const pids = await forkOn(new Conversation(host));
  host.stdin.end();
  expect(await exitOf(host)).toBe(0);
  expect(pids.map(isRunning)).toEqual([false, false]);
}, 30_000);

test('CL-2 H10 ends when the reader of stdout is gone', async () => {
  const host = start('host', '--jsonl', '--config', config);
  const pids = await forkOn(new Conversation(host));
  host.stdout.destroy();
  host.stdin.write('{"id":9,"do":"snapshot"}\n'.repeat(100));
  expect(await exitOf(host)).toBe(0);
  expect(pids.map(isRunning)).toEqual([false, false]);
}, 30_000);

test('CL-2 hears a signal while nobody reads stdout', async () => {
  const host = start('host', '--jsonl');
  await once(host.stdout, 'readable');
  host.stdin.on('error', () => undefined);
  host.stdin.write('{"id":9,"do":"snapshot"}\n'.repeat(20_000));
  host.kill('SIGTERM');
  expect(await exitOf(host)).toBe(143);
}, 30_000);

test('CL-2 starts without a file it only found and could not read, and says so', async () => {
  await writeFile(config, '{');
  const host = spawn(
    process.execPath,
    ['--import', join(root, 'node_modules/tsx/dist/loader.mjs'), join(root, 'src/cli/main.ts'), 'host', '--jsonl'],
    { cwd: directory, stdio: ['pipe', 'pipe', 'pipe'] },
  );
  running.add(host);
  const conversation = new Conversation(host);
  const { event } = await conversation.until((record) => 'event' in record);
  expect(event).toMatchObject({ type: 'warning', code: 'config_syntax' });
  expect(await conversation.ask({ id: 1, do: 'ready' })).toMatchObject({ ok: true });
  host.stdin.end();
  expect(await exitOf(host)).toBe(0);
}, 30_000);

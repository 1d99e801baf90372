import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { HoldfastError } from '../../../src/domain/errors.ts';
import { createStdioTransport } from '../../../src/mcp/transports/stdio.ts';
import type { StdioTransportOptions } from '../../../src/mcp/transports/stdio.ts';
import type { WireTransport } from '../../../src/mcp/transports/transport.ts';
import { Recorder } from './recorder.ts';

const script = fileURLToPath(new URL('../../fixtures/servers/odd-stdio.mjs', import.meta.url));
const opened: WireTransport[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((transport) => transport.close()));
});

function make(options: Partial<StdioTransportOptions>): { transport: WireTransport; recorder: Recorder } {
  const recorder = new Recorder();
  const transport = createStdioTransport({ command: process.execPath, listener: recorder, graceMs: 300, ...options });
  opened.push(transport);
  return { transport, recorder };
}

async function open(
  habit: string,
  options: Partial<StdioTransportOptions> = {},
): Promise<{ transport: WireTransport; recorder: Recorder }> {
  const made = make({ args: [script, habit], ...options });
  await made.transport.start();
  return made;
}

const request = (id: number, method: string, params: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0' as const,
  id,
  method,
  params,
});

/** Neither running nor a zombie nobody collects. */
function isGone(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return true;
  }
}

async function pidsOf(recorder: Recorder): Promise<number[]> {
  const { pids } = await recorder.params('notifications/message');
  return Array.isArray(pids) ? pids.map(Number) : [];
}

describe('start', () => {
  test('CN-1 names a command that is not on PATH', async () => {
    const { transport } = make({ command: 'holdfast-no-such-command' });
    await expect(transport.start()).rejects.toMatchObject({
      code: 'server_unavailable',
      message:
        'Expected the command "holdfast-no-such-command" on PATH, but it was not found. Install it, or give its full path as "command".',
    });
  });

  test('CN-1 tells a missing working directory from a missing command', async () => {
    const { transport } = make({ args: [script], cwd: '/no/such/directory' });
    await expect(transport.start()).rejects.toMatchObject({
      code: 'server_unavailable',
      message: expect.stringContaining('working directory "/no/such/directory"') as string,
    });
  });

  test('CN-1 names a file that is not executable', async () => {
    const { transport } = make({ command: script });
    await expect(transport.start()).rejects.toMatchObject({
      code: 'server_unavailable',
      message: expect.stringContaining('permission denied') as string,
    });
  });

  test('CN-1 gives the server the inherited few, the configured values and nothing else', async () => {
    process.env['HOLDFAST_TEST_SECRET'] = 'leak';
    const { recorder } = await open('environment', { env: { MINE: 'yes', TERM: 'mine' }, cwd: tmpdir() });
    delete process.env['HOLDFAST_TEST_SECRET'];
    const { env, cwd } = await recorder.params('notifications/message');
    expect(env).toMatchObject({ MINE: 'yes', TERM: 'mine', PATH: process.env['PATH'] });
    expect(env).not.toHaveProperty('HOLDFAST_TEST_SECRET');
    expect(cwd).toBe(tmpdir());
  });
});

describe('lines', () => {
  test('CN-1 skips and reports noise on stdout', async () => {
    const { transport, recorder } = await open('noise');
    await transport.send(request(1, 'echo', { a: 1 }));
    expect(await recorder.result(1)).toEqual({ a: 1 });
    expect(recorder.heard.messages).toHaveLength(1);
    expect(recorder.heard.warnings.map((warning) => warning.code)).toEqual([
      'stdout_noise',
      'stdout_noise',
      'stdout_noise',
    ]);
    expect(recorder.heard.warnings[0]?.message).toContain('starting up…');
  });

  test('CN-1 keeps characters whole that arrive byte by byte', async () => {
    const { transport, recorder } = await open('none');
    await transport.send(request(1, 'split', { text: 'žluťoučký 🐎' }));
    expect(await recorder.result(1)).toEqual({ text: 'žluťoučký 🐎' });
  });

  test.each([
    ['first', true],
    ['last', false],
  ])('CN-1 drops a line over the limit, fails its request and goes on, with the id %s', async (_place, idFirst) => {
    const { transport, recorder } = await open('none', { maxLineBytes: 100_000 });
    await transport.send(request(7, 'oversized', { bytes: 1_000_000, idFirst }));
    const failed = await recorder.until((heard) => heard.failed[0]);
    expect(failed).toMatchObject({ id: 7, error: { code: 'limit_exceeded', outcome: 'failed' } });
    expect(recorder.heard.warnings.map((warning) => warning.code)).toEqual(['oversized_line']);
    await transport.send(request(8, 'echo', { still: 'here' }));
    expect(await recorder.result(8)).toEqual({ still: 'here' });
  });

  test('CN-1 reads a line of exactly the limit', async () => {
    const { transport, recorder } = await open('none', { maxLineBytes: 1_000 });
    const empty = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: '' } }).length;
    await transport.send(request(1, 'oversized', { bytes: 1_000 - empty, idFirst: true }));
    expect(await recorder.result(1)).toMatchObject({ text: 'y'.repeat(1_000 - empty) });
  });

  test('PE-1 delivers a burst of messages in order through backpressure', async () => {
    const { transport, recorder } = await open('none');
    const text = 'z'.repeat(10_000);
    await Promise.all(Array.from({ length: 500 }, async (_, id) => transport.send(request(id, 'echo', { text }))));
    await recorder.result(499);
    expect(recorder.heard.messages.map(({ message }) => ('id' in message ? message.id : undefined))).toEqual(
      Array.from({ length: 500 }, (_, id) => id),
    );
  });

  test('CN-1 drains a flood on stderr and keeps a bounded tail', async () => {
    const { transport, recorder } = await open('floods-stderr');
    await recorder.params('notifications/message');
    await transport.close();
    const tail = transport.stderrTail();
    expect(tail).toMatch(/stderr line 19999 x+\nthe last line$/);
    expect(tail.split('\n').length).toBeLessThanOrEqual(50);
    expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(8_192);
  });
});

describe('the end', () => {
  test('RT-12 reports a server that exits, with its code and stderr, once', async () => {
    const { transport, recorder } = await open('exits');
    const error = await recorder.until((heard) => heard.closed[0]);
    expect(error).toMatchObject({ code: 'connection_lost', outcome: 'unknown', stderr: 'no configuration file' });
    expect(error.message).toContain('exited with code 3');
    expect(transport.exitInfo()).toEqual({ code: 3, signal: null });
    await expect(transport.send(request(1, 'echo'))).rejects.toMatchObject({
      code: 'connection_lost',
      outcome: 'not-sent',
    });
    await transport.close();
    expect(recorder.heard.closed).toHaveLength(1);
  });

  test('RT-12 survives writes to a server that is going', async () => {
    const { transport, recorder } = await open('none');
    await transport.send(request(1, 'exit', { code: 0 }));
    const text = 'x'.repeat(100_000);
    const sends = Array.from({ length: 20 }, async (_, id) => transport.send(request(id + 2, 'echo', { text })));
    await Promise.allSettled(sends);
    expect(await recorder.until((heard) => heard.closed[0])).toBeInstanceOf(HoldfastError);
  });

  test('RT-12 reports the loss though a grandchild holds stdout open, and ends it on close', async () => {
    const { transport, recorder } = await open('child');
    const pids = await pidsOf(recorder);
    process.kill(transport.pid ?? 0, 'SIGKILL');
    const error = await recorder.until((heard) => heard.closed[0]);
    expect(error.message).toContain('ended by SIGKILL');
    await transport.close();
    expect(pids.map(isGone)).toEqual([true]);
  });

  test('RT-12 reports a server that closed its stdout', async () => {
    const { transport, recorder } = await open('stays');
    await transport.send(request(1, 'close-stdout'));
    expect((await recorder.until((heard) => heard.closed[0])).message).toContain('closed its stdout');
    await transport.close();
    expect(isGone(transport.pid ?? 0)).toBe(true);
  });

  test('RT-11 lets a server exit by itself at the end of stdin', async () => {
    const { transport, recorder } = await open('none', { graceMs: 60_000 });
    await transport.send(request(1, 'echo'));
    await recorder.result(1);
    await Promise.all([transport.close(), transport.close()]);
    expect(transport.exitInfo()).toEqual({ code: 0, signal: null });
    expect(recorder.heard.closed).toEqual([]);
  });

  test('RT-11 ends a server that ignores the end of stdin with SIGTERM', async () => {
    const { transport, recorder } = await open('stays');
    await transport.send(request(1, 'echo'));
    await recorder.result(1);
    await transport.close();
    expect(transport.exitInfo()).toEqual({ code: null, signal: 'SIGTERM' });
  });

  test('RT-11 ends a server that ignores SIGTERM with SIGKILL', async () => {
    const { transport, recorder } = await open('ignores-sigterm');
    await transport.send(request(1, 'echo'));
    await recorder.result(1);
    await transport.close();
    expect(transport.exitInfo()).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test.each(['child', 'stubborn-child', 'session-child', 'orphan'])(
    'RT-11 ends what the server left behind: %s',
    async (habit) => {
      const { transport, recorder } = await open(habit);
      const pids = await pidsOf(recorder);
      expect(pids.map(isGone)).toEqual([false]);
      await transport.close();
      expect([transport.pid ?? 0, ...pids].map(isGone)).toEqual([true, true]);
    },
  );

  test('RT-11 ends an orphan with a session of its own after the server was killed from outside', async () => {
    const { transport, recorder } = await open('orphan');
    const pids = await pidsOf(recorder);
    process.kill(transport.pid ?? 0, 'SIGKILL');
    await recorder.until((heard) => heard.closed[0]);
    await transport.close();
    expect(pids.map(isGone)).toEqual([true]);
  });

  test('RT-11 closes before and during the start', async () => {
    const before = make({ args: [script] });
    await before.transport.close();
    await expect(before.transport.start()).rejects.toMatchObject({ code: 'connection_lost' });
    const during = make({ args: [script, 'stays'] });
    const started = during.transport.start();
    await Promise.all([during.transport.close(), expect(started).rejects.toMatchObject({ code: 'connection_lost' })]);
    expect(isGone(during.transport.pid ?? 0)).toBe(true);
  });
});

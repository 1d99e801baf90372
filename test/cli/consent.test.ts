/** Commands that stand in files: what runs, and who said that it may. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { serveHttp, stdioServerConfig } from 'holdfast/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createConsent } from '../../src/cli/consent.ts';
import { runCommandLine } from '../../src/cli/run-command.ts';
import { createTerminal } from '../../src/cli/terminal.ts';
import { parseReport, runIn, type Signals } from './doctor-support.ts';
import { TestHost } from './jsonl-host.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-consent-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** A command that leaves a trace each time it runs, and prints a text. */
function tracing(text: string): string {
  return `echo ran >> ${join(directory, 'trace')} && echo ${text}`;
}

async function runs(): Promise<number> {
  const trace = await readFile(join(directory, 'trace'), 'utf8').catch(() => '');
  return trace.split('\n').filter((line) => line !== '').length;
}

async function writeHub(command: string, name = 'mcphub.json'): Promise<string> {
  const file = join(directory, name);
  const server = { ...stdioServerConfig({ tools: ['env'] }), env: { SEEDED: `\${cmd: ${command}}` } };
  await writeFile(file, JSON.stringify({ mcpServers: { it: server } }));
  return file;
}

describe('on the command line', () => {
  test.each([
    [['doctor', '--json'], 1],
    [['status', '--json'], 1],
    [['tools', '--json'], 1],
  ])('CA-3 CL-1 %j runs no command of a file in silence, and names the flag that allows it', async (args, code) => {
    const file = await writeHub(tracing('value-of-the-command'));
    const run = await runIn([...args, '--config', file], { directory });
    expect(run.output + run.errors).toMatch(/expected consent to run a command in it, got none.*--allow-commands/);
    expect(run.code).toBe(code);
    expect(await runs()).toBe(0);
  });

  test('CA-3 CL-1 --allow-commands runs the commands of a file, and what they print is a secret', async () => {
    const file = await writeHub(tracing('value-of-the-command'));
    const call = await runIn(['call', 'it/env', '--config', file, '--allow-commands'], { directory });
    expect(call).toMatchObject({ code: 0, errors: '' });
    expect(call.output).toContain('SEEDED');
    expect(await runs()).toBe(1);
    const doctor = await runIn(['doctor', '--json', '--config', file, '--allow-commands'], { directory });
    expect(doctor.code).toBe(0);
    expect(doctor.output).not.toContain('value-of-the-command');
  });

  test('CA-3 CL-1 a headers helper runs with --allow-commands, and without it its server says so', async () => {
    await using server = await serveHttp({ tools: ['echo'] });
    const file = join(directory, '.mcp.json');
    const helper = tracing(`'{"X-Seeded":"from-the-helper"}'`);
    await writeFile(
      file,
      JSON.stringify({ mcpServers: { it: { type: 'http', url: server.url, headersHelper: helper } } }),
    );
    const refused = parseReport((await runIn(['doctor', '--json'], { directory })).output);
    expect(refused.said('it')).toMatch(/--allow-commands/);
    expect(server.requests).toEqual([]);
    const { code } = await runIn(['doctor', '--allow-commands'], { directory });
    expect(code).toBe(0);
    expect(server.requests.every(({ headers }) => headers['x-seeded'] === 'from-the-helper')).toBe(true);
  });

  test('CA-3 CL-2 the JSON-lines host runs commands only with --allow-commands', async () => {
    const file = await writeHub(tracing('value-of-the-command'));
    const refusing = new TestHost({ command: { config: [file] } });
    await refusing.ask('ready');
    const snapshot = await refusing.result('snapshot');
    expect(JSON.stringify(snapshot)).toMatch(/misconfigured.*--allow-commands/);
    await refusing.close();
    expect(await runs()).toBe(0);
    const allowing = new TestHost({ command: { config: [file], allowCommands: true } });
    await allowing.result('ready');
    await allowing.result('replace', { files: [file] });
    await allowing.close();
    expect(await runs()).toBe(2);
  });

  test('CA-3 RT-11 a signal ends the command of a file that is running, and the program', async () => {
    const file = await writeHub(`echo $$ > ${join(directory, 'pid')}; exec sleep 1000`);
    const signals: Signals = {};
    const run = runIn(['status', '--config', file, '--allow-commands'], { directory, signals });
    const pid = await vi.waitUntil(
      async () => Number(await readFile(join(directory, 'pid'), 'utf8').catch(() => '')),
      20_000,
    );
    signals.send?.('SIGTERM');
    expect(await run).toMatchObject({ code: 143 });
    expect(isThere(pid)).toBe(false);
  });
});

describe('on a terminal', () => {
  /** A terminal whose person presses a key at each question. */
  function terminalPressing(key: string) {
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
    const output = Object.assign(new PassThrough(), { isTTY: true, columns: 120, rows: 40 });
    const seen = { shown: '', isPressed: false };
    output.setEncoding('utf8').on('data', (chunk: string) => {
      seen.shown += stripVTControlCharacters(chunk);
      if (seen.isPressed || !seen.shown.includes('Run it?')) return;
      seen.isPressed = true;
      setImmediate(() => input.write(key));
    });
    return {
      terminal: createTerminal({ input, output, errors: output, env: { NO_COLOR: '1' } }),
      shown: () => seen.shown,
      again: () => Object.assign(seen, { shown: '', isPressed: false }),
    };
  }

  const ask = { file: '/x/mcphub.json', server: 'it', purpose: 'placeholder' } as const;
  const { signal } = new AbortController();

  test('CA-3 a command runs after a yes, which is asked for once a command and file', async () => {
    const { terminal, shown, again } = terminalPressing('y');
    const run = createConsent({ terminal, isAllowed: false, env: process.env }).runner({ canAsk: true, signal });
    const asked = { ...ask, file: join(directory, 'a.json'), command: tracing('one') };
    expect(await run(asked)).toBe('one\n');
    expect(shown()).toMatch(/a\.json.*wants to run this for a value of "it"/);
    expect(shown()).toContain('echo one');
    again();
    await run(asked);
    expect(shown()).toBe('');
    expect(await runs()).toBe(2);
    again();
    await run({ ...asked, file: join(directory, 'b.json') });
    expect(shown()).toContain('Run it?');
  });

  test('CA-3 a no holds as long as the program runs, and nothing is asked where nobody can be', async () => {
    const { terminal, shown, again } = terminalPressing('n');
    const consent = createConsent({ terminal, isAllowed: false, env: process.env });
    const asked = { ...ask, file: join(directory, 'a.json'), command: tracing('one') };
    const refusal = { code: 'not_approved', message: expect.stringContaining('--allow-commands') as unknown };
    await expect(consent.runner({ canAsk: true, signal })(asked)).rejects.toMatchObject(refusal);
    again();
    await expect(consent.runner({ canAsk: true, signal })(asked)).rejects.toMatchObject(refusal);
    await expect(consent.runner({ canAsk: false, signal })({ ...asked, command: 'other' })).rejects.toMatchObject(
      refusal,
    );
    expect(shown()).toBe('');
    expect(await runs()).toBe(0);
  });
});

describe('a command', () => {
  const { signal } = new AbortController();

  test('CA-3 runs where its file is, and its failure says why', async () => {
    const file = join(directory, 'a.json');
    expect((await runCommandLine('pwd', { file, env: process.env, signal })).trim()).toBe(directory);
    const failing = runCommandLine('echo no luck >&2; exit 3', { file, env: process.env, signal });
    await expect(failing).rejects.toThrow('it ended with 3 ("no luck")');
  });

  test('CA-3 leaves nothing running that it began', async () => {
    const file = join(directory, 'a.json');
    const pid = Number(await runCommandLine('sleep 1000 & echo $!', { file, env: process.env, signal }));
    await expect.poll(() => isThere(pid), { timeout: 10_000 }).toBe(false);
  });

  test('CA-3 may print so much and no more', async () => {
    const file = join(directory, 'a.json');
    await expect(runCommandLine('yes', { file, env: process.env, signal })).rejects.toThrow(/more than 1048576 bytes/);
  });
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InMemoryTransport as V1Transport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer as V1Server } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ServerConfig } from '../../src/domain/config.ts';
import { HoldfastError } from '../../src/domain/errors.ts';
import type { EraVerdict } from '../../src/domain/link.ts';
import { rawServer, readJournal, scriptedServer, serveHttp, stdioServerConfig } from '../../src/testing/index.ts';
import type { RawMessage, RawServer } from '../../src/testing/index.ts';
import { call, failureOf, open, Told, turn } from './support.ts';

const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function errorOf(promise: Promise<unknown>): Promise<HoldfastError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error('Expected a rejection.');
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function verdictOf(told: Told): EraVerdict {
  const [verdict] = told.of('onVerdict')[0] ?? [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- recorded as unknown, told as a verdict
  return verdict as EraVerdict;
}

/** Pids of every process a scripted child started for this journal. */
function pidsIn(journalFile: string): readonly number[] {
  return [...new Set(readJournal(journalFile).map((entry) => entry.pid))];
}

const discovered = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
};

describe('eras', () => {
  test.each([
    ['legacy', 'auto', 'legacy'],
    ['modern', 'auto', 'modern'],
    ['both', 'auto', 'modern'],
    ['both', 'legacy', 'legacy'],
    ['both', '2026-07-28', 'modern'],
  ] as const)(
    'ER-1 a server of era %s with protocol %s is spoken to as %s, over every transport',
    async (era, protocol, expected) => {
      await using http = await serveHttp({ era, tools: ['echo'] });
      await using inMemory = scriptedServer({ era, tools: ['echo'] });
      for (const config of [http.config, inMemory.config, stdioServerConfig({ era, tools: ['echo'] })]) {
        await using opened = await open({ ...config, protocol });
        expect(opened.link.info).toMatchObject({
          era: expected,
          protocolVersion: expected === 'modern' ? '2026-07-28' : '2025-11-25',
          serverInfo: { name: 'scripted', version: '1.0.0' },
        });
        expect(opened.link.inventory.tools.map((tool) => tool.name)).toEqual(['echo']);
        expect(await call(opened.link, 'echo', { text: 'x' }).result).toMatchObject({ content: [{ text: 'x' }] });
        expect(opened.told.of('onVerdict')).toHaveLength(protocol === 'legacy' ? 0 : 1);
      }
    },
  );

  test('ER-1 a pinned modern protocol refuses a legacy server, and says what to change', async () => {
    await using inMemory = scriptedServer();
    await using http = await serveHttp();
    for (const config of [inMemory.config, http.config, stdioServerConfig()]) {
      const error = await errorOf(open({ ...config, protocol: '2026-07-28' }));
      expect(error).toMatchObject({ code: 'unsupported', retryable: false });
      expect(error.message).toContain('Set "protocol" to "auto" or "legacy".');
    }
  });

  test('ER-1 a verdict spares the probe: one process, no discovery', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const journalFile = join(folder, `${era}.jsonl`);
      const config = stdioServerConfig({ era, tools: ['echo'], journalFile });
      const told = new Told();
      await (await open(config, { told })).link.close();
      const before = pidsIn(journalFile).length;
      await using opened = await open(config, { verdict: verdictOf(told) });
      await call(opened.link, 'echo').result;

      expect(opened.link.info.era).toBe(era);
      expect(opened.told.of('onVerdict')).toEqual([]);
      expect(pidsIn(journalFile).length - before).toBe(1);
    }
  });

  test('ER-1 a legacy verdict of more than 24 hours counts no more', async () => {
    const day = 24 * 60 * 60 * 1_000;
    const young = rawServer();
    const old = rawServer();
    await using first = await open(young.config, { verdict: { era: 'legacy', at: Date.now() - day + 60_000 } });
    await using second = await open(old.config, { verdict: { era: 'legacy', at: Date.now() - day - 1 } });

    expect(young.received[0]).toMatchObject({ method: 'initialize' });
    expect(old.received[0]).toMatchObject({ method: 'server/discover' });
    expect([first.link.info.era, second.link.info.era]).toEqual(['legacy', 'legacy']);
  });

  test('ER-1 a verdict of the wrong era is dropped and learned anew', async () => {
    await using older = scriptedServer({ era: 'legacy', tools: ['echo'] });
    await using newer = scriptedServer({ era: 'modern', tools: ['echo'] });
    const told = new Told();
    await (await open(newer.config, { told })).link.close();
    await using nowOlder = await open(older.config, { verdict: verdictOf(told) });
    await using nowNewer = await open(newer.config, { verdict: { era: 'legacy', at: Date.now() } });

    expect(nowOlder.link.info.era).toBe('legacy');
    expect(nowNewer.link.info.era).toBe('modern');
    expect(nowOlder.link.inventory.failure).toBeUndefined();
    expect(verdictOf(nowOlder.told).era).toBe('legacy');
    expect(verdictOf(nowNewer.told).era).toBe('modern');
  });

  test('ER-1 SE-3 a remembered verdict of any shape is no error', async () => {
    for (const discover of [{}, { supportedVersions: 'x' }, { supportedVersions: ['1999-01-01'], capabilities: {} }]) {
      const server = rawServer();
      await using opened = await open(server.config, { verdict: { era: 'modern', at: 0, discover } });
      expect(opened.link.info.era).toBe('legacy');
    }
  });

  test.each([
    [
      'exits on what it does not know',
      'process.stdin.once("data", (line) => { if (!String(line).includes("initialize")) process.exit(9); })',
    ],
    [
      'floods stderr on what it does not know',
      'process.stdin.on("data", (chunk) => { for (const line of String(chunk).split("\\n")) if (line.includes("discover")) { console.error("x".repeat(5_000_000)); console.log(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(line).id, error: { code: -32601, message: "no" } })); } })',
    ],
    ['is silent about what it does not know', ''],
  ])(
    'ER-1 a stdio server that %s still connects',
    async (_, prelude) => {
      const script = `${prelude}
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line);
        const reply = (result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
        if (method === 'initialize') reply({ protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } });
        if (method === 'tools/list') reply({ tools: [{ name: 'only', inputSchema: { type: 'object' } }] });
      });`;
      await using opened = await open({ command: process.execPath, args: ['-e', script] });

      expect(opened.link.info).toMatchObject({ era: 'legacy', protocolVersion: '2024-11-05' });
      expect(opened.link.inventory.tools).toHaveLength(1);
    },
    20_000,
  );

  test('ER-1 a stdio server that cannot run twice at a time is started again alone', async () => {
    const lock = join(folder, 'lock');
    const script = `
      const fs = require('node:fs');
      // Whoever comes second fails, as a second owner of one port or file would. The first waits for it: no order is left to chance.
      const starts = ${JSON.stringify(`${lock}.starts`)};
      fs.appendFileSync(starts, 'x');
      const metBoth = (run) => (fs.statSync(starts).size > 1 ? run() : setTimeout(() => metBoth(run), 5));
      if (fs.existsSync(${JSON.stringify(lock)})) { fs.writeFileSync(${JSON.stringify(`${lock}.clash`)}, ''); process.exit(4); }
      fs.writeFileSync(${JSON.stringify(lock)}, '');
      process.on('exit', () => fs.rmSync(${JSON.stringify(lock)}, { force: true }));
      for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line);
        const write = (frame) => metBoth(() => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...frame }) + '\\n'));
        if (method === 'server/discover') write({ error: { code: -32601, message: 'no' } });
        if (method === 'initialize') write({ result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'one', version: '1' } } });
      });`;
    await using opened = await open({ command: process.execPath, args: ['-e', script] });

    expect(opened.link.info.era).toBe('legacy');
    expect(readFileSync(`${lock}.clash`, 'utf8')).toBe('');
  });

  test.each(['refuses the version', 'answers'])(
    'ER-1 a server of later revisions only is unsupported: it %s',
    async (how) => {
      const supported = ['2031-01-01'];
      const server = rawServer((message, peer) => {
        if (message['method'] !== 'server/discover') return false;
        if (how === 'answers') peer.reply(message, { supportedVersions: supported, capabilities: {} });
        else peer.fail(message, -32_022, 'Unsupported', { supported, requested: '2026-07-28' });
        return true;
      });
      const error = await errorOf(open(server.config));

      expect(error.code).toBe('unsupported');
      expect(error.message).toContain('2031-01-01');
      expect(error.message).toContain('Update Holdfast');
    },
  );

  test('ER-1 real servers of the v1 SDK connect in memory, given, and over stdio', async () => {
    const makeServer = (): V1Server => {
      const server = new V1Server({ name: 'v1', version: '1' });
      server.tool('echo', () => ({ content: [{ type: 'text', text: 'v1' }] }));
      return server;
    };
    const [near, far] = V1Transport.createLinkedPair();
    await makeServer().connect(far);
    const configs: ServerConfig[] = [
      { inMemory: makeServer },
      { transport: near },
      { command: process.execPath, args: [everything] },
    ];
    const kinds: string[] = [];
    for (const config of configs) {
      await using opened = await open(config);
      kinds.push(opened.link.info.transport);
      expect(opened.link.info).toMatchObject({ era: 'legacy', protocolVersion: '2025-11-25' });
      expect(JSON.stringify(await call(opened.link, 'echo', { message: 'v1' }).result)).toContain('v1"');
    }
    expect(kinds).toEqual(['in-memory', 'given', 'stdio']);
  });
});

describe('hostile handshakes', () => {
  const initializes = (answer: (message: RawMessage, peer: RawServer) => void): RawServer =>
    rawServer((message, peer) => {
      if (message['method'] !== 'initialize') return false;
      answer(message, peer);
      return true;
    });

  test.each([
    [
      'lies about the protocol version',
      { protocolVersion: '1999-01-01', capabilities: {}, serverInfo: { name: 'a', version: '1' } },
    ],
    ['names no version', { capabilities: {}, serverInfo: { name: 'a', version: '1' } }],
    ['answers with a list', []],
    ['answers with null', null],
  ])('RT-12 SE-3 a server that %s is a protocol_error', async (_, result) => {
    const server = initializes((message, peer) => peer.reply(message, result));
    const error = await errorOf(open({ ...server.config, protocol: 'legacy' }));

    expect(error.code).toBe('protocol_error');
    expect(error.message).toMatch(/^Server "docs": expected /);
    expect(server.closed).toBe(true);
  });

  test('RT-12 a server that refuses the handshake is a protocol_error with its words', async () => {
    const server = initializes((message, peer) => peer.fail(message, -32_000, 'Come back later'));
    const error = await errorOf(open(server.config));

    expect(error.code).toBe('protocol_error');
    expect(error.message).toContain('-32000 (');
    expect(error.message).toContain('Come back later');
  });

  test('CN-2 a server that never answers is a timeout, and an end in the middle is server_unavailable', async () => {
    const silent = initializes(() => undefined);
    const gone = initializes((_, peer) => void peer.close());
    const late = await errorOf(open({ ...silent.config, protocol: 'legacy' }, { timeoutMs: 100 }));
    const lost = await errorOf(open({ ...gone.config, protocol: 'legacy' }));

    expect(late).toMatchObject({ code: 'timeout', retryable: true });
    expect(lost).toMatchObject({ code: 'server_unavailable', retryable: true });
    expect(silent.closed).toBe(true);
  });

  test('CN-2 the limit holds over handshake and listing together', async () => {
    const server = rawServer((message) => message['method'] === 'tools/list');
    const error = await errorOf(open(server.config, { timeoutMs: 200 }));

    expect(error.code).toBe('timeout');
    await server.waitFor('tools/list');
    expect(server.closed).toBe(true);
  });

  test.each([
    [{ ...discovered, supportedVersions: 7 }],
    [{ ...discovered, capabilities: 'all' }],
    [{ supportedVersions: ['2025-11-25'], capabilities: {} }],
    [{}],
    [[]],
  ])('ER-1 SE-3 a discovery that says nothing usable means legacy: %j', async (result) => {
    const server = rawServer((message, peer) => {
      if (message['method'] !== 'server/discover') return false;
      peer.reply(message, result);
      return true;
    });
    await using opened = await open(server.config);

    expect(opened.link.info.era).toBe('legacy');
  });

  test('RT-12 a factory that throws, or makes no server, is server_unavailable', async () => {
    const thrown = await errorOf(
      open({
        inMemory: () => {
          throw new Error('no such database');
        },
      }),
    );
    expect(thrown).toMatchObject({ code: 'server_unavailable' });
    expect(thrown.message).toBe(
      'Server "docs": Expected the in-memory server to start, got "no such database". Correct what makes it.',
    );
  });
});

describe('processes', () => {
  test('CN-1 a server that ends at the start is server_unavailable, with its last words', async () => {
    const error = await errorOf(open(stdioServerConfig({ exitOnStart: { code: 7, stderr: 'no licence' } })));

    expect(error).toMatchObject({ code: 'server_unavailable', retryable: true });
    expect(error.stderr).toContain('no licence');
    expect(error.message).toContain('Server "docs": ');
    expect(error.message).toContain('exited with code 7');
  });

  test('CN-1 a command that is not there is server_unavailable at once', async () => {
    const error = await errorOf(open({ command: 'holdfast-no-such-command' }));

    expect(error.code).toBe('server_unavailable');
    expect(error.message).toContain('Server "docs": Expected the command "holdfast-no-such-command" on PATH');
  });

  test.each(['abort', 'timeout'] as const)(
    'CN-2 H10 nothing of a start is left after its %s, the probe included',
    async (how) => {
      const journalFile = join(folder, 'journal.jsonl');
      const config = stdioServerConfig({ hangOnStart: true, journalFile, stderrOnStart: 'booting' });
      const stop = new AbortController();
      const opening = errorOf(open(config, { signal: stop.signal, timeoutMs: how === 'abort' ? 20_000 : 1_000 }));
      while (pidsIn(journalFile).length < 2) await turn();
      if (how === 'abort') stop.abort();
      const error = await opening;

      expect(error.code).toBe(how === 'abort' ? 'aborted' : 'timeout');
      expect(error.stderr).toContain('booting');
      for (const pid of pidsIn(journalFile)) expect(isRunning(pid)).toBe(false);
    },
  );

  test('RT-11 H10 a start that is given up ends a server that heeds neither its stdin nor SIGTERM', async () => {
    const journalFile = join(folder, 'journal.jsonl');
    const config = stdioServerConfig({ hangOnStart: true, journalFile, stubborn: 'sigterm' });
    const stop = new AbortController();
    const opening = errorOf(open({ ...config, protocol: 'legacy' }, { signal: stop.signal }));
    while (pidsIn(journalFile).length < 1) await turn();
    stop.abort();

    expect((await opening).code).toBe('aborted');
    for (const pid of pidsIn(journalFile)) expect(isRunning(pid)).toBe(false);
  });

  test('CN-2 a start that is aborted before it begins starts nothing', async () => {
    const journalFile = join(folder, 'journal.jsonl');
    const error = await errorOf(open(stdioServerConfig({ journalFile }), { signal: AbortSignal.abort() }));

    expect(error.code).toBe('aborted');
    expect(pidsIn(journalFile)).toEqual([]);
  });

  test('RT-7 H10 a killed process fails its calls, tells of the end once, and close leaves nothing', async () => {
    await using opened = await open(stdioServerConfig({ tools: ['crash', 'park', 'awaitParked'] }));
    const { pid } = opened.link.info;
    const parked = call(opened.link, 'park', { key: 'a' });
    await call(opened.link, 'awaitParked', { key: 'a' }).result;
    process.kill(pid ?? 0, 'SIGKILL');
    const { failure } = await failureOf(parked);
    const [closed] = await opened.told.until('onClosed');
    await opened.link.close();

    expect(failure).toMatchObject({ code: 'connection_lost', retryable: true });
    expect(failure.message).toContain('Server "docs": ');
    expect(closed).toMatchObject({ code: 'connection_lost' });
    expect(opened.told.of('onClosed')).toHaveLength(1);
    expect(isRunning(pid ?? 0)).toBe(false);
  });

  test('RT-11 close ends the process', async () => {
    const opened = await open(stdioServerConfig({ tools: ['echo'], stderrOnStart: 'ready\n' }));
    const { pid } = opened.link.info;
    await opened.link.close();

    expect(isRunning(pid ?? 0)).toBe(false);
    expect(opened.link.stderrTail()).toContain('ready');
    expect(opened.told.of('onClosed')).toEqual([]);
  });

  test('CN-1 noise on stdout is told and does not matter', async () => {
    await using opened = await open(stdioServerConfig({ tools: ['echo'], stdoutOnStart: ['Welcome!', '{"half":'] }));

    expect(opened.told.warnings('stdout_noise').length).toBeGreaterThan(0);
    expect(await call(opened.link, 'echo', { text: 'x' }).result).toMatchObject({ content: [{ text: 'x' }] });
  });
});

describe('in memory', () => {
  test('RT-7 each opening makes a fresh server, and the server is closed with its link', async () => {
    await using server = scriptedServer({ tools: ['echo'] });
    const first = await open(server.config);
    const second = await open(server.config);
    expect(server.connections).toBe(2);
    await first.link.close();
    expect(await call(second.link, 'echo', { text: 'x' }).result).toMatchObject({ content: [{ text: 'x' }] });
    await second.link.close();

    expect(server.connections).toBe(0);
  });
});

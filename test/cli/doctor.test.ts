/** `holdfast doctor`: what it says of servers that work, and of those that do not. */
import { request } from 'node:http';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from 'holdfast';
import { serveHttp, stdioServerConfig } from 'holdfast/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { makeCertificate, serveTls } from '../mcp/transports/tls-fixture.ts';
import { answering, parseReport, PlainHttp, runIn, type Signals, writeServers } from './doctor-support.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-doctor-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** A program of one line that says something and goes on or ends. */
function node(script: string): { readonly command: string; readonly args: readonly string[] } {
  return { command: process.execPath, args: ['-e', script] };
}

function deepSchema(levels: number): JsonObject {
  return levels === 0 ? {} : { type: 'object', properties: { deeper: deepSchema(levels - 1) } };
}

describe('what works', () => {
  test('CL-1 doctor says in one line each what is right, and exits with 0', async () => {
    await using http = await serveHttp({ era: 'modern', tools: ['echo'] });
    await writeServers(directory, {
      child: stdioServerConfig({ name: 'kid', tools: ['echo', 'fail'] }),
      far: { url: http.url },
      off: { command: 'x', enabled: false },
    });
    const { code, output, errors } = await runIn(['doctor'], { directory });
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    const [file, ...lines] = output.trimEnd().split('\n');
    expect(file).toBe(join(directory, 'holdfast.json'));
    expect(lines[0]).toMatch(/^✓ child  stdio · legacy 2025-11-25 · kid 1\.0\.0 · 2 tools · \d+ ms$/);
    expect(lines[1]).toMatch(/^✓ far    http · modern 2026-07-28 · scripted 1\.0\.0 · 1 tool · \d+ ms$/);
    expect(lines[2]).toBe('- off    Disabled: "enabled" is false.');
    expect(lines[3]).toBe('2 right, 1 off.');
  });

  test('CL-1 doctor prints one object as JSON, with the place of each server', async () => {
    await writeServers(directory, { child: stdioServerConfig({ tools: ['echo'] }) });
    const { code, output } = await runIn(['doctor', '--json'], { directory });
    expect(code).toBe(0);
    expect(parseReport(output)).toMatchObject({
      isRight: true,
      files: [join(directory, 'holdfast.json')],
      problems: [],
      servers: [
        {
          server: 'child',
          verdict: 'right',
          state: 'ready',
          transport: 'stdio',
          era: 'legacy',
          file: join(directory, 'holdfast.json'),
          line: 3,
          tools: { listed: 1, shown: 1, missing: [] },
        },
      ],
    });
  });

  test('CL-1 doctor checks the servers that are named, and knows no others', async () => {
    await writeServers(directory, { one: stdioServerConfig({ tools: ['echo'] }), two: { command: 'no-such-command' } });
    expect(await runIn(['doctor', 'one'], { directory })).toMatchObject({ code: 0 });
    const { code, errors } = await runIn(['doctor', 'three'], { directory });
    expect(code).toBe(2);
    expect(errors).toContain('got "three". There are "one", "two".');
  });

  test('CL-1 NM-2 NM-3 doctor names tools that are not shown, and why; one that cannot be used is to be mended', async () => {
    const hidden = { name: 'secretive', inputSchema: { type: 'object' }, _meta: { ui: { visibility: ['app'] } } };
    await writeServers(directory, {
      filtered: {
        ...stdioServerConfig({ tools: ['echo', 'fail', 'env'], extraTools: [hidden] }),
        tools: { allow: ['echo', 'fail', 'ehco', 'secretive'], deny: ['fail'] },
      },
      partly: stdioServerConfig({ tools: ['echo'], listing: { fails: true } }),
      broken: stdioServerConfig({ tools: ['echo'], extraTools: [{ name: 'bad', inputSchema: deepSchema(300) }] }),
    });
    const { code, output } = await runIn(['doctor'], { directory });
    expect(code).toBe(1);
    expect(output).toMatch(/✓ filtered .* 1 tool · 3 not shown/);
    expect(output).toContain('→ It has no "ehco", named in "tools": correct the name.');
    expect(output).toMatch(/not shown: fail \(in "deny"\), env \(not in "allow"\), secretive \(not for the model/);
    expect(output).toMatch(/✗ partly .*listing is not to be had.*\n\s+→ The server itself runs: look at its log/);
    expect(output).toMatch(/✗ broken .*1 tool cannot be used.*\n\s+! bad: /);
  });
});

describe('processes', () => {
  test.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    ['a command that is nowhere', { command: 'no-such-command' }, /"no-such-command" on PATH.*not found/],
    [
      'uvx without uv',
      { command: 'uvx', args: ['x'], env: { PATH: '/nowhere' } },
      /comes with uv: https.*"env" sets PATH/,
    ],
    ['a working directory that is not there', { ...node(''), cwd: 'nowhere' }, /working directory .* does not exist/],
    ['a process that ends', node('process.exit(3)'), /exited with code 3\. It wrote nothing to stderr/],
    [
      'a process that needs a variable',
      node('console.error("Error: SOME_API_KEY environment variable is required"); process.exit(1)'),
      /exited with code 1.*It may need the variable SOME_API_KEY: set it in "env"/,
    ],
    [
      'a process that needs a variable that is set here',
      node('console.error("set HERE_API_KEY, it is missing"); process.exit(1)'),
      /HERE_API_KEY, which is set here, but servers get only what is configured/,
    ],
    [
      'a silent process',
      { ...node('setInterval(() => {}, 1e9)'), startTimeoutMs: 600 },
      /within 600 ms.*"startTimeoutMs"/,
    ],
    [
      'a program that is no server',
      { ...node('console.log("Usage: tool"); setInterval(() => {}, 1e9)'), startTimeoutMs: 600 },
      /messages on stdout, got "Usage: tool"/,
    ],
    [
      'a variable that is missing',
      { command: 'x', env: { KEY: '${HOLDFAST_TEST_NOT_SET}' } },
      /"HOLDFAST_TEST_NOT_SET"/,
    ],
    [
      'a header whose variable is missing',
      { url: 'http://127.0.0.1:9/', bearerTokenVariable: 'NOT_SET_HERE' },
      /NOT_SET_HERE/,
    ],
    [
      'a command that is a directory',
      { command: tmpdir() },
      /to be a program, but it is a directory\. Name the program/,
    ],
    [
      'an environment, which a file cannot bring',
      { command: 'x', environment: 'box' },
      /"box"\. Leave "environment" out.*a program gives createThread "environments"/,
    ],
    ['a time with its unit', { command: 'x', callTimeoutMs: '5s' }, /a whole number, without quotes or a unit/],
    ['a field that is wrong', { command: 3 }, /"command": expected text, got 3/],
  ])('CL-1 CN-3 doctor says how to mend %s', async (_, config, message) => {
    await writeServers(directory, { it: config });
    const { code, output } = await runIn(['doctor', '--json'], { directory, env: { HERE_API_KEY: 'x' } });
    const report = parseReport(output);
    expect(report.said('it')).toMatch(message);
    expect(report.find('it')).toMatchObject({
      verdict: 'mend',
      line: 'callTimeoutMs' in config ? 5 : config['command'] === 3 ? 4 : 3,
    });
    expect(code).toBe(1);
  });

  test('CL-1 doctor tells a file that may not be run from one whose interpreter is missing', async () => {
    await writeFile(join(directory, 'plain'), 'x', { mode: 0o644 });
    await writeFile(join(directory, 'script'), '#!/usr/bin/env no-such-interpreter\n');
    await chmod(join(directory, 'script'), 0o755);
    await writeServers(directory, { plain: { command: './plain' }, script: { command: join(directory, 'script') } });
    const report = parseReport((await runIn(['doctor', '--json'], { directory })).output);
    expect(report.said('plain')).toMatch(/executable, got permission denied/);
    expect(report.said('script')).toMatch(/no-such-interpreter/);
  });

  test('CL-1 doctor shows the last lines a process wrote to stderr', async () => {
    await writeServers(directory, { it: node('console.error("one\\ntwo\\u001b[31m"); process.exit(1)') });
    const { output } = await runIn(['doctor'], { directory });
    expect(output).toMatch(/✗ it .*holdfast\.json:3:11\)\n {4}\| one\n {4}\| two\n/);
  });

  test('CL-1 the limit of the command line wins over that of the server', async () => {
    await writeServers(directory, { it: { ...node('setInterval(() => {}, 1e9)'), startTimeoutMs: 1_000_000 } });
    const report = parseReport((await runIn(['doctor', '--timeout', '500', '--json'], { directory })).output);
    expect(report.find('it').message).toMatch(/within 500 ms/);
    expect(await runIn(['doctor', '--timeout', 'soon'], { directory })).toMatchObject({ code: 2 });
  });

  test('CL-1 RT-11 doctor ends on SIGINT, says what it did not check, and leaves nothing running', async () => {
    const pidFile = join(directory, 'pid');
    const script = `require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1e9)`;
    await writeServers(directory, { it: node(script) });
    const signals: Signals = {};
    const run = runIn(['doctor'], { directory, signals });
    const pid = await vi.waitUntil(async () => Number(await readFile(pidFile, 'utf8').catch(() => '')), 20_000);
    signals.send?.('SIGINT');
    const { code, output } = await run;
    expect(code).toBe(130);
    expect(output).toContain('? it  Not checked');
    expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
  });
});

describe('servers with a url', () => {
  const challenge = { 'www-authenticate': 'Bearer realm="x"' };
  test.each<[string, number, Readonly<Record<string, string>>, string, RegExp]>([
    ['401', 401, challenge, '', /HTTP 401.*sign in.*: holdfast login it$/],
    ['403', 403, {}, '', /HTTP 403.*refuses this credential/],
    ['404', 404, {}, '', /HTTP 404.*url is the MCP endpoint/],
    ['405', 405, {}, '', /HTTP 405.*url is the MCP endpoint/],
    ['a page', 200, { 'content-type': 'text/html' }, '<!doctype html>', /text\/html.*url is an MCP endpoint/],
    ['503', 503, {}, '', /HTTP 503.*Try again later/],
  ])('CL-1 CN-3 doctor says how to mend a server that answers %s', async (_, status, headers, body, message) => {
    await using server = await answering(status, headers, body);
    await writeServers(directory, { it: { url: server.url } });
    const { code, output } = await runIn(['doctor', '--json'], { directory });
    expect(parseReport(output).said('it')).toMatch(message);
    expect(code).toBe(1);
  });

  test('CL-1 doctor tells a host nobody knows from one where nobody listens', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const address = free.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    await new Promise((resolve) => free.close(resolve));
    await writeServers(directory, {
      nobody: { url: 'http://no-such-host.invalid/mcp' },
      closed: { url: `http://127.0.0.1:${port}/mcp` },
    });
    const report = parseReport((await runIn(['doctor', '--json'], { directory })).output);
    expect(report.said('nobody')).toContain('Nobody knows the name "no-such-host.invalid"');
    expect(report.said('closed')).toMatch(/ECONNREFUSED.*Check the url and that it runs/);
    // Behind a proxy, it is the proxy that knows names.
    const proxied = await runIn(['doctor', 'nobody', '--json'], {
      directory,
      env: { https_proxy: 'http://proxy.invalid' },
    });
    expect(parseReport(proxied.output).find('nobody').hints).toEqual([]);
  });

  test('CL-1 doctor finds the way that works where another transport or path is configured', async () => {
    await using server = await serveHttp({ tools: ['echo'] });
    await using front = await new PlainHttp((from, to) => {
      if (from.url !== '/api/mcp') {
        to.writeHead(404).end();
        return;
      }
      const { method, headers } = from;
      from.pipe(
        request(server.url, { method: method ?? 'GET', headers }, (answer) => {
          to.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(to);
        }),
      );
    }).listen();
    await writeServers(directory, {
      transport: { url: server.url, transport: 'sse' },
      era: { url: server.url, protocol: '2026-07-28' },
      path: { url: `http://127.0.0.1:${front.port}/api/` },
    });
    const report = parseReport((await runIn(['doctor', '--json'], { directory })).output);
    expect(report.find('transport').hints).toEqual([
      'It answers over the transport "http": set "transport" to that, or leave it out.',
    ]);
    expect(report.find('path').hints).toEqual([
      'It answers at "/mcp" after the rest of the path: have "url" end in that.',
    ]);
    expect(report.said('era')).toMatch(/protocol 2026-07-28.*Set "protocol" to "auto"/);
  });

  test('CL-1 CN-7 doctor names what is wrong with a certificate, and is right where its authority is named', async () => {
    using certificate = makeCertificate();
    await using server = await serveTls(certificate);
    await writeServers(directory, {
      strange: { url: server.url },
      known: { url: server.url, caFile: certificate.file },
      plain: { url: server.url.replace('https:', 'http:') },
    });
    const report = parseReport((await runIn(['doctor', '--json'], { directory })).output);
    expect(report.said('strange')).toMatch(/certificate.*self-signed.*"caFile"/);
    expect(report.find('known')).toMatchObject({ verdict: 'right' });
    expect(report.find('plain').hints).toEqual(['There is TLS at this port: have "url" begin with "https://".']);
  });

  test('CL-1 doctor says that a port is without TLS', async () => {
    await using server = await answering(404);
    await writeServers(directory, { it: { url: server.url.replace('http:', 'https:') } });
    const report = parseReport((await runIn(['doctor', '--json'], { directory })).output);
    expect(report.find('it').hints).toEqual(['There is no TLS at this port: have "url" begin with "http://".']);
  });
});

describe('files', () => {
  test('CL-1 doctor keeps the order of the files, and writes the sign-in out as it is typed', async () => {
    await using server = await answering(401, { 'www-authenticate': 'Bearer realm="x"' });
    const file = await writeServers(directory, {
      z: { command: 3 },
      "Ada's": { url: server.url },
      a: { enabled: false, command: 'x' },
    });
    const { output } = await runIn(['doctor', '--config', file, '--json'], { directory });
    const report = parseReport(output);
    expect(report.servers.map(({ server: name }) => name)).toEqual(['z', "Ada's", 'a']);
    expect(report.find("Ada's").hints[0]).toContain(`holdfast login 'Ada'\\''s' --config ${file}`);
  });

  test('CL-1 doctor shows on a terminal that it is at work, and takes that away', async () => {
    await writeServers(directory, { it: { ...node('setInterval(() => {}, 1e9)'), startTimeoutMs: 700 } });
    const { errors, output } = await runIn(['doctor'], { directory, isTerminal: true });
    expect(errors).toMatch(/checking \d\.\d s/);
    expect(errors.endsWith('\r\u001B[2K')).toBe(true);
    expect(output).not.toContain('checking');
  });

  test('CA-1 CL-1 doctor names line and column of a file it cannot read, and checks the others', async () => {
    await writeServers(directory, { child: stdioServerConfig({ tools: ['echo'] }) });
    await writeFile(join(directory, '.mcp.json'), '{\n  "mcpServers": [}\n');
    const { code, output } = await runIn(['doctor'], { directory });
    expect(code).toBe(1);
    expect(output).toMatch(/✗ .*\.mcp\.json", line 2, column 18/);
    expect(output).toMatch(/✓ child/);
    expect(await runIn(['doctor', 'lost'], { directory })).toMatchObject({ code: 1 });
    const report = parseReport((await runIn(['doctor', '--json'], { directory })).output);
    expect(report.problems).toMatchObject([{ code: 'config_syntax', line: 2, column: 18 }]);
  });

  test('CA-1 CL-1 doctor reads files of other tools that are named, and names those it finds', async () => {
    await mkdir(join(directory, '.vscode'));
    const file = join(directory, '.vscode', 'mcp.json');
    await writeFile(file, JSON.stringify({ servers: { a: { command: 'x', env: { K: '${input:key}' }, colour: 1 } } }));
    const none = await runIn(['doctor'], { directory });
    expect(none.code).toBe(0);
    expect(none.output).toMatch(/name them with "--config FILE"[\s\S]*\.vscode\/mcp\.json/);
    const { code, output } = await runIn(['doctor', '--config', file], { directory });
    expect(code).toBe(1);
    expect(output).toMatch(/"input:key".*"holdfast import --output FILE"/);
    expect(await runIn(['doctor', '--config', 'nowhere.json'], { directory })).toMatchObject({ code: 2 });
  });

  test('CA-1 CL-1 doctor says what a file has that does nothing, beside its server', async () => {
    await writeServers(directory, { child: { ...stdioServerConfig({ tools: ['echo'] }), colour: 1 } });
    const { code, output } = await runIn(['doctor'], { directory });
    expect(code).toBe(0);
    expect(output).toMatch(/✓ child .*\n {4}! .*nothing here knows "colour"/);
  });

  test('SE-1 CL-1 doctor shows no secret', async () => {
    const secret = 'hunter2hunter2';
    await writeServers(directory, {
      it: { ...node(`console.error(process.env.KEY + ' is wrong'); process.exit(1)`), env: { KEY: '${SEEDED}' } },
    });
    for (const args of [['doctor'], ['doctor', '--json']]) {
      const { output } = await runIn(args, { directory, env: { SEEDED: secret } });
      expect(output).toContain('is wrong');
      expect(output).not.toContain(secret);
    }
  });

  test('SE-1 CL-1 doctor names the folder and the program that references name, and shows no user info of urls', async () => {
    const folder = join(directory, 'payments-service');
    await mkdir(join(folder, '.cursor'), { recursive: true });
    const file = join(folder, '.cursor', 'mcp.json');
    const env = { ROOT: '${workspaceFolderBasename}', WF: '${workspaceFolder}' };
    await using http = await answering(500);
    await writeFile(
      file,
      JSON.stringify({
        mcpServers: {
          'payments-service': { command: '${workspaceFolderBasename}-mcp', env },
          web: { url: http.url.replace('//', '//ann:pw1@') },
          mad: { url: 'ftp://ann:pw2@a.example' },
          db: { ...node(`console.error('no postgres://ann:pw3@db.example'); process.exit(1)`), env },
        },
      }),
    );
    for (const args of [['doctor'], ['doctor', '--json']]) {
      const { output, errors } = await runIn([...args, '--config', file], { directory });
      expect(errors + output).not.toMatch(/ann:|pw\d/);
      expect(output).toContain(file);
      expect(output).toMatch(/Expected the command \\?"payments-service-mcp\\?" on PATH/);
      expect(output).toContain('no postgres://[redacted]@db.example');
    }
  });
});

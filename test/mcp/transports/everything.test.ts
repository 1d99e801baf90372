import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { createStdioTransport } from '../../../src/mcp/transports/stdio.ts';
import { atEnd, initialize, notification, open, request } from './http-fixture.ts';
import { Recorder } from './recorder.ts';

const program = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
const echo = request(1, 'tools/call', { name: 'echo', arguments: { message: 'hello' } });

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

test('CN-1 speaks to the reference server over HTTP, and ends its session', async () => {
  const port = await freePort();
  const child = spawn(process.execPath, [program, 'streamableHttp'], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  atEnd(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  child.stdout.setEncoding('utf8').on('data', (text: string) => (log += text));
  while (!log.includes('listening on port')) await once(child.stderr, 'data');

  const { transport, recorder } = await open(`http://127.0.0.1:${String(port)}/mcp`);
  await transport.send(initialize);
  await recorder.result(0);
  transport.setProtocolVersion('2025-11-25');
  await transport.send(notification('notifications/initialized'));
  await transport.send(echo);
  expect(JSON.stringify(await recorder.result(1))).toContain('hello');
  expect(transport.sessionId).toBeDefined();
  await transport.close();
  while (!log.includes('session termination')) await once(child.stdout, 'data');
  expect(recorder.heard.failed).toEqual([]);
});

test('CN-1 speaks to the reference server over stdio', async () => {
  const recorder = new Recorder();
  const transport = createStdioTransport({ command: process.execPath, args: [program, 'stdio'], listener: recorder });
  atEnd(async () => transport.close());
  await transport.start();
  await transport.send(initialize);
  await recorder.result(0);
  await transport.send(notification('notifications/initialized'));
  await transport.send(echo);
  expect(JSON.stringify(await recorder.result(1))).toContain('hello');
  expect(recorder.heard.warnings).toEqual([]);
});

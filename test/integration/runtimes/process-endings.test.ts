import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import { Watch, errorOf, serverOf, textOf } from './support.ts';

/** A server in a few lines, whose tool `end` ends it in one way, and whose resource does once. */
function dyingServer(how: string): { readonly command: string; readonly args: readonly string[] } {
  const program = `
    const { existsSync, closeSync, writeFileSync } = require('node:fs');
    const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    const results = {
      initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {}, resources: {} }, serverInfo: { name: 'dying', version: '1' } },
      'tools/list': { tools: [{ name: 'end', inputSchema: { type: 'object' } }, { name: 'pid', inputSchema: { type: 'object' } }] },
    };
    const end = () => { ${how} };
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined) return;
      if (method === 'tools/call' && params.name === 'end') return end();
      if (method === 'tools/call') return say({ id, result: { content: [{ type: 'text', text: String(process.pid) }] } });
      if (method === 'resources/read') {
        if (existsSync(params.uri)) return say({ id, result: { contents: [] } });
        writeFileSync(params.uri, '');
        return end();
      }
      if (results[method]) say({ id, result: results[method] });
      else say({ id, error: { code: -32601, message: 'Method not found' } });
    });
    setInterval(() => undefined, 60_000);
  `;
  return { command: process.execPath, args: ['-e', program] };
}

describe.each([
  ['exits with a code', 'process.exit(7);', 'exited with code 7'],
  ['is ended by a signal', "process.kill(process.pid, 'SIGKILL');", 'ended by SIGKILL'],
  ['closes its stdout and runs on', 'process.stdout.end(); closeSync(1);', 'closed its stdout'],
])('a process that %s in the middle of a request', (_how, how, said) => {
  test('RT-7 RT-10 H6 leaves the call unknown, is started again, and serves the same step', async () => {
    await using thread = createThread({ servers: { a: dyingServer(how) } });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    const { pid, connection } = serverOf(thread, 'a');
    const error = await errorOf(step.callTool('mcp__a__end'));
    expect(error).toMatchObject({ code: 'connection_lost', outcome: 'unknown', retryable: true });
    expect(error.message).toContain(said);
    await watch.untilServer('a', 'reconnecting');
    const after = textOf(await step.callTool('mcp__a__pid'));
    expect(serverOf(thread, 'a')).toMatchObject({ connection, state: 'ready', pid: Number(after) });
    expect(after).not.toBe(String(pid));
    expect(watch.of('call.ended').map(({ outcome }) => outcome)).toEqual(['unknown', 'completed']);
  });
});

test('RT-7 RT-10 a server that closes its stdin is found out by the next write, and is started again', async () => {
  const how = `
    process.stdin.destroy();
    setImmediate(() => {
      closeSync(0);
      say({ method: 'notifications/message', params: { level: 'info', data: 'deaf' } });
    });
  `;
  await using thread = createThread({ servers: { a: { ...dyingServer(how), parallel: true } } });
  const watch = new Watch(thread);
  const step = await thread.beginStep();
  const asked = errorOf(step.callTool('mcp__a__end'));
  await watch.until((fact) => fact.type === 'server.logged');
  const written = errorOf(step.callTool('mcp__a__pid'));
  for (const error of await Promise.all([asked, written]))
    expect(error).toMatchObject({ code: 'connection_lost', outcome: 'unknown', retryable: true });
  expect(textOf(await step.callTool('mcp__a__pid'))).toBe(String(serverOf(thread, 'a').pid));
});

test('RT-10 a read that its server died of is repeated once', async () => {
  await using thread = createThread({ servers: { a: dyingServer('process.exit(1);') } });
  await thread.ready();
  // The server leaves a file there before it dies, by which its successor knows that it is the second.
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-read-'));
  try {
    expect(await thread.readResource('a', join(folder, 'died'))).toMatchObject({ contents: [] });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

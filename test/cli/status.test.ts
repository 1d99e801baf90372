/** `holdfast status` in its details, and the same over JSON lines. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createThread, type ServerMap } from 'holdfast';
import { scriptedServer } from 'holdfast/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { AuthorizationServer } from '../integration/sign-in/authorization-server.ts';
import { GuardedServer } from '../integration/sign-in/guarded-server.ts';
import { TestHost } from './jsonl-host.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-status-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function run(args: readonly string[], servers: ServerMap) {
  return runCommand(['status', ...args], servers);
}

async function runCommand(args: readonly string[], servers: ServerMap) {
  const streams = { output: new PassThrough(), errors: new PassThrough() };
  const input = new PassThrough();
  input.end();
  const code = await runProgram(args, {
    input,
    ...streams,
    env: {},
    directory,
    version: '1.2.3',
    createThread: (options) => createThread({ ...options, servers: { ...options.servers, ...servers } }),
    onSignal: () => () => undefined,
    openStdout: () => streams.output,
  });
  return { code, output: String(streams.output.read() ?? ''), errors: String(streams.errors.read() ?? '') };
}

test('CL-1 RE-3 status counts tools, names them with --detail tools, and lists the rest with --detail full', async () => {
  await using one = scriptedServer({ tools: ['echo', 'park'] });
  await using two = scriptedServer({ tools: ['echo'] });
  const servers = { one: { ...one.config, tools: { deny: ['park'] } }, other: two.config };
  const summary = await run([], servers);
  expect(summary).toMatchObject({ code: 0, errors: '' });
  expect(summary.output).toMatch(/^one {4}ready[^\n]* 1 of 2 tools[^\n]*\nother {2}ready[^\n]* 1 tool [^\n]*\n$/);
  const tools = await run(['--detail', 'tools', 'one'], servers);
  expect(tools.output.split('\n').slice(1, 3)).toEqual([
    '  + mcp__one__echo',
    '  - park  denied: "tools.deny" of its server names it. Take it out to show the tool.',
  ]);
  expect(tools.output).not.toContain('other');
  const full = await run(['--detail', 'full', 'other'], servers);
  expect(full.output).toContain(
    '  resources\n    test://static\n  templates\n    test://park/{key}\n  prompts\n    greet\n    park\n',
  );
});

test('CL-1 CN-3 a server without tools, or a tool that is filtered out, is told with the reason', async () => {
  await using one = scriptedServer({ tools: ['echo', 'park'] });
  const servers: ServerMap = {
    one: { ...one.config, tools: { deny: ['park'] } },
    off: { command: 'off', enabled: false },
    nope: { command: '/nowhere/holdfast-nope' },
  };
  const off = await runCommand(['tools', 'off'], servers);
  expect(off).toMatchObject({ code: 0, output: 'No tools.\n' });
  expect(off.errors).toMatch(/^off {2}disabled .*\n {2}"enabled" is false in its configuration\.\n$/);
  const nope = await runCommand(['tools', 'nope'], servers);
  expect(nope).toMatchObject({ code: 1, output: 'No tools.\n' });
  expect(nope.errors).toMatch(/^nope {2}failed .*\n {2}.*holdfast-nope/);
  for (const name of ['mcp__one__park', 'one/park'])
    expect(await runCommand(['call', name], servers)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('is filtered out by the configuration of server "one"') as string,
    });
  expect(await runCommand(['call', 'off/echo'], servers)).toMatchObject({
    code: 1,
    errors: expect.stringContaining('Server "off" is disabled by its own configuration.') as string,
  });
  const status = await run([], servers);
  expect(status.output).toContain('"enabled" is false in its configuration.');
  expect(one.calls()).toBe(0);
});

test('CL-1 RE-3 status --json is what the library tells', async () => {
  await using one = scriptedServer({ tools: ['echo'] });
  const { output, code } = await run(['--json', '--detail', 'tools'], { one: one.config });
  expect(code).toBe(0);
  expect(JSON.parse(output)).toMatchObject({
    generation: 1,
    servers: [
      {
        name: 'one',
        state: 'ready',
        counts: { calls: 0 },
        tools: { listed: 1, shown: 1 },
        toolList: [{ tool: 'echo', name: 'mcp__one__echo' }],
      },
    ],
  });
});

test.each([
  [['--detail', 'everything'], /everything/],
  [['nobody'], /"nobody".*"one"/],
])('CL-1 status exits with 2 for %j', async (args, message) => {
  await using one = scriptedServer({ tools: ['echo'] });
  const { code, output, errors } = await run(args, { one: one.config });
  expect({ code, output }).toEqual({ code: 2, output: '' });
  expect(errors).toMatch(message);
});

test('CL-2 CN-5 RE-3 a host subscribes to resources, hears of them, and asks for the status', async () => {
  await using one = scriptedServer({ tools: ['echo'] });
  const host = new TestHost({ servers: { one: one.config } });
  try {
    const subscription = { server: 'one', uri: 'test://static' };
    expect(await host.result('subscribeResource', subscription)).toEqual({});
    await one.updateResource('test://static');
    expect(await host.event('resource.updated')).toMatchObject(subscription);
    expect(await host.result('status', { servers: ['one'] })).toMatchObject({
      generation: 1,
      servers: [{ name: 'one', subscriptions: ['test://static'] }],
    });
    expect(await host.result('unsubscribeResource', subscription)).toEqual({});
    expect(await host.result('readResource', { ...subscription, fresh: true })).toMatchObject({
      contents: [{ text: 'static' }],
    });
    expect(await host.ask('subscribeResource', { server: 'one' })).toMatchObject({
      error: { code: 'invalid_argument' },
    });
    expect(await host.ask('status', { detail: 'all' })).toMatchObject({ error: { code: 'invalid_argument' } });
    expect(await host.ask('status', { servers: ['two'] })).toMatchObject({ error: { code: 'invalid_argument' } });
  } finally {
    await host.close();
  }
});

test.each([false, true])('CL-1 AU-3 status names the command that signs in, required: %s', async (required) => {
  await using authorizationServer = await AuthorizationServer.start();
  await using guarded = await GuardedServer.start({ script: { tools: ['echo'] }, authorizationServer });
  const { code, output } = await run([], { notes: { url: guarded.url, required } });
  expect(code).toBe(1);
  expect(output).toContain('Sign in: holdfast login notes');
});

test('CL-1 RT-3 a required server that fails is shown with its reason', async () => {
  const { code, output, errors } = await run([], { nope: { command: '/nowhere/holdfast-nope', required: true } });
  expect({ code, errors }).toEqual({ code: 1, errors: '' });
  expect(output).toContain('/nowhere/holdfast-nope');
});

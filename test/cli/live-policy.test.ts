/** A policy in a watched file, while the host runs. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedServer } from 'holdfast/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isRecord } from '../../src/domain/json.ts';
import { TestHost, toolName } from './jsonl-host.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-policy-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

test.each([
  ['as it changes, for steps that began before too', {}, 'not_approved'],
  ['under the mode of the command line', { approval: 'approve' as const }, undefined],
])('CL-2 CA-4 PO-1 takes the policy of its files %s', async (_, command, code) => {
  await using server = scriptedServer();
  const file = join(directory, 'holdfast.json');
  await writeFile(file, JSON.stringify({ mcpServers: {} }));
  const host = new TestHost({ command: { config: [file], watch: true, ...command }, servers: { one: server.config } });
  const reply = await host.result('beginStep');
  const codeOf = async (): Promise<unknown> => {
    const { error } = await host.ask('callTool', call);
    return isRecord(error) ? error['code'] : undefined;
  };
  const call = { step: reply['step'], name: toolName(reply, 'one', 'destructive') };
  expect(await codeOf()).toBeUndefined();
  const policy = { approval: 'prompt', elicitation: { approvals: false } };
  await writeFile(file, JSON.stringify({ mcpServers: {}, policy }));
  await host.event('runtime.published', ({ generation }) => generation === 2);
  expect(await codeOf()).toBe(code);
  await writeFile(file, JSON.stringify({ mcpServers: {} }));
  await host.event('runtime.published', ({ generation }) => generation === 3);
  expect(await codeOf()).toBeUndefined();
  expect(host.records.some((record) => JSON.stringify(record).includes('restart_needed'))).toBe(false);
  expect(await host.close()).toBe(0);
});

test('CL-2 CA-4 PO-1 keeps the last good policy where an edit breaks it, and says where', async () => {
  await using server = scriptedServer();
  const file = join(directory, 'holdfast.json');
  const policy = { approval: 'prompt', elicitation: { approvals: false } };
  await writeFile(file, JSON.stringify({ mcpServers: {}, policy }));
  const host = new TestHost({ command: { config: [file], watch: true }, servers: { one: server.config } });
  const reply = await host.result('beginStep');
  await writeFile(file, '{ "mcpServers": {},\n"policy": { "approval": "sometimes" } }');
  const warning = await host.event('warning', ({ code }) => code === 'config_invalid');
  expect(warning['message']).toMatch(/not taken over: .*line 2, column 25.*"policy"/);
  const { error } = await host.ask('callTool', { step: reply['step'], name: toolName(reply, 'one', 'destructive') });
  expect(error).toMatchObject({ code: 'not_approved' });
  expect(await host.close()).toBe(0);
});

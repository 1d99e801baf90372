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
])('CL-2 CA-4 RT-5 PO-1 takes the policy of its files %s, and replaces no servers for it', async (_, command, code) => {
  await using server = scriptedServer();
  const file = join(directory, 'holdfast.json');
  // What the file says besides the policy is told, and tells that an edit was taken over.
  const save = (mark: string, policy?: Readonly<Record<string, unknown>>): Promise<void> =>
    writeFile(file, JSON.stringify({ mcpServers: {}, [mark]: {}, ...(policy === undefined ? {} : { policy }) }));
  await save('first');
  const host = new TestHost({ command: { config: [file], watch: true, ...command }, servers: { one: server.config } });
  const reply = await host.result('beginStep');
  const codeOf = async (): Promise<unknown> => {
    const { error } = await host.ask('callTool', call);
    return isRecord(error) ? error['code'] : undefined;
  };
  const isTaken = async (mark: string): Promise<void> => {
    await host.event('warning', ({ message }) => String(message).includes(`"${mark}"`));
  };
  const call = { step: reply['step'], name: toolName(reply, 'one', 'destructive') };
  expect(await codeOf()).toBeUndefined();
  await save('second', { approval: 'prompt', elicitation: { approvals: false } });
  await isTaken('second');
  expect(await codeOf()).toBe(code);
  await save('third');
  await isTaken('third');
  expect(await codeOf()).toBeUndefined();
  expect(host.records.some((record) => JSON.stringify(record).includes('restart_needed'))).toBe(false);
  expect(await host.close()).toBe(0);
  expect(host.records.filter(({ event }) => isRecord(event) && event['type'] === 'runtime.published')).toHaveLength(1);
});

test('CL-2 CA-4 RT-5 limits that change are told, and replace no servers; servers that change do', async () => {
  await using server = scriptedServer();
  const file = join(directory, 'holdfast.json');
  await writeFile(file, JSON.stringify({ mcpServers: {} }));
  const host = new TestHost({ command: { config: [file], watch: true }, servers: { one: server.config } });
  await host.result('beginStep');
  await writeFile(file, JSON.stringify({ mcpServers: {}, limits: { callsPerServer: 2 } }));
  await host.event('warning', ({ code }) => code === 'restart_needed');
  await writeFile(file, JSON.stringify({ mcpServers: { off: { command: 'x', enabled: false } } }));
  await host.event('runtime.published', ({ generation }) => generation === 2);
  expect(await host.close()).toBe(0);
});

test('CL-2 CA-1 CA-4 tells of a misspelt policy in a file as it is edited', async () => {
  const file = join(directory, 'holdfast.json');
  await writeFile(file, JSON.stringify({ mcpServers: {} }));
  const host = new TestHost({ command: { config: [file], watch: true } });
  await host.result('beginStep');
  await writeFile(file, JSON.stringify({ mcpServers: {}, policy: { elicitation: { autodeny: true } } }));
  const { message } = await host.event('warning', ({ code }) => code === 'unknown_field');
  expect(message).toContain('"policy.elicitation.autodeny"');
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

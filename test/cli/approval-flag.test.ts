import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServerScript, stdioServerConfig } from 'holdfast/testing';
import { expect, test } from 'vitest';
import { TestHost, toolName } from './jsonl-host.ts';

const script: ServerScript = { tools: ['echo'] };

/** Calls `echo` under a flag and a file, and tells whether the person was asked. */
async function isAsked(flag: 'prompt' | 'approve' | undefined, file: object): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-approval-'));
  await writeFile(join(directory, 'holdfast.json'), JSON.stringify(file));
  const host = new TestHost({ directory, command: flag === undefined ? {} : { approval: flag } });
  try {
    const step = await host.result('beginStep');
    const call = host.ask('callTool', {
      step: step['step'],
      name: toolName(step, 'docs', 'echo'),
      args: { text: 'x' },
    });
    const first = await Promise.race([call, host.event('elicitation.opened')]);
    return first['type'] === 'elicitation.opened';
  } finally {
    await host.close();
    await rm(directory, { recursive: true, force: true });
  }
}

test('PO-1 --approval wins over the file, the modes of its servers and tools included', async () => {
  const docs = {
    ...stdioServerConfig(script),
    approval: 'approve',
    tools: { perTool: { echo: { approval: 'approve' } } },
  };
  const file = { mcpServers: { docs }, policy: { approval: 'approve' } };
  expect(await isAsked(undefined, file)).toBe(false);
  expect(await isAsked('prompt', file)).toBe(true);
  const asking = { mcpServers: { docs: { ...docs, approval: 'prompt', tools: {} } } };
  expect(await isAsked(undefined, asking)).toBe(true);
  expect(await isAsked('approve', asking)).toBe(false);
});

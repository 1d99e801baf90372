/** What a step may touch, told to the servers that ask for it. */
import { McpServer } from '@modelcontextprotocol/server';
import type { Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { describe, expect, test } from 'vitest';
import type { InMemoryServer } from '../../../src/index.ts';
import { answerOf, eras, errorOf, watched } from '../elicitations/support.ts';

const key = 'codex/sandbox-state-meta';

/** A server whose tool `meta` returns the `_meta` of its call. */
function metaServer(era: (typeof eras)[number], experimental: Record<string, Record<string, never>>): InMemoryServer {
  const create = (): McpServer => {
    const server = new McpServer({ name: 'meta', version: '1.0.0' }, { capabilities: { tools: {}, experimental } });
    server.server.setRequestHandler('tools/list', () => ({
      tools: [{ name: 'meta', inputSchema: { type: 'object' } }],
    }));
    server.server.setRequestHandler('tools/call', (_, { mcpReq }) => ({
      content: [{ type: 'text', text: JSON.stringify(mcpReq._meta ?? null) }],
    }));
    return server;
  };
  const connect = (transport: Transport): Promise<unknown> => {
    if (era === 'legacy') return create().connect(transport);
    serveStdio(create, { transport, legacy: 'reject' });
    return Promise.resolve();
  };
  return { inMemory: () => ({ connect }) };
}

describe.each(eras)('the sandbox state of a step in the %s era', (era) => {
  test('PO-4 goes with each call to a server that declares the capability, and to no other', async () => {
    await using watch = watched({
      servers: { told: metaServer(era, { [key]: {} }), other: metaServer(era, { 'codex/other': {} }) },
    });
    const sandboxState = { permissionProfile: 'workspace-write', sandboxCwd: 'file:///project' };
    const step = await watch.thread.beginStep({ sandboxState });
    // Pinned: as it was when the step began.
    sandboxState.permissionProfile = 'full-access';
    const state = { permissionProfile: 'workspace-write', sandboxCwd: 'file:///project' };
    expect(answerOf(await step.callTool('mcp__told__meta'))).toMatchObject({ [key]: state });
    expect(answerOf(await step.callTool('mcp__told__meta', {}, { onProgress: () => undefined }))).toMatchObject({
      [key]: state,
    });
    expect(answerOf(await step.callTool('mcp__other__meta')) ?? {}).not.toHaveProperty([key]);
    const next = await watch.thread.beginStep();
    expect(answerOf(await next.callTool('mcp__told__meta')) ?? {}).not.toHaveProperty([key]);
  });
});

test('PO-4 what is no JSON object is refused', async () => {
  await using watch = watched({ servers: {} });
  const cycle: Record<string, never> = {};
  Object.assign(cycle, { cycle });
  for (const sandboxState of ['all', null, [], cycle])
    expect(await errorOf(watch.thread.beginStep({ sandboxState: sandboxState as never }))).toMatchObject({
      code: 'invalid_argument',
    });
});

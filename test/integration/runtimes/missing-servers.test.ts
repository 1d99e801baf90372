/** Why a server or a tool is not there: told wherever somebody asks for it. */
import { describe, expect, test } from 'vitest';
import { commandLauncher, createCatalogBuilder, createEnvironments } from '../../../src/index.ts';
import type { ThreadOptions } from '../../../src/index.ts';
import { scriptedServer, stdioServerConfig } from '../../../src/testing/index.ts';
import { errorOf, watched } from '../elicitations/support.ts';

const off = { command: 'off', enabled: false };

describe('a server that was removed', () => {
  test.each<readonly [string, () => ThreadOptions, string]>([
    [
      'an extension over servers',
      () => ({ servers: { cfg: off }, extensions: [{ id: 'ops', servers: { remove: ['cfg', 'never-there'] } }] }),
      'Server "cfg" was removed by extension "ops".',
    ],
    [
      'a catalog',
      () => ({
        catalog: createCatalogBuilder()
          .registerAll({ kind: 'config' }, { servers: { cfg: off } })
          .remove({ name: 'cfg', source: { kind: 'compatibility', id: 'apps' } })
          .build(),
      }),
      'Server "cfg" was removed by compatibility source "apps".',
    ],
  ])('CA-5 RE-3 by %s is told with who did', async (_what, options, reason) => {
    await using watch = watched(options());
    const { thread } = watch;
    await using step = await thread.beginStep();
    expect(thread.snapshot().servers).toEqual([]);
    expect((await thread.status()).removed).toEqual({ cfg: expect.objectContaining({ message: reason }) as unknown });
    expect(await errorOf(thread.status({ servers: ['cfg'] }))).toMatchObject({
      code: 'invalid_argument',
      message: `Expected the names of servers of the current runtime (it has none), got "cfg". ${reason}`,
    });
    expect(await errorOf(step.callTool('mcp__cfg__echo'))).toMatchObject({
      code: 'unknown_tool',
      message: expect.stringContaining(reason) as string,
    });
    expect(await errorOf(thread.listTools('cfg'))).toMatchObject({ code: 'server_unavailable', message: reason });
  });
});

test('NM-1 CN-3 a call of a tool whose server is not ready says how the server is', async () => {
  await using server = scriptedServer({ tools: ['echo'] });
  await using watch = watched({
    servers: { docs: server.config, off, vet: off, nope: { command: '/nowhere/holdfast-nope' } },
    disabled: { vet: { code: 'server_misconfigured', message: 'Server "vet" is vetoed.', retryable: false } },
    misconfigured: {
      key: { code: 'server_misconfigured', message: 'Server "key": no value for "KEY".', retryable: false },
    },
  });
  await watch.until('runtime.published');
  await watch.thread.ready();
  await using step = await watch.thread.beginStep();
  const messageOf = async (name: string): Promise<string> => {
    const { code, outcome, message } = await errorOf(step.callTool(name));
    expect({ code, outcome }).toEqual({ code: 'unknown_tool', outcome: 'not-sent' });
    return message;
  };
  expect(await messageOf('mcp__off__echo')).toContain('Server "off" is disabled by its own configuration.');
  expect(await messageOf('mcp__vet__echo')).toContain('Server "vet" is vetoed.');
  expect(await messageOf('mcp__key__echo')).toContain('Server "key": no value for "KEY".');
  expect(await messageOf('mcp__nope__echo')).toMatch(/Server "nope" is in state "failed": .*holdfast-nope/);
  expect(await messageOf('mcp__docs__nothing')).toBe(
    'Expected one of the tools this step advertises, got "mcp__docs__nothing". It advertises "mcp__docs__echo".',
  );
  expect(step.worldState['servers']).toEqual({
    docs: { state: 'ready' },
    off: { state: 'disabled' },
    vet: { state: 'disabled' },
    key: { state: 'misconfigured' },
    nope: { state: 'failed' },
  });
});

test('CA-7 RE-3 a plugin whose environment is not ready, and where servers run, are told', async () => {
  const environments = createEnvironments({
    roots: [{ plugin: { id: 'kit', name: 'Kit' }, environment: 'box', path: '/plugins/kit' }],
  });
  await using watch = watched({
    servers: { there: { ...stdioServerConfig(), environment: 'shed' }, off: { ...off, environment: 'shed' } },
    environments,
  });
  const { thread } = watch;
  environments.ready('shed', { handle: 'one', launcher: commandLauncher({ prefix: ['env'] }) });
  environments.starting('box');
  await using step = await thread.beginStep();
  const kit = { id: 'kit', name: 'Kit', environment: 'box', state: 'starting' };
  expect(thread.snapshot().plugins).toEqual([kit]);
  expect((await thread.status()).plugins).toEqual([kit]);
  expect(step.worldState['plugins']).toEqual({ kit: { name: 'Kit', environment: 'box', state: 'starting' } });
  expect(thread.snapshot().servers).toMatchObject([
    { name: 'there', environment: 'shed' },
    { name: 'off', environment: 'shed' },
  ]);
  environments.failed('box', 'It burned down.');
  expect(thread.snapshot().plugins).toEqual([{ ...kit, state: 'failed', reason: 'It burned down.' }]);
});

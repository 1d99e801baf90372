import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createHost, createThread } from '../../../src/index.ts';
import { readJournal, scriptedServer, serveHttp, stdioServerConfig } from '../../../src/testing/index.ts';
import { Watch, serverOf, textOf } from './support.ts';

test.each(['legacy', 'modern'] as const)(
  'ER-1 a %s process is asked for its era once in a host: the next start needs no sibling',
  async (era) => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-'));
    const journalFile = join(folder, 'journal');
    const processes = (): number =>
      new Set(readJournal(journalFile).flatMap(({ kind, pid }) => (kind === 'started' ? pid : []))).size;
    try {
      await using host = createHost();
      const servers = { a: stdioServerConfig({ era, tools: ['pid'], journalFile }) };
      const first = host.createThread({ servers });
      await first.ready();
      expect(serverOf(first, 'a').era).toBe(era);
      await first.close();
      expect(processes()).toBe(2);

      const second = host.createThread({ servers });
      await second.ready();
      expect(serverOf(second, 'a').era).toBe(era);
      await second.restartServer('a');
      expect(processes()).toBe(4);

      await using stranger = createThread({ servers });
      await stranger.ready();
      expect(processes()).toBe(6);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);

test('ER-1 the era of a server over HTTP is remembered too', async () => {
  await using peer = await serveHttp({ era: 'both', tools: ['echo'] });
  await using host = createHost();
  const first = host.createThread({ servers: { a: peer.config } });
  await first.ready();
  const asked = (): number => peer.requests.filter(({ rpcMethods }) => rpcMethods.includes('server/discover')).length;
  expect(asked()).toBe(1);
  const second = host.createThread({ servers: { a: peer.config } });
  const step = await second.beginStep();
  expect(textOf(await step.callTool('mcp__a__echo', { text: 'modern' }))).toBe('modern');
  expect(serverOf(second, 'a').era).toBe('modern');
  expect(asked()).toBe(1);
});

test('ER-1 a server that was replaced by one of the other era still connects', async () => {
  await using host = createHost();
  const modern = await serveHttp({ era: 'modern', tools: ['echo'] });
  const { port } = modern;
  const first = host.createThread({ servers: { a: modern.config } });
  await first.ready();
  await first.close();
  await modern.close();
  await using legacy = await serveHttp({ era: 'legacy', tools: ['echo'] }, { port });
  const second = host.createThread({ servers: { a: legacy.config } });
  const step = await second.beginStep();
  expect(serverOf(second, 'a').era).toBe('legacy');
  expect(textOf(await step.callTool('mcp__a__echo', { text: 'legacy' }))).toBe('legacy');
});

test.each([
  ['legacy', 'legacy'],
  ['2026-07-28', 'modern'],
] as const)('ER-1 the protocol "%s" is spoken without asking', async (protocol, era) => {
  await using peer = scriptedServer({ era: 'both', tools: ['echo'] });
  await using thread = createThread({ servers: { a: { ...peer.config, protocol } } });
  await thread.ready();
  expect(serverOf(thread, 'a').era).toBe(era);
});

test('ER-1 a server that only speaks one era refuses the other with a reason', async () => {
  await using peer = scriptedServer({ era: 'legacy', tools: ['echo'] });
  await using thread = createThread({ servers: { a: { ...peer.config, protocol: '2026-07-28' } } });
  const watch = new Watch(thread);
  await thread.ready();
  await watch.untilServer('a', 'failed');
  expect(serverOf(thread, 'a').error).toMatchObject({ code: 'unsupported', retryable: false });
});

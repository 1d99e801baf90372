import { expect, test } from 'vitest';
import { rawServer } from '../../src/testing/index.ts';
import type { RawServer } from '../../src/testing/index.ts';
import { open } from './support.ts';

const discovered = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: {},
  ttlMs: 0,
  cacheScope: 'private',
};

/** A server that refuses the version of the first `refusals` discoveries, and lists what it supports. */
function refusing(refusals: number, supported: unknown): RawServer {
  let asked = 0;
  return rawServer((message, peer) => {
    if (message['method'] !== 'server/discover') return false;
    asked += 1;
    if (asked > refusals) peer.reply(message, discovered);
    else peer.fail(message, -32_022, 'Unsupported protocol version', { supported, requested: '2026-07-28' });
    return true;
  });
}

function discoveries(server: RawServer): number {
  return server.received.filter((message) => message['method'] === 'server/discover').length;
}

test.each(['auto', '2026-07-28'] as const)(
  'ER-1 ER-5 with protocol %s a server that refuses a version it says it supports is asked once more with it',
  async (protocol) => {
    const server = refusing(1, ['2031-01-01', '2026-07-28', '2025-11-25']);
    await using opened = await open({ ...server.config, protocol });

    expect(opened.link.info).toMatchObject({ era: 'modern', protocolVersion: '2026-07-28' });
    expect(discoveries(server)).toBe(2);
  },
);

test('ER-1 SE-3 a server that goes on refusing what it says it supports is asked twice, and is legacy', async () => {
  const server = refusing(Number.POSITIVE_INFINITY, ['2026-07-28']);
  await using opened = await open(server.config);

  expect(opened.link.info.era).toBe('legacy');
  expect(discoveries(server)).toBe(2);
});

test.each([[['2025-11-25']], [[]], ['2026-07-28'], [undefined]])(
  'ER-1 SE-3 a server that refuses the version and supports %j is asked once, and is legacy',
  async (supported) => {
    const server = refusing(1, supported);
    await using opened = await open(server.config);

    expect(opened.link.info.era).toBe('legacy');
    expect(discoveries(server)).toBe(1);
  },
);

import { expect, test } from 'vitest';
import { clip } from '../../src/mcp/wire.ts';
import { rawServer } from '../../src/testing/index.ts';
import { call, failureOf, open } from './support.ts';

const long = 'x'.repeat(100_000);

test('SE-2 what a server says of itself is bounded', async () => {
  const server = rawServer((message, peer) => {
    if (message['method'] !== 'initialize') return false;
    peer.reply(message, {
      protocolVersion: '2025-11-25',
      capabilities: {},
      instructions: long,
      serverInfo: {
        name: long,
        version: long,
        title: long,
        websiteUrl: 'https://a.example/',
        icons: [{ src: `data:image/png;base64,${long}` }],
      },
    });
    return true;
  });
  await using opened = await open(server.config);
  const { serverInfo, instructions } = opened.link.info;

  const label = `${'x'.repeat(1_024)}…`;
  expect(serverInfo).toEqual({ name: label, version: label, title: label, websiteUrl: 'https://a.example/' });
  expect(instructions).toBe(`${'x'.repeat(65_536)}…`);
});

test('SE-2 NM-3 a long description and title of a tool are cut, the first with a warning', async () => {
  const inputSchema = { type: 'object' };
  const tools = [
    { name: 'long', title: long, description: long, annotations: { title: long }, inputSchema },
    { name: 'whole', title: 'Whole', description: 'x'.repeat(65_536), inputSchema },
  ];
  const server = rawServer(() => undefined, { tools });
  await using opened = await open(server.config);
  const [cut, whole] = opened.link.inventory.tools;

  expect(cut?.description).toBe(`${'x'.repeat(65_536)}…`);
  expect([cut?.title?.length, String(cut?.annotations?.title).length]).toEqual([1_025, 1_025]);
  expect(whole).toEqual(tools[1]);
  expect(opened.told.warnings('text_cut')).toEqual([
    'Server "docs": expected the description of tool "long" to have at most 65536 characters, got 100000. It was cut.',
  ]);
});

test('SE-2 the message of a JSON-RPC error is bounded', async () => {
  const server = rawServer((message, peer) => {
    if (message['method'] !== 'tools/call') return false;
    peer.fail(message, -32_000, long);
    return true;
  });
  await using opened = await open(server.config);
  const { failure, rpc } = await failureOf(call(opened.link, 'echo'));

  expect(rpc?.message).toHaveLength(8_193);
  expect(failure.message.length).toBeLessThan(8_193);
});

test('SE-2 a cut splits no character', () => {
  expect(clip('ab🐎d', 3)).toBe('ab…');
  expect(clip('ab🐎d', 4)).toBe('ab🐎…');
});

import { describe, expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import { rawServer } from '../../../src/testing/index.ts';
import { errorOf, peerKinds, startPeer, turns, Watch } from '../runtimes/support.ts';

/** The levels of the logs a thread tells of a server that logs at each level. */
async function levelsOf(watch: Watch, log: (level: string) => Promise<unknown>): Promise<readonly string[]> {
  for (const level of ['debug', 'info', 'warning', 'error', 'emergency']) await log(level);
  await watch.until((fact) => fact.type === 'server.logged' && fact.level === 'emergency');
  return watch.of('server.logged').map(({ level }) => level);
}

describe.each(peerKinds)('a %s server, %s', (era, kind) => {
  test.each([
    [
      undefined,
      era === 'modern' ? ['info', 'warning', 'error', 'emergency'] : ['debug', 'info', 'warning', 'error', 'emergency'],
    ],
    ['debug', ['debug', 'info', 'warning', 'error', 'emergency']],
    ['error', ['error', 'emergency']],
  ] as const)('CN-5 is asked for logs of level %s and worse', async (logLevel, expected) => {
    await using peer = await startPeer(kind, { era, tools: ['log'] });
    const config = logLevel === undefined ? peer.config : { ...peer.config, logLevel };
    await using thread = createThread({ servers: { a: config } });
    const watch = new Watch(thread);
    await using step = await thread.beginStep();

    expect(await levelsOf(watch, (level) => step.callTool('mcp__a__log', { level }))).toEqual(expected);
  });
});

test('CN-5 a legacy server is told the level once its handshake is done, and only where it logs', async () => {
  const capabilities = [{ tools: {} }, { tools: {}, logging: {} }];
  const said = await Promise.all(
    capabilities.map(async (announced) => {
      const server = rawServer(undefined, { capabilities: announced });
      await using thread = createThread({
        servers: { a: { ...server.config, protocol: 'legacy', logLevel: 'notice' } },
      });
      await thread.ready();
      return server.received.map(({ method, params }) => (method === 'logging/setLevel' ? [method, params] : method));
    }),
  );

  expect(said).toEqual([
    ['initialize', 'notifications/initialized', 'tools/list'],
    ['initialize', 'notifications/initialized', ['logging/setLevel', { level: 'notice' }], 'tools/list'],
  ]);
});

test('CN-5 RT-12 a legacy server that refuses the level, or never answers, is a warning or nothing', async () => {
  const refusing = rawServer(
    (message, peer) => {
      if (message['method'] !== 'logging/setLevel') return false;
      peer.fail(message, -32_602, 'Unknown level');
      return true;
    },
    { capabilities: { tools: {}, logging: {} } },
  );
  const silent = rawServer((message) => message['method'] === 'logging/setLevel', {
    capabilities: { tools: {}, logging: {} },
  });
  const settings = { protocol: 'legacy', logLevel: 'debug' } as const;
  await using thread = createThread({
    servers: { refusing: { ...refusing.config, ...settings }, silent: { ...silent.config, ...settings } },
  });
  const watch = new Watch(thread);
  await thread.ready();
  await watch.until((fact) => fact.type === 'warning');
  await turns(5);

  expect(watch.of('warning')).toMatchObject([{ code: 'log_level_refused', server: 'refusing' }]);
  expect(thread.snapshot().servers.map(({ state }) => state)).toEqual(['ready', 'ready']);
});

test('CN-5 a level that is none is refused before anything starts', async () => {
  const server = rawServer();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a program without types gives
  const logLevel = 'loud' as 'info';
  const error = await errorOf(
    Promise.resolve().then(() => createThread({ servers: { a: { ...server.config, logLevel } } })),
  );

  expect(error.code).toBe('config_invalid');
  expect(error.issues).toMatchObject([{ path: '/a/logLevel' }]);
});

test('CN-5 RT-5 a runtime that wants another level has a connection of its own, and steps of before keep theirs', async () => {
  await using peer = await startPeer('http', { era: 'modern', tools: ['log'] });
  await using thread = createThread({ servers: { a: { ...peer.config, logLevel: 'error' } } });
  const watch = new Watch(thread);
  await using old = await thread.beginStep();
  await thread.replaceRuntime({ servers: { a: { ...peer.config, logLevel: 'debug' } } });
  await using next = await thread.beginStep();
  await old.callTool('mcp__a__log', { level: 'debug', data: 'old' });
  await next.callTool('mcp__a__log', { level: 'debug', data: 'next' });
  await watch.until(({ type }) => type === 'server.logged');
  await turns(5);

  expect(watch.of('server.logged')).toMatchObject([{ level: 'debug', data: 'next' }]);
});

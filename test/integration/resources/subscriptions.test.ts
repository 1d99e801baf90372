import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { createHost, createThread } from '../../../src/index.ts';
import { rawServer, serveHttp } from '../../../src/testing/index.ts';
import { Watch, errorOf, eventually, peerKinds, startPeer, turns } from '../runtimes/support.ts';

const uri = 'test://static';

function updatesOf(watch: Watch): readonly string[] {
  return watch.of('resource.updated').map((fact) => `${fact.server} ${fact.uri}`);
}

describe.each(peerKinds)('a %s server, %s', (era, kind) => {
  test('CN-5 tells of each change of a resource that was subscribed to, and of none after the end', async () => {
    await using peer = await startPeer(kind, { era, tools: ['echo'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const watch = new Watch(thread);
    await thread.subscribeResource('a', uri);
    await thread.subscribeResource('a', uri);
    await peer.updateResource(uri);
    await watch.until(() => updatesOf(watch).length === 1);
    await peer.updateResource(uri);
    await watch.until(() => updatesOf(watch).length === 2);
    expect(updatesOf(watch)).toEqual([`a ${uri}`, `a ${uri}`]);
    expect((await thread.status()).servers[0]?.subscriptions).toEqual([uri]);

    await thread.unsubscribeResource('a', uri);
    await thread.unsubscribeResource('a', uri);
    expect((await thread.status()).servers[0]).not.toHaveProperty('subscriptions');
  });

  test("CN-5 a subscription is the thread's: a server that was restarted has it again, and it is told once", async () => {
    await using peer = await startPeer(kind, { era, tools: ['echo'] });
    await using thread = createThread({ servers: { a: peer.config } });
    const watch = new Watch(thread);
    await thread.subscribeResource('a', uri);
    await thread.restartServer('a');
    await watch.until(() => updatesOf(watch).length === 1);
    await peer.updateResource(uri);
    await watch.until(() => updatesOf(watch).length === 2);
    await turns(5);
    expect(updatesOf(watch)).toHaveLength(2);
  });

  test('CN-5 a subscription goes on to the connection that replaces its own, even while a step holds the old one', async () => {
    await using old = await startPeer(kind, { era, tools: ['echo'] });
    await using young = await startPeer(kind, { era, tools: ['echo'] });
    await using thread = createThread({ servers: { a: old.config } });
    const watch = new Watch(thread);
    await thread.subscribeResource('a', uri);
    await using step = await thread.beginStep();
    await thread.replaceRuntime({ servers: { a: young.config } });
    await watch.until(() => updatesOf(watch).length === 1);
    await old.updateResource(uri);
    await young.updateResource(uri);
    await watch.until(() => updatesOf(watch).length === 2);
    await turns(10);
    expect(updatesOf(watch)).toHaveLength(2);
    expect(step.generation).toBe(1);
  });

  test('CN-5 H8 threads of one server do not hear what others subscribed to', async () => {
    await using peer = await startPeer(kind, { era, tools: ['echo'] });
    await using one = createThread({ servers: { a: peer.config } });
    await using other = createThread({ servers: { a: peer.config } });
    const watches = [new Watch(one), new Watch(other)] as const;
    await one.subscribeResource('a', 'test://one');
    await other.subscribeResource('a', 'test://other');
    // A legacy scripted server tells everybody of everything.
    await peer.updateResource('test://one');
    await peer.updateResource('test://other');
    await watches[0].until(() => updatesOf(watches[0]).length === 1);
    await watches[1].until(() => updatesOf(watches[1]).length === 1);
    expect(updatesOf(watches[0])).toEqual(['a test://one']);
    expect(updatesOf(watches[1])).toEqual(['a test://other']);
  });
});

test('CN-5 changes of one resource that come at once are told once', async () => {
  await using peer = rawServer(
    (message, raw) => {
      if (message['method'] !== 'resources/subscribe') return false;
      raw.reply(message, {});
      return true;
    },
    { capabilities: { resources: { subscribe: true } } },
  );
  await using thread = createThread({ servers: { a: { ...peer.config, protocol: 'legacy' } } });
  const watch = new Watch(thread);
  await thread.subscribeResource('a', 'test://1');
  await thread.subscribeResource('a', 'test://2');
  for (const of of ['test://1', 'test://1', 'test://2', 'test://1'])
    peer.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: of } });
  await watch.until(() => updatesOf(watch).length >= 2);
  await turns(5);
  expect(updatesOf(watch)).toEqual(['a test://1', 'a test://2']);
});

test('CN-5 tells of what was subscribed to and of parts of it, as soon as it is asked for, and of nothing else', async () => {
  await using peer = rawServer(
    (message, raw) => {
      if (message['method'] !== 'resources/subscribe') return false;
      for (const of of ['test://other', 'test://notes'])
        raw.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: of } });
      raw.reply(message, {});
      return true;
    },
    { capabilities: { resources: { subscribe: true } } },
  );
  await using thread = createThread({ servers: { a: { ...peer.config, protocol: 'legacy' } } });
  const watch = new Watch(thread);
  await thread.ready();
  peer.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'test://notes' } });
  await turns(5);
  expect(updatesOf(watch)).toEqual([]);
  await thread.subscribeResource('a', 'test://notes');
  await turns(5);
  for (const of of ['test://notes2', 'test://', 'test://notes/today'])
    peer.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: of } });
  await watch.until(() => updatesOf(watch).length >= 2);
  await turns(5);
  expect(updatesOf(watch)).toEqual(['a test://notes', 'a test://notes/today']);
});

test('CN-5 RT-8 over HTTP a stream that is replaced is closed, and nothing is posted about it', async () => {
  await using peer = await serveHttp({ era: 'modern', tools: ['echo'] });
  await using thread = createThread({ servers: { a: peer.config } });
  await thread.subscribeResource('a', uri);
  await thread.subscribeResource('a', 'test://two');
  await thread.unsubscribeResource('a', uri);
  await turns(5);
  const methods = peer.requests.flatMap(({ rpcMethods }) => rpcMethods);
  expect(methods.filter((method) => method === 'subscriptions/listen').length).toBeGreaterThan(2);
  expect(methods).not.toContain('notifications/cancelled');
});

test("CN-5 a subscription its server refuses is the caller's to know, and nothing is kept of it", async () => {
  await using peer = rawServer(
    (message, raw) => {
      if (message['method'] !== 'resources/subscribe') return false;
      raw.fail(message, -32_602, 'No such resource');
      return true;
    },
    { capabilities: { resources: { subscribe: true } } },
  );
  await using plain = rawServer(undefined, { capabilities: { resources: {} } });
  await using thread = createThread({
    servers: { a: { ...peer.config, protocol: 'legacy' }, plain: { ...plain.config, protocol: 'legacy' } },
  });
  expect(await errorOf(thread.subscribeResource('a', 'test://1'))).toMatchObject({ code: 'protocol_error' });
  expect(await errorOf(thread.subscribeResource('plain', 'test://1'))).toMatchObject({
    code: 'unsupported',
    outcome: 'not-sent',
  });
  expect(await errorOf(thread.subscribeResource('none', 'test://1'))).toMatchObject({ code: 'server_unavailable' });
  expect(await errorOf(thread.subscribeResource('a', ''))).toMatchObject({ code: 'invalid_argument' });
  expect((await thread.status()).servers.flatMap(({ subscriptions = [] }) => subscriptions)).toEqual([]);
});

test('CN-5 RT-7 a legacy session that was forgotten has its subscriptions again', async () => {
  await using peer = await serveHttp({ era: 'legacy', tools: ['echo'] });
  await using thread = createThread({ servers: { a: peer.config } });
  const watch = new Watch(thread);
  await thread.subscribeResource('a', uri);
  await peer.forgetSessions();
  const step = await thread.beginStep();
  await step.callTool('mcp__a__echo', {});
  await watch.until(() => updatesOf(watch).length >= 1);
  const subscribed = (): number =>
    peer.requests.filter(({ rpcMethods }) => rpcMethods.includes('resources/subscribe')).length;
  await eventually(() => subscribed() === 2);
  expect(updatesOf(watch)).toContain(`a ${uri}`);
});

test('CN-5 RE-1 subscribes to resources of server-everything, which tells of their updates', async () => {
  const require = createRequire(import.meta.url);
  const program = require.resolve('@modelcontextprotocol/server-everything/dist/index.js');
  await using thread = createThread({ servers: { everything: { command: process.execPath, args: [program] } } });
  const watch = new Watch(thread);
  const { items } = await thread.resources.list('everything');
  const first = items[0]?.uri ?? '';
  await thread.subscribeResource('everything', first);
  const step = await thread.beginStep();
  await step.callTool('mcp__everything__toggle-subscriber-updates', {});
  expect(await watch.until(({ type }) => type === 'resource.updated')).toMatchObject({ uri: first });
  await thread.unsubscribeResource('everything', first);
});

test('CN-5 a stream to a modern server over HTTP that breaks is opened again, with its resources, and they are told once', async () => {
  await using peer = await serveHttp({ era: 'modern', tools: ['echo'] });
  await using thread = createThread({ servers: { a: peer.config } });
  const watch = new Watch(thread);
  await thread.subscribeResource('a', uri);
  peer.dropConnections();
  await watch.until(() => updatesOf(watch).length === 1);
  await peer.updateResource(uri);
  await watch.until(() => updatesOf(watch).length === 2);
  const listens = peer.requests.filter(({ rpcMethods }) => rpcMethods.includes('subscriptions/listen'));
  expect(JSON.stringify(listens.at(-1)?.body)).toContain(`"resourceSubscriptions":["${uri}"]`);
});

test('CN-5 H10 nothing of a subscription is left when its thread is closed', async () => {
  await using peer = await serveHttp({ era: 'modern', tools: ['echo'] });
  const thread = createThread({ servers: { a: peer.config } });
  await thread.subscribeResource('a', uri);
  await thread.close();
  const before = peer.requests.length;
  await peer.updateResource(uri);
  await turns(10);
  expect(peer.requests.length).toBe(before);
  expect((await errorOf(thread.subscribeResource('a', uri))).code).toBe('thread_closed');
});

test('CN-5 CN-6 H8 threads that share a modern server over HTTP have subscriptions of their own', async () => {
  await using peer = await serveHttp({ era: 'modern', tools: ['echo'] });
  await using host = createHost();
  const [one, other] = [1, 2].map(() => host.createThread({ servers: { a: peer.config } }));
  if (one === undefined || other === undefined) expect.fail('Expected two threads.');
  const watches = [new Watch(one), new Watch(other)] as const;
  await one.subscribeResource('a', 'test://both');
  await other.subscribeResource('a', 'test://both');
  await other.subscribeResource('a', 'test://other');
  await one.unsubscribeResource('a', 'test://both');
  await peer.updateResource('test://both');
  await peer.updateResource('test://other');
  await watches[1].until(() => updatesOf(watches[1]).length === 2);
  await turns(10);
  expect(updatesOf(watches[1])).toEqual(['a test://both', 'a test://other']);
  expect(updatesOf(watches[0])).toEqual([]);
  await peer.addTool('more');
  await Promise.all(watches.map((watch) => watch.until(({ type }) => type === 'tools.changed')));
  await turns(10);
  expect(watches.map((watch) => watch.of('tools.changed').length)).toEqual([1, 1]);
});

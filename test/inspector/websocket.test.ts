import { once } from 'node:events';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createWebSocketReceiver } from '@statelyai/inspect';
import { createActor, setup } from 'xstate';
import type { AnyActorRef } from 'xstate';
import { createFrameRelay, createFrameServer, createInspectorBridge } from '../../src/inspector/index.ts';
import type { FrameServer, FrameServerOptions } from '../../src/inspector/index.ts';
import { createFleet } from '../../src/machines/fleet.ts';

const secret = 'tok_5eCrEt-0123456789';
const redact = <T>(value: T): T => (typeof value === 'string' ? (value.replaceAll(secret, '[redacted]') as T) : value);

interface Frame {
  readonly type: string;
  readonly sessionId: string;
  readonly parentId?: string;
  readonly event?: { readonly type: string };
  readonly snapshot?: { readonly status: string };
}

const types = {} as { context: { token: string } };

const call = setup({ types }).createMachine({
  id: 'call',
  context: { token: secret },
  on: { 'call.end': '.ended' },
  initial: 'running',
  states: { running: {}, ended: { type: 'final' } },
});

const thread = setup({ actors: { calls: createFleet(call) } }).createMachine({
  invoke: { id: 'calls', src: 'calls' },
});

const servers: FrameServer[] = [];
const sockets: WebSocket[] = [];
const actors: { stop(): unknown }[] = [];

afterEach(async () => {
  for (const actor of actors.splice(0)) actor.stop();
  for (const socket of sockets.splice(0)) socket.terminate();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(options: FrameServerOptions): Promise<FrameServer> {
  const server = await createFrameServer(options);
  servers.push(server);
  return server;
}

function startThread() {
  const bridge = createInspectorBridge({ redact });
  const actor = createActor(thread, { id: 'thread', inspect: bridge.inspect }).start();
  actors.push(actor);
  const calls: AnyActorRef | undefined = (actor.getSnapshot().children as Record<string, AnyActorRef>)['calls'];
  if (calls === undefined) throw new Error('no fleet');
  const spawn = (id: string): void => {
    calls.send({ type: 'fleet.spawn', id, input: undefined });
  };
  const send = (id: string, event: { type: string }): void => {
    calls.send({ type: 'fleet.send', id, event });
  };
  return { bridge, actor, spawn, send };
}

/** Connects a viewer; `next(count)` resolves with the next frames as they come. */
async function connect(url: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(url, { headers });
  sockets.push(socket);
  const received: Frame[] = [];
  let wake = (): void => {};
  socket.on('message', (data: Buffer) => {
    received.push(JSON.parse(data.toString()) as Frame);
    wake();
  });
  await once(socket, 'open');
  return {
    socket,
    async next(count: number): Promise<Frame[]> {
      while (received.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return received.splice(0, count);
    },
  };
}

async function refusal(url: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  const socket = new WebSocket(url, { headers });
  sockets.push(socket);
  socket.on('error', () => {});
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode?: number }];
  return response.statusCode;
}

test('IN-1 a WebSocket that connects late gets all live actors first, then what happens', async () => {
  const { bridge, spawn, send } = startThread();
  const server = await serve({ attach: bridge.attach });
  spawn('call-1');
  spawn('call-2');
  send('call-1', { type: 'call.end' });
  const viewer = await connect(server.url);
  const replay = await viewer.next(3);
  expect(replay.map((frame) => [frame.type, frame.sessionId, frame.parentId, frame.snapshot?.status])).toEqual([
    ['@xstate.actor', 'thread', undefined, 'active'],
    ['@xstate.actor', 'thread/calls', 'thread', 'active'],
    ['@xstate.actor', 'thread/calls/call-2', 'thread/calls', 'active'],
  ]);
  send('call-2', { type: 'ping' });
  const live = await viewer.next(4);
  expect(live.map((frame) => [frame.type, frame.sessionId, frame.event?.type])).toEqual([
    ['@xstate.event', 'thread/calls', 'fleet.send'],
    ['@xstate.event', 'thread/calls/call-2', 'ping'],
    ['@xstate.snapshot', 'thread/calls/call-2', 'ping'],
    ['@xstate.snapshot', 'thread/calls', 'fleet.send'],
  ]);
});

test('SE-1 no seeded secret of a context or an event reaches a viewer', async () => {
  const { bridge, spawn, send } = startThread();
  const server = await serve({ attach: bridge.attach });
  spawn('call-1');
  const viewer = await connect(server.url);
  const replay = await viewer.next(3);
  send('call-1', Object.assign({ type: 'call.say' }, { text: `use ${secret}`, error: new Error(secret) }));
  const live = await viewer.next(4);
  const text = JSON.stringify([...replay, ...live]);
  expect(text).toContain('[redacted]');
  expect(text).not.toContain(secret);
});

test('IN-1 a relay of frames alone replays the live actors too, with their latest snapshots', async () => {
  const { bridge, spawn, send } = startThread();
  const relay = createFrameRelay();
  bridge.attach(relay.send);
  const server = await serve({ attach: relay.attach });
  spawn('call-1');
  spawn('call-2');
  send('call-1', { type: 'call.end' });
  const viewer = await connect(server.url);
  const replay = await viewer.next(3);
  expect(replay.map((frame) => [frame.type, frame.sessionId])).toEqual([
    ['@xstate.actor', 'thread'],
    ['@xstate.actor', 'thread/calls'],
    ['@xstate.actor', 'thread/calls/call-2'],
  ]);
  expect(replay[1]?.snapshot).toMatchObject({ children: { 'call-2': { id: 'thread/calls/call-2' } } });
});

test("IN-1 Stately's own WebSocket receiver reads the frames", async () => {
  const { bridge } = startThread();
  const server = await serve({ attach: bridge.attach });
  const first = await new Promise<unknown>((resolve) => {
    const subscription = createWebSocketReceiver({ server: server.url }).subscribe((frame) => {
      subscription.unsubscribe();
      resolve(frame);
    });
  });
  expect(first).toMatchObject({ type: '@xstate.actor', sessionId: 'thread', rootId: 'thread', _version: '0.7.2' });
});

test('SE-2 only the secret path of this run, an own or allowed origin and a loopback host are let in', async () => {
  const { bridge } = startThread();
  const server = await serve({ attach: bridge.attach, origins: ['http://localhost:8099'] });
  const base = `ws://127.0.0.1:${server.port}`;
  expect(await refusal(`${base}/`)).toBe(404);
  expect(await refusal(`${base}/${'A'.repeat(32)}`)).toBe(404);
  expect(await refusal(server.url, { origin: 'https://evil.example' })).toBe(403);
  expect(await refusal(server.url, { origin: 'null' })).toBe(403);
  expect(await refusal(server.url, { host: `evil.example:${server.port}` })).toBe(403);
  for (const origin of [`http://127.0.0.1:${server.port}`, 'http://localhost:8099']) {
    const viewer = await connect(server.url, { origin });
    expect(await viewer.next(2)).toHaveLength(2);
  }
  const [page] = (await once(get(server.url.replace('ws:', 'http:')), 'response')) as [
    NodeJS.ReadableStream & { statusCode: number },
  ];
  page.resume();
  expect(page.statusCode).toBe(404);
});

test('SE-2 two servers never share a secret', async () => {
  const { bridge } = startThread();
  const [one, two] = [await serve({ attach: bridge.attach }), await serve({ attach: bridge.attach })];
  const paths = [one, two].map((server) => new URL(server.url).pathname);
  expect(paths[0]).toMatch(/^\/[\w-]{32}$/);
  expect(paths[0]).not.toBe(paths[1]);
});

test('SE-2 a viewer that sends much is dropped, and the others stay', async () => {
  const { bridge, spawn } = startThread();
  const server = await serve({ attach: bridge.attach });
  const [rude, polite] = [await connect(server.url), await connect(server.url)];
  await polite.next(2);
  const dropped = once(rude.socket, 'close');
  rude.socket.send('x'.repeat(100_000));
  await dropped;
  spawn('call-1');
  expect((await polite.next(1))[0]?.event?.type).toBe('fleet.spawn');
});

test('H10 close ends every connection, detaches every viewer and frees the port', async () => {
  const { bridge, spawn } = startThread();
  let attached = 0;
  const server = await createFrameServer({
    attach(send) {
      attached += 1;
      const detach = bridge.attach(send);
      return () => {
        attached -= 1;
        detach();
      };
    },
  });
  const viewer = await connect(server.url);
  await viewer.next(2);
  expect(attached).toBe(1);
  const ended = once(viewer.socket, 'close');
  await Promise.all([server.close(), server.close(), ended]);
  expect(attached).toBe(0);
  spawn('call-1');
  const probe = createServer();
  probe.listen(server.port, '127.0.0.1');
  await once(probe, 'listening');
  probe.close();
  await once(probe, 'close');
});

test('H10 a port that is taken is refused with what to do', async () => {
  const { bridge } = startThread();
  const server = await serve({ attach: bridge.attach });
  await expect(createFrameServer({ attach: bridge.attach, port: server.port })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: `Expected a free port for the inspector, got ${server.port}: listen EADDRINUSE: address already in use 127.0.0.1:${server.port}. Choose another one, or 0.`,
  });
});

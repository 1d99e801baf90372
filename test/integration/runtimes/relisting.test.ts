/** A server decides when its tools change, not how often it is asked for them. */
import { expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import { rawServer } from '../../../src/testing/index.ts';
import type { RawServer } from '../../../src/testing/index.ts';
import { Watch, eventually, turns } from './support.ts';
import { SimulatedClock } from 'xstate';

const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };

/** Says with every listing that it changed: what it lists, `next` says. */
function restless(next: (listing: number) => string): RawServer & { readonly listings: () => number } {
  let listings = 0;
  const peer = rawServer((message, self) => {
    if (message['method'] !== 'tools/list') return false;
    listings += 1;
    self.reply(message, { tools: [{ name: next(listings), inputSchema: { type: 'object' } }] });
    self.send(changed);
    return true;
  });
  return Object.assign(peer, { listings: () => listings });
}

/** A clock that stands still until it is told. */
function clockOf(simulated: SimulatedClock) {
  return {
    now: () => simulated.now(),
    setTimeout: (callback: () => void, ms: number) => simulated.setTimeout(callback, ms),
    clearTimeout: (id: unknown) => {
      simulated.clearTimeout(Number(id));
    },
  };
}

test('CN-5 SE-2 a server whose every listing says that the tools changed is asked once a second, and nobody is told', async () => {
  const simulated = new SimulatedClock();
  await using peer = restless(() => 'echo');
  await using thread = createThread({
    servers: { a: { ...peer.config, protocol: 'legacy' } },
    clock: clockOf(simulated),
  });
  const watch = new Watch(thread);
  await thread.ready();
  await eventually(() => peer.listings() === 5);
  await turns(20);
  expect(peer.listings()).toBe(5);
  for (const expected of [6, 7, 8]) {
    simulated.increment(999);
    await turns(20);
    expect(peer.listings()).toBe(expected - 1);
    simulated.increment(1);
    await eventually(() => peer.listings() === expected);
    await turns(20);
  }
  expect(watch.of('tools.changed')).toEqual([]);
});

test('CN-5 what changes while the next listing waits is in it', async () => {
  const simulated = new SimulatedClock();
  let name = 'first';
  await using peer = restless(() => name);
  await using thread = createThread({
    servers: { a: { ...peer.config, protocol: 'legacy' } },
    clock: clockOf(simulated),
  });
  const watch = new Watch(thread);
  await thread.ready();
  await eventually(() => peer.listings() === 5);
  await turns(20);
  name = 'second';
  peer.send(changed);
  await turns(20);
  expect(watch.of('tools.changed')).toEqual([]);
  simulated.increment(1_000);
  await watch.until(({ type }) => type === 'tools.changed');
  expect((await thread.beginStep()).tools.map(({ tool }) => tool)).toEqual(['second']);
});

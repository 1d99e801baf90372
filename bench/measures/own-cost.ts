/** What a call costs this process when the server costs nothing (PE-1: at most 25 µs of Holdfast's own). */
import { InMemoryTransport } from '@modelcontextprotocol/client';
import type { Transport } from '@modelcontextprotocol/client';
import { openBare, openHoldfast } from '../peers.ts';
import type { Place } from '../peers.ts';
import { compare } from '../rounds.ts';
import { serveStub } from '../servers/stub.ts';
import { isQuick, progress, report } from './measure.ts';

const place: Place = {
  config: {
    protocol: 'legacy',
    inMemory: () => ({ connect: (transport: Transport) => serveStub(transport) }),
  },
  transport: async () => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    await serveStub(far);
    return near;
  },
  close: () => Promise.resolve(),
};

const bare = await openBare(place, 'legacy');
const holdfast = await openHoldfast(place);
const results = [];
for (const concurrency of [1, 100]) {
  progress(`own cost, ${String(concurrency)} at a time`);
  const { ratio, a, b } = await compare(bare.call, holdfast.call, {
    concurrency,
    rounds: isQuick ? 7 : 15,
    roundMs: isQuick ? 100 : 250,
    warmUpMs: isQuick ? 300 : 1_000,
  });
  results.push({ concurrency, ratio, bare: a, holdfast: b });
}
await holdfast.close();
await bare.close();
report(results);

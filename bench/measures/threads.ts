/** Memory of a thread that waits for its user. Arguments: how many threads, and `none` or `memory` for their servers. */
import { performance } from 'node:perf_hooks';
import { createHost } from 'holdfast';
import type { Thread, ThreadOptions } from 'holdfast';
import { openPlace } from '../peers.ts';
import { collectGarbage, progress, report } from './measure.ts';

const [countText, serverKind] = process.argv.slice(2);
const count = Number(countText);
const place = await openPlace('memory', 'legacy');
const options: ThreadOptions = serverKind === 'memory' ? { servers: { echo: place.config } } : {};
progress(`${String(count)} idle threads, ${serverKind === 'memory' ? 'each with an in-memory server' : 'no servers'}`);

const host = createHost();
// What the first thread loads and compiles is no memory of a thread.
await host.createThread(options).ready();
await collectGarbage();
const before = process.memoryUsage();
const begin = performance.now();
const threads: Thread[] = [];
for (let index = 0; index < count; index++) {
  threads.push(host.createThread(options));
  if (index % 100 === 99) await threads.at(-1)?.ready();
}
await Promise.all(threads.map((thread) => thread.ready()));
const startMs = performance.now() - begin;
await collectGarbage();
const after = process.memoryUsage();
const closing = performance.now();
await host.close();
report([
  {
    threads: count,
    servers: serverKind,
    heapKb: (after.heapUsed - before.heapUsed) / count / 1_024,
    rssKb: (after.rss - before.rss) / count / 1_024,
    startUs: (startMs * 1_000) / count,
    closeUs: ((performance.now() - closing) * 1_000) / count,
  },
]);

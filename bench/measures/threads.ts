/**
 * Memory of a thread that waits for its user. Arguments: how many threads, and `none`, `memory` (one each) or `shared` (one
 * modern HTTP server for all) for their servers.
 */
import { performance } from 'node:perf_hooks';
import { createHost } from 'holdfast';
import type { Thread, ThreadOptions } from 'holdfast';
import { openPlace } from '../peers.ts';
import { collectGarbage, progress, report } from './measure.ts';

const [countText, serverKind] = process.argv.slice(2);
const count = Number(countText);
const place = serverKind === 'shared' ? await openPlace('http', 'modern') : await openPlace('memory', 'legacy');
const headers = { authorization: 'Bearer of-all-threads' };
const config = serverKind === 'shared' ? { ...place.config, headers } : place.config;
const options: ThreadOptions = serverKind === 'none' ? {} : { servers: { echo: config } };
const said: Readonly<Record<string, string>> = {
  none: 'no servers',
  memory: 'each with an in-memory server',
  shared: 'all with one modern HTTP server',
};
progress(`${String(count)} idle threads, ${said[serverKind ?? ''] ?? ''}`);

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
await place.close();

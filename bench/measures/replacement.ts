/** How long a replacement takes whose server is unchanged, from the request to the publication, with calls in flight. */
import { performance } from 'node:perf_hooks';
import { createThread } from 'holdfast';
import type { ServerMap } from 'holdfast';
import { openPlace } from '../peers.ts';
import { quantile } from '../stats.ts';
import { isQuick, progress, report } from './measure.ts';

const count = isQuick ? 300 : 2_000;
const lanes = 8;

const place = await openPlace('memory', 'legacy');
const servers: ServerMap = { echo: { ...place.config, required: true } };
const results = [];
for (const underLoad of [false, true]) {
  progress(`${String(count)} replacements, ${underLoad ? `${String(lanes)} calls in flight` : 'nothing in flight'}`);
  results.push({ underLoad, ...(await replaceOften(underLoad)) });
}
report(results);

async function replaceOften(underLoad: boolean): Promise<object> {
  const thread = createThread({ servers });
  await thread.ready();
  const load = { over: false, calls: 0 };
  const work = async (): Promise<void> => {
    while (!load.over) {
      const step = await thread.beginStep();
      await step.callTool('mcp__echo__echo', { text: 'hello' });
      load.calls += 1;
      await step.end();
      await new Promise((resolve) => {
        setTimeout(resolve, 1);
      });
    }
  };
  const working = Array.from({ length: underLoad ? lanes : 0 }, work);
  for (let index = 0; index < count / 10; index++) await thread.replaceRuntime({ servers });
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const begin = performance.now();
    await thread.replaceRuntime({ servers });
    times.push(performance.now() - begin);
  }
  load.over = true;
  // A lost call rejects here, and ends the measure.
  await Promise.all(working);
  const left = thread.snapshot().runtimes.length;
  await thread.close();
  const sorted = times.toSorted((a, b) => a - b);
  return {
    count,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    maxMs: sorted.at(-1) ?? 0,
    calls: load.calls,
    runtimesLeft: left,
  };
}

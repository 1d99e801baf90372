/** The results as tables for people. `*` marks what misses its budget. */
import {
  leastRatio,
  mostImportMs,
  mostOwnCostUs,
  mostPublicationMs,
  mostQuestionGrowth,
  mostThreadKb,
} from './results.ts';
import type { Calls, Results } from './results.ts';
import type { Spread } from './stats.ts';

/** Renders whatever was measured. */
export function render(results: Results): string {
  const parts = [callsTable(results.calls), ownCostTable(results), ...singles(results)];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function callsTable(calls: readonly Calls[]): string {
  const rows = calls.map(({ wire, era, concurrency, ratio, bare, holdfast }) => [
    `${wire} ${era}`,
    String(concurrency),
    marked(range(ratio), ratio.median < leastRatio(wire, concurrency)),
    `>= ${leastRatio(wire, concurrency).toFixed(2)}`,
    `${String(bare.callsPerSecond)} / ${String(holdfast.callsPerSecond)}`,
    `${bare.cpuUs.median.toFixed(0)} / ${holdfast.cpuUs.median.toFixed(0)}`,
  ]);
  return table(
    ['calls, against the bare client', 'at a time', 'ratio (min to max)', 'budget', 'calls/s', 'CPU µs a call'],
    rows,
  );
}

function ownCostTable({ ownCost }: Results): string {
  const rows = ownCost.map(({ concurrency, bare, holdfast }) => [
    `server that costs nothing`,
    String(concurrency),
    marked(range(holdfast.cpuUs), holdfast.cpuUs.median > mostOwnCostUs),
    `<= ${String(mostOwnCostUs)}`,
    range(bare.cpuUs),
  ]);
  return table(['own cost of a call, in memory', 'at a time', 'CPU µs (min to max)', 'budget', 'bare client'], rows);
}

const serversOf: Readonly<Record<string, string>> = {
  none: 'no servers',
  memory: 'an in-memory server each',
  shared: 'one modern HTTP server for all',
};

function singles({ replacement, threads, questions, imports, configuration }: Results): readonly string[] {
  return [
    table(
      ['replacement, server unchanged', 'p50 ms', 'p99 ms', 'budget', 'max ms', 'calls lost'],
      replacement.map(({ underLoad, count, p50Ms, p99Ms, maxMs, calls }) => [
        `${String(count)}, ${underLoad ? `${String(calls)} calls meanwhile` : 'no calls'}`,
        p50Ms.toFixed(2),
        marked(p99Ms.toFixed(2), p99Ms > mostPublicationMs),
        `p99 <= ${String(mostPublicationMs)}`,
        maxMs.toFixed(1),
        '0',
      ]),
    ),
    table(
      ['idle threads', 'heap KB each', 'budget', 'RSS KB each', 'start µs', 'close µs'],
      threads.map(({ threads: count, servers, heapKb, rssKb, startUs, closeUs }) => [
        `${String(count)}, ${serversOf[servers] ?? servers}`,
        marked(heapKb.toFixed(1), servers !== 'memory' && heapKb > mostThreadKb),
        servers === 'memory' ? '' : `<= ${String(mostThreadKb)}`,
        rssKb.toFixed(1),
        startUs.toFixed(0),
        closeUs.toFixed(0),
      ]),
    ),
    table(
      ['questions', 'register µs', 'respond µs', 'RSS MB'],
      questions.flatMap(({ levels, registerRatio, respondRatio }) => [
        ...levels.map(({ pending, registerUs, respondUs, rssMb }) => [
          `${String(pending)} pending`,
          range(registerUs, 0),
          range(respondUs, 0),
          rssMb.toFixed(0),
        ]),
        [
          `ratio (budget <= ${String(mostQuestionGrowth)})`,
          marked(registerRatio.toFixed(2), registerRatio > mostQuestionGrowth),
          marked(respondRatio.toFixed(2), respondRatio > mostQuestionGrowth),
          '',
        ],
      ]),
    ),
    table(
      ['import', 'SDK client ms', 'holdfast adds ms', 'budget'],
      imports.map(({ clientMs, addedMs }) => [
        'fresh process',
        range(clientMs, 0),
        marked(range(addedMs, 0), addedMs.median > mostImportMs),
        `<= ${String(mostImportMs)}`,
      ]),
    ),
    table(
      ['configuration', 'servers', 'ms'],
      configuration.map(({ what, count, ms }) => [what, String(count), range(ms, 1)]),
    ),
  ];
}

function range({ median, min, max }: Spread, digits = 2): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)} to ${max.toFixed(digits)})`;
}

function marked(text: string, misses: boolean): string {
  return misses ? `${text} *` : text;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]): string =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join('\n');
}

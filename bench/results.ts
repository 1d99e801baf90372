/** What the measures write, read back, and the budgets they are held to (SPEC PE-1, PE-5, EL-12). */
import { z } from 'zod';
import type { MeasureFile } from './measures.ts';

const spread = z.object({ median: z.number(), min: z.number(), max: z.number(), samples: z.number() });
const side = z.object({ callsPerSecond: z.number(), cpuUs: spread });
const comparison = { concurrency: z.number(), ratio: spread, bare: side, holdfast: side };

const calls = z.object({ wire: z.enum(['memory', 'stdio', 'http']), era: z.string(), ...comparison });
const ownCost = z.object(comparison);
const replacement = z.object({
  underLoad: z.boolean(),
  count: z.number(),
  p50Ms: z.number(),
  p99Ms: z.number(),
  maxMs: z.number(),
  calls: z.number(),
  runtimesLeft: z.number(),
});
const threads = z.object({
  threads: z.number(),
  servers: z.string(),
  heapKb: z.number(),
  rssKb: z.number(),
  startUs: z.number(),
  closeUs: z.number(),
});
const questions = z.object({
  levels: z.array(z.object({ pending: z.number(), registerUs: spread, respondUs: spread, rssMb: z.number() })),
  registerRatio: z.number(),
  respondRatio: z.number(),
});
const imports = z.object({ clientMs: spread, addedMs: spread });
const configuration = z.object({ what: z.string(), count: z.number(), ms: spread });

const schemas = {
  calls: z.array(calls),
  'own-cost': z.array(ownCost),
  replacement: z.array(replacement),
  threads: z.array(threads),
  questions: z.array(questions),
  imports: z.array(imports),
  configuration: z.array(configuration),
};

export type Calls = z.infer<typeof calls>;
type OwnCost = z.infer<typeof ownCost>;
type Replacement = z.infer<typeof replacement>;
type Threads = z.infer<typeof threads>;
type Questions = z.infer<typeof questions>;
type Imports = z.infer<typeof imports>;
type Configuration = z.infer<typeof configuration>;

export interface Results {
  calls: Calls[];
  ownCost: OwnCost[];
  replacement: Replacement[];
  threads: Threads[];
  questions: Questions[];
  imports: Imports[];
  configuration: Configuration[];
}

/** Results before anything was measured. */
export function noResults(): Results {
  return { calls: [], ownCost: [], replacement: [], threads: [], questions: [], imports: [], configuration: [] };
}

/** Files what a measure wrote under what it measured. */
export function addResult(results: Results, file: MeasureFile, text: string): void {
  const value: unknown = JSON.parse(text);
  switch (file) {
    case 'calls':
      results.calls.push(...schemas.calls.parse(value));
      return;
    case 'own-cost':
      results.ownCost.push(...schemas['own-cost'].parse(value));
      return;
    case 'replacement':
      results.replacement.push(...schemas.replacement.parse(value));
      return;
    case 'threads':
      results.threads.push(...schemas.threads.parse(value));
      return;
    case 'questions':
      results.questions.push(...schemas.questions.parse(value));
      return;
    case 'imports':
      results.imports.push(...schemas.imports.parse(value));
      return;
    case 'configuration':
      results.configuration.push(...schemas.configuration.parse(value));
      return;
  }
}

/** The least ratio of throughput to the bare client (PE-1). */
export function leastRatio(wire: Calls['wire'], concurrency: number): number {
  switch (wire) {
    case 'memory':
      return 0.6;
    case 'stdio':
      return concurrency === 1 ? 0.9 : 0.6;
    case 'http':
      return 1.2;
  }
}

/** Most a call may cost of this process's own CPU, in microseconds (PE-1). */
export const mostOwnCostUs = 25;
/** Most the cost of a question may grow from few pending to many (EL-12). */
export const mostQuestionGrowth = 1.3;
/** Most the import may add to that of the SDK's client, in milliseconds (PE-5). */
export const mostImportMs = 40;
/** Most a publication may take at the 99th percentile, in milliseconds (PE-3). */
export const mostPublicationMs = 1;
/** Most an idle thread may take, in KB of heap (PE-4). */
export const mostThreadKb = 12;

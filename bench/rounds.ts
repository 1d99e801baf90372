/** Two sides measured in turns, so that what else the machine does meets both. */
import { performance } from 'node:perf_hooks';
import { spreadOf } from './stats.ts';
import type { Spread } from './stats.ts';

/** One side: makes one call with the given signal. */
export type Call = (signal: AbortSignal) => Promise<unknown>;

export interface RoundsOptions {
  readonly concurrency: number;
  readonly rounds: number;
  readonly roundMs: number;
  readonly warmUpMs: number;
}

export interface Comparison {
  /** Throughput of `b` over throughput of `a`, one sample a pair of rounds. */
  readonly ratio: Spread;
  readonly a: Side;
  readonly b: Side;
}

export interface Side {
  readonly callsPerSecond: number;
  /** CPU of this process a call, in microseconds. */
  readonly cpuUs: Spread;
}

interface Round {
  readonly perSecond: number;
  readonly cpuUs: number;
}

/** Measures `a` and `b` in alternating rounds: a b, b a, a b, … */
export async function compare(a: Call, b: Call, options: RoundsOptions): Promise<Comparison> {
  await run(a, options.concurrency, options.warmUpMs);
  await run(b, options.concurrency, options.warmUpMs);
  const ofA: Round[] = [];
  const ofB: Round[] = [];
  for (let round = 0; round < options.rounds; round++) {
    const aFirst = round % 2 === 0;
    if (aFirst) ofA.push(await run(a, options.concurrency, options.roundMs));
    ofB.push(await run(b, options.concurrency, options.roundMs));
    if (!aFirst) ofA.push(await run(a, options.concurrency, options.roundMs));
  }
  return {
    ratio: spreadOf(ofB.map(({ perSecond }, index) => perSecond / (ofA[index]?.perSecond ?? Number.NaN))),
    a: sideOf(ofA),
    b: sideOf(ofB),
  };
}

function sideOf(rounds: readonly Round[]): Side {
  return {
    callsPerSecond: Math.round(spreadOf(rounds.map(({ perSecond }) => perSecond)).median),
    cpuUs: spreadOf(rounds.map(({ cpuUs }) => cpuUs)),
  };
}

/** Keeps `concurrency` calls in flight for a while. Each lane has one signal for all its calls, as a turn has. */
async function run(call: Call, concurrency: number, ms: number): Promise<Round> {
  const begin = performance.now();
  const cpuBegin = process.cpuUsage();
  const until = begin + ms;
  let calls = 0;
  const lane = async (): Promise<void> => {
    const { signal } = new AbortController();
    do {
      await call(signal);
      calls += 1;
    } while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  const cpu = process.cpuUsage(cpuBegin);
  return {
    perSecond: (calls * 1_000) / (performance.now() - begin),
    cpuUs: (cpu.user + cpu.system) / calls,
  };
}

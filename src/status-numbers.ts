/** The numbers of `thread.status`, from what was counted of a connection (SPEC RE-3). */
import { latencyClasses } from './actors/connection-stats.ts';
import type { ConnectionStats } from './actors/connection-stats.ts';
import type { LinkStats } from './domain/link.ts';
import type { CallCounts, CallLatency } from './domain/status.ts';

/** What was counted so far, over all links; `live` is the one there is now. */
export function countsOf(stats: ConnectionStats, live: LinkStats | undefined): CallCounts {
  const { calls, failed, aborted, toolErrors, questions, opened, lateResults } = stats;
  return {
    calls,
    failed,
    aborted,
    toolErrors,
    questions,
    reconnects: Math.max(0, opened - 1),
    lateResults: lateResults + (live?.lateResults ?? 0),
  };
}

/** How long completed calls took; undefined before the first. */
export function latencyOf({ latencies }: ConnectionStats): CallLatency | undefined {
  if (latencies === undefined) return undefined;
  const count = latencies.reduce((sum, each) => sum + each, 0);
  const [p50Ms = 0, p95Ms = 0, p99Ms = 0] = [0.5, 0.95, 0.99].map((share) => percentile(latencies, count * share));
  return { count, p50Ms, p95Ms, p99Ms };
}

/** The upper bound of the class in which a rank falls, whole milliseconds. */
function percentile(latencies: Uint32Array, rank: number): number {
  let seen = 0;
  for (const [at, count] of latencies.entries()) {
    seen += count;
    if (count > 0 && seen >= rank) return at === 0 ? 0 : Math.floor(2 ** (at / latencyClasses.perOctave));
  }
  return 0;
}

/**
 * What is counted of one connection, for `thread.status` (SPEC RE-3). Who reads it is loaded then: `src/status-numbers.ts`.
 *
 * Bounded: latencies are counted in classes an eighth of an octave wide, and the classes are made with the first call.
 */
import type { CallContext } from '../machines/call-context.ts';
import type { CallOutcome } from '../domain/events.ts';
import type { LinkStats } from '../domain/link.ts';

/** Classes of latencies: the first is less than a millisecond, the last over four hours. */
export const latencyClasses = { perOctave: 8, count: 24 * 8 + 1 } as const;

export class ConnectionStats {
  calls = 0;
  failed = 0;
  aborted = 0;
  toolErrors = 0;
  questions = 0;
  opened = 0;
  /** Of links that are gone. */
  lateResults = 0;
  /** How many completed calls took how long. */
  latencies: Uint32Array | undefined;

  /** A call has ended that took so long, without the time a person was asked. */
  noteCall(ms: number, outcome: CallOutcome, isError: boolean): void {
    this.calls += 1;
    if (isError) this.toolErrors += 1;
    if (outcome === 'aborted') this.aborted += 1;
    else if (outcome !== 'completed') this.failed += 1;
    else {
      this.latencies ??= new Uint32Array(latencyClasses.count);
      const at = ms < 1 ? 0 : 1 + Math.floor(Math.log2(ms) * latencyClasses.perOctave);
      const index = Math.min(at, latencyClasses.count - 1);
      this.latencies[index] = (this.latencies[index] ?? 0) + 1;
    }
  }

  /** A link has opened; tells whether it is not the first. */
  noteOpened(): boolean {
    this.opened += 1;
    return this.opened > 1;
  }

  noteGone(stats: LinkStats | undefined): void {
    this.lateResults += stats?.lateResults ?? 0;
  }
}

/** Counts the end of a call on the connection it was for, if it got to one. */
export function countEnd(
  stats: ConnectionStats | undefined,
  { input, pausedMs }: CallContext,
  ending: NonNullable<CallContext['ending']>,
  now: number,
): void {
  if (stats === undefined || input.method !== 'tools/call') return;
  const isError = ending.outcome === 'completed' && ending.result['isError'] === true;
  stats.noteCall(now - input.at - pausedMs, ending.outcome, isError);
}

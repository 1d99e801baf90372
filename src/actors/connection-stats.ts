/**
 * What is counted of one connection, for `thread.status` (SPEC RE-3).
 *
 * Bounded: latencies are counted in classes an eighth of an octave wide, and the classes are made with the first call.
 */
import type { CallContext } from '../machines/call-context.ts';
import type { CallOutcome } from '../domain/events.ts';
import type { LinkStats } from '../domain/link.ts';
import type { CallCounts, CallLatency } from '../domain/status.ts';

const classesPerOctave = 8;
/** Up to 2^24 ms, which is over four hours. */
const classCount = 24 * classesPerOctave + 1;

const failedOutcomes: ReadonlySet<CallOutcome> = new Set(['failed', 'timedOut', 'unknown', 'not-sent']);

export class ConnectionStats {
  #calls = 0;
  #failed = 0;
  #aborted = 0;
  #toolErrors = 0;
  #questions = 0;
  #opened = 0;
  /** Of links that are gone. */
  #lateResults = 0;
  #classes: Uint32Array | undefined;

  /** A call has ended that took so long, without the time a person was asked. */
  noteCall(ms: number, outcome: CallOutcome, isError: boolean): void {
    this.#calls += 1;
    if (outcome === 'aborted') this.#aborted += 1;
    if (failedOutcomes.has(outcome)) this.#failed += 1;
    if (isError) this.#toolErrors += 1;
    if (outcome !== 'completed') return;
    this.#classes ??= new Uint32Array(classCount);
    const at = classOf(ms);
    this.#classes[at] = (this.#classes[at] ?? 0) + 1;
  }

  noteQuestion(): void {
    this.#questions += 1;
  }

  /** A link has opened; tells whether it is not the first. */
  noteOpened(): boolean {
    this.#opened += 1;
    return this.#opened > 1;
  }

  noteGone(stats: LinkStats | undefined): void {
    this.#lateResults += stats?.lateResults ?? 0;
  }

  /** What was counted so far, over all links; `live` is the one there is now. */
  counts(live: LinkStats | undefined): CallCounts {
    return {
      calls: this.#calls,
      failed: this.#failed,
      aborted: this.#aborted,
      toolErrors: this.#toolErrors,
      questions: this.#questions,
      reconnects: Math.max(0, this.#opened - 1),
      lateResults: this.#lateResults + (live?.lateResults ?? 0),
    };
  }

  /** How long completed calls took; undefined before the first. */
  latency(): CallLatency | undefined {
    const classes = this.#classes;
    if (classes === undefined) return undefined;
    const count = classes.reduce((sum, each) => sum + each, 0);
    const [p50Ms = 0, p95Ms = 0, p99Ms = 0] = [0.5, 0.95, 0.99].map((share) => percentile(classes, count * share));
    return { count, p50Ms, p95Ms, p99Ms };
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

/** 0 for less than a millisecond. */
function classOf(ms: number): number {
  if (ms < 1) return 0;
  return Math.min(classCount - 1, 1 + Math.floor(Math.log2(ms) * classesPerOctave));
}

/** The upper bound of the class in which a rank falls, whole milliseconds. */
function percentile(classes: Uint32Array, rank: number): number {
  let seen = 0;
  for (const [at, count] of classes.entries()) {
    seen += count;
    if (count > 0 && seen >= rank) return at === 0 ? 0 : Math.floor(2 ** (at / classesPerOctave));
  }
  return 0;
}

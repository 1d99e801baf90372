/** Where a legacy server's question belongs: its call, the calls it may be of, or the server itself (SPEC EL-11). */
import { attribute } from '../domain/attribution.ts';
import type { PendingElicitation } from '../domain/elicitation.ts';
import type { ServerQuestion } from '../domain/link.ts';
import { relatedTaskOf } from '../domain/task.ts';
import type { CallInput } from '../machines/call-context.ts';
import type { CallRecord, Calls } from './calls.ts';
import type { LiveConnection } from './servers.ts';

/** The part of a question's record that says whose it is. */
export interface Placed {
  readonly generation: number;
  readonly attribution: PendingElicitation['attribution'];
  readonly input?: Pick<CallInput, 'step' | 'call' | 'request'>;
  readonly candidates?: readonly string[];
}

export interface Place {
  readonly placed: Placed;
  /** The one call that asks, where that is known. */
  readonly record: CallRecord | undefined;
  /** Every call that may be waiting for the answer. */
  readonly askers: readonly CallRecord[];
}

/** Finds the place of a question among the calls in flight. Its generation is the call's, else the connection's oldest. */
export function placeQuestion(asked: ServerQuestion, { id, generations }: LiveConnection, calls: Calls): Place {
  const taskId = relatedTaskOf(asked.params);
  const all = [...calls.inFlight(id)];
  const owner = taskId === undefined ? undefined : all.find(({ task }) => task?.id === taskId);
  // A task that says who it is was made of that call; one that is not known yet, of a call that is no task yet.
  const inFlight = owner !== undefined ? [owner] : taskId === undefined ? all : all.filter(({ task }) => !task);
  const attributed = attribute(
    owner === undefined ? asked : {},
    inFlight.map(({ input, key }) => ({
      call: input.call,
      generation: input.generation,
      step: input.step ?? '',
      ...(key === undefined ? {} : { request: key }),
    })),
  );
  const oldest = generations.size === 0 ? 0 : Math.min(...generations);
  const record = attributed.attribution === 'call' ? calls.record(attributed.call.call) : undefined;
  if (record !== undefined) {
    const { input } = record;
    return { placed: { attribution: 'call', generation: input.generation, input }, record, askers: [record] };
  }
  if (attributed.attribution !== 'ambiguous')
    return { placed: { attribution: 'server', generation: oldest }, record, askers: [] };
  const candidates = attributed.candidates.map(({ call }) => call);
  return { placed: { attribution: 'ambiguous', generation: oldest, candidates }, record, askers: inFlight };
}

/**
 * One model request and the calls that come of it, pinned to the runtime that was current when it began.
 *
 * Owns the fleet of its calls. Receives `step.end`; its output names the runtime it lets go of.
 *
 * - P1 Its generation never changes (H1).
 * - P2 It ends only when its last call has ended, and nothing is called after that.
 */
import { sendTo, setup } from 'xstate';
import type { ActorRefFrom } from 'xstate';
import { callMachine } from './call.ts';
import { createFleet } from './fleet.ts';
import type { FleetDrainedEvent } from './fleet.ts';
import { notProvided } from './not-provided.ts';

/** What a step is made with. */
export interface StepInput {
  readonly step: string;
  readonly generation: number;
}

/** What a step remembers. */
export type StepContext = StepInput;
/** What a step lets go of when it has ended. */
export type StepOutput = StepInput;

/** What happens to a step. */
export type StepEvent =
  | { readonly type: 'step.end'; readonly reason: string; readonly at: number }
  | FleetDrainedEvent
  | { readonly type: 'xstate.error.actor.calls'; readonly error: unknown };

export const stepMachine = setup({
  types: {
    context: {} as StepContext,
    input: {} as StepInput,
    output: {} as StepOutput,
    events: {} as StepEvent,
  },
  actors: { calls: createFleet(callMachine, { notify: false }) },
  actions: {
    announceBegan: notProvided,
    announceEnded: notProvided,
    /** An actor of it failed that never should: said, and lived with (RT-12). */
    reportError: notProvided,
  },
}).createMachine({
  id: 'step',
  description: 'One model request and its calls, pinned to one runtime.',
  meta: {
    sends: ['call.abort to its calls when it ends', 'step.began, step.ended as facts'],
    persisted: ['its generation, its open calls'],
    invariants: ['P1 the generation never changes (H1)', 'P2 ends only after its last call'],
  },
  context: ({ input }) => input,
  output: ({ context }) => context,
  initial: 'open',
  invoke: { id: 'calls', src: 'calls' },
  on: { 'xstate.error.actor.calls': { actions: 'reportError' } },
  states: {
    open: {
      description: 'Calls may be made.',
      entry: 'announceBegan',
      on: { 'step.end': 'ending' },
    },
    ending: {
      description: 'Its calls are aborted; no new ones are taken.',
      entry: sendTo('calls', ({ event }) => ({
        type: 'fleet.drain' as const,
        event: {
          type: 'call.abort',
          reason: event.type === 'step.end' ? event.reason : 'its step ended',
          at: event.type === 'step.end' ? event.at : 0,
        },
      })),
      on: { 'fleet.drained': 'ended' },
    },
    ended: {
      description: 'Its runtime is free of it.',
      type: 'final',
      entry: 'announceEnded',
    },
  },
});

/** A running step. */
export type StepActorRef = ActorRefFrom<typeof stepMachine>;

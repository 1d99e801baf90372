/**
 * One conversation: the root of its actors, and the only one that says which runtime is current.
 *
 * Owns the router, the fleets of steps and connections, and its runtimes. Replacement is a transition that spawns: a
 * candidate beside the current runtime; when it has settled, one transition makes it current.
 *
 * - T1 The current runtime changes in one transition, to a settled candidate (H2).
 * - T2 There is at most one candidate: the latest (RT-4).
 * - T3 A step takes the current runtime and holds it in the same transition (H1).
 * - T4 It closes only after its steps, then its connections, have ended (H10).
 */
import { assign, sendTo, setup } from 'xstate';
import type { ActorRefFrom, AnyActorRef, AnyEventObject } from 'xstate';
import { callMachine } from './call.ts';
import type { CallInput, CallOutput } from './call-context.ts';
import { connectionMachine } from './connection.ts';
import { createFleet } from './fleet.ts';
import type { FleetDrainedEvent, FleetSettledEvent } from './fleet.ts';
import { notProvided } from './not-provided.ts';
import { isRuntime } from './refs.ts';
import { routerMachine } from './router.ts';
import type { RouterInput } from './router.ts';
import { runtimeMachine } from './runtime.ts';
import type { RuntimeReport, RuntimeServer } from './runtime.ts';
import { stepMachine } from './step.ts';
import type { StepOutput } from './step.ts';

/** What a thread is made with. */
export interface ThreadInput extends RouterInput {
  readonly thread: string;
  readonly graceMs: number;
}

/** What a thread remembers. */
export interface ThreadContext {
  readonly input: ThreadInput;
  /** The current runtime; 0 before the first. */
  readonly generation: number;
  /** The starting candidate. */
  readonly candidate: number | null;
}

/** What happens to a thread. */
export type ThreadEvent =
  | { readonly type: 'runtime.replace'; readonly generation: number; readonly publish: 'settled' | 'immediate' }
  | { readonly type: 'runtime.cancel'; readonly generation: number; readonly reason: string }
  | RuntimeReport
  | { readonly type: 'step.begin'; readonly step: string }
  | { readonly type: 'request.begin'; readonly input: CallInput }
  | { readonly type: 'thread.close'; readonly reason: string; readonly at: number }
  | FleetSettledEvent
  | FleetDrainedEvent;

const threadSetup = setup({
  types: {
    context: {} as ThreadContext,
    input: {} as ThreadInput,
    events: {} as ThreadEvent,
  },
  actors: {
    router: routerMachine,
    steps: createFleet(stepMachine),
    requests: createFleet(callMachine),
    connections: createFleet(connectionMachine, { notify: false }),
    runtime: runtimeMachine,
  },
  actions: {
    /** `runtime.published`; resolves who waits for it. */
    announcePublished: notProvided as (
      _: unknown,
      params: { readonly generation: number; readonly replaced: number },
    ) => void,
    /** Tells who asked for the candidate that a newer one took its place, or the thread closes. */
    dropCandidate: notProvided as (
      _: unknown,
      params: { readonly generation: number; readonly reason: string },
    ) => void,
    /** Rejects who asked for the candidate, with every server's reason. */
    rejectCandidate: notProvided as (
      _: unknown,
      params: { readonly generation: number; readonly servers: readonly RuntimeServer[] },
    ) => void,
    announceClosed: notProvided,
    /** An actor failed that never should: said, and lived with (RT-12). */
    reportError: notProvided,
    /** Declared, not made while another action runs: XState warns of that. */
    tell: sendTo(
      (_, params: { readonly to: string | AnyActorRef; readonly event: AnyEventObject }) => params.to,
      (_, params) => params.event,
    ),
    noteCandidate: assign((_, params: { readonly generation: number | null }) => ({ candidate: params.generation })),
    makeCurrent: assign((_, params: { readonly generation: number }) => ({
      generation: params.generation,
      candidate: null,
    })),
  },
  guards: {
    isCandidate: ({ context }, params: { readonly generation: number }) => context.candidate === params.generation,
    hasCurrent: ({ context }) => context.generation > 0,
    isFleet: (_, params: { readonly fleet: string; readonly name: string }) => params.fleet === params.name,
  },
});

export const threadMachine = threadSetup
  .extend({
    actions: {
      discardCandidate: threadSetup.enqueueActions(({ context, event, enqueue }) => {
        if (context.candidate === null) return;
        const reason =
          event.type === 'runtime.replace'
            ? 'superseded by a newer replacement'
            : 'reason' in event
              ? event.reason
              : 'dropped';
        enqueue({ type: 'dropCandidate', params: { generation: context.candidate, reason } });
        enqueue(told(runtimeId(context.candidate), { type: 'runtime.discard', reason }));
        enqueue({ type: 'noteCandidate', params: { generation: null } });
      }),
      spawnCandidate: threadSetup.enqueueActions(({ context, event, enqueue }) => {
        if (event.type !== 'runtime.replace') return;
        const { generation, publish } = event;
        enqueue({ type: 'noteCandidate', params: { generation } });
        enqueue.spawnChild('runtime', {
          id: runtimeId(generation),
          systemId: runtimeId(generation),
          input: { generation, publish, first: context.generation === 0, graceMs: context.input.graceMs },
        });
      }),
      publish: threadSetup.enqueueActions(({ context, event, enqueue }) => {
        if (event.type !== 'runtime.settled') return;
        const replaced = context.generation;
        enqueue({ type: 'makeCurrent', params: { generation: event.generation } });
        enqueue(told(runtimeId(event.generation), { type: 'runtime.publish' }));
        enqueue({ type: 'announcePublished', params: { generation: event.generation, replaced } });
        if (replaced > 0) enqueue(told(runtimeId(replaced), { type: 'runtime.retire' }));
      }),
      beginStep: threadSetup.enqueueActions(({ context, event, enqueue }) => {
        if (event.type !== 'step.begin') return;
        const { generation } = context;
        enqueue(told(runtimeId(generation), { type: 'runtime.hold', id: event.step, kind: 'step' }));
        enqueue(
          told('steps', {
            type: 'fleet.spawn',
            id: event.step,
            systemId: stepSystemId(event.step),
            input: { step: event.step, generation },
          }),
        );
      }),
      release: threadSetup.enqueueActions(({ event, self, enqueue }) => {
        if (event.type !== 'fleet.settled') return;
        // What failed has no output to name the runtime it held: only the one it did hold knows its id.
        const held =
          event.output === undefined ? undefined : runtimeId((event.output as StepOutput | CallOutput).generation);
        const children: Record<string, AnyActorRef | undefined> = self.getSnapshot().children;
        for (const [id, ref] of Object.entries(children))
          if (isRuntime(ref) && (held ?? id) === id) enqueue(told(ref, { type: 'runtime.release', id: event.child }));
      }),
      beginRequest: threadSetup.enqueueActions(({ event, enqueue }) => {
        if (event.type !== 'request.begin') return;
        const { call, generation } = event.input;
        enqueue(told(runtimeId(generation), { type: 'runtime.hold', id: call, kind: 'request' }));
        enqueue(told('requests', { type: 'fleet.spawn', id: call, systemId: call, input: event.input }));
      }),
      dropRuntime: threadSetup.enqueueActions(({ event, enqueue }) => {
        enqueue.stopChild((event as unknown as { readonly actorId: string }).actorId);
      }),
      retireCurrent: threadSetup.enqueueActions(({ context, enqueue }) => {
        if (context.generation > 0) enqueue(told(runtimeId(context.generation), { type: 'runtime.retire' }));
      }),
    },
  })
  .createMachine({
    id: 'thread',
    description: 'One conversation: its router, its runtimes, its steps.',
    meta: {
      sends: [
        'runtime.publish, runtime.retire, runtime.discard, runtime.hold, runtime.release to its runtimes',
        'runtime.published, thread.closed as facts',
      ],
      persisted: ['the number of the current runtime, its candidate, every child'],
      invariants: [
        'T1 the current runtime changes in one transition (H2)',
        'T2 at most one candidate, the latest (RT-4)',
        'T3 a step takes and holds the current runtime in one transition (H1)',
        'T4 closes after its steps, then its connections (H10)',
      ],
    },
    context: ({ input }) => ({ input, generation: 0, candidate: null }),
    initial: 'open',
    invoke: [
      {
        id: 'router',
        src: 'router',
        systemId: 'router',
        input: ({ context }) => ({ settledLimit: context.input.settledLimit }),
      },
      { id: 'steps', src: 'steps', systemId: 'steps' },
      { id: 'requests', src: 'requests', systemId: 'requests' },
      { id: 'connections', src: 'connections', systemId: 'connections' },
    ],
    on: {
      'fleet.settled': { actions: 'release' },
      'xstate.done.actor.*': { actions: 'dropRuntime' },
      'xstate.error.actor.*': { actions: 'reportError' },
    },
    states: {
      open: {
        description: 'Takes replacements, steps and requests.',
        initial: 'starting',
        on: {
          'runtime.replace': { actions: ['discardCandidate', 'spawnCandidate'] },
          'runtime.cancel': {
            guard: { type: 'isCandidate', params: ({ event }) => event },
            actions: 'discardCandidate',
          },
          'runtime.settled': {
            guard: { type: 'isCandidate', params: ({ event }) => event },
            target: '.active',
            actions: 'publish',
          },
          'runtime.failed': {
            guard: { type: 'isCandidate', params: ({ event }) => event },
            actions: [
              { type: 'noteCandidate', params: { generation: null } },
              { type: 'rejectCandidate', params: ({ event }) => event },
            ],
          },
          'thread.close': 'closing',
        },
        states: {
          starting: { description: 'No runtime was published yet: first steps wait.' },
          active: {
            description: 'A runtime is current.',
            on: {
              'step.begin': { guard: 'hasCurrent', actions: 'beginStep' },
              'request.begin': { guard: 'hasCurrent', actions: 'beginRequest' },
            },
          },
        },
      },
      closing: {
        description: 'Everything is being ended, inside out.',
        initial: 'endingSteps',
        entry: 'discardCandidate',
        states: {
          endingSteps: {
            description: 'Calls are aborted, questions settle.',
            entry: sendTo('steps', ({ event }) => ({
              type: 'fleet.drain' as const,
              event: {
                type: 'step.end',
                reason: event.type === 'thread.close' ? event.reason : 'the thread was closed',
                at: event.type === 'thread.close' ? event.at : 0,
              },
            })),
            on: {
              'fleet.drained': {
                guard: { type: 'isFleet', params: ({ event }) => ({ fleet: event.fleet, name: 'steps' }) },
                target: 'endingRequests',
              },
            },
          },
          endingRequests: {
            description: 'Single requests are aborted.',
            entry: sendTo('requests', {
              type: 'fleet.drain',
              event: { type: 'call.abort', reason: 'the thread was closed', at: 0 },
            }),
            on: {
              'fleet.drained': {
                guard: { type: 'isFleet', params: ({ event }) => ({ fleet: event.fleet, name: 'requests' }) },
                target: 'endingConnections',
              },
            },
          },
          endingConnections: {
            description: 'Transports and processes are ended.',
            entry: [
              'retireCurrent',
              sendTo('connections', { type: 'fleet.drain', event: { type: 'connection.close' } }),
            ],
            on: {
              'fleet.drained': {
                guard: { type: 'isFleet', params: ({ event }) => ({ fleet: event.fleet, name: 'connections' }) },
                target: '#thread.closed',
              },
            },
          },
        },
      },
      closed: {
        description: 'No actor, timer, socket or process is left.',
        type: 'final',
        entry: 'announceClosed',
      },
    },
  });

/** A running thread. */
export type ThreadActorRef = ActorRefFrom<typeof threadMachine>;

/** The id and systemId of a runtime's actor. */
export function runtimeId(generation: number): string {
  return `runtime-${String(generation)}`;
}

/** The systemId of a step's actor. */
export function stepSystemId(step: string): string {
  return `step/${step}`;
}

/** Sends an event to an actor, as an action. */
function told(to: string | AnyActorRef, event: AnyEventObject) {
  return { type: 'tell', params: { to, event } } as const;
}

/**
 * One immutable generation of "which servers, configured how": a candidate, then current, then retired, then gone.
 *
 * Owns the list of its servers and who holds it. Receives how its servers' starts went; asks its thread to publish it.
 *
 * - G1 It is published at most once, whole (H2).
 * - G2 Retired, it stops when nobody holds it, and not before (H3).
 * - G3 A candidate that is discarded or fails was never current.
 */
import { and, assign, not, sendParent, setup } from 'xstate';
import type { ActorRefFrom } from 'xstate';
import type { Failure } from '../domain/errors.ts';
import { callbackNotProvided, notProvided } from './not-provided.ts';
import type { DeadlineInput, DeadlinePassedEvent } from './not-provided.ts';

/** A server of a runtime, and how its start went. */
export interface RuntimeServer {
  readonly server: string;
  /** The candidate is not published when it fails (RT-3). */
  readonly required: boolean;
  /** Publication waits for it to settle: it is required, or the successor of a server that is ready now. */
  readonly awaited: boolean;
  readonly state: 'starting' | 'ready' | 'failed';
  readonly failure?: Failure;
}

/** What a runtime is made with. */
export interface RuntimeInput {
  readonly generation: number;
  readonly publish: 'settled' | 'immediate';
  /** No runtime was published before it: its grace begins with its first ready server. */
  readonly first: boolean;
  readonly graceMs: number;
}

/** What a runtime remembers. */
export interface RuntimeContext extends RuntimeInput {
  readonly servers: readonly RuntimeServer[];
  /** When servers that are not awaited are waited for no longer; null while that is not known. */
  readonly graceEndsAt: number | null;
  readonly graceIsOver: boolean;
  /** When it fails without the reasons of servers that have not settled; null while no required server has failed. */
  readonly failsAt: number | null;
  /** Holder id → what it is. */
  readonly holders: Readonly<Record<string, 'step' | 'request'>>;
}

/** What happens to a runtime. */
export type RuntimeEvent =
  | { readonly type: 'runtime.begin'; readonly servers: readonly RuntimeServer[]; readonly at: number }
  | {
      readonly type: 'runtime.serverSettled';
      readonly server: string;
      readonly state: 'ready' | 'failed';
      readonly failure?: Failure;
      readonly at: number;
    }
  | { readonly type: 'runtime.publish' }
  | { readonly type: 'runtime.retire' }
  | { readonly type: 'runtime.discard'; readonly reason: string }
  | { readonly type: 'runtime.hold'; readonly id: string; readonly kind: 'step' | 'request' }
  | { readonly type: 'runtime.release'; readonly id: string }
  | DeadlinePassedEvent;

/** What a runtime tells its thread. */
export type RuntimeReport =
  | { readonly type: 'runtime.settled'; readonly generation: number }
  | { readonly type: 'runtime.failed'; readonly generation: number; readonly servers: readonly RuntimeServer[] };

export const runtimeMachine = setup({
  types: {
    context: {} as RuntimeContext,
    input: {} as RuntimeInput,
    events: {} as RuntimeEvent,
  },
  actors: { deadline: callbackNotProvided<DeadlinePassedEvent, DeadlineInput>() },
  actions: {
    /** Sends `runtime.begin` once the requests already received are read (RT-4). */
    schedule: notProvided,
    announceStarting: notProvided,
    /** Lets go of its connections. */
    detach: notProvided,
    announceRetired: notProvided,
    announceStopped: notProvided,
    announceDiscarded: notProvided as (_: unknown, params: { readonly reason: string }) => void,
    reportSettled: sendParent(({ context }): RuntimeReport => ({
      type: 'runtime.settled',
      generation: context.generation,
    })),
    reportFailed: sendParent(({ context }): RuntimeReport => ({
      type: 'runtime.failed',
      generation: context.generation,
      servers: context.servers,
    })),
    takeServers: assign(({ context }, params: { readonly servers: readonly RuntimeServer[]; readonly at: number }) => ({
      servers: params.servers,
      graceEndsAt: graceOf(context, params.servers, params.at),
      failsAt: failureOf(context, params.servers, params.at),
    })),
    noteServer: assign(
      ({ context }, params: Omit<Extract<RuntimeEvent, { type: 'runtime.serverSettled' }>, 'type'>) => {
        const servers = context.servers.map((entry) =>
          entry.server === params.server ? settledServer(entry, params) : entry,
        );
        return {
          servers,
          graceEndsAt: context.graceEndsAt ?? graceOf(context, servers, params.at),
          failsAt: context.failsAt ?? failureOf(context, servers, params.at),
        };
      },
    ),
    endGrace: assign({ graceIsOver: true }),
    hold: assign(({ context }, params: { readonly id: string; readonly kind: 'step' | 'request' }) => ({
      holders: { ...context.holders, [params.id]: params.kind },
    })),
    release: assign(({ context }, params: { readonly id: string }) => ({
      holders: without(context.holders, params.id),
    })),
  },
  guards: {
    isFree: ({ context }) => Object.keys(context.holders).length === 0,
    isImmediate: ({ context }) => context.publish === 'immediate',
    requiredFailed: ({ context }) => context.failsAt !== null,
    allAreKnown: ({ context }) => context.servers.every((entry) => entry.state !== 'starting'),
    isSettled: ({ context }) =>
      context.servers.every((entry) => entry.state !== 'starting' || (context.graceIsOver && !entry.awaited)),
    hasGrace: ({ context }) => context.graceEndsAt !== null,
  },
}).createMachine({
  id: 'runtime',
  description: 'One generation of connections: candidate, current, retired.',
  meta: {
    sends: [
      'runtime.settled, runtime.failed to its thread',
      'runtime.starting, runtime.retired, runtime.stopped, runtime.discarded as facts',
    ],
    persisted: ['its number, its servers, its holders'],
    invariants: [
      'G1 published at most once, whole (H2)',
      'G2 retired, it stops when nobody holds it, not before (H3)',
      'G3 a discarded or failed candidate was never current',
    ],
  },
  context: ({ input }) => ({
    ...input,
    servers: [],
    graceEndsAt: null,
    graceIsOver: false,
    failsAt: null,
    holders: {},
  }),
  initial: 'scheduled',
  on: {
    'runtime.hold': { actions: { type: 'hold', params: ({ event }) => event } },
    'runtime.release': { actions: { type: 'release', params: ({ event }) => event } },
    'runtime.serverSettled': { actions: { type: 'noteServer', params: ({ event }) => event } },
  },
  states: {
    scheduled: {
      description: 'Asked for; starts nothing before the requests already received are read.',
      entry: ['schedule', 'announceStarting'],
      on: {
        'runtime.begin': { target: 'starting', actions: { type: 'takeServers', params: ({ event }) => event } },
        'runtime.discard': {
          target: 'discarded',
          actions: { type: 'announceDiscarded', params: ({ event }) => event },
        },
      },
    },
    starting: {
      description: 'A candidate: its connections start beside the current runtime.',
      always: [
        { guard: 'isImmediate', target: 'settled' },
        { guard: and(['requiredFailed', 'allAreKnown']), target: 'failed' },
        { guard: and([not('requiredFailed'), 'isSettled']), target: 'settled' },
      ],
      on: {
        'runtime.discard': {
          target: 'discarded',
          actions: { type: 'announceDiscarded', params: ({ event }) => event },
        },
        'deadline.passed': { actions: 'endGrace' },
      },
      initial: 'patient',
      states: {
        patient: {
          description: 'No server is ready yet to begin the grace of the others.',
          always: [
            { guard: 'requiredFailed', target: 'failing' },
            { guard: 'hasGrace', target: 'limited' },
          ],
        },
        limited: {
          description: 'New optional servers share a grace.',
          always: { guard: 'requiredFailed', target: 'failing' },
          invoke: { id: 'grace', src: 'deadline', input: ({ context }) => ({ at: context.graceEndsAt ?? 0 }) },
        },
        failing: {
          description:
            'A required server failed: the others have a grace to say how they fare, so that every reason is told.',
          invoke: { id: 'lastReasons', src: 'deadline', input: ({ context }) => ({ at: context.failsAt ?? 0 }) },
          on: { 'deadline.passed': '#runtime.failed' },
        },
      },
    },
    settled: {
      description: 'Ready to be made current.',
      entry: 'reportSettled',
      on: {
        'runtime.publish': 'current',
        'runtime.discard': {
          target: 'discarded',
          actions: { type: 'announceDiscarded', params: ({ event }) => event },
        },
      },
    },
    current: {
      description: 'New steps pin to it.',
      on: { 'runtime.retire': { target: 'retired', actions: 'announceRetired' } },
    },
    retired: {
      description: 'Superseded; lives as long as a step or a request holds it.',
      always: { guard: 'isFree', target: 'stopped' },
    },
    stopped: {
      description: 'Nobody holds it: its connections are let go.',
      type: 'final',
      entry: ['detach', 'announceStopped'],
    },
    failed: {
      description: 'A required server did not start: the current runtime stays.',
      type: 'final',
      entry: ['reportFailed', 'detach', { type: 'announceDiscarded', params: { reason: 'a required server failed' } }],
    },
    discarded: {
      description: 'A newer replacement, or the end of the thread, took its place.',
      type: 'final',
      entry: 'detach',
    },
  },
});

/** A running runtime. */
export type RuntimeActorRef = ActorRefFrom<typeof runtimeMachine>;

/**
 * When the grace of optional servers ends. The first runtime's begins with its first ready server: published before that
 * it would be of no use to anybody (docs/decisions).
 */
function graceOf(context: RuntimeContext, servers: readonly RuntimeServer[], at: number): number | null {
  const begins = !context.first || servers.some((entry) => entry.state === 'ready');
  return begins ? at + context.graceMs : null;
}

/** When a candidate with a failed required server fails at the latest. */
function failureOf(context: RuntimeContext, servers: readonly RuntimeServer[], at: number): number | null {
  return servers.some((entry) => entry.required && entry.state === 'failed') ? at + context.graceMs : null;
}

function settledServer(
  entry: RuntimeServer,
  params: { readonly state: 'ready' | 'failed'; readonly failure?: Failure },
): RuntimeServer {
  const { failure: _, ...rest } = entry;
  return { ...rest, state: params.state, ...(params.failure === undefined ? {} : { failure: params.failure }) };
}

function without(holders: RuntimeContext['holders'], id: string): RuntimeContext['holders'] {
  const { [id]: _, ...rest } = holders;
  return rest;
}

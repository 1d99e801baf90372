/**
 * One live link to one MCP server: started, lost, tried again, closed.
 *
 * Owns the state a user sees of the server, and the fleet of questions that belong to no single call. The link itself
 * (process, sockets, SDK client) lives in the `link` actor. Receives what the link reports.
 *
 * - N1 One attempt at a time, shared by all who wait (RT-7).
 * - N2 It ends only after its link has ended: no process outlives it (H10).
 */
import { assign, sendTo, setup } from 'xstate';
import type { ActorRefFrom } from 'xstate';
import type { Failure } from '../domain/errors.ts';
import type { Question } from '../domain/question.ts';
import type { Era, ServerInfo, ServerState, TransportKind } from '../domain/snapshot.ts';
import { elicitationMachine } from './elicitation.ts';
import { createFleet } from './fleet.ts';
import { callbackNotProvided, notProvided, promiseNotProvided } from './not-provided.ts';
import type { DeadlineInput, DeadlinePassedEvent } from './not-provided.ts';

/** What a connection is made with. */
export interface ConnectionInput {
  readonly connection: string;
  readonly server: string;
  readonly transport: TransportKind;
  /** A start that failed is tried again by itself (HTTP). */
  readonly retriesStart: boolean;
  /** A link that was lost can be opened anew; false for a transport the caller gave. */
  readonly reopens: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What a link says of itself once it is open. */
export interface OpenedFacts {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly serverInfo: ServerInfo | null;
  readonly pid: number | null;
  readonly toolCount: number;
  /** Set when a listing failed. */
  readonly failure: Failure | null;
}

/** What a connection remembers. */
export interface ConnectionContext {
  readonly input: ConnectionInput;
  readonly opened: OpenedFacts | null;
  /** It was ready at least once: a loss reconnects. */
  readonly wasReady: boolean;
  readonly failure: Failure | null;
  /** Waits for another attempt since it was last healthy. */
  readonly attempts: number;
  /** Since it was last healthy, a loss was answered by an attempt without a wait: the next one waits. */
  readonly triedAtOnce: boolean;
  readonly startedAt: number;
  readonly retryAt: number | null;
}

/** What happens to a connection. */
export type ConnectionEvent =
  | { readonly type: 'link.opened'; readonly facts: OpenedFacts; readonly at: number }
  | { readonly type: 'link.listed'; readonly toolCount: number; readonly failure: Failure | null }
  | { readonly type: 'link.failed'; readonly failure: Failure; readonly at: number; readonly jitter: number }
  | { readonly type: 'link.lost'; readonly failure: Failure; readonly at: number; readonly jitter: number }
  | { readonly type: 'connection.asked'; readonly question: Question }
  /** Ends the link there is, if there is one, and opens another. */
  | { readonly type: 'connection.restart'; readonly at: number }
  /** Tries again now what failed or waits; an attempt that is being made, or a live link, is left alone (N1). */
  | { readonly type: 'connection.retry'; readonly at: number }
  | { readonly type: 'connection.close' }
  | DeadlinePassedEvent;

/** A link healthy for this long has its backoff reset (RT-7). */
export const healthyMs = 60_000;

/** Codes after which only a new credential helps. */
const authCodes: ReadonlySet<string> = new Set(['auth_required']);
/** Codes a new attempt cannot mend. */
const finalCodes: ReadonlySet<string> = new Set(['server_misconfigured', 'unsupported']);

export const connectionMachine = setup({
  types: {
    context: {} as ConnectionContext,
    input: {} as ConnectionInput,
    events: {} as ConnectionEvent,
  },
  actors: {
    /** Opens the link, reports on it, closes it when stopped. */
    link: callbackNotProvided<ConnectionEvent, { readonly connection: string; readonly server: string }>(),
    /** Resolves when nothing is left of the link. */
    closeLink: promiseNotProvided<void, { readonly connection: string; readonly reason: string }>(),
    deadline: callbackNotProvided<DeadlinePassedEvent, DeadlineInput>(),
    questions: createFleet(elicitationMachine, { notify: false }),
  },
  actions: {
    /** Tells the world, and the runtimes that name it, of its state. */
    announce: notProvided as (_: unknown, params: { readonly state: ServerState }) => void,
    /** An actor of it failed that never should: said, and lived with (RT-12). */
    reportError: notProvided,
    putQuestion: sendTo('questions', (_, params: { readonly question: Question }) => ({
      type: 'fleet.spawn' as const,
      id: params.question.elicitation.token,
      systemId: params.question.elicitation.token,
      input: params.question,
    })),
    noteOpened: assign((_, params: { readonly facts: OpenedFacts; readonly at: number }) => ({
      opened: params.facts,
      wasReady: true,
      failure: params.facts.failure,
      startedAt: params.at,
      retryAt: null,
    })),
    noteListed: assign(({ context }, params: { readonly toolCount: number; readonly failure: Failure | null }) => ({
      opened:
        context.opened === null ? null : { ...context.opened, toolCount: params.toolCount, failure: params.failure },
      failure: params.failure,
    })),
    noteFailure: assign(
      ({ context }, params: { readonly failure: Failure; readonly at: number; readonly jitter: number }) => ({
        failure: params.failure,
        attempts: context.attempts + 1,
        retryAt: params.at + Math.max(backoffMs(context.attempts, params.jitter), askedWaitMs(params.failure)),
      }),
    ),
    noteLoss: assign(
      ({ context }, params: { readonly failure: Failure; readonly at: number; readonly jitter: number }) => {
        const isHealthy = params.at - context.startedAt >= healthyMs;
        const waits = !isHealthy && context.triedAtOnce;
        const attempts = isHealthy ? 0 : context.attempts;
        return {
          failure: params.failure,
          attempts: waits ? attempts + 1 : attempts,
          triedAtOnce: true,
          retryAt: waits ? params.at + backoffMs(attempts, params.jitter) : params.at,
        };
      },
    ),
    forgetRetry: assign({ retryAt: null }),
    beginAnew: assign((_, params: { readonly at: number }) => ({
      attempts: 0,
      triedAtOnce: false,
      failure: null,
      retryAt: null,
      startedAt: params.at,
    })),
  },
  guards: {
    isDegraded: (_, params: { readonly failure: Failure | null }) => params.failure !== null,
    needsAuth: (_, params: { readonly failure: Failure }) => authCodes.has(params.failure.code),
    triesAgain: ({ context }, params: { readonly failure: Failure }) =>
      !finalCodes.has(params.failure.code) &&
      params.failure.retryable &&
      context.input.reopens &&
      (context.input.retriesStart || context.wasReady),
    reopens: ({ context }) => context.input.reopens,
    wasReady: ({ context }) => context.wasReady,
  },
}).createMachine({
  id: 'connection',
  description: 'One live link to one MCP server, shared by the runtimes that name it.',
  meta: {
    sends: ['runtime.serverSettled to the runtimes that name it', 'server.changed as a fact'],
    persisted: ['its server, its last known state, when it is tried again'],
    invariants: [
      'N1 one attempt at a time, shared by all who wait (RT-7)',
      'N2 ends only after its link has ended (H10)',
    ],
  },
  context: ({ input }) => ({
    input,
    opened: null,
    wasReady: false,
    failure: null,
    attempts: 0,
    triedAtOnce: false,
    startedAt: input.at,
    retryAt: null,
  }),
  initial: 'linked',
  invoke: { id: 'questions', src: 'questions' },
  on: {
    'xstate.error.actor.*': { actions: 'reportError' },
    'connection.close': '.closing',
    'connection.asked': { actions: { type: 'putQuestion', params: ({ event }) => event } },
  },
  states: {
    linked: {
      description: 'A link is being opened, or open.',
      invoke: {
        id: 'link',
        src: 'link',
        input: ({ context }) => ({ connection: context.input.connection, server: context.input.server }),
      },
      initial: 'starting',
      on: {
        'connection.restart': { target: 'restarting', actions: { type: 'beginAnew', params: ({ event }) => event } },
        'link.failed': [
          {
            guard: { type: 'needsAuth', params: ({ event }) => event },
            target: 'authRequired',
            actions: [{ type: 'noteFailure', params: ({ event }) => event }, 'forgetRetry'],
          },
          {
            guard: { type: 'triesAgain', params: ({ event }) => event },
            target: 'waiting',
            actions: { type: 'noteFailure', params: ({ event }) => event },
          },
          { target: 'failed', actions: [{ type: 'noteFailure', params: ({ event }) => event }, 'forgetRetry'] },
        ],
        'link.lost': [
          { guard: 'reopens', target: 'waiting', actions: { type: 'noteLoss', params: ({ event }) => event } },
          { target: 'failed', actions: [{ type: 'noteLoss', params: ({ event }) => event }, 'forgetRetry'] },
        ],
      },
      states: {
        starting: {
          description: 'Transport, handshake and first listing, within startTimeoutMs.',
          entry: {
            type: 'announce',
            params: ({ context }) => ({ state: context.wasReady ? 'reconnecting' : 'starting' }),
          },
          on: {
            'link.opened': [
              {
                guard: { type: 'isDegraded', params: ({ event }) => event.facts },
                target: 'degraded',
                actions: { type: 'noteOpened', params: ({ event }) => event },
              },
              { target: 'ready', actions: { type: 'noteOpened', params: ({ event }) => event } },
            ],
          },
        },
        ready: {
          description: 'Usable.',
          entry: { type: 'announce', params: { state: 'ready' } },
          on: {
            'link.listed': [
              {
                guard: { type: 'isDegraded', params: ({ event }) => event },
                target: 'degraded',
                actions: { type: 'noteListed', params: ({ event }) => event },
              },
              { actions: { type: 'noteListed', params: ({ event }) => event } },
            ],
          },
        },
        degraded: {
          description: 'Usable, but a listing could not be had whole.',
          entry: { type: 'announce', params: { state: 'degraded' } },
          on: {
            'link.listed': [
              {
                guard: { type: 'isDegraded', params: ({ event }) => event },
                actions: { type: 'noteListed', params: ({ event }) => event },
              },
              { target: 'ready', actions: { type: 'noteListed', params: ({ event }) => event } },
            ],
          },
        },
      },
    },
    waiting: {
      description: 'Lost, or not started: tried again at retryAt.',
      entry: { type: 'announce', params: ({ context }) => ({ state: context.wasReady ? 'reconnecting' : 'failed' }) },
      invoke: { id: 'retry', src: 'deadline', input: ({ context }) => ({ at: context.retryAt ?? 0 }) },
      on: {
        'deadline.passed': { target: 'linked', actions: 'forgetRetry' },
        'connection.restart': { target: 'linked', actions: { type: 'beginAnew', params: ({ event }) => event } },
        'connection.retry': { target: 'linked', actions: { type: 'beginAnew', params: ({ event }) => event } },
      },
    },
    authRequired: {
      description: 'The server wants a credential it was not given; not tried again without one.',
      entry: { type: 'announce', params: { state: 'authRequired' } },
      on: {
        'connection.restart': { target: 'linked', actions: { type: 'beginAnew', params: ({ event }) => event } },
        'connection.retry': { target: 'linked', actions: { type: 'beginAnew', params: ({ event }) => event } },
      },
    },
    failed: {
      description: 'Did not start and is not tried again by itself: a replacement or restartServer does.',
      entry: { type: 'announce', params: { state: 'failed' } },
      on: {
        'connection.restart': { target: 'linked', actions: { type: 'beginAnew', params: ({ event }) => event } },
        'connection.retry': { target: 'linked', actions: { type: 'beginAnew', params: ({ event }) => event } },
      },
    },
    restarting: {
      description: 'The old link is being closed before a new one is opened.',
      entry: { type: 'announce', params: { state: 'reconnecting' } },
      invoke: {
        id: 'closeLink',
        src: 'closeLink',
        input: ({ context }) => ({ connection: context.input.connection, reason: 'the server was restarted' }),
        onDone: 'linked',
        onError: 'linked',
      },
    },
    closing: {
      description: 'No runtime names it: its transport and processes are being ended.',
      invoke: {
        id: 'closeLink',
        src: 'closeLink',
        input: ({ context }) => ({
          connection: context.input.connection,
          reason: 'no runtime names the server any more',
        }),
        onDone: 'closed',
        onError: 'closed',
      },
      on: { 'connection.close': undefined, 'connection.asked': undefined },
    },
    closed: {
      description: 'Nothing is left of it.',
      type: 'final',
      entry: { type: 'announce', params: { state: 'closed' } },
    },
  },
});

/** A running connection. */
export type ConnectionActorRef = ActorRefFrom<typeof connectionMachine>;

/** The longest a server can ask to be left alone (CN-2). */
export const longestRetryAfterMs = 3_600_000;

function askedWaitMs({ retryAfterMs = 0 }: Failure): number {
  return Math.min(retryAfterMs, longestRetryAfterMs);
}

/** 1 s doubling to 30 s, with up to a quarter of jitter (RT-7). `jitter` is 0 to 1. */
export function backoffMs(attempts: number, jitter: number): number {
  const base = Math.min(1_000 * 2 ** Math.min(attempts, 10), 30_000);
  return Math.round(base * (0.75 + 0.25 * jitter));
}

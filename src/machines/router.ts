/**
 * The router: takes an answer for a token to the responder that issued it.
 *
 * Owns the table of open tokens and a bounded memory of settled ones. Receives `router.register`, `router.settled`,
 * `router.respond`; forwards `elicitation.answer` to the responder, which it finds by its token alone.
 *
 * - R1 A token is forwarded only while it is registered, so exactly once past its settlement (H4).
 * - R2 Registering, routing and settling cost the same however many tokens are open (EL-12): the tables are changed in
 *   place, never copied, and hold plain data.
 */
import { assign, sendTo, setup } from 'xstate';
import type { ActorRefFrom, AnyActorRef, AnyEventObject } from 'xstate';
import type { ElicitationAnswer, ElicitationOutcome, RespondOutcome } from '../domain/elicitation.ts';
import { isoTime } from '../domain/question.ts';
import type { Settlement } from '../domain/question.ts';
import { actorOf } from './actor-of.ts';
import { notProvided } from './not-provided.ts';

/** How the question of a token ended. */
export interface SettledToken {
  readonly outcome: ElicitationOutcome;
  readonly at: number;
  readonly reason?: string;
}

/** What a router remembers. */
export interface RouterContext {
  /** Open tokens. */
  readonly open: Record<string, true>;
  readonly openCount: number;
  /** Settled tokens, newest and older half: the older half is dropped when the newer one is full. */
  readonly recent: Record<string, SettledToken>;
  readonly recentCount: number;
  readonly older: Record<string, SettledToken>;
  readonly settledLimit: number;
}

/** What a router is made with. */
export interface RouterInput {
  /** How many settled tokens are remembered, at most. */
  readonly settledLimit: number;
}

/** What happens to a router. */
export type RouterEvent =
  | { readonly type: 'router.register'; readonly token: string }
  | { readonly type: 'router.settled'; readonly settlement: Settlement }
  | {
      readonly type: 'router.respond';
      readonly token: string;
      readonly answer: ElicitationAnswer;
      readonly at: number;
      readonly ticket: number;
    };

const routerSetup = setup({
  types: {
    context: {} as RouterContext,
    input: {} as RouterInput,
    events: {} as RouterEvent,
  },
  actions: {
    /** Gives `respond` its outcome. */
    reply: notProvided as (_: unknown, params: { readonly ticket: number; readonly outcome: RespondOutcome }) => void,
    enter: assign(({ context, event }) => (event.type === 'router.register' ? entered(context, event.token) : {})),
    remember: assign(({ context, event }) =>
      event.type === 'router.settled' ? remembered(context, event.settlement) : {},
    ),
    /** Declared, not made while another action runs: XState warns of that. */
    tell: sendTo(
      (_, params: { readonly to: AnyActorRef; readonly event: AnyEventObject }) => params.to,
      (_, params) => params.event,
    ),
  },
  guards: {
    isOpen: ({ context }, params: { readonly token: string }) => context.open[params.token] === true,
  },
});

export const routerMachine = routerSetup
  .extend({
    actions: {
      forward: routerSetup.enqueueActions(({ event, system, enqueue }) => {
        if (event.type !== 'router.respond') return;
        const { token, answer, at, ticket } = event;
        const responder = actorOf(system, token);
        if (responder === undefined) enqueue({ type: 'reply', params: { ticket, outcome: { status: 'unknown' } } });
        else
          enqueue({
            type: 'tell',
            params: { to: responder, event: { type: 'elicitation.answer', answer, at, ticket } },
          });
      }),
    },
  })
  .createMachine({
    id: 'router',
    description: 'Takes each answer to the responder that asked, whichever runtime is current.',
    meta: {
      sends: ['elicitation.answer to the responder of the token'],
      persisted: ['open tokens, and a bounded memory of settled ones'],
      invariants: [
        'R1 forwards to exactly the responder that issued the token, once (H4)',
        'R2 constant cost however many tokens are open (EL-12)',
      ],
    },
    context: ({ input }) => ({
      open: {},
      openCount: 0,
      recent: {},
      recentCount: 0,
      older: {},
      settledLimit: input.settledLimit,
    }),
    initial: 'routing',
    states: {
      routing: {
        description: 'Registers, forwards and remembers for as long as the thread lives.',
        on: {
          'router.register': { actions: 'enter' },
          'router.settled': { actions: 'remember' },
          'router.respond': [
            { guard: { type: 'isOpen', params: ({ event }) => ({ token: event.token }) }, actions: 'forward' },
            {
              actions: {
                type: 'reply',
                params: ({ context, event }) => ({ ticket: event.ticket, outcome: outcomeOf(context, event.token) }),
              },
            },
          ],
        },
      },
    },
  });

/** A running router. */
export type RouterActorRef = ActorRefFrom<typeof routerMachine>;

/** What a late answer for a token hears: how it ended, or that nobody here ever asked. */
export function outcomeOf(context: RouterContext, token: string): RespondOutcome {
  const settled = own(context.recent, token) ?? own(context.older, token);
  if (settled === undefined) return { status: 'unknown' };
  switch (settled.outcome) {
    case 'accepted':
    case 'declined':
    case 'cancelled':
      return { status: 'settled', outcome: settled.outcome, at: isoTime(settled.at) };
    case 'expired':
    case 'lost':
      return { status: settled.outcome, reason: settled.reason ?? settled.outcome };
  }
}

function own(table: Record<string, SettledToken>, token: string): SettledToken | undefined {
  return Object.hasOwn(table, token) ? table[token] : undefined;
}

function entered(context: RouterContext, token: string): Partial<RouterContext> {
  context.open[token] = true;
  return { openCount: context.openCount + 1 };
}

function remembered(context: RouterContext, settlement: Settlement): Partial<RouterContext> {
  const { token, outcome, at, reason } = settlement;
  if (context.open[token] !== true) return {};
  delete context.open[token];
  const full = context.recentCount >= context.settledLimit / 2;
  const recent = full ? {} : context.recent;
  recent[token] = { outcome, at, ...(reason === undefined ? {} : { reason }) };
  return {
    openCount: context.openCount - 1,
    recent,
    recentCount: full ? 1 : context.recentCount + 1,
    ...(full ? { older: context.recent } : {}),
  };
}

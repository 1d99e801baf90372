/** One call with real questions, for the tests of calls. */
import { fromCallback, fromPromise } from 'xstate';
import type { Question } from '../../src/domain/question.ts';
import { callMachine, elicitationMachine, taskMachine } from '../../src/machines/index.ts';
import type { CallContext, CallInput } from '../../src/machines/index.ts';
import { ada, callInput, HeldSlot, logged, question, SlotLog, start, startChild, withActors } from './support.ts';
import type { Child } from './support.ts';

export interface Called extends Child<typeof callMachine> {
  readonly log: SlotLog;
  readonly context: CallContext;
  readonly value: () => unknown;
  readonly accept: (token: string, at?: number) => void;
  readonly decline: (token: string, at?: number) => void;
  /** Slots but those of questions. */
  readonly slots: () => readonly string[];
}

const questionSlots = new Set(['register', 'show', 'settle', 'reply']);

/** Starts a call. */
export function call(more: Partial<CallInput> = {}, snapshot?: unknown): Called {
  const log = new SlotLog();
  const elicitation = withActors(logged(elicitationMachine, log), { decide: fromPromise(new HeldSlot<never>().start) });
  const silent = fromCallback(() => undefined);
  const slots = { deadline: silent, watch: silent, look: silent, fetch: silent, deliver: silent };
  const task = withActors(logged(taskMachine, log), slots);
  const machine = withActors(logged(callMachine, log), { elicitation, task });
  const child = startChild(machine, {
    input: callInput(more),
    ...(snapshot === undefined ? {} : { snapshot }),
  });
  const { actor } = child;
  const send = (token: string, action: 'accept' | 'decline', at: number): void => {
    const responder = actor.system.get(token) as { send(event: unknown): void } | undefined;
    responder?.send({
      type: 'elicitation.answer',
      answer: action === 'accept' ? ada : { action },
      at,
      ticket: 1,
    });
  };
  return {
    ...child,
    log,
    get context() {
      return actor.getSnapshot().context;
    },
    value: () => actor.getSnapshot().value,
    accept: (token, at = start) => {
      send(token, 'accept', at);
    },
    decline: (token, at = start) => {
      send(token, 'decline', at);
    },
    slots: () => log.names.filter((name) => !questionSlots.has(name)),
  };
}

export const legacy = (token: string): Question =>
  question(token, { kind: 'request', connection: 'connection-1', id: 1, method: 'elicitation/create' });
export const approval = (token: string): Question => ({
  ...question(token, { kind: 'approval' }),
  elicitation: { ...question(token).elicitation, kind: 'approval' },
});
export const signIn = (token: string): Question => ({
  ...question(token, { kind: 'authorization' }),
  elicitation: { ...question(token).elicitation, kind: 'url', url: 'https://example.com' },
});
export const sampling = (token: string): Question => ({
  ...question(token, { kind: 'round', key: 's' }),
  elicitation: { ...question(token).elicitation, kind: 'sampling', params: {} },
});

export const asked = (token: string, at = start) => ({ type: 'call.asked', question: legacy(token), at }) as const;
export const inputRequired = (questions: readonly Question[], at = start, requestState?: string) =>
  ({
    type: 'call.inputRequired',
    questions,
    responses: {},
    at,
    ...(requestState === undefined ? {} : { requestState }),
  }) as const;
export const completed = { type: 'call.completed', result: { content: [] } } as const;
export const abort = { type: 'call.abort', reason: 'its signal was aborted', at: start } as const;

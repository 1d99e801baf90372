/** What a call is, what happens to it, and how its context changes: the words of the call's chart. */
import type { ElicitationKind } from '../domain/elicitation.ts';
import type { CallOutcome } from '../domain/events.ts';
import type { Failure } from '../domain/errors.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { replyOf } from '../domain/question.ts';
import type { Question, Settlement } from '../domain/question.ts';
import type { TaskEnd, TaskRecord, TaskStyle } from '../domain/task.ts';
import type { QuestionSettledEvent } from './elicitation.ts';
import type { TaskInput } from './task-context.ts';

/** What a call is made with. */
export interface CallInput {
  readonly call: string;
  /** Absent for a request made outside a step. */
  readonly step?: string;
  readonly request?: string | number;
  /** The name the model used; for other requests, the method. */
  readonly name: string;
  /** Raw names; `tool` is empty for other requests. */
  readonly server: string;
  readonly tool: string;
  /** The runtime it is pinned to. */
  readonly generation: number;
  /** `tools/call`, or another request to one server: `resources/read`, `prompts/get`, … */
  readonly method: string;
  readonly params: JsonObject;
  readonly timeLimitMs: number;
  readonly maxPauseMs?: number;
  /** The turn was granted when the call was made: no queue. */
  readonly admitted: boolean;
  /** The tool may be, or has to be, called as a task of 2025-11-25, where the server takes them (SPEC ER-3). */
  readonly asTask?: true;
  /** What its step may touch: told to servers that ask for it (SPEC PO-4). */
  readonly sandboxState?: JsonObject;
  /** The question to put before the call is sent. */
  readonly approval?: Question;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** One round of a modern request for input: what is asked, what is known, what to echo. */
export interface Round {
  readonly requestState?: Json;
  readonly responses: Readonly<Record<string, JsonObject>>;
  /** Question token → the entry it answers. */
  readonly waiting: Readonly<Record<string, WaitingEntry>>;
}

/** An entry of a round that waits for an answer. */
export interface WaitingEntry {
  readonly key: string;
  readonly kind: ElicitationKind;
  /** Anything but accept ends the call: a request for sampling (ER-4), or a sign-in it cannot do without (EL-5). */
  readonly ends?: 'sampling' | 'authorization';
}

/** How a call ended. */
export type CallEnding =
  | { readonly outcome: 'completed'; readonly result: JsonObject }
  | { readonly outcome: Exclude<CallOutcome, 'completed'>; readonly failure: Failure };

/** What a call remembers. */
export interface CallContext {
  /** What the call is: never changes. */
  readonly input: CallInput;
  /** What is left of the time limit, as of `runningSince`. */
  readonly remainingMs: number;
  /** Set while the clock runs. */
  readonly runningSince: number | null;
  readonly pausedSince: number | null;
  readonly pausedMs: number;
  /** Tokens of the open questions it waits for. */
  readonly questions: readonly string[];
  readonly round: Round | null;
  /** Rounds answered so far. */
  readonly rounds: number;
  /** The sign-in it was once sent away for is done (EL-5). */
  readonly authorized: boolean;
  /** It was sent again after a loss that allowed it (RT-10). */
  readonly resent: boolean;
  /** The id of the task its server made of it, while that has not ended. */
  readonly task: string | null;
  readonly ending: CallEnding | null;
}

/** What a call lets go of when it has ended. */
export interface CallOutput {
  readonly call: string;
  readonly generation: number;
}

/** Most retries of one call for requests of input (ER-2). */
export const maxRounds = 10;

/** The server answers later. */
export interface BecameTaskEvent {
  readonly type: 'call.becameTask';
  readonly style: TaskStyle;
  readonly record: TaskRecord;
  readonly at: number;
}

/** What happens to a call. */
export type CallEvent =
  | { readonly type: 'call.admitted'; readonly at: number }
  | { readonly type: 'call.completed'; readonly result: JsonObject }
  | { readonly type: 'call.failed'; readonly outcome: Exclude<CallOutcome, 'completed'>; readonly failure: Failure }
  | {
      readonly type: 'call.inputRequired';
      readonly questions: readonly Question[];
      readonly responses: Readonly<Record<string, JsonObject>>;
      readonly requestState?: Json;
      readonly at: number;
    }
  | BecameTaskEvent
  | { readonly type: 'xstate.done.actor.task'; readonly output: TaskEnd }
  | { readonly type: `xstate.done.actor.elc_${string}`; readonly output: Settlement }
  | {
      readonly type: 'call.authorizationRequired';
      readonly questions: readonly Question[];
      readonly at: number;
      /** The server did not take the request: 401 or 403. */
      readonly outcome?: 'not-sent';
    }
  | { readonly type: 'call.resend'; readonly outcome: Exclude<CallOutcome, 'completed'>; readonly failure: Failure }
  | { readonly type: 'call.asked'; readonly question: Question; readonly at: number }
  | { readonly type: 'call.questionOpened'; readonly token: string; readonly at: number }
  | { readonly type: 'call.abort'; readonly reason: string; readonly at: number }
  | { readonly type: 'call.timedOut'; readonly at: number }
  | { readonly type: 'call.pauseEnded'; readonly at: number }
  | QuestionSettledEvent;

/** How the question ended whose actor is done; a task is no question. */
export function settledBy({ output }: { readonly output: Settlement | TaskEnd }): Settlement {
  return 'token' in output ? output : { token: '', outcome: 'cancelled', at: 0 };
}

/** The context of a new call. */
export function contextOf(input: CallInput, runningSince: number | null = null): CallContext {
  return {
    input,
    remainingMs: input.timeLimitMs,
    runningSince,
    pausedSince: null,
    pausedMs: 0,
    questions: [],
    round: null,
    rounds: 0,
    authorized: false,
    resent: false,
    task: null,
    ending: null,
  };
}

export function questionsOf(context: CallContext, event: CallEvent): readonly Question[] {
  if (event.type === 'call.inputRequired' || event.type === 'call.authorizationRequired') return event.questions;
  if (event.type === 'call.asked') return [event.question];
  return context.input.approval === undefined ? [] : [context.input.approval];
}

/** What the task of a call is made with. */
export function taskOf({ input }: CallContext, { style, record, at }: BecameTaskEvent): TaskInput {
  const { call, name, server } = input;
  return { call, name, server, style, record, at };
}

export function roundOf(params: {
  readonly questions: readonly Question[];
  readonly responses: Round['responses'];
  readonly requestState?: Json;
}): Round {
  const waiting: Record<string, WaitingEntry> = {};
  for (const { elicitation, asker } of params.questions) {
    if (asker.kind === 'authorization') waiting[elicitation.token] = { key: '', kind: 'url', ends: 'authorization' };
    if (asker.kind !== 'round') continue;
    const sampling = elicitation.kind === 'sampling' ? ({ ends: 'sampling' } as const) : {};
    waiting[elicitation.token] = { key: asker.key, kind: elicitation.kind, ...sampling };
  }
  return {
    responses: params.responses,
    waiting,
    ...(params.requestState === undefined ? {} : { requestState: params.requestState }),
  };
}

export function filled(context: CallContext, settlement: Settlement): Round | null {
  const { round } = context;
  const entry = round?.waiting[settlement.token];
  if (round === null || entry === undefined) return round;
  return { ...round, responses: { ...round.responses, [entry.key]: replyOf(entry.kind, settlement) } };
}

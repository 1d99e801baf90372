/** What a task is, what happens to it, and how its context changes: the words of the task's chart. */
import type { ElicitationKind } from '../domain/elicitation.ts';
import type { Failure } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import { replyOf } from '../domain/question.ts';
import type { Question, Settlement } from '../domain/question.ts';
import { isTerminal, pollBounds, pollDelayMs } from '../domain/task.ts';
import type { TaskEnd, TaskRecord, TaskStatus, TaskStyle } from '../domain/task.ts';
import type { DeadlinePassedEvent } from './not-provided.ts';

/** What a task is made with: the call it stands for, and what its server said when it made it. */
export interface TaskInput {
  readonly call: string;
  /** The name the model used. */
  readonly name: string;
  readonly server: string;
  readonly style: TaskStyle;
  readonly record: TaskRecord;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A question of a task that waits for its answer. */
export interface AskedEntry {
  readonly key: string;
  readonly kind: ElicitationKind;
}

/** What a task remembers. */
export interface TaskContext {
  /** What the task is: never changes. */
  readonly input: TaskInput;
  readonly status: TaskStatus;
  readonly statusMessage: string | null;
  readonly ttlMs: number | null;
  /** When the server may let go of it. Milliseconds since the epoch. */
  readonly expiresAt: number | null;
  /** When it is asked after next. */
  readonly pollAt: number;
  /** When it was last asked after. */
  readonly askedAt: number;
  /** The server told of a change since it was last asked after. */
  readonly nudged: boolean;
  /** Open questions: token → entry. */
  readonly asked: Readonly<Record<string, AskedEntry>>;
  /** Every entry that was put: the server lists it until it has taken the answer in. */
  readonly knownKeys: readonly string[];
  /** Answers the server has not been given. */
  readonly responses: Readonly<Record<string, JsonObject>>;
  /** How often in a row it could not be asked after. */
  readonly misses: number;
  readonly end: TaskEnd | null;
}

/** The server was asked, and said how the task is. */
export interface TaskSeenEvent {
  readonly type: 'task.seen';
  readonly record: TaskRecord;
  /** Entries that were not put before. */
  readonly questions: readonly Question[];
  /** Answers that need no person. */
  readonly responses: Readonly<Record<string, JsonObject>>;
  /** The keys of every entry the server lists. */
  readonly listed: readonly string[];
  readonly at: number;
}

/** What happens to a task. */
export type TaskEvent =
  | TaskSeenEvent
  | { readonly type: 'task.ended'; readonly end: TaskEnd }
  | { readonly type: 'task.forgotten'; readonly moved: boolean; readonly why: string; readonly at: number }
  /** The server could not be asked. `counts`: it is there, and what it says is no answer. */
  | { readonly type: 'task.missed'; readonly failure: Failure; readonly counts: boolean; readonly at: number }
  | { readonly type: 'task.delivered'; readonly keys: readonly string[]; readonly at: number }
  | { readonly type: 'task.answered'; readonly settlement: Settlement }
  /** The server told of a change by itself. */
  | { readonly type: 'task.nudged'; readonly statusMessage?: string; readonly at: number }
  | { readonly type: `xstate.error.actor.${string}`; readonly error: unknown }
  | DeadlinePassedEvent;

/** Most answers in a row that say nothing of the task, before it is given up. */
export const maxMisses = 5;

/** Most entries one task may list in its life: no person answers more. */
export const maxTaskQuestions = 1_024;

/** First and longest wait before a server that could not be asked is asked again. */
const backoff = { firstMs: 1_000, mostMs: 30_000 } as const;

/** The context of a new task. */
export function taskContextOf(input: TaskInput): TaskContext {
  const { record, at } = input;
  const known = {
    input,
    status: record.status,
    statusMessage: record.statusMessage ?? null,
    ttlMs: record.ttlMs ?? null,
    expiresAt: expiryOf(input, record),
    askedAt: at,
    nudged: false,
    asked: {},
    knownKeys: [],
    responses: {},
    misses: 0,
    end: null,
  };
  return { ...known, pollAt: record.status === 'working' ? nextLook(known, record, at) : at };
}

/** The context after the server was heard. */
export function seen(context: TaskContext, { record, questions, responses, listed, at }: TaskSeenEvent): TaskContext {
  const listing = new Set(listed);
  const put = questions.flatMap(({ elicitation, asker }): [string, AskedEntry][] =>
    asker.kind === 'task' ? [[elicitation.token, { key: asker.key, kind: elicitation.kind }]] : [],
  );
  const kept = Object.entries(context.asked).filter(([, { key }]) => listing.has(key));
  const gone = new Set(withdrawnOf(context, listed).map((token) => context.asked[token]?.key));
  const known = { ...context, expiresAt: expiryOf(context.input, record) };
  return {
    ...known,
    status: record.status,
    statusMessage: record.statusMessage ?? context.statusMessage,
    ttlMs: record.ttlMs ?? null,
    pollAt: nextLook(known, record, at),
    nudged: false,
    misses: 0,
    asked: Object.fromEntries([...kept, ...put]),
    knownKeys: [
      ...context.knownKeys.filter((key) => !gone.has(key)),
      ...put.map(([, { key }]) => key),
      ...Object.keys(responses),
    ],
    responses: { ...context.responses, ...responses },
  };
}

/** The tokens of open questions the server does not list any more. */
export function withdrawnOf({ asked }: TaskContext, listed: readonly string[]): readonly string[] {
  const listing = new Set(listed);
  return Object.entries(asked).flatMap(([token, { key }]) => (listing.has(key) ? [] : [token]));
}

/** The context with an answer to give to the server. */
export function answered(context: TaskContext, settlement: Settlement): Pick<TaskContext, 'asked' | 'responses'> {
  const entry = context.asked[settlement.token];
  if (entry === undefined) return context;
  const { [settlement.token]: _, ...asked } = context.asked;
  return { asked, responses: { ...context.responses, [entry.key]: replyOf(entry.kind, settlement) } };
}

/** The answers that are left once the server has taken some. */
export function undelivered({ responses }: TaskContext, keys: readonly string[]): TaskContext['responses'] {
  const taken = new Set(keys);
  return Object.fromEntries(Object.entries(responses).filter(([key]) => !taken.has(key)));
}

/** When a server that could not be asked is asked again. */
export function retryAt({ misses }: TaskContext, at: number): number {
  return at + Math.min(backoff.firstMs * 2 ** Math.min(misses, 10), backoff.mostMs);
}

/** When a server that told of a change is asked: at once, but not all the time. */
export function nudgedAt({ askedAt, pollAt }: TaskContext, at: number): number {
  return Math.min(pollAt, Math.max(at, askedAt + pollBounds.leastMs));
}

/** Whether a task has had its time. */
export function isOver({ input }: TaskContext, { record, at }: TaskSeenEvent): boolean {
  const expiresAt = expiryOf(input, record);
  return expiresAt !== null && at >= expiresAt && !isTerminal(record.status);
}

function expiryOf({ at }: TaskInput, { ttlMs }: TaskRecord): number | null {
  return ttlMs === undefined || ttlMs === null ? null : at + ttlMs;
}

/** After the wait the server wishes, sooner if it told of a change, and not after it may have let go of the task. */
function nextLook(
  { nudged, expiresAt }: Pick<TaskContext, 'nudged' | 'expiresAt'>,
  record: TaskRecord,
  at: number,
): number {
  const wished = at + (nudged ? pollBounds.leastMs : pollDelayMs(record));
  return expiresAt === null ? wished : Math.min(wished, Math.max(expiresAt, at + pollBounds.leastMs));
}

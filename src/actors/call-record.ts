/** A call in flight, beside its actor: what must not be in a context. `calls.ts` owns the records (K1). */
import type { SignIn } from '../domain/authorization.ts';
import type { ServerConfig } from '../domain/config.ts';
import type { HoldfastError } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Link, RequestKey } from '../domain/link.ts';
import type { Progress } from '../domain/tool.ts';
import type { OutputRule } from '../mcp/tool-view.ts';
import type { CallEvent } from '../machines/call-context.ts';
import type { CallRequest } from './call-request.ts';
import type { LiveConnection } from './servers.ts';
import type { Turn } from './turns.ts';

/** A call as its caller hands it over. */
export interface NewCall {
  readonly input: CallRequest;
  readonly config: ServerConfig;
  readonly turn: Turn;
  /** A loss may be answered by sending it once more (RT-10). */
  readonly repeatable: boolean;
  /** What its tool says it returns; absent when it says nothing (NM-4). */
  readonly output?: OutputRule | undefined;
  /** Makes the parameters to send, once, when the call is about to be sent; rejects to keep it from it (NM-6). */
  readonly prepare?: ((params: JsonObject, signal: AbortSignal) => Promise<JsonObject>) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** The actor of a call, as its effects see it. */
export interface CallSender {
  send(event: CallEvent): void;
}

/** The task a server made of a call. */
export interface CallTask {
  readonly id: string;
  /** The server tells of it by itself. */
  hear(task: JsonObject): void;
  /** Tells the server that nobody waits any more. */
  cancel(): void;
  /** Lets go of what hears of it. */
  end(): void;
}

/** One call in flight, beside its actor. */
export interface CallRecord extends NewCall {
  ref: CallSender | undefined;
  /** What `prepare` made. */
  prepared: JsonObject | undefined;
  holdsTurn: boolean;
  connection: LiveConnection | undefined;
  link: Link | undefined;
  key: RequestKey | undefined;
  /** It went out, and no answer has shown that it did not arrive. */
  wasSent: boolean;
  timer: unknown;
  withdraw: (() => void) | undefined;
  unlisten: (() => void) | undefined;
  /** It went out as a task of 2025-11-25. */
  sentAsTask: boolean;
  task: CallTask | undefined;
  /** The last one its server told of. */
  progress: Progress | undefined;
  /** Somebody signs in for it: it is sent again when that is done. */
  signIn: SignIn | undefined;
  /** Open questions of its legacy server that are its own. */
  questions: number;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: HoldfastError) => void;
}

/** The record of a call that begins; `input` is what is sent, whatever becomes of what was given. */
export function newRecord(
  call: NewCall,
  input: CallRequest,
  admitted: boolean,
  resolve: CallRecord['resolve'],
  reject: CallRecord['reject'],
): CallRecord {
  return {
    input,
    config: call.config,
    turn: call.turn,
    repeatable: call.repeatable,
    output: call.output,
    prepare: call.prepare,
    prepared: undefined,
    signal: call.signal,
    onProgress: call.onProgress,
    ref: undefined,
    holdsTurn: admitted,
    connection: undefined,
    link: undefined,
    key: undefined,
    wasSent: false,
    timer: undefined,
    withdraw: undefined,
    unlisten: undefined,
    sentAsTask: false,
    task: undefined,
    progress: undefined,
    signIn: undefined,
    questions: 0,
    resolve,
    reject,
  };
}

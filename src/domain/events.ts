/** Facts about a thread, in order (SPEC "Shapes"). The library's events and the JSON-lines host's are the same records. */
import type { ElicitationOutcome, PendingElicitation } from './elicitation.ts';
import type { Failure } from './errors.ts';
import type { ServerState } from './snapshot.ts';
import type { ToolResult } from './tool.ts';

/** What every fact carries. */
export interface Fact {
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
}

/** A runtime starts, is current, is dropped, is retired, or has stopped. */
export interface RuntimeEvent extends Fact {
  readonly type: 'runtime.starting' | 'runtime.published' | 'runtime.discarded' | 'runtime.retired' | 'runtime.stopped';
  readonly generation: number;
  readonly reason?: string;
}

/** A server changed its state. */
export interface ServerChangedEvent extends Fact {
  readonly type: 'server.changed';
  readonly server: string;
  readonly connection: string;
  readonly generations: readonly number[];
  readonly state: ServerState;
  readonly error?: Failure;
}

/** A step began or ended. */
export interface StepEvent extends Fact {
  readonly type: 'step.began' | 'step.ended';
  readonly step: string;
  readonly generation: number;
}

/** What every event of a call names. */
export interface CallFacts {
  readonly step: string;
  readonly call: string;
  /** The caller's own id of the call, when one was given. */
  readonly request?: string | number;
  readonly name: string;
  readonly server: string;
  readonly tool: string;
}

/** A call was sent, waits for a person, or goes on. */
export interface CallEvent extends Fact, CallFacts {
  readonly type: 'call.started' | 'call.paused' | 'call.resumed';
}

/** A server reports progress of a call. */
export interface CallProgressedEvent extends Fact, CallFacts {
  readonly type: 'call.progressed';
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** How a call ended. */
export type CallOutcome = 'completed' | 'failed' | 'aborted' | 'timedOut' | 'unknown' | 'not-sent';

/** A call has ended, and how. */
export interface CallEndedEvent extends Fact, CallFacts {
  readonly type: 'call.ended';
  readonly outcome: CallOutcome;
  readonly isError?: boolean;
  readonly error?: Failure;
  /** Only for a call restored from a store. */
  readonly result?: ToolResult;
}

/** A question is shown: answer it with its token. */
export interface ElicitationOpenedEvent extends Fact {
  readonly type: 'elicitation.opened';
  readonly elicitation: PendingElicitation;
}

/** A question that was shown has ended. */
export interface ElicitationSettledEvent extends Fact {
  readonly type: 'elicitation.settled';
  readonly token: string;
  readonly outcome: ElicitationOutcome;
  readonly reason?: string;
}

/** A server lists other tools now; the next step has them. */
export interface ToolsChangedEvent extends Fact {
  readonly type: 'tools.changed';
  readonly server: string;
}

/** A subscribed resource changed. */
export interface ResourceUpdatedEvent extends Fact {
  readonly type: 'resource.updated';
  readonly server: string;
  readonly uri: string;
}

/** A server sent a log message. */
export interface ServerLoggedEvent extends Fact {
  readonly type: 'server.logged';
  readonly server: string;
  readonly level: string;
  readonly logger?: string;
  readonly data: unknown;
}

/** Something is worth knowing and disturbs nothing. */
export interface WarningEvent extends Fact {
  readonly type: 'warning';
  readonly code: string;
  readonly message: string;
  readonly server?: string;
}

/** The thread is closed; the last fact. */
export interface ThreadClosedEvent extends Fact {
  readonly type: 'thread.closed';
}

/** Every fact a thread tells. */
export type ThreadEvent =
  | RuntimeEvent
  | ServerChangedEvent
  | StepEvent
  | CallEvent
  | CallProgressedEvent
  | CallEndedEvent
  | ElicitationOpenedEvent
  | ElicitationSettledEvent
  | ToolsChangedEvent
  | ResourceUpdatedEvent
  | ServerLoggedEvent
  | WarningEvent
  | ThreadClosedEvent;

/** Facts about a thread, in order (SPEC "Shapes"). The library's events and the JSON-lines host's are the same records. */
import type { ElicitationOutcome, PendingElicitation } from './elicitation.ts';
import type { Failure } from './errors.ts';
import type { ServerState } from './snapshot.ts';
import type { ToolResult } from './tool.ts';

interface Fact {
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
}

export interface RuntimeEvent extends Fact {
  readonly type: 'runtime.starting' | 'runtime.published' | 'runtime.discarded' | 'runtime.retired' | 'runtime.stopped';
  readonly generation: number;
  readonly reason?: string;
}

export interface ServerChangedEvent extends Fact {
  readonly type: 'server.changed';
  readonly server: string;
  readonly connection: string;
  readonly generations: readonly number[];
  readonly state: ServerState;
  readonly error?: Failure;
}

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

export interface CallEvent extends Fact, CallFacts {
  readonly type: 'call.started' | 'call.paused' | 'call.resumed';
}

export interface CallProgressedEvent extends Fact, CallFacts {
  readonly type: 'call.progressed';
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export type CallOutcome = 'completed' | 'failed' | 'aborted' | 'timedOut' | 'unknown' | 'not-sent';

export interface CallEndedEvent extends Fact, CallFacts {
  readonly type: 'call.ended';
  readonly outcome: CallOutcome;
  readonly isError?: boolean;
  readonly error?: Failure;
  /** Only for a call restored from a store. */
  readonly result?: ToolResult;
}

export interface ElicitationOpenedEvent extends Fact {
  readonly type: 'elicitation.opened';
  readonly elicitation: PendingElicitation;
}

export interface ElicitationSettledEvent extends Fact {
  readonly type: 'elicitation.settled';
  readonly token: string;
  readonly outcome: ElicitationOutcome;
  readonly reason?: string;
}

export interface ToolsChangedEvent extends Fact {
  readonly type: 'tools.changed';
  readonly server: string;
}

export interface ResourceUpdatedEvent extends Fact {
  readonly type: 'resource.updated';
  readonly server: string;
  readonly uri: string;
}

export interface ServerLoggedEvent extends Fact {
  readonly type: 'server.logged';
  readonly server: string;
  readonly level: string;
  readonly logger?: string;
  readonly data: unknown;
}

export interface WarningEvent extends Fact {
  readonly type: 'warning';
  readonly code: string;
  readonly message: string;
  readonly server?: string;
}

export interface ThreadClosedEvent extends Fact {
  readonly type: 'thread.closed';
}

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

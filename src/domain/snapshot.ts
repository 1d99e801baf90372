/** The public picture of a thread: JSON, redacted (SPEC "Shapes"). Times are ISO 8601 UTC with milliseconds. */
import type { ServerProvenance } from './catalog.ts';
import type { PendingElicitation } from './elicitation.ts';
import type { Failure } from './errors.ts';
import type { JsonObject } from './json.ts';

/** How a server is (SPEC CN-3). */
export type ServerState =
  | 'disabled'
  | 'misconfigured'
  | 'starting'
  | 'authRequired'
  | 'ready'
  | 'degraded'
  | 'reconnecting'
  | 'failed'
  | 'closed';

/** How a server is authorized (SPEC AU-3). */
export type AuthState = 'unsupported' | 'notLoggedIn' | 'reauthenticate' | 'bearerToken' | 'oauth' | 'unknown';

/** How a server is reached. */
export type TransportKind = 'stdio' | 'http' | 'sse' | 'in-memory' | 'given';

/** The protocol era a server speaks: `legacy` up to 2025-11-25, `modern` from 2026-07-28. */
export type Era = 'legacy' | 'modern';

/** What a server says of itself. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly [key: string]: unknown;
}

/** A connection and what is known of its server. */
export interface ServerSnapshot {
  readonly name: string;
  /** The id of the connection; the same while the server's identity is (SPEC RT-5). */
  readonly connection: string;
  /** The runtimes that name it, ascending. */
  readonly generations: readonly number[];
  readonly state: ServerState;
  readonly transport: TransportKind;
  /** The environment it runs in; absent for this machine. */
  readonly environment?: string;
  /** Where its configuration came from, when a catalog says so. */
  readonly provenance?: ServerProvenance;
  readonly pid?: number;
  readonly era?: Era;
  readonly protocolVersion?: string;
  readonly serverInfo?: ServerInfo;
  readonly toolCount: number;
  readonly error?: Failure;
  readonly startedAt?: string;
  /** When the next attempt is made, while `failed` or `reconnecting`. */
  readonly retryAt?: string;
  readonly auth: AuthState;
}

/** A plugin that was selected, and whether its environment is there: what it brings counts while that is `ready`. */
export interface PluginSnapshot {
  readonly id: string;
  readonly name: string;
  readonly environment: string;
  /** `unknown`: nobody has named its environment yet. */
  readonly state: 'starting' | 'ready' | 'failed' | 'unknown';
  /** Why its environment failed. */
  readonly reason?: string;
}

/** What keeps a runtime alive: a step, or a single request. */
export interface HolderSnapshot {
  readonly kind: 'step' | 'request';
  readonly id: string;
}

/** A runtime, who holds it, and which servers it names. */
export interface RuntimeSnapshot {
  readonly generation: number;
  readonly state: 'starting' | 'current' | 'retired';
  readonly holders: readonly HolderSnapshot[];
  /** Raw names. */
  readonly servers: readonly string[];
}

/** What an open call is doing. */
export type CallState = 'queued' | 'awaitingApproval' | 'running' | 'paused';

/** An open call: where it goes, and how its clock stands. */
export interface CallSnapshot {
  readonly id: string;
  readonly request?: string | number;
  readonly name: string;
  readonly server: string;
  readonly tool: string;
  readonly state: CallState;
  /** Time spent waiting for answers so far. */
  readonly pausedMs: number;
  /** When the call times out if no question opens; absent while paused or queued. */
  readonly deadlineAt?: string;
}

/** An open step and its open calls. */
export interface StepSnapshot {
  readonly id: string;
  readonly generation: number;
  readonly state: 'open' | 'restored';
  /** Open calls. */
  readonly calls: readonly CallSnapshot[];
}

/** A thread as it is now: JSON, redacted (SPEC "Shapes"). */
export interface ThreadSnapshot {
  readonly version: 1;
  readonly id: string;
  readonly state: 'starting' | 'active' | 'closing' | 'closed';
  /** The current runtime's number; 0 before the first. */
  readonly generation: number;
  readonly runtimes: readonly RuntimeSnapshot[];
  /** One entry a connection, those of the current runtime first. */
  readonly servers: readonly ServerSnapshot[];
  readonly steps: readonly StepSnapshot[];
  readonly elicitations: readonly PendingElicitation[];
  /** The plugins that were selected; absent when there are none. */
  readonly plugins?: readonly PluginSnapshot[];
  readonly worldState: JsonObject;
}

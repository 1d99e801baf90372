/** How the servers of a thread are, in numbers and in words: what `thread.status` tells (SPEC RE-3). JSON, redacted. */
import type { Failure } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { PluginSnapshot, ServerSnapshot } from './snapshot.ts';

/** The values of {@link StatusOptions.detail}. */
export const statusDetails = ['summary', 'tools', 'full'] as const;

/**
 * How much is told: `summary` counts tools and calls, `tools` names each tool and says why one is missing, `full` asks the
 * servers for their resources, templates and prompts too.
 */
export type StatusDetail = (typeof statusDetails)[number];

/** What is asked of `thread.status`. */
export interface StatusOptions {
  /** Default `summary`. Only `full` sends requests. */
  readonly detail?: StatusDetail;
  /** Raw names. Default: all of the current runtime. */
  readonly servers?: readonly string[];
  /** How long each listing of `full` may take. Default 10,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** What happened on one connection since it was made, reconnects included. */
export interface CallCounts {
  /** Tool calls that have ended. */
  readonly calls: number;
  /** Of these: ended without a result, time limits included. */
  readonly failed: number;
  readonly aborted: number;
  /** Results with `isError`. */
  readonly toolErrors: number;
  /** Questions put to the person or the policy. */
  readonly questions: number;
  readonly reconnects: number;
  /** Results of calls nobody waited for any more. */
  readonly lateResults: number;
}

/** How long completed calls took, waiting in the thread included and waiting for a person not. Whole milliseconds, within 10 %. */
export interface CallLatency {
  readonly count: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/** The tools of a server by what became of them. */
export interface ToolCounts {
  /** As the server listed them. */
  readonly listed: number;
  /** Shown to the model. */
  readonly shown: number;
  /** Taken out by `allow` or `deny`. */
  readonly denied: number;
  /** Not for the model, by their own `_meta.ui.visibility`. */
  readonly hidden: number;
  /** Unusable: a bad schema, a name that came before. */
  readonly dropped: number;
  /** The list is from the host's cache: the server has not answered yet. */
  readonly cached?: true;
}

/** Why a tool is not shown. */
export interface MissingTool {
  readonly reason: 'denied' | 'notAllowed' | 'hidden' | 'dropped';
  readonly message: string;
}

/** One tool a server listed. */
export interface ToolStatus {
  /** The raw name. */
  readonly tool: string;
  /** The name the model sees; absent when it is not shown. */
  readonly name?: string;
  readonly title?: string;
  readonly fingerprint?: string;
  /** Another tool, or the longest name allowed, made it get a hash as its suffix. */
  readonly renamed?: true;
  readonly missing?: MissingTool;
}

/** A listing as far as it could be had. */
export interface ListingStatus {
  readonly count: number;
  readonly items: readonly JsonObject[];
  /** Why there is none. A server that does not offer the kind has none, and no failure. */
  readonly failure?: Failure;
}

/** How one server is. */
export interface ServerStatus extends ServerSnapshot {
  /** What the server says it offers, sorted; absent before it answered. */
  readonly capabilities?: readonly string[];
  readonly counts: CallCounts;
  /** Absent before the first completed call. */
  readonly latency?: CallLatency;
  readonly tools: ToolCounts;
  /** The resources the thread subscribed to. */
  readonly subscriptions?: readonly string[];
  /** With detail `tools` and `full`. */
  readonly toolList?: readonly ToolStatus[];
  /** With detail `full`. */
  readonly instructions?: string;
  /** With detail `full`. */
  readonly resources?: ListingStatus;
  /** With detail `full`. */
  readonly resourceTemplates?: ListingStatus;
  /** With detail `full`. */
  readonly prompts?: ListingStatus;
}

/** How the servers of the current runtime are. */
export interface ThreadStatus {
  readonly generation: number;
  readonly servers: readonly ServerStatus[];
  /** Servers something named that are not there, and who removed them; absent when there are none. */
  readonly removed?: Readonly<Record<string, Failure>>;
  /** The plugins that were selected, whether they count now or not; absent when there are none. */
  readonly plugins?: readonly PluginSnapshot[];
}

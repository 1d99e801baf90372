/**
 * The port between a connection and the protocol: one live link to one MCP server.
 *
 * `src/mcp` implements it. A link owns its transport (process, sockets) and nothing else: no call time limits, no
 * retries of calls, no policy. It never throws from a callback and never calls back after `close()` resolved.
 */
import type { Authorizer } from './authorization.ts';
import type { ServerConfig } from './config.ts';
import type { Place } from './environment.ts';
import type { Failure } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { Era, ServerInfo, TransportKind } from './snapshot.ts';
import type { ListedTool, Progress } from './tool.ts';

/** Which era a server speaks, remembered so that the next start needs no probe (SPEC ER-1). JSON. */
export type EraVerdict =
  | { readonly era: 'legacy'; readonly at: number }
  | { readonly era: 'modern'; readonly at: number; readonly discover: JsonObject };

/** What Holdfast offers servers. */
export interface ClientOffer {
  readonly sampling: boolean;
  readonly roots: boolean;
}

/** What a link is opened with. */
export interface OpenLinkOptions {
  readonly server: string;
  readonly config: ServerConfig;
  /** Where its process starts, if that is not this machine. */
  readonly place?: Place;
  readonly offer: ClientOffer;
  /** Puts credentials on what goes to a server over HTTP. */
  readonly authorizer?: Authorizer;
  /** Names everything that makes the connection what it is, its credentials included; without, nothing is shared. */
  readonly identity?: string;
  /** The {@link Link.sharedAs} of the link this one takes the place of: that server is not to be had again. */
  readonly notShared?: number;
  /** From a verdict cache; absent: probe when `config.protocol` is `auto`. */
  readonly verdict?: EraVerdict;
  /** Aborting it ends the start and everything it began, processes included. */
  readonly signal: AbortSignal;
  /** Bounds the start: transport, handshake and first listing together. */
  readonly timeoutMs: number;
  readonly handlers: LinkHandlers;
}

/** A request a legacy server makes of the client. Answer it with {@link Link.answer}. */
export interface ServerQuestion {
  /** The server's own id of its request. */
  readonly id: string | number;
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params: JsonObject;
  /** The request of ours whose stream carried it, where the transport tells (legacy HTTP). */
  readonly request?: RequestKey;
}

/** How a {@link ServerQuestion} is answered: with a result, or with a JSON-RPC error. */
export type QuestionReply =
  { readonly result: JsonObject } | { readonly error: { readonly code: number; readonly message: string } };

/** Where a link puts what the server sends without being asked. */
export interface LinkHandlers {
  /** `answer` does what {@link Link.answer} does, and works while the link is still opening. */
  onQuestion(question: ServerQuestion, answer?: (reply: QuestionReply) => void): void;
  /** The server took its question back (`notifications/cancelled`). */
  onQuestionWithdrawn(id: string | number, reason?: string): void;
  /** Coalesced: the list changed; call {@link Link.list} to see how. */
  onListChanged(kind: 'tools' | 'prompts' | 'resources'): void;
  onResourceUpdated(uri: string): void;
  onLog(level: string, data: unknown, logger?: string): void;
  /** Noise on stdout, an oversized line, a dropped tool, a refused stream: worth telling, harmless. */
  onWarning(code: string, message: string): void;
  /** A url elicitation finished out of band (`notifications/elicitation/complete`). */
  onElicitationComplete(elicitationId: string): void;
  /** A server tells of a task by itself: `notifications/tasks`, `notifications/tasks/status` (SPEC ER-3). */
  onTaskStatus?(task: JsonObject): void;
  /** The era was learned; remember it. */
  onVerdict(verdict: EraVerdict): void;
  /**
   * A new request found nobody at the address of the server: this link is good for nothing new. What is on its way may
   * still be answered. Told once, before the request that found it fails.
   */
  onUnreachable?(failure: Failure): void;
  /**
   * A new request found nobody at the address of the server: this link is good for nothing new. What is on its way may
   * still be answered. Told once, before the request that found it fails.
   */
  onUnreachable?(failure: Failure): void;
  /** The link ended without `close()`. Every open request has been settled before. */
  onClosed(failure: Failure): void;
}

/** Names one request in flight on one link. */
export type RequestKey = string;

/** Where the events of one request go. At most one of `onResult` and `onFailure` is called, once. */
export interface RequestSink {
  /** The raw `result` object of the response: `resultType` and all. */
  onResult(result: JsonObject): void;
  onFailure(failure: RequestFailure): void;
  onProgress?(progress: Progress): void;
}

/** Why a request has no result. */
export interface RequestFailure {
  /** `connection_lost`, `session_lost`, `protocol_error`, `auth_required`, `server_unavailable`, … */
  readonly failure: Failure;
  /** The JSON-RPC error, if the server sent one. */
  readonly rpc?: { readonly code: number; readonly message: string; readonly data?: unknown };
  /** The HTTP status, if the request was refused with one. */
  readonly status?: number;
}

/** A request as it goes out; the link adds ids, progress token, envelope and headers. */
export interface WireRequest {
  readonly method: string;
  readonly params?: JsonObject;
}

/** A tool a server listed that cannot be used. */
export interface DroppedTool {
  /** Its raw name; empty when it has none. */
  readonly tool: string;
  readonly reason: string;
}

/** One listing that could not be had whole; the others stay usable (SPEC CN-4). */
export interface Inventory {
  readonly tools: readonly ListedTool[];
  /** Set when a listing failed: the server is degraded. */
  readonly failure?: Failure;
  /** Tools that cannot be used, and why (SPEC NM-3). */
  readonly dropped?: readonly DroppedTool[];
}

/** What came over a link that nobody waited for. */
export interface LinkStats {
  /** Results of requests that were cancelled or had timed out. */
  readonly lateResults: number;
}

/** What is known of a server once its handshake is done. */
export interface LinkInfo {
  readonly transport: TransportKind;
  readonly era: Era;
  readonly protocolVersion: string;
  readonly serverInfo?: ServerInfo;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  readonly pid?: number;
}

/** One live link to one MCP server. */
export interface Link {
  readonly info: LinkInfo;
  /** The first listing, made during the start. */
  readonly inventory: Inventory;
  /** The number of the server it shares with other threads (SPEC CN-6); absent for a link of its own. */
  readonly sharedAs?: number;
  /** The resources whose updates it hears, since `resources/subscribe` was sent over it; in both eras. */
  readonly subscribed?: ReadonlySet<string>;
  readonly stats?: LinkStats;
  /** Lists the tools anew, all pages, within SPEC CN-4. Never rejects: a failure is in the inventory. */
  list(signal?: AbortSignal): Promise<Inventory>;
  /** Sends a request and returns at once. The sink is never called before this returns. */
  send(request: WireRequest, sink: RequestSink): RequestKey;
  /** Tells the server, with the neutral reason `cancelled`, and forgets the request: its sink is not called again. */
  cancel(key: RequestKey): void;
  /**
   * Goes on hearing the progress of a request that has its result: one that became a task of 2025-11-25 (SPEC ER-3). The
   * returned function ends it.
   */
  followProgress?(key: RequestKey, onProgress: (progress: Progress) => void): () => void;
  /** Answers a {@link ServerQuestion}. Unknown ids are ignored. */
  answer(
    id: string | number,
    reply: { readonly result: JsonObject } | { readonly error: { readonly code: number; readonly message: string } },
  ): void;
  /** A notification to the server; legacy only ones are dropped on a modern link. */
  notify(method: string, params?: JsonObject): void;
  /** The last lines of stderr, bounded. */
  stderrTail(): string;
  /** Ends transport and processes (SPEC RT-11); resolves when nothing is left. Settles open requests first. */
  close(): Promise<void>;
}

/** Opens links. Rejects with a `HoldfastError` that carries the stderr tail. */
export type OpenLink = (options: OpenLinkOptions) => Promise<Link>;

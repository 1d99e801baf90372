/** The shapes of the public surface (DESIGN §3). `thread.ts`, `step.ts` and `host.ts` implement them. */
import type { Observable } from 'rxjs';
import type { ApprovalMemory } from './domain/approval-memory.ts';
import type { AuthorizationOptions, SignInReader, SignInRequest } from './domain/authorization.ts';
import type { Catalog, ServerProvenance } from './domain/catalog.ts';
import type { Limits, MisconfiguredServer, Policy, ServerMap } from './domain/config.ts';
import type { ElicitationAnswer, PendingElicitation, RespondOutcome } from './domain/elicitation.ts';
import type { EnvironmentStates, Place, SelectedRoot } from './domain/environment.ts';
import type { Failure } from './domain/errors.ts';
import type { ThreadEvent } from './domain/events.ts';
import type { Json, JsonObject } from './domain/json.ts';
import type { SkillAddress, SkillContent, SkillInfo } from './domain/skill.ts';
import type { ListOptions, ReadOptions, RequestOptions, ResourceClient } from './domain/resource.ts';
import type { ThreadSnapshot } from './domain/snapshot.ts';
import type { StatusOptions, ThreadStatus } from './domain/status.ts';
import type { ToolCache } from './domain/tool-cache.ts';
import type { Progress, ToolInfo, ToolResult } from './domain/tool.ts';
import type { FileProvider } from './domain/files.ts';

export type { ListAllOptions, ListOptions, ReadOptions, RequestOptions, ResourceClient } from './domain/resource.ts';

/** Time as Holdfast uses it: timers and the wall clock. `holdfast/testing` has a simulated one. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(id: unknown): void;
}

/** One of the Stately inspector's frames, redacted (SPEC IN-1). JSON. */
export type InspectionFrame = Readonly<Record<string, unknown>> & {
  readonly type: '@xstate.actor' | '@xstate.event' | '@xstate.snapshot';
  readonly sessionId: string;
};

/** What a reviewer is asked before a question is shown to the person. */
export interface ReviewRequest {
  readonly elicitation: PendingElicitation;
}

/** Answers a question instead of the person, or has no opinion (`undefined`). An error declines. */
export type ElicitationReviewer = (
  request: ReviewRequest,
  options: { readonly signal: AbortSignal },
) => Promise<ElicitationAnswer | undefined> | ElicitationAnswer | undefined;

/** Runs a model for a server that asks for sampling; gets `sampling/createMessage` params, gives its result. */
export type SamplingHandler = (
  params: JsonObject,
  options: { readonly server: string; readonly signal: AbortSignal },
) => Promise<JsonObject>;

/** A directory servers may work in. */
export interface Root {
  /** A `file://` URI. */
  readonly uri: string;
  readonly name?: string;
}

/** The servers of one runtime, and what reading a configuration found out about them. */
export interface RuntimeServers {
  readonly servers: ServerMap;
  /** Servers a configuration names but cannot start: they show as `misconfigured` with this reason (SPEC CN-3). */
  readonly misconfigured?: Readonly<Record<string, MisconfiguredServer>>;
  /** Why servers are off that are: they show as `disabled` with this reason. Without one, `enabled: false` says it all. */
  readonly disabled?: Readonly<Record<string, Failure>>;
  /** Why servers are not among them that something named: told to whoever asks for one. */
  readonly removed?: Readonly<Record<string, Failure>>;
  /** Where servers came from: shown with their tools (SPEC NM-5). */
  readonly provenance?: Readonly<Record<string, ServerProvenance>>;
  /** Where servers of other environments start; made by the thread, from its `environments`. */
  readonly places?: Readonly<Record<string, Place>>;
  /** Values to redact everywhere, besides those found in the servers themselves (SPEC SE-1). */
  readonly secrets?: readonly string[];
}

/** Where servers can run besides this machine. `createEnvironments` makes one. */
export interface Environments {
  /** The states of all environments: those of now first, then after each change. */
  readonly states$: Observable<EnvironmentStates>;
  /** Plugins whose servers count while their environments are ready. */
  readonly roots?: readonly SelectedRoot[];
}

/** One part of what a model should know of the world (SPEC WS-1). */
export interface WorldStateSection {
  /** Stable, and unique in its thread: letters, digits, `_ . : / -`, at most 128 characters. */
  readonly id: string;
  /**
   * JSON, at most 64 KiB of it; members that are null are left out, null alone is no section. A function is asked as each
   * step begins, an observable counts with what it gave last. Throwing keeps the value of before.
   */
  readonly value: Json | (() => Json | undefined) | Observable<Json | undefined>;
}

/** What an extension says of servers: over everything else that names them. */
export interface ExtensionServers {
  readonly set?: ServerMap;
  /** Raw names to take out. */
  readonly remove?: readonly string[];
}

/** A skill that is in the host itself. */
export interface ExtensionSkill {
  readonly name: string;
  readonly description: string;
  /** The text of its `SKILL.md`, with or without frontmatter, or what gives it. */
  readonly text: string | (() => string | Promise<string>);
}

/**
 * What extends a thread. Each part is a value, or a stream whose latest value counts; what throws or is not fit is reported
 * by a warning, and what it said before stays.
 */
export interface Extension {
  readonly id: string;
  /** Registrations of source `extension` (SPEC CA-5): of two extensions the later one wins a name. */
  readonly servers?: ExtensionServers | Observable<ExtensionServers>;
  readonly worldState?: readonly WorldStateSection[] | Observable<readonly WorldStateSection[]>;
  readonly skills?: readonly ExtensionSkill[] | Observable<readonly ExtensionSkill[]>;
}

/** What a thread is made with. */
export interface ThreadOptions extends Partial<RuntimeServers> {
  /**
   * The servers as a resolved catalog, instead of `servers`. Of a stream each catalog replaces the runtime, unless it
   * comes to the same servers; `ready` waits for the first one.
   */
  readonly catalog?: Catalog | Observable<Catalog>;
  /**
   * Where servers with an `environment` run. One whose environment is not ready fails, and starts when it is; those of
   * selected plugins come and go with theirs. Default: this machine only.
   */
  readonly environments?: Environments;
  readonly extensions?: readonly Extension[];
  /** The host's own sections of the world state, before those of extensions. */
  readonly worldState?: readonly WorldStateSection[];
  /** Default: random. Of {@link RuntimeServers}: default none. */
  readonly id?: string;
  readonly policy?: Policy;
  /** What the person approved for always (SPEC PO-2). Default: the host's. */
  readonly approvals?: ApprovalMemory;
  readonly limits?: Limits;
  /** How servers are signed in to. Goes over the host's, field by field. */
  readonly authorization?: AuthorizationOptions;
  readonly reviewer?: ElicitationReviewer;
  /** A function answers sampling requests; `'ask'` makes each a question of kind `sampling`. Default: not offered. */
  readonly sampling?: SamplingHandler | 'ask';
  readonly roots?: readonly Root[];
  /**
   * Gives the content of files that tools take. Parameters that servers in `policy.trust` declare as files are then shown as
   * paths. Default: they are shown and sent as they are.
   */
  readonly fileContent?: FileProvider;
  /**
   * Asked for each failed result. Where it names a sign-in, a question of kind `url` is put; after a yes the tools are listed
   * anew and the call is made once more (SPEC AU-3). Default: the result is given as it is.
   */
  readonly signInFor?: SignInReader;
  /**
   * What the first steps show of a server that has not answered yet, when the host knows its tools from another thread. With
   * `grace`, the first runtime is published as ever (SPEC RT-3), and steps show the known tools of what still starts then.
   * With `immediate`, it does not wait for such servers, unless they are required. With `off`, nothing is shown. Hints of
   * known tools count for nothing, and their calls wait for the server, at most 10 s. Default `grace`.
   */
  readonly cachedTools?: 'grace' | 'immediate' | 'off';
  /** Close the thread on SIGINT and SIGTERM. Default false. */
  readonly handleSignals?: boolean;
  /** Gets the frames of the Stately inspector; all live actors first. */
  readonly inspect?: (frame: InspectionFrame) => void;
  readonly clock?: Clock;
}

/** The defaults of the threads of a host. */
export interface HostOptions {
  readonly limits?: Limits;
  readonly policy?: Policy;
  /** How servers are signed in to. Threads of different people need different credentials. */
  readonly authorization?: AuthorizationOptions;
  /** Default: one in memory, shared by the threads of the host. Threads of different people need different ones. */
  readonly approvals?: ApprovalMemory;
  /** Where the tools of servers are remembered. Default: in memory, of 32 servers, for 30 minutes. */
  readonly toolCache?: ToolCache;
  readonly clock?: Clock;
}

/** How long to wait for the first runtime. */
export interface ReadyOptions {
  /** Default `limits.readyTimeoutMs`; counts from the call. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** What a step is begun with. */
export interface BeginStepOptions extends ReadyOptions {
  /**
   * What the step's commands may touch. Goes as it is now, under `codex/sandbox-state-meta` in `_meta`, with each tool call
   * to a server that declares this as an experimental capability; others are not told (SPEC PO-4).
   */
  readonly sandboxState?: JsonObject;
}

/** How a runtime is replaced. */
export interface ReplaceOptions {
  /** `settled` waits as SPEC RT-3 says; `immediate` publishes at once. Default `settled`. */
  readonly publish?: 'settled' | 'immediate';
  readonly signal?: AbortSignal;
}

/** What became of a replacement. */
export interface Publication {
  readonly status: 'published' | 'superseded';
  /** The current runtime's number now. */
  readonly generation: number;
  /** The runtime it took over from; absent for the first. */
  readonly replaced?: number;
}

/** What a call is made with. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Whole milliseconds, 1 to 2^31-1. Default: the server's `callTimeoutMs`. The smaller one holds. */
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: Progress) => void;
  /** Your own id of the call: shows as `request` in events and questions. */
  readonly callId?: string | number;
  readonly idempotencyKey?: string;
}

/** How a server is signed in to. */
export interface AuthorizeOptions extends SignInRequest {
  readonly signal?: AbortSignal;
}

/** What came of the url a browser was sent back to. */
export type AuthorizationOutcome =
  | { readonly status: 'signedIn' }
  /** The authorization server wants to be asked another way: send the browser there. */
  | { readonly status: 'again'; readonly url: string }
  /** No sign-in waits for this url. */
  | { readonly status: 'unknown' };

/** How a thread is closed. */
export interface CloseOptions {
  /** Shown in the reasons of what the close ends. */
  readonly reason?: string;
}

/** How a skill is read. */
export interface ReadSkillOptions extends RequestOptions {
  /** A file beside `SKILL.md`, relative to it. Default: `SKILL.md` itself. */
  readonly file?: string;
}

/** The requests that go to one server: for a step, the one it is pinned to; for a thread, the current one's. */
export interface ServerRequests {
  listTools(server: string, options?: ListOptions): Promise<JsonObject>;
  listResources(server: string, options?: ListOptions): Promise<JsonObject>;
  listResourceTemplates(server: string, options?: ListOptions): Promise<JsonObject>;
  /** Each part of `contents` has a uri, and a text or a base64 blob. @throws HoldfastError `protocol_error` for another. */
  readResource(server: string, uri: string, options?: ReadOptions): Promise<JsonObject>;
  listPrompts(server: string, options?: ListOptions): Promise<JsonObject>;
  getPrompt(
    server: string,
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: RequestOptions,
  ): Promise<JsonObject>;
  /** `params` as in MCP `completion/complete`: `ref`, `argument`, `context`. */
  complete(server: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject>;
}

/** One model request and its calls, pinned to the runtime that was current when it began (H1). */
export interface Step extends ServerRequests, AsyncDisposable {
  readonly id: string;
  readonly generation: number;
  /** Frozen: what it advertises is what it can call. */
  readonly tools: readonly ToolInfo[];
  /** What the model should know of the world as this step begins, by section (SPEC WS-1). Frozen JSON, redacted. */
  readonly worldState: JsonObject;
  /** The RFC 7386 merge patch from the last step's state to this one; `{}` when nothing changed, absent in the first step. */
  readonly worldStateChange?: JsonObject;
  /** The skills there are as this step begins (SPEC WS-2). Of none has a file been fetched. Frozen. */
  readonly skills: readonly SkillInfo[];
  /**
   * Loads a skill, or one file of it, from where the step found it: by id, by a name only one skill has, or by address.
   *
   * Of a server's skill, size, digest and frontmatter must be as they were listed; a file is given only of a skill whose
   * `SKILL.md` was. Loading grants nothing: `allowed-tools` and the like are for you to ask the person about.
   *
   * @throws HoldfastError `invalid_argument` for a name that is none or several, `invalid_result` for content that is not
   * what was listed, `server_unavailable`, `step_ended`, `timeout`, `aborted`, …
   */
  readSkill(skill: string | SkillAddress, options?: ReadSkillOptions): Promise<SkillContent>;
  /**
   * Calls a tool by its advertised name.
   *
   * @throws HoldfastError `unknown_tool`, `tool_denied`, `invalid_arguments`, `step_ended`, `thread_closed`, `aborted`,
   * `timeout`, `not_approved`, `server_unavailable`, `connection_lost`, `protocol_error`, `limit_exceeded`, …
   */
  callTool(name: string, args?: JsonObject, options?: CallOptions): Promise<ToolResult>;
  /** Ends the step: aborts its calls, lets go of its runtime. Idempotent. */
  end(): Promise<void>;
}

/** One conversation. */
export interface Thread extends ServerRequests, AsyncDisposable {
  readonly id: string;
  readonly resources: ResourceClient;
  /**
   * Asks for the updates of a resource: each is told as `resource.updated`. The subscription is the thread's, by the name of
   * the server: it is made again when that server is connected anew or replaced, and then told as updated once, for nobody
   * knows what was missed. Asking again changes nothing.
   *
   * @throws HoldfastError `unsupported` when the server has no subscriptions or does not take this one, `server_unavailable`,
   * `timeout`, `aborted`, `thread_closed`, …
   */
  subscribeResource(server: string, uri: string, options?: RequestOptions): Promise<void>;
  unsubscribeResource(server: string, uri: string, options?: RequestOptions): Promise<void>;
  /**
   * How the servers of the current runtime are: state, counts, latencies, and why a tool is not shown (SPEC RE-3). JSON,
   * redacted. Only detail `full` sends requests.
   *
   * @throws HoldfastError `invalid_argument`, `aborted`
   */
  status(options?: StatusOptions): Promise<ThreadStatus>;
  /** @throws HoldfastError `ready_timeout`, `runtime_failed`, `aborted`, `thread_closed` */
  ready(options?: ReadyOptions): Promise<void>;
  snapshot(): ThreadSnapshot;
  readonly events$: Observable<ThreadEvent>;
  /** The current list first, then every change; changes within one turn of the event loop come as one. */
  readonly elicitations$: Observable<readonly PendingElicitation[]>;
  beginStep(options?: BeginStepOptions): Promise<Step>;
  /** @throws HoldfastError `runtime_failed` with every server's reason; the current runtime stays. */
  replaceRuntime(next: RuntimeServers | { readonly catalog: Catalog }, options?: ReplaceOptions): Promise<Publication>;
  respond(token: string, answer: ElicitationAnswer): Promise<RespondOutcome>;
  restartServer(name: string): Promise<void>;
  /**
   * Signs in to a server of the current runtime: puts a question of kind `url`, waits until the browser comes back, and tries
   * the server again. Resolves at once where there are credentials the server has not refused.
   *
   * @throws HoldfastError `authorization_declined`, `auth_required`, `protocol_error`, `server_unavailable`, `unsupported`,
   * `aborted`, `thread_closed`.
   */
  authorize(server: string, options?: AuthorizeOptions): Promise<void>;
  /**
   * Takes the url a browser was sent back to, for hosts whose `redirectUrl` is not this machine.
   *
   * @throws HoldfastError what kept the sign-in from being done.
   */
  finishAuthorization(callbackUrl: string): Promise<AuthorizationOutcome>;
  setRoots(roots: readonly Root[]): void;
  /**
   * Replaces the policy whole, over that of the host; it holds for every call and question from now on, those of steps that
   * began before included. What is already put to the person stays there.
   *
   * @throws HoldfastError `invalid_argument` for a mode that is none.
   */
  setPolicy(policy: Policy): void;
  close(options?: CloseOptions): Promise<void>;
}

/** What the threads of one process share. */
export interface Host extends AsyncDisposable {
  createThread(options?: ThreadOptions): Thread;
  /** Closes every thread. */
  close(): Promise<void>;
}

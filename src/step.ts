/** The façade of a step: its frozen tools, and the calls its actor makes. */
import type { AnyActorRef } from 'xstate';
import type { CallOptions, Clock, ReadSkillOptions, RequestOptions, Step } from './api.ts';
import type { NewCall } from './actors/calls.ts';
import { filesFor } from './actors/effects.ts';
import type { Effects } from './actors/effects.ts';
import type { PlannedServer } from './actors/servers.ts';
import {
  checkAbortSignal,
  checkCallArguments,
  checkCallId,
  checkName,
  checkOptions,
  checkTimeout,
} from './check-arguments.ts';
import { approvalMode, needsApproval } from './domain/approval.ts';
import { defaults } from './domain/config.ts';
import type { ApprovalMode } from './domain/config.ts';
import { HoldfastError } from './domain/errors.ts';
import type { JsonObject } from './domain/json.ts';
import type { SkillAddress, SkillContent, SkillInfo } from './domain/skill.ts';
import type { ToolInfo, ToolResult } from './domain/tool.ts';
import { areFilesNamed } from './mcp/file-params.ts';
import type { ToolRoute, ToolView } from './mcp/tool-view.ts';
import { throughCache } from './remembered-results.ts';
import { ServerRequester } from './server-requests.ts';
import type { StepWorld } from './thread-world.ts';

export interface StepParts {
  readonly id: string;
  readonly generation: number;
  readonly view: ToolView;
  readonly world: StepWorld;
  readonly effects: Effects;
  /** The mode of calls when none is set: `approve` for calls your own code makes (PO-1). */
  readonly approvalFallback: ApprovalMode;
  /** Goes with each call to servers that ask for it (PO-4). */
  readonly sandboxState?: JsonObject;
  /** The fleet of the step's calls. */
  readonly calls: AnyActorRef;
  nextCallId(): string;
  isClosed(): boolean;
  /** Sends `step.end` and resolves when the step has ended. */
  end(): Promise<void>;
}

/** A value while it is being made. */
type Draft<TValue> = { -readonly [TKey in keyof TValue]: TValue[TKey] };

/** Makes the façade of a step whose actor has begun. */
export function createStep(parts: StepParts): Step {
  return new PinnedStep(parts);
}

class PinnedStep extends ServerRequester implements Step {
  readonly id: string;
  readonly generation: number;
  readonly tools: readonly ToolInfo[];
  readonly worldState: JsonObject;
  declare readonly worldStateChange?: JsonObject;
  readonly skills: readonly SkillInfo[];
  readonly #parts: StepParts;
  readonly #lanes = new Map<string, string>();
  #ending: Promise<void> | undefined;

  constructor(parts: StepParts) {
    super();
    this.#parts = parts;
    this.id = parts.id;
    this.generation = parts.generation;
    this.tools = parts.view.tools;
    this.worldState = parts.world.state;
    if (parts.world.change !== undefined) this.worldStateChange = parts.world.change;
    this.skills = parts.world.skills;
  }

  callTool(name: string, args?: JsonObject, options: CallOptions = {}): Promise<ToolResult> {
    try {
      return this.#call(name, args, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async readSkill(skill: string | SkillAddress, options?: ReadSkillOptions): Promise<SkillContent> {
    this.#checkOpen();
    return this.#parts.world.read(skill, options, (server, method, params, limits) =>
      this.request(server, method, params, limits),
    );
  }

  end(): Promise<void> {
    if (this.#ending === undefined) {
      this.#ending = this.#parts.end();
      this.#parts.world.end();
    }
    return this.#ending;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  #call(name: string, args: JsonObject | undefined, options: CallOptions): Promise<ToolResult> {
    this.#checkOpen();
    checkOptions(options, 'callTool');
    const route = this.#routeOf(name);
    if (route === undefined) return this.#missing(name);
    checkCallArguments(name, args);
    checkTimeout(options.timeoutMs);
    checkCallId(options.callId);
    checkSignal(options.signal, name);
    const { effects, generation, sandboxState } = this.#parts;
    const { server, tool, files } = route;
    if (files !== undefined && args !== undefined && !areFilesNamed(args, files))
      return this.#refuse(route, files, args);
    const planned = effects.servers.resolve(generation, server);
    if (planned === undefined)
      throw new HoldfastError(
        'internal',
        `Expected server "${server}" in runtime ${String(generation)}, and it is not there.`,
      );
    // Filled field by field: spreads of what may be absent cost more than all the rest of this method (PE-1).
    const input: Draft<NewCall['input']> = {
      call: this.#parts.nextCallId(),
      step: this.id,
      name,
      server,
      tool,
      generation,
      method: 'tools/call',
      params: args === undefined ? { name: tool } : { name: tool, arguments: args },
      timeLimitMs: timeLimitOf(planned, options),
    };
    if (options.callId !== undefined) input.request = options.callId;
    if (planned.config.maxPauseMs !== undefined) input.maxPauseMs = planned.config.maxPauseMs;
    if (sandboxState !== undefined) input.sandboxState = sandboxState;
    if (route.asTask) input.asTask = true;
    const mode = approvalMode(effects.authority.policy, planned.config, tool, this.#parts.approvalFallback);
    if (mode !== 'approve' && needsApproval(mode, route.info.annotations))
      input.approval = effects.questions.approval(input, args, route.info, mode);
    return toolResult(this.#start(input, planned, route, options));
  }

  protected override cached(
    server: string,
    method: string,
    params: JsonObject,
    options: RequestOptions,
    send: () => Promise<JsonObject>,
  ): Promise<JsonObject> {
    this.#checkOpen();
    const { effects, generation } = this.#parts;
    return throughCache(effects, generation, { server, method, params, options, send });
  }

  protected async request(
    server: string,
    method: string,
    params: JsonObject,
    options: RequestOptions = {},
  ): Promise<JsonObject> {
    this.#checkOpen();
    const { effects, generation } = this.#parts;
    const planned = plannedServer(effects, generation, server);
    return this.#start(
      requestInput(this.#parts.nextCallId(), planned, generation, method, params, options, this.id),
      planned,
      undefined,
      options,
    );
  }

  #start(
    input: NewCall['input'],
    planned: PlannedServer,
    route: ToolRoute | undefined,
    options: CallOptions,
  ): Promise<JsonObject> {
    const { effects, calls } = this.#parts;
    const call = newCall(
      input,
      planned,
      options,
      route === undefined
        ? undefined
        : {
            repeatable: planned.config.retry === 'idempotent' && route.idempotent,
            lane: this.#laneOf(planned, route),
            output: route.output,
            prepare: route.files === undefined ? undefined : this.#filesOf(route, route.files),
          },
    );
    return effects.calls.start(call, (given) => calls.send({ type: 'fleet.spawn', id: given.call, input: given }));
  }

  /** Reads the files a call names. Its server is believed as long as it is sent, not only when its step began. */
  #filesOf({ server, tool, info }: ToolRoute, files: readonly string[]): NonNullable<NewCall['prepare']> {
    return async (params, signal) => {
      const provide = filesFor(this.#parts.effects, server);
      if (provide === undefined)
        throw new HoldfastError(
          'tool_denied',
          `The tool "${info.name}" takes files, and server "${server}" is not in policy.trust any more. Begin a new step.`,
          { outcome: 'not-sent' },
        );
      const { withFileContent } = await import('./mcp/file-content.ts');
      return withFileContent(params, { server, tool, files, provide, signal });
    };
  }

  /** Says what is wrong with the files of a call, which reads none of them. */
  async #refuse(route: ToolRoute, files: readonly string[], args: JsonObject): Promise<never> {
    await this.#filesOf(route, files)({ arguments: args }, AbortSignal.abort());
    throw new HoldfastError('internal', 'Expected files that are named by no path to be refused, and they were not.');
  }

  /** Calls of one step to one server run one at a time, unless either says that they need not (RT-9). */
  #laneOf({ config, server }: PlannedServer, route: ToolRoute): string | undefined {
    if (config.parallel === true || route.readOnly) return undefined;
    let lane = this.#lanes.get(server);
    if (lane === undefined) this.#lanes.set(server, (lane = `${this.id}\u0000${server}`));
    return lane;
  }

  #routeOf(name: string): ToolRoute | undefined {
    checkName(name, 'the name of a tool');
    const { routes, denied } = this.#parts.view;
    const route = routes.get(name);
    if (route !== undefined) return route;
    const filtered = denied.get(name);
    if (filtered !== undefined) {
      throw new HoldfastError(
        'tool_denied',
        `The tool "${name}" is filtered out by the configuration of server "${filtered.server}". Change its "tools" to allow it.`,
        { outcome: 'not-sent' },
      );
    }
    return undefined;
  }

  async #missing(name: string): Promise<never> {
    const { missingTool } = await import('./missing-tool.ts');
    throw missingTool(name, this.#parts);
  }

  #checkOpen(): void {
    if (this.#parts.isClosed())
      throw new HoldfastError('thread_closed', 'Expected an open thread, and this one was closed. Create a new one.', {
        outcome: 'not-sent',
      });
    if (this.#ending !== undefined)
      throw new HoldfastError(
        'step_ended',
        `Expected an open step, and step "${this.id}" has ended. Begin a new one.`,
        { outcome: 'not-sent' },
      );
  }
}

/** Ends a step and resolves when its actor is done: its calls are answered, its runtime is let go. */
export function endStep(ref: AnyActorRef, clock: Clock): Promise<void> {
  return new Promise<void>((resolve) => {
    if (ref.getSnapshot().status !== 'active') {
      resolve();
      return;
    }
    ref.subscribe({ complete: resolve, error: () => resolve() });
    ref.send({ type: 'step.end', reason: 'its step ended', at: clock.now() });
  });
}

/** The server a request outside a tool call names. @throws HoldfastError `server_unavailable` when the runtime has none. */
export function plannedServer(effects: Effects, generation: number, server: string): PlannedServer {
  const planned = effects.servers.resolve(generation, server);
  if (planned?.connection !== undefined) return planned;
  const plan = effects.servers.planOf(generation);
  const why = new Map(Object.entries({ ...plan?.removed, ...plan?.misconfigured, ...plan?.disabled })).get(server);
  if (why !== undefined)
    throw new HoldfastError('server_unavailable', why.message, { retryable: false, outcome: 'not-sent' });
  const names = [...(plan?.servers.keys() ?? [])].map((name) => `"${name}"`).join(', ');
  throw new HoldfastError(
    'server_unavailable',
    `Expected one of the servers of runtime ${String(generation)} (${names === '' ? 'it has none' : names}), got ${JSON.stringify(server)}.`,
    { retryable: false, outcome: 'not-sent' },
  );
}

/** The input of a request that is no tool call. */
export function requestInput(
  call: string,
  planned: PlannedServer,
  generation: number,
  method: string,
  params: JsonObject,
  options: RequestOptions,
  step?: string,
): NewCall['input'] {
  checkOptions(options, method);
  checkTimeout(options.timeoutMs);
  checkSignal(options.signal, method);
  return {
    call,
    ...(step === undefined ? {} : { step }),
    name: method,
    server: planned.server,
    tool: '',
    generation,
    method,
    params,
    timeLimitMs: timeLimitOf(planned, options),
    ...(planned.config.maxPauseMs === undefined ? {} : { maxPauseMs: planned.config.maxPauseMs }),
  };
}

/** A call ready to be started. */
export function newCall(
  input: NewCall['input'],
  planned: PlannedServer,
  options: CallOptions,
  tool?: Pick<NewCall, 'repeatable' | 'output' | 'prepare'> & { readonly lane: string | undefined },
): NewCall {
  return {
    input,
    config: planned.config,
    turn: { connection: planned.connection?.id ?? '', lane: tool?.lane, exclusive: planned.config.serialize === true },
    // Requests other than calls only read: a loss is answered by sending them once more.
    repeatable: tool?.repeatable ?? true,
    output: tool?.output,
    prepare: tool?.prepare,
    signal: options.signal,
    onProgress: options.onProgress,
  };
}

function timeLimitOf({ config }: PlannedServer, { timeoutMs }: RequestOptions): number {
  const limit = config.callTimeoutMs ?? defaults.callTimeoutMs;
  return timeoutMs === undefined ? limit : Math.min(timeoutMs, limit);
}

/** Names what `checkResult` has checked: a result of `tools/call`. */
function toolResult(result: Promise<unknown>): Promise<ToolResult> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked where the result arrived, without a hop
  return result as Promise<ToolResult>;
}

function checkSignal(signal: AbortSignal | undefined, name: string): void {
  checkAbortSignal(signal);
  if (signal?.aborted === true)
    throw new HoldfastError('aborted', `The call of "${name}" was aborted before it was sent.`, {
      outcome: 'not-sent',
    });
}

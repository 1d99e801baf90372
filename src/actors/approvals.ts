/**
 * What the person approved before: looked up before a call is put to them, and kept when they approve.
 *
 * Owns the approvals given in this thread. What lasts longer is in the memory the thread was made with.
 *
 * - A1 An approval of one definition of a tool never answers for another (PO-2).
 * - A2 A memory that fails, or does not answer in time, costs a question, never a call that was not approved.
 */
import type { Clock } from '../api.ts';
import { createApprovalMemory, isSameTool, rememberChoices, toolKey } from '../domain/approval-memory.ts';
import type {
  ApprovalMemory,
  ApprovalScope,
  ApprovedTool,
  RememberChoice,
  RememberedApproval,
} from '../domain/approval-memory.ts';
import type { ElicitationAnswer, PendingElicitation } from '../domain/elicitation.ts';
import { HoldfastError, messageOf } from '../domain/errors.ts';
import { isRecord, shown } from '../domain/json.ts';
import type { Question } from '../domain/question.ts';
import { toolChanges } from '../domain/tool-changes.ts';
import type { ToolChange } from '../domain/tool-changes.ts';
import { within } from './within.ts';

export interface ApprovalsPorts {
  readonly thread: string;
  /** Default: one of the thread's own. */
  readonly memory: ApprovalMemory | undefined;
  readonly clock: Clock;
  warn(code: string, message: string, server: string | undefined): void;
}

/** An earlier approval holds, or the question as it is to be put. */
export type Consulted =
  { readonly kind: 'remembered' } | { readonly kind: 'ask'; readonly elicitation: PendingElicitation };

/** How long a memory has for each thing it is asked. */
const memoryTimeoutMs = 10_000;

const user: ApprovalScope = { kind: 'user' };

export class Approvals {
  readonly #ports: ApprovalsPorts;
  readonly #scope: ApprovalScope;
  #memory: ApprovalMemory | undefined;
  /** The last approval of each tool in this thread. One that could not be kept for longer holds as long as this. */
  readonly #given = new Map<string, RememberedApproval>();
  #writes: Promise<unknown> = Promise.resolve();
  readonly #closed = new AbortController();

  constructor(ports: ApprovalsPorts) {
    this.#ports = ports;
    this.#scope = { kind: 'thread', thread: ports.thread };
    this.#memory = ports.memory;
  }

  /** Looks an approval up. Never rejects. After `signal` nobody waits for it. */
  async consult({ elicitation, asker }: Question, signal: AbortSignal): Promise<Consulted> {
    const tool = asker.kind === 'approval' ? asker.tool : undefined;
    if (asker.kind !== 'approval' || tool === undefined) return { kind: 'ask', elicitation };
    const { server } = elicitation;
    const known = await this.#known(server, tool, signal);
    const same = known.filter((each) => isSameTool(each.tool, tool));
    if (asker.remembers === true && same.some(({ remember }) => remember !== 'once')) return { kind: 'remembered' };
    const [last] = known;
    if (last === undefined || same.length > 0) return { kind: 'ask', elicitation };
    return { kind: 'ask', elicitation: flagged(elicitation, toolChanges(last.tool, tool)) };
  }

  /** Takes note of an approval: at once for this thread, and in the memory when that has taken it. */
  remember({ elicitation, asker }: Question, answer: ElicitationAnswer): void {
    if (asker.kind !== 'approval' || asker.tool === undefined || answer.action !== 'accept') return;
    const { server } = elicitation;
    const { tool } = asker;
    const remember = asker.remembers === true ? choiceOf(answer) : 'once';
    const key = toolKey(server, tool.name);
    this.#given.set(key, stronger(this.#given.get(key), { remember, tool }));
    this.#later(async () => this.#write(server, tool, remember));
  }

  /** Lets go of what was approved for the life of the thread. */
  close(): void {
    this.#closed.abort();
    if (this.#given.size === 0) return;
    this.#given.clear();
    this.#later(async () => this.#try(undefined, 'forgotten', (memory) => memory.forget(this.#scope)));
  }

  /** One after the other; none that fails ends the others. */
  #later(write: () => Promise<unknown>): void {
    this.#writes = this.#writes.then(write).catch((error: unknown) => {
      this.#ports.warn('approvals_failed', `An approval could not be kept: ${messageOf(error)}`, undefined);
    });
  }

  async #known(server: string, tool: ApprovedTool, signal: AbortSignal): Promise<readonly RememberedApproval[]> {
    // Together: a memory that does not answer is waited for once.
    const [here, kept] = await Promise.all([
      this.#given.get(toolKey(server, tool.name)) ?? this.#recall(this.#scope, server, tool, signal),
      this.#recall(user, server, tool, signal),
    ]);
    return [here, kept].filter((each) => each !== undefined);
  }

  #recall(
    scope: ApprovalScope,
    server: string,
    tool: ApprovedTool,
    signal: AbortSignal = this.#closed.signal,
  ): Promise<RememberedApproval | undefined> {
    const key = { scope, server, tool: tool.name };
    return this.#try(
      server,
      'looked up',
      (memory) => {
        const given: unknown = memory.recall(key);
        return isPromise(given) ? given.then(recalled) : recalled(given);
      },
      signal,
    );
  }

  async #write(server: string, tool: ApprovedTool, remember: RememberChoice): Promise<void> {
    await this.#keep(this.#scope, server, { remember: remember === 'session' ? 'session' : 'once', tool });
    const isKept = await this.#keep(user, server, { remember: remember === 'always' ? 'always' : 'once', tool });
    const key = toolKey(server, tool.name);
    const given = this.#given.get(key);
    // From here on the memory says so, and may be told to forget.
    if (isKept && given?.remember === 'always' && isSameTool(given.tool, tool))
      this.#given.set(key, { remember: 'once', tool });
  }

  /** Whether it is kept now. */
  async #keep(scope: ApprovalScope, server: string, approval: RememberedApproval): Promise<boolean> {
    const before = await this.#recall(scope, server, approval.tool);
    const next = stronger(before, approval);
    if (next === before) return true;
    // A thread's own memory of what was approved once is as long as the thread.
    if (before === undefined && scope.kind === 'thread' && approval.remember === 'once') return true;
    const kept = await this.#try(server, 'kept', async (memory) => {
      await memory.keep({ scope, server, tool: approval.tool.name }, next);
      return true;
    });
    return kept === true;
  }

  async #try<TResult>(
    server: string | undefined,
    what: string,
    run: (memory: ApprovalMemory) => TResult | Promise<TResult>,
    signal: AbortSignal = this.#closed.signal,
  ): Promise<TResult | undefined> {
    try {
      const given = run((this.#memory ??= createApprovalMemory()));
      // One that answers at once needs no clock.
      if (!isPromise(given)) return given;
      const limit = { ms: memoryTimeoutMs, clock: this.#ports.clock, signal };
      const ended = Promise.resolve(given).then((value) => ({ value }));
      const inTime = await within<{ readonly value: TResult } | undefined>(ended, limit, () => undefined);
      if (inTime === undefined)
        throw new HoldfastError('timeout', `the memory did not answer within ${String(memoryTimeoutMs)} ms.`);
      return inTime.value;
    } catch (error) {
      this.#ports.warn('approvals_failed', `An approval could not be ${what}: ${messageOf(error)}`, server);
      return undefined;
    }
  }
}

function isPromise<TResult>(given: TResult | Promise<TResult>): given is Promise<TResult> {
  return isRecord(given) && 'then' in given;
}

/** A copy of what a memory gave. @throws HoldfastError for what is no approval. */
function recalled(given: unknown): RememberedApproval | undefined {
  if (given === undefined) return undefined;
  const copy: unknown = JSON.parse(JSON.stringify(given));
  if (isApproval(copy)) return copy;
  throw new HoldfastError(
    'invalid_result',
    `Expected the memory to give what it was told to keep, or undefined for nothing, got ${shown(copy)}.`,
  );
}

function isApproval(value: unknown): value is RememberedApproval {
  const { remember, tool } = isRecord(value) ? value : {};
  return (
    rememberChoices.some((choice) => choice === remember) &&
    isRecord(tool) &&
    [tool['name'], tool['fingerprint'], tool['origin']].every((text) => typeof text === 'string') &&
    isRecord(tool['inputSchema'])
  );
}

/** Of two approvals of the same tool the longer one; else the later one. */
function stronger(before: RememberedApproval | undefined, next: RememberedApproval): RememberedApproval {
  if (before === undefined || !isSameTool(before.tool, next.tool)) return next;
  return rememberChoices.indexOf(before.remember) >= rememberChoices.indexOf(next.remember) ? before : next;
}

function choiceOf(answer: Extract<ElicitationAnswer, { action: 'accept' }>): RememberChoice {
  const given = answer.content?.['remember'];
  return rememberChoices.find((choice) => choice === given) ?? 'once';
}

function flagged(elicitation: PendingElicitation, changed: readonly ToolChange[]): PendingElicitation {
  if (changed.length === 0) return elicitation;
  const fields = changed.map(({ field }) => field).join(', ');
  return {
    ...elicitation,
    message: `${elicitation.message} It is not as you last approved it. Changed: ${fields}.`,
    params: { ...elicitation.params, changed },
  };
}

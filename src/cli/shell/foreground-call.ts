/**
 * One call as the shell runs it: on a step of its own, in the foreground, with its questions put as they come.
 *
 * F1 The step is pinned when the call begins and ended when it is over, so a replacement meanwhile does not touch it.
 * F2 `interrupt` aborts the call; a person who decides later leaves it running in the background.
 */
import { HoldfastError } from '../../index.ts';
import type { JsonObject, PendingElicitation, Step, Thread, ToolInfo, ToolResult } from '../../index.ts';
import { ProgressLine } from '../progress-line.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import type { Questions } from './questions.ts';

/** How a call ended. */
export type CallEnd =
  { readonly kind: 'result'; readonly result: ToolResult } | { readonly kind: 'error'; readonly error: unknown };

/** What a call needs. */
export interface ForegroundCallOptions {
  readonly thread: Thread;
  readonly questions: Questions;
  readonly terminal: Terminal;
  readonly callId: string;
  readonly name: string;
  /** Makes the arguments, once the tool is known. */
  readonly argumentsFor: (tool: ToolInfo) => JsonObject;
  readonly say: (text: string) => void;
  /** Whether the call may go on without the person: there is a prompt to answer its questions at later. */
  readonly canDefer: boolean;
  /** Start it in the background: no progress is shown, and its questions wait until they are answered. Default false. */
  readonly isBackground?: boolean;
  /** Takes the terminal from the prompt, and gives it back. */
  readonly suspend: () => void;
  readonly resume: () => void;
}

/** A call that runs. */
export interface ForegroundCall {
  /** Resolves when it is over; never rejects. */
  readonly end: Promise<CallEnd>;
  /** Resolves when the shell may go on: it is over, or it was sent to the background. */
  readonly foreground: Promise<'over' | 'background'>;
  /** Whether a question is put while this call is in the foreground, since the call may be waiting on it. */
  readonly concerns: (elicitation: PendingElicitation) => boolean;
  /** Aborts it; the reason shows in its error. */
  readonly interrupt: (reason: string) => void;
}

/** Starts a call. */
export function startCall(options: ForegroundCallOptions): ForegroundCall {
  const controller = new AbortController();
  const line = new ProgressLine(options.terminal.output, options.name);
  const end = run(options, controller.signal, line).then(
    (result): CallEnd => ({ kind: 'result', result }),
    (error: unknown): CallEnd => ({ kind: 'error', error }),
  );
  const interrupt = (reason: string) => controller.abort(reason);
  const concerns = (elicitation: PendingElicitation) =>
    elicitation.request === options.callId || elicitation.attribution !== 'call';
  if (options.isBackground === true) {
    line.pause();
    return { end, foreground: Promise.resolve('background'), interrupt, concerns: () => false };
  }
  const foreground = serveQuestions(options, { end, line, interrupt, concerns });
  return { end, foreground, interrupt, concerns };
}

/**
 * Finds a tool by its name, or by `server/tool`.
 *
 * @throws UsageError naming what comes near.
 */
export function findTool(tools: readonly ToolInfo[], name: string): ToolInfo {
  const tool =
    tools.find((candidate) => candidate.name === name) ??
    tools.find((candidate) => `${candidate.server}/${candidate.tool}` === name) ??
    only(tools.filter((candidate) => candidate.tool === name));
  if (tool !== undefined) return tool;
  const near = tools
    .filter((candidate) => candidate.name.includes(name) || name.includes(candidate.tool))
    .map((candidate) => candidate.name);
  throw new UsageError(
    `Expected a tool, got "${name}". ${near.length === 0 ? 'See "tools".' : `Did you mean ${near.slice(0, 3).join(', ')}?`}`,
  );
}

async function run(options: ForegroundCallOptions, signal: AbortSignal, line: ProgressLine): Promise<ToolResult> {
  const step = await options.thread.beginStep({ signal });
  try {
    const tool = await toolOf(step, options);
    return await step.callTool(tool.name, options.argumentsFor(tool), {
      signal,
      callId: options.callId,
      onProgress: (progress) => line.update(progress),
    });
  } finally {
    await step.end();
  }
}

/** As {@link findTool}; of a tool that is filtered out, or whose server is not ready, the library says so. */
async function toolOf(step: Step, { name, thread }: ForegroundCallOptions): Promise<ToolInfo> {
  try {
    return findTool(step.tools, name);
  } catch (error) {
    const full = name.startsWith('mcp__') ? name : `mcp__${name.replace('/', '__')}`;
    if (step.tools.some((tool) => tool.name === full)) throw error;
    const isAway = thread
      .snapshot()
      .servers.some((server) => server.state !== 'ready' && full.startsWith(`mcp__${server.name}__`));
    // Nothing is sent: the step has no tool of this name.
    const why: unknown = await step.callTool(full).catch((reason: unknown) => reason);
    throw isAway || (why instanceof HoldfastError && why.code === 'tool_denied') ? why : error;
  }
}

async function serveQuestions(
  options: ForegroundCallOptions,
  call: Omit<ForegroundCall, 'foreground'> & { readonly line: ProgressLine },
): Promise<'over' | 'background'> {
  const { questions } = options;
  const seen = new Set<string>();
  const state = { isOver: false };
  let wake: () => void = ignore;
  const stop = questions.onChange(() => wake());
  void call.end.then(() => {
    state.isOver = true;
    wake();
  });
  try {
    for (;;) {
      const next = questions.open.find((elicitation) => call.concerns(elicitation) && !seen.has(elicitation.token));
      if (state.isOver) return 'over';
      // Without a terminal there is no form: the next command may hold the answer.
      if (next !== undefined && !options.terminal.isInteractive && options.canDefer) return 'background';
      if (next === undefined || !options.terminal.isInteractive) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      seen.add(next.token);
      call.line.pause();
      options.suspend();
      const outcome = await questions.ask(next, { say: options.say, canDefer: options.canDefer });
      options.resume();
      if (outcome === 'interrupted') call.interrupt('you pressed Ctrl-C');
      if (outcome === 'later') return 'background';
      call.line.resume();
    }
  } finally {
    stop();
    call.line.pause();
  }
}

function only<TItem>(items: readonly TItem[]): TItem | undefined {
  return items.length === 1 ? items[0] : undefined;
}

function ignore(): void {
  // Nobody waits yet.
}

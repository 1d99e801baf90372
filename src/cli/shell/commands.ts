/** The commands of the shell. */
import type { Publication, RuntimeServers, StepSnapshot, Thread, ToolInfo } from '../../index.ts';
import type { ResolvedConfig } from '../../config/index.ts';
import { parseArguments, parseObject, splitWords } from '../arguments.ts';
import { formatQuestion, formatServers, formatTools } from '../format.ts';
import { checkServer } from '../check-server.ts';
import { plain, type Terminal } from '../terminal.ts';
import { exitCodes, UsageError } from '../usage-error.ts';
import { completeCall, completeFile } from './candidates.ts';
import { type ForegroundCall, startCall } from './foreground-call.ts';
import { describeOutcome, type Questions } from './questions.ts';
import { describeError } from './render-end.ts';

/** The shell as commands see it. */
export interface ShellContext {
  readonly thread: Thread;
  /** Where names of files start from. */
  readonly directory: string;
  readonly terminal: Terminal;
  readonly questions: Questions;
  /** Reads files; without any, what the shell was started with. */
  readonly readFiles: (files: readonly string[]) => Promise<ResolvedConfig>;
  /** The tools last seen; for completion. */
  readonly tools: readonly ToolInfo[];
  /** Whether every event is shown. */
  isWatching: boolean;
  say(text: string): void;
  suspend(): void;
  resume(): void;
  leave(code: number): void;
  nextCallId(): string;
  /** The tools a step would have now. */
  peekTools(): Promise<readonly ToolInfo[]>;
  replace(next: RuntimeServers): Promise<Publication>;
  runCall(call: ForegroundCall, label: { readonly id: string; readonly name: string }): Promise<void>;
}

/** One command. */
export interface ShellCommand {
  readonly usage: string;
  readonly help: string;
  readonly run: (rest: string, context: ShellContext) => Promise<void> | void;
  /** What its next argument may be, after those before it, of which the last is being typed. */
  readonly complete?: (context: ShellContext, before: readonly string[], word: string) => readonly string[];
}

/** The commands, by name. */
export const commands: ReadonlyMap<string, ShellCommand> = new Map<string, ShellCommand>([
  ['help', { usage: 'help', help: 'Shows this list.', run: help }],
  [
    'tools',
    { usage: 'tools [server]', help: 'Lists the tools a new step would have.', run: listTools, complete: serverNames },
  ],
  [
    'call',
    {
      usage: 'call <tool> [json|key=value …] [&]',
      help: 'Calls a tool and shows its result; with & at its end in the background, when it ends.',
      run: call,
      complete: completeCall,
    },
  ],
  ['calls', { usage: 'calls', help: 'Lists the calls that run.', run: listCalls }],
  ['status', { usage: 'status', help: 'Shows runtimes, servers, steps and open questions.', run: showStatus }],
  ['questions', { usage: 'questions', help: 'Lists the open questions.', run: (_, context) => listQuestions(context) }],
  [
    'answer',
    {
      usage: 'answer [question] [json|decline|cancel]',
      help: 'Answers an open question, by number or token: in a form, or with what follows.',
      run: answer,
      complete: ({ questions }, before) =>
        before.length === 0
          ? questions.open.map((_, index) => String(index + 1))
          : before.length === 1
            ? ['decline', 'cancel']
            : [],
    },
  ],
  [
    'events',
    {
      usage: 'events on|off',
      help: 'Shows every event as it happens.',
      run: watch,
      complete: (_, before) => (before.length === 0 ? ['on', 'off'] : []),
    },
  ],
  [
    'replace',
    {
      usage: 'replace [file …]',
      help: 'Replaces the runtime by what files hold, or what it was started with holds now; calls in flight go on.',
      run: replace,
      complete: ({ directory }, _, word) => completeFile(directory, word),
    },
  ],
  ['restart', { usage: 'restart <server>', help: 'Starts a server anew.', run: restart, complete: serverNames }],
  [
    'login',
    {
      usage: 'login <server>',
      help: 'Signs in to a server: asks you to open a url, and goes on when your browser is back.',
      run: login,
      complete: serverNames,
    },
  ],
  ['quit', { usage: 'quit', help: 'Closes everything and leaves.', run: (_, context) => context.leave(exitCodes.ok) }],
]);

function serverNames({ thread }: ShellContext, before: readonly string[]): readonly string[] {
  if (before.length > 0) return [];
  return [...new Set(thread.snapshot().servers.map((server) => server.name))];
}

function help(_: string, context: ShellContext): void {
  const width = Math.max(...[...commands.values()].map((command) => command.usage.length));
  context.say(
    [...commands.values()]
      .map((command) => `  ${context.terminal.paint('cyan', command.usage.padEnd(width))}  ${command.help}`)
      .join('\n'),
  );
}

async function listTools(server: string, context: ShellContext): Promise<void> {
  const all = await context.peekTools();
  checkServer(server === '' ? undefined : server, context.thread.snapshot().servers);
  const tools = all.filter((tool) => server === '' || tool.server === server);
  context.say(formatTools(tools, context.terminal));
}

async function call(rest: string, context: ShellContext): Promise<void> {
  const isBackground = /(^|\s)&$/.test(rest);
  const [, name = '', args = ''] = /^(\S+)\s*(.*)$/s.exec(isBackground ? rest.slice(0, -1).trim() : rest) ?? [];
  const callId = context.nextCallId();
  if (name === '') throw new UsageError('Expected the name of a tool. "tools" lists them.');
  const started = startCall({
    thread: context.thread,
    questions: context.questions,
    terminal: context.terminal,
    callId,
    name,
    argumentsFor: (tool) => parseArguments(args, tool),
    say: (text) => context.say(text),
    canDefer: true,
    isBackground,
    suspend: () => context.suspend(),
    resume: () => context.resume(),
  });
  await context.runCall(started, { id: callId, name: plain(name) });
}

function showStatus(_: string, context: ShellContext): void {
  const { thread, terminal } = context;
  const { generation, state, runtimes, servers, steps, elicitations } = thread.snapshot();
  const lines = [`Thread ${state}, ${generation === 0 ? 'no generation yet' : `generation ${generation}`}.`];
  for (const runtime of runtimes) {
    const holders = runtime.holders.map((holder) => `${holder.kind} ${holder.id}`).join(', ');
    lines.push(`Runtime ${runtime.generation} is ${runtime.state}${holders === '' ? '' : `, held by ${holders}`}.`);
  }
  lines.push(formatServers(servers, terminal));
  lines.push(...steps.flatMap(callLines));
  lines.push(...elicitations.map((elicitation, index) => formatQuestion(elicitation, index + 1, terminal)));
  context.say(lines.join('\n'));
}

function listCalls(_: string, context: ShellContext): void {
  const lines = context.thread.snapshot().steps.flatMap(callLines);
  context.say(lines.length === 0 ? 'No call runs.' : lines.join('\n'));
}

function callLines({ calls, generation }: StepSnapshot): readonly string[] {
  return calls.map(
    (open) => `Call ${open.request ?? open.id} of ${plain(open.name)} is ${open.state}, on generation ${generation}.`,
  );
}

function listQuestions(context: ShellContext): void {
  const { questions, terminal } = context;
  context.say(
    questions.open.length === 0
      ? 'No open questions.'
      : questions.open.map((elicitation, index) => formatQuestion(elicitation, index + 1, terminal)).join('\n'),
  );
}

async function answer(rest: string, context: ShellContext): Promise<void> {
  const [, first = '', given = ''] = /^(\S*)\s*(.*)$/s.exec(rest) ?? [];
  const elicitation = context.questions.find(first);
  if (elicitation === undefined)
    throw new UsageError(
      first === ''
        ? 'No question is open.'
        : 'Expected the number or the token of an open question. "questions" lists them.',
    );
  if (given === '') {
    if (!context.terminal.isInteractive)
      throw new UsageError(
        'Expected the answer after the question, since there is no terminal for a form: a JSON object, "decline" or "cancel".',
      );
    context.suspend();
    try {
      await context.questions.ask(elicitation, { say: (text) => context.say(text), canDefer: true });
    } finally {
      context.resume();
    }
    return;
  }
  const outcome = await context.questions.respond(
    elicitation.token,
    given === 'decline' || given === 'cancel' ? { action: given } : { action: 'accept', content: parseObject(given) },
  );
  context.say(describeOutcome(outcome));
}

function watch(rest: string, context: ShellContext): void {
  if (rest !== 'on' && rest !== 'off') throw new UsageError('Expected "events on" or "events off".');
  context.isWatching = rest === 'on';
}

async function replace(rest: string, context: ShellContext): Promise<void> {
  const config = await context.readFiles(splitWords(rest));
  if (config.files.length === 0)
    throw new UsageError('Expected a file, and there is no holdfast.json or .mcp.json here. Write one, or name one.');
  for (const warning of config.warnings) context.say(context.terminal.paint('yellow', plain(warning.message)));
  const { servers, misconfigured, provenance, secrets } = config;
  const publication = await context.replace({ servers, misconfigured, provenance, secrets });
  const { generation, replaced } = publication;
  const goesOn = context.thread.snapshot().steps.some((step) => step.generation === replaced && step.calls.length > 0);
  context.say(
    publication.status === 'superseded'
      ? `A newer replacement took over; generation ${publication.generation} is current.`
      : `Generation ${generation} is current, from ${config.files.map(plain).join(', ')}${replaced === undefined ? '' : `; it took over from ${replaced}${goesOn ? ', whose calls go on' : ''}`}.`,
  );
}

/** Goes on beside the prompt: the question it puts is answered there, or by the browser. */
function login(server: string, context: ShellContext): void {
  if (server === '') throw new UsageError('Expected the name of a server. "status" lists them.');
  context.thread.authorize(server, { anew: true }).then(
    () => context.say(context.terminal.paint('green', `Signed in to ${plain(server)}.`)),
    (error: unknown) => context.say(describeError(error, context.terminal)),
  );
}

async function restart(server: string, context: ShellContext): Promise<void> {
  if (server === '') throw new UsageError('Expected the name of a server. "status" lists them.');
  await context.thread.restartServer(server);
  const state = context.thread.snapshot().servers.find((candidate) => candidate.name === server)?.state ?? 'closed';
  context.say(`${plain(server)} is ${state}.`);
}

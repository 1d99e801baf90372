/**
 * The interactive shell: one thread, one prompt (SPEC CL-1).
 *
 * Owns the thread it is given, and closes it. Reads commands, runs one at a time, tells what happens in between.
 *
 * S1 Ctrl-C aborts the call in the foreground first and leaves at the second; at an empty prompt it leaves.
 * S2 Every way out closes the thread and waits for it; none waits for a form or a command that is under way.
 */
import type { Subscription } from 'rxjs';
import type { ApprovalMode, Publication, RuntimeServers, Thread, ThreadEvent, ToolInfo } from '../../index.ts';
import type { CommandRunner, ResolvedConfig } from '../../config/index.ts';
import type { Consent } from '../consent.ts';
import { followFiles } from '../follow-files.ts';
import { withApproval } from '../load-config.ts';
import { formatEvent, formatQuestion } from '../format.ts';
import { oneLine, plain, type Terminal } from '../terminal.ts';
import { exitCodes, UsageError } from '../usage-error.ts';
import { deferred } from '../values.ts';
import { commands, type ShellContext } from './commands.ts';
import { completerOf } from './completion.ts';
import type { ForegroundCall } from './foreground-call.ts';
import { LineInput } from './line-input.ts';
import { Questions } from './questions.ts';
import { describeError, formatEnd } from './render-end.ts';

/** What the shell needs. */
export interface ShellOptions {
  readonly thread: Thread;
  readonly directory: string;
  readonly terminal: Terminal;
  readonly config: ResolvedConfig;
  /** Reads files; without any, what the shell was started with. */
  readonly readFiles: (files: readonly string[], runCommand: CommandRunner) => Promise<ResolvedConfig>;
  /** Whether commands of files may run. */
  readonly consent: Consent;
  readonly version: string;
  /** Follow the files of `config` as they change. */
  readonly watch: boolean;
  /** The mode of the command line: over that of any file. */
  readonly approval?: ApprovalMode;
  /** Calls back for each signal until the returned function is called. */
  readonly onSignal: (listener: (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => void) => () => void;
}

/** Runs the shell until the person leaves; resolves with the exit code. */
export async function runShell(options: ShellOptions): Promise<number> {
  const shell = new Shell(options);
  const stop = options.onSignal((signal) => {
    if (signal === 'SIGINT') shell.interrupt();
    else shell.leave(signal === 'SIGTERM' ? exitCodes.terminated : exitCodes.hangup);
  });
  try {
    return await shell.run();
  } finally {
    stop();
  }
}

/** Why a call ends with the shell, by its exit code. */
const reasons: ReadonlyMap<number, string> = new Map([
  [exitCodes.interrupted, 'you pressed Ctrl-C'],
  [exitCodes.terminated, 'the shell got SIGTERM'],
  [exitCodes.hangup, 'the terminal was closed'],
]);

class Shell implements ShellContext {
  readonly thread: Thread;
  readonly directory: string;
  readonly terminal: Terminal;
  readonly questions: Questions;
  tools: readonly ToolInfo[] = [];
  isWatching = false;
  readonly #options: ShellOptions;
  readonly #input: LineInput;
  readonly #facts: Subscription;
  readonly #announced = new Set<string>();
  readonly #background = new Set<Promise<unknown>>();
  #call: ForegroundCall | undefined;
  #isInterrupted = false;
  #isReplacing = false;
  #peeks = 0;
  readonly #peeked = new Set<string>();
  #areToolsStale = true;
  #exitCode: number | undefined;
  readonly #left = deferred<undefined>();
  readonly #leaving = new AbortController();
  #calls = 0;

  constructor(options: ShellOptions) {
    this.#options = options;
    this.thread = options.thread;
    this.directory = options.directory;
    this.terminal = options.terminal;
    this.questions = new Questions(options.thread, options.terminal);
    this.#input = new LineInput({
      terminal: options.terminal,
      prompt: `${options.terminal.paint('bold', 'holdfast')}> `,
      completer: completerOf(this),
      onInterrupt: () => this.interrupt(),
    });
    this.#facts = options.thread.events$.subscribe((event) => this.#hear(event));
    this.questions.onChange(() => this.#announce());
  }

  async run(): Promise<number> {
    this.#greet();
    const stopFollowing = this.#follow();
    try {
      for (;;) {
        void this.#refreshTools();
        const line = this.#exitCode === undefined ? await this.#input.next() : undefined;
        if (line === undefined || this.#exitCode !== undefined) break;
        await Promise.race([this.#execute(line.trim()), this.#left.promise]);
      }
      if (this.#exitCode === undefined && !this.terminal.isInteractive) await this.#awaitBackground();
    } finally {
      stopFollowing();
      this.#input.end();
      await this.thread.close({ reason: 'you left' });
      this.#facts.unsubscribe();
      this.questions.dispose();
    }
    return this.#exitCode ?? exitCodes.ok;
  }

  async readFiles(files: readonly string[]): Promise<ResolvedConfig> {
    const { consent, readFiles } = this.#options;
    const { isInteractive } = this.terminal;
    // A command of a file may be asked for.
    if (isInteractive) this.suspend();
    try {
      return await readFiles(files, consent.runner({ canAsk: true, signal: this.#leaving.signal }));
    } finally {
      if (isInteractive) this.resume();
    }
  }

  say(text: string): void {
    this.#input.print(text);
  }

  suspend(): void {
    this.#input.suspend();
  }

  resume(): void {
    if (this.#exitCode === undefined) this.#input.resume();
  }

  leave(code: number): void {
    this.#exitCode ??= code;
    this.#call?.interrupt(reasons.get(code) ?? 'you left');
    this.#input.end();
    this.#leaving.abort();
    this.#left.resolve(undefined);
  }

  interrupt(): void {
    if (this.#call === undefined || this.#isInterrupted) {
      this.leave(exitCodes.interrupted);
      return;
    }
    this.#isInterrupted = true;
    this.say('Aborting the call. Press Ctrl-C again to leave.');
    this.#call.interrupt('you pressed Ctrl-C');
  }

  nextCallId(): string {
    this.#calls += 1;
    return `call-${this.#calls}`;
  }

  async peekTools(): Promise<readonly ToolInfo[]> {
    this.#peeks += 1;
    try {
      const step = await this.thread.beginStep();
      await step.end();
      return step.tools;
    } finally {
      this.#peeks -= 1;
    }
  }

  async replace(next: RuntimeServers): Promise<Publication> {
    this.#isReplacing = true;
    try {
      return await this.thread.replaceRuntime(next);
    } finally {
      this.#isReplacing = false;
    }
  }

  async runCall(call: ForegroundCall, { id, name }: { readonly id: string; readonly name: string }): Promise<void> {
    this.#call = call;
    this.#isInterrupted = false;
    const where = await call.foreground;
    this.#call = undefined;
    if (where === 'over') {
      this.say(formatEnd(await call.end, this.terminal));
      return;
    }
    this.say(`${id} of ${name} goes on in the background. "calls" lists it; "answer" puts its questions.`);
    const told = call.end.then((end) => {
      this.#background.delete(told);
      this.say(`${id} of ${name} ended:\n${formatEnd(end, this.terminal)}`);
    });
    this.#background.add(told);
  }

  async #execute(line: string): Promise<void> {
    if (line === '') return;
    const [, name = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(line) ?? [];
    const command = commands.get(name);
    try {
      if (command === undefined)
        throw new UsageError(`Expected a command, got "${oneLine(name, 40)}". "help" lists them.`);
      await command.run(rest.trim(), this);
    } catch (error) {
      this.say(describeError(error, this.terminal));
    }
  }

  /** At the end of a script: what was answered comes to its end; what still asks does not hold it up. */
  async #awaitBackground(): Promise<void> {
    while (this.#background.size > 0 && this.questions.open.length === 0) {
      const changed = deferred<undefined>();
      const stop = this.questions.onChange(() => changed.resolve(undefined));
      await Promise.race([...this.#background, changed.promise]);
      stop();
    }
  }

  #greet(): void {
    const { config, version } = this.#options;
    const { paint } = this.terminal;
    const count = Object.keys(config.servers).length + Object.keys(config.misconfigured).length;
    this.say(
      `${paint('bold', 'holdfast')} ${version} · ${count} ${count === 1 ? 'server' : 'servers'} from ${config.files.length === 0 ? 'no file' : config.files.join(', ')}`,
    );
    for (const warning of config.warnings) this.say(paint('yellow', plain(warning.message)));
    if (config.files.length === 0)
      this.say('No holdfast.json or .mcp.json here. Write one, or name one with --config.');
    if (this.terminal.isInteractive)
      this.say(paint('dim', 'Type "help" for the commands, Tab to complete, Ctrl-C to leave.'));
  }

  #follow(): () => void {
    const { watch, config, thread, terminal, approval, consent } = this.#options;
    if (!watch) return () => undefined;
    return followFiles(config, {
      replace: async (next) => thread.replaceRuntime(next),
      setPolicy: (given) => {
        thread.setPolicy(withApproval(given, approval) ?? {});
        this.say(terminal.paint('dim', 'The policy of the files changed. It holds from now on.'));
      },
      warn: ({ message }) => this.say(terminal.paint('yellow', plain(message))),
      // In the middle of a line nobody is asked: what was consented to before runs.
      runCommand: consent.runner({ canAsk: false, signal: this.#leaving.signal }),
    });
  }

  #hear(event: ThreadEvent): void {
    const { paint } = this.terminal;
    if (event.type === 'tools.changed' || event.type === 'runtime.published' || event.type === 'server.changed') {
      this.#areToolsStale = true;
      if (this.#call === undefined) void this.#refreshTools();
    }
    if (this.#isOwnStep(event)) return;
    if (this.isWatching) this.say(formatEvent(event, this.terminal));
    else if (event.type === 'runtime.published') {
      // Who replaces it by hand is told more, at its end.
      if (!this.#isReplacing) this.say(paint('dim', `Generation ${event.generation} is current.`));
    } else if (
      event.type === 'server.changed' &&
      (event.state === 'failed' ||
        event.state === 'misconfigured' ||
        event.state === 'degraded' ||
        event.state === 'authRequired')
    ) {
      this.say(
        paint(
          'red',
          `${plain(event.server)} is ${event.state}${event.error === undefined ? '.' : `: ${plain(event.error.message)}`}`,
        ),
      );
    } else if (event.type === 'warning') this.say(paint('yellow', plain(event.message)));
  }

  /** Steps that were begun only to look at their tools are nobody's business. */
  #isOwnStep(event: ThreadEvent): boolean {
    if (event.type === 'step.ended') return this.#peeked.delete(event.step);
    if (event.type !== 'step.began' || this.#peeked.size >= this.#peeks) return false;
    this.#peeked.add(event.step);
    return true;
  }

  /** Says that a question came, unless the call in the foreground puts it at once. */
  #announce(): void {
    this.questions.open.forEach((elicitation, index) => {
      if (this.#announced.has(elicitation.token)) return;
      this.#announced.add(elicitation.token);
      if (this.terminal.isInteractive && this.#call?.concerns(elicitation) === true) return;
      // What is opened in a browser can be opened from here.
      const url = elicitation.url === undefined ? '' : `\n${plain(elicitation.url)}`;
      const hint = this.terminal.paint('dim', `Type "answer ${index + 1}".`);
      this.say(`${formatQuestion(elicitation, index + 1, this.terminal)}${url}\n${hint}`);
    });
    const open = new Set(this.questions.open.map((elicitation) => elicitation.token));
    for (const token of this.#announced) if (!open.has(token)) this.#announced.delete(token);
  }

  /** Tool names for completion: a step that is ended at once, only when a runtime is there. */
  async #refreshTools(): Promise<void> {
    if (!this.#areToolsStale || this.thread.snapshot().state !== 'active') return;
    this.#areToolsStale = false;
    try {
      this.tools = await this.peekTools();
    } catch {
      // Without a runtime there is nothing to complete; the next publication tries again.
      this.#areToolsStale = true;
    }
  }
}

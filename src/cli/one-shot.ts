/** `tools` and `call`: one thread, one look or one call, and out. What the commands of that kind share. */
import type { PendingElicitation, ServerSnapshot, Thread, ToolInfo } from '../index.ts';
import { checkServer } from './check-server.ts';
import { parseWords } from './arguments.ts';
import { formatQuestion, formatServers, formatTools, loginHint } from './format.ts';
import { errorRecord } from './jsonl/error-record.ts';
import { startCall } from './shell/foreground-call.ts';
import { Questions } from './shell/questions.ts';
import { describeError, formatEnd } from './shell/render-end.ts';
import type { Terminal } from './terminal.ts';
import { exitCodes, UsageError } from './usage-error.ts';

/** What a one-shot command works with. */
export interface OneShot {
  readonly thread: Thread;
  readonly terminal: Terminal;
  readonly json: boolean;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Lists the tools of a new step; resolves with the exit code. */
export async function runTools(server: string | undefined, shot: OneShot): Promise<number> {
  return guarded(shot, async () => {
    await shot.thread.ready({ signal: shot.signal });
    checkServer(server, shot.thread.snapshot().servers);
    if (server !== undefined) await settled(shot, server);
    const step = await shot.thread.beginStep({ signal: shot.signal });
    const tools = step.tools.filter((tool) => server === undefined || tool.server === server);
    await step.end();
    const all = shot.thread.snapshot().servers;
    const broken = brokenOf(all).filter((entry) => server === undefined || entry.name === server);
    // Who names a server wants to know why it has no tools.
    const silent = all.filter(
      (entry) => entry.name === server && tools.length === 0 && entry.state !== 'ready' && !broken.includes(entry),
    );
    if (shot.json) print(shot, { tools });
    else shot.terminal.output.write(`${formatTools(tools, shot.terminal)}\n`);
    const told = [...broken, ...silent];
    if (told.length > 0) shot.terminal.errors.write(`${formatServers(told, shot.terminal)}\n`);
    return tools.length === 0 && broken.length > 0 ? exitCodes.failed : exitCodes.ok;
  });
}

/** Waits until a server that starts has come to something. */
async function settled({ thread, signal }: OneShot, server: string): Promise<void> {
  const starts = (): boolean =>
    thread.snapshot().servers.some(({ name, state }) => name === server && state === 'starting');
  if (!starts()) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      subscription.unsubscribe();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const subscription = thread.events$.subscribe({
      next: () => {
        if (!starts()) done();
      },
      complete: done,
    });
    signal.addEventListener('abort', done);
  });
}

/** Calls one tool; resolves with the exit code, which is 1 for an error of the tool too. */
export async function runCall(name: string, words: readonly string[], shot: OneShot): Promise<number> {
  const { thread, terminal, signal } = shot;
  const questions = new Questions(thread, terminal);
  const stop = questions.onChange(() => {
    if (terminal.isInteractive) return;
    // Nobody is here to answer: the server hears so, rather than waiting for ever.
    for (const elicitation of questions.open) {
      terminal.errors.write(
        `${formatQuestion(elicitation, 1, terminal)}\nThere is no terminal to answer it in, so it is cancelled.\n${hintFor(elicitation, thread)}`,
      );
      questions
        .respond(elicitation.token, { action: 'cancel' })
        .catch((error: unknown) => terminal.errors.write(`${describeError(error, terminal)}\n`));
    }
  });
  const call = startCall({
    thread,
    questions,
    // Progress and forms go where results do not, so that a result can be piped on.
    terminal: { ...terminal, output: terminal.isInteractive ? terminal.output : terminal.errors },
    callId: 'call-1',
    name,
    argumentsFor: (tool: ToolInfo) => parseWords(words, tool),
    say: (text) => void terminal.errors.write(`${text}\n`),
    canDefer: false,
    suspend: nothing,
    resume: nothing,
  });
  const interrupt = () => call.interrupt(String(signal.reason));
  signal.addEventListener('abort', interrupt, { once: true });
  const end = await call.end;
  await call.foreground;
  signal.removeEventListener('abort', interrupt);
  stop();
  questions.dispose();
  if (shot.json) print(shot, end.kind === 'result' ? end.result : { error: errorRecord(end.error) });
  else (end.kind === 'result' ? terminal.output : terminal.errors).write(`${formatEnd(end, terminal)}\n`);
  return end.kind === 'error' || end.result.isError === true ? exitCodes.failed : exitCodes.ok;
}

/** What can be done beforehand about a question to sign in. */
function hintFor({ kind, server }: PendingElicitation, thread: Thread): string {
  const auth = thread.snapshot().servers.find(({ name }) => name === server)?.auth;
  return kind === 'url' && (auth === 'notLoggedIn' || auth === 'reauthenticate') ? `${loginHint(server)}\n` : '';
}

/** The servers something is to be done about. */
export function brokenOf(servers: readonly ServerSnapshot[]): readonly ServerSnapshot[] {
  return servers.filter(
    (server) => server.state === 'failed' || server.state === 'misconfigured' || server.state === 'authRequired',
  );
}

/** Runs a command and shows what it throws; resolves with the exit code. */
export async function guarded(shot: OneShot, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (shot.json) print(shot, { error: errorRecord(error) });
    else shot.terminal.errors.write(`${describeError(error, shot.terminal)}\n`);
    return exitCodes.failed;
  }
}

/** Writes a value as JSON. */
export function print({ terminal }: OneShot, value: unknown): void {
  terminal.output.write(`${JSON.stringify(value, null, 2)}\n`);
}

function nothing(): void {
  // There is no prompt to put aside.
}

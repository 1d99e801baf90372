/**
 * The main job, played on real processes: a question outlives the runtime it was asked on, and its answer finds the call.
 *
 * Twice: with a legacy server over stdio, which asks in the middle of a call, and with a modern one over HTTP, which ends
 * a round with `input_required`. Exits with 1 when anything happens otherwise, and after a minute at the latest.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import {
  createThread,
  type PendingElicitation,
  type Step,
  type Thread,
  type ThreadEvent,
  type ToolResult,
} from 'holdfast';
import { filter, firstValueFrom, map, ReplaySubject } from 'rxjs';

const timeLimitMs = 60_000;
const bootMs = 1_500;
const startedAt = Date.now();

const everything = {
  command: process.execPath,
  args: [pathOf('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
};

/** An environment that takes its time to start; a server in it is reached over HTTP. */
interface Environment {
  readonly process: ChildProcess;
  readonly url: Promise<string>;
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

function title(text: string): void {
  process.stdout.write(`\n${text}\n`);
}

function tell(text: string): void {
  const seconds = ((Date.now() - startedAt) / 1_000).toFixed(2).padStart(6);
  process.stdout.write(`${seconds} s  ${text}\n`);
}

function expectThat(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`Expected that ${what}. It is not so.`);
}

function startEnvironment(): Environment {
  const child = spawn(process.execPath, [pathOf('restaurant-server.mjs'), '--http', '--boot-ms', String(bootMs)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const url = once(child.stdout, 'data').then(([line]: unknown[]) => String(line).trim());
  return { process: child, url };
}

/** Calls a tool by its server and raw name; what the step advertises may be another name. */
async function callTool(step: Step, server: string, tool: string, args = {}): Promise<ToolResult> {
  const found = step.tools.find((candidate) => candidate.server === server && candidate.tool === tool);
  if (found === undefined) throw new Error(`Expected "${server}" to have the tool "${tool}".`);
  return step.callTool(found.name, args);
}

function textOf(result: ToolResult): string {
  return result.content.map(({ text }) => (typeof text === 'string' ? text : '')).join(' ');
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 90 ? `${line.slice(0, 89)}…` : line;
}

/** Everything the thread tells, from its start, so that nothing is missed by looking late. */
function record(thread: Thread): ReplaySubject<ThreadEvent> {
  const facts = new ReplaySubject<ThreadEvent>();
  thread.events$.subscribe(facts);
  return facts;
}

async function nextQuestion(facts: ReplaySubject<ThreadEvent>, server: string): Promise<PendingElicitation> {
  const questions = facts.pipe(
    filter((fact) => fact.type === 'elicitation.opened'),
    map((fact) => fact.elicitation),
    filter((elicitation) => elicitation.server === server),
  );
  return firstValueFrom(questions);
}

async function stopOf(facts: ReplaySubject<ThreadEvent>, generation: number): Promise<void> {
  await firstValueFrom(facts.pipe(filter((fact) => fact.type === 'runtime.stopped' && fact.generation === generation)));
}

function stateOf(thread: Thread, generation: number): string {
  return thread.snapshot().runtimes.find((runtime) => runtime.generation === generation)?.state ?? 'stopped';
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function firstPart(thread: Thread, facts: ReplaySubject<ThreadEvent>, environment: Environment): Promise<void> {
  title('Part one: a legacy server over stdio');
  await thread.ready();
  const old = await thread.beginStep();
  tell(`Generation ${old.generation} is current: server "everything", ${old.tools.length} tools. A step began on it.`);
  tell('Another environment is still starting; nobody waits for it.');

  let isDone = false;
  const call = callTool(old, 'everything', 'trigger-elicitation-request').finally(() => {
    isDone = true;
  });
  const question = await nextQuestion(facts, 'everything');
  tell(`The step called a tool, and its server asks the person: "${question.message}"`);

  const url = await environment.url;
  tell('The environment is ready, and brings the server "restaurant".');
  const publication = await thread.replaceRuntime({ servers: { everything, restaurant: { url } } });
  tell(`Generation ${publication.generation} took over from ${String(publication.replaced)}.`);
  expectThat(publication.status === 'published', 'the new runtime is published');
  expectThat(!isDone, 'the call that asked is still open');
  expectThat(stateOf(thread, old.generation) === 'retired', 'the old runtime is retired, not stopped');

  await using next = await thread.beginStep();
  tell(
    `A new step on generation ${next.generation} calls "menu" at once: ${textOf(await callTool(next, 'restaurant', 'menu'))}`,
  );
  expectThat(!isDone, 'the call that asked is still open');

  const outcome = await thread.respond(question.token, {
    action: 'accept',
    content: { name: 'Ada Lovelace', check: true },
  });
  tell(`The person answers the question of generation ${question.generation}: ${outcome.status}.`);
  expectThat(outcome.status === 'delivered', 'the answer is delivered');
  const result = await call;
  tell(`The first call completes with the answer: ${shorten(textOf(result))}`);
  expectThat(textOf(result).includes('Ada Lovelace'), 'the result holds the answer');
  expectThat(stateOf(thread, old.generation) === 'retired', 'the old runtime lives as long as its step');

  await old.end();
  await stopOf(facts, old.generation);
  tell(
    `Its step ended, so generation ${old.generation} stopped. "everything" runs on: generation ${publication.generation} names it too.`,
  );
}

async function secondPart(thread: Thread, facts: ReplaySubject<ThreadEvent>, url: string): Promise<void> {
  title('Part two: a modern server over HTTP');
  const old = await thread.beginStep();
  const pid = thread.snapshot().servers.find((server) => server.name === 'everything')?.pid;
  tell(`A step began on generation ${old.generation} and books a table for four.`);
  let isDone = false;
  const call = callTool(old, 'restaurant', 'book_table', { guests: 4 }).finally(() => {
    isDone = true;
  });
  const question = await nextQuestion(facts, 'restaurant');
  tell(`The server ended its round with a question: "${question.message}"`);

  const publication = await thread.replaceRuntime({ servers: { restaurant: { url } } });
  tell(`Generation ${publication.generation} took over from ${String(publication.replaced)}, without "everything".`);
  await using next = await thread.beginStep();
  tell(
    `A new step on generation ${next.generation} calls "menu" at once: ${textOf(await callTool(next, 'restaurant', 'menu'))}`,
  );
  expectThat(!isDone, 'the booking is still open');
  expectThat(stateOf(thread, old.generation) === 'retired', 'the old runtime is retired, not stopped');

  const outcome = await thread.respond(question.token, {
    action: 'accept',
    content: { name: 'Grace Hopper', seat: 'window' },
  });
  tell(`The person answers the question of generation ${question.generation}: ${outcome.status}.`);
  expectThat(outcome.status === 'delivered', 'the answer is delivered');
  const result = await call;
  tell(`The call was sent once more, with the answer, and completes: ${textOf(result)}`);
  expectThat(textOf(result).includes('Grace Hopper'), 'the result holds the answer');

  await old.end();
  await stopOf(facts, old.generation);
  tell(`Its step ended, so generation ${old.generation} stopped, and with it the process of "everything".`);
  await thread.close();
  expectThat(pid !== undefined && !isRunning(pid), 'the process of "everything" is gone');
}

async function play(): Promise<void> {
  const environment = startEnvironment();
  const thread = createThread({ servers: { everything } });
  const facts = record(thread);
  const abandon = setTimeout(() => {
    process.stderr.write(`The story did not end within ${timeLimitMs / 1_000} s.\n`);
    process.exit(1);
  }, timeLimitMs);
  try {
    await firstPart(thread, facts, environment);
    await secondPart(thread, facts, await environment.url);
    title('Two questions were asked, two runtimes were replaced, and both answers found their calls.');
  } finally {
    await thread.close();
    environment.process.stdin?.end();
    if (environment.process.exitCode === null) await once(environment.process, 'exit');
    clearTimeout(abandon);
  }
}

await play();

/** A conversation with the server of a scenario, by a thread of its own, with a person who answers. */
import { createThread, HoldfastError } from 'holdfast';
import type {
  ElicitationAnswer,
  HttpServer,
  JsonObject,
  PendingElicitation,
  ServerSnapshot,
  Step,
  Thread,
  ThreadOptions,
  ToolResult,
} from 'holdfast';
import { forgetfulCredentials } from './credentials.ts';

/** The name the server of a scenario has in its thread. */
export const serverName = 'suite';

/** Longer than any server of the suite takes: what a step offers is what the server has. */
const startGraceMs = 20_000;

/** What the suite gave the client. */
export interface PeerOptions {
  readonly url: string;
  /** The revision to speak. */
  readonly revision: string;
  /** What the suite says of this scenario besides, read from JSON. */
  readonly context: unknown;
}

/** What a scenario talks with. */
export interface Conversation {
  readonly thread: Thread;
  readonly step: Step;
  /** Calls a tool by the name its server gave it. */
  readonly call: (tool: string, args?: JsonObject) => Promise<ToolResult>;
}

/** How a conversation is held. */
export interface ConverseOptions {
  readonly server?: Partial<HttpServer>;
  readonly thread?: Partial<ThreadOptions>;
  /** Default: accepts a form as it is, with its defaults. */
  readonly person?: (question: PendingElicitation) => ElicitationAnswer | Promise<ElicitationAnswer>;
}

/** The server of a scenario. */
export interface Peer extends PeerOptions {
  /** Opens a thread, begins a step, talks, and closes the thread whatever happened. */
  converse(talk: (conversation: Conversation) => Promise<void>, options?: ConverseOptions): Promise<void>;
}

/** Plays one scenario; rejects when something went otherwise than it should. */
export type Scenario = (peer: Peer) => Promise<void>;

/** Makes the peer of one scenario. */
export function createPeer(options: PeerOptions): Peer {
  return {
    ...options,
    converse: (talk, how = {}) => converse(options, talk, how),
  };
}

async function converse(
  { url, revision }: PeerOptions,
  talk: (conversation: Conversation) => Promise<void>,
  { server, thread: more, person = acceptAsIs }: ConverseOptions,
): Promise<void> {
  const protocol = revision === '2026-07-28' ? revision : 'legacy';
  const servers = { [serverName]: { url, protocol, ...server } } as const;
  await using thread = createThread({
    servers,
    limits: { startGraceMs },
    authorization: { credentials: forgetfulCredentials() },
    ...more,
  });
  const failures: unknown[] = [];
  const answered = new Set<string>();
  thread.elicitations$.subscribe((questions) => {
    for (const question of questions) {
      if (answered.has(question.token)) continue;
      answered.add(question.token);
      answer(thread, question, person).catch((error: unknown) => failures.push(error));
    }
  });
  await reach(thread);
  await using step = await thread.beginStep();
  await talk({ thread, step, call: (tool, args) => callTool(step, tool, args) });
  if (failures.length > 0) throw failures[0];
}

/** Waits for the server, and signs in to it where it wants that. */
async function reach(thread: Thread): Promise<void> {
  await thread.ready();
  if (serverOf(thread)?.state === 'authRequired') await thread.authorize(serverName);
  const { state, error } = serverOf(thread) ?? {};
  if (state === 'ready') return;
  throw new HoldfastError(
    error?.code ?? 'internal',
    error?.message ?? `Expected a ready server, got ${String(state)}.`,
  );
}

function serverOf(thread: Thread): ServerSnapshot | undefined {
  return thread.snapshot().servers.find(({ name }) => name === serverName);
}

async function answer(
  thread: Thread,
  question: PendingElicitation,
  person: NonNullable<ConverseOptions['person']>,
): Promise<void> {
  const outcome = await thread.respond(question.token, await person(question));
  // A page that is done may have said so itself.
  const isHeard = outcome.status === 'delivered' || (outcome.status === 'settled' && outcome.outcome === 'accepted');
  if (!isHeard) throw new Error(`Expected the answer to be delivered, got ${JSON.stringify(outcome)}.`);
}

async function callTool(step: Step, tool: string, args: JsonObject = {}): Promise<ToolResult> {
  const info = step.tools.find((candidate) => candidate.tool === tool);
  if (info === undefined) throw new Error(`Expected the server to offer "${tool}", got ${offered(step)}.`);
  const result = await step.callTool(info.name, args);
  if (result.isError === true) throw new Error(`Expected "${tool}" to succeed, got ${JSON.stringify(result)}.`);
  return result;
}

function offered(step: Step): string {
  return step.tools.map((info) => info.tool).join(', ') || 'no tools';
}

function acceptAsIs(): ElicitationAnswer {
  return { action: 'accept', content: {} };
}

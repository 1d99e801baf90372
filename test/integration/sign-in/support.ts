/** What the tests of signing in share. */
import { createThread } from '../../../src/index.ts';
import type { HttpServer, PendingElicitation, Step, Thread, ThreadEvent, ThreadOptions } from '../../../src/index.ts';
import { createMemoryCredentials } from '../../../src/mcp/index.ts';
import { AuthorizationServer } from './authorization-server.ts';
import type { AuthorizationServerOptions } from './authorization-server.ts';
import { browse } from './browser.ts';
import { GuardedServer } from './guarded-server.ts';
import type { GuardOptions } from './guarded-server.ts';

export interface SceneOptions {
  readonly authorizationServer?: AuthorizationServerOptions;
  readonly guard?: Omit<GuardOptions, 'authorizationServer'>;
  readonly oauth?: HttpServer['oauth'];
  readonly thread?: Partial<ThreadOptions>;
}

/** An authorization server, an MCP server behind it, and a thread that knows that server as `notes`. */
export interface Scene extends AsyncDisposable {
  readonly authorizationServer: AuthorizationServer;
  readonly server: GuardedServer;
  readonly thread: Thread;
  readonly events: ThreadEvent[];
}

/** What is let in without a token, for servers whose calls alone are guarded. */
export const openButCalls = (method: string): boolean => method !== 'tools/call';

export async function scene(options: SceneOptions = {}): Promise<Scene> {
  const authorizationServer = await AuthorizationServer.start(options.authorizationServer);
  const server = await GuardedServer.start({ script: { tools: ['echo'] }, ...options.guard, authorizationServer });
  const { authorization, ...more } = options.thread ?? {};
  const thread = createThread({
    servers: { notes: configOf(server, options.oauth) },
    authorization: { credentials: createMemoryCredentials(), ...authorization },
    ...more,
  });
  const events: ThreadEvent[] = [];
  thread.events$.subscribe((event) => events.push(event));
  return {
    authorizationServer,
    server,
    thread,
    events,
    async [Symbol.asyncDispose]() {
      await thread.close();
      await server[Symbol.asyncDispose]();
      await authorizationServer[Symbol.asyncDispose]();
    },
  };
}

export function configOf(server: GuardedServer, oauth?: HttpServer['oauth']): HttpServer {
  return { url: server.url, ...(oauth === undefined ? {} : { oauth }) };
}

/** The next question that is shown, apart from those seen before. */
export function nextQuestion(thread: Thread, seen: readonly string[] = []): Promise<PendingElicitation> {
  return new Promise((resolve) => {
    const watching = thread.elicitations$.subscribe((questions) => {
      const found = questions.find(({ token }) => !seen.includes(token));
      if (found === undefined) return;
      resolve(found);
      queueMicrotask(() => watching.unsubscribe());
    });
  });
}

/** Signs in through the question of `thread.authorize`. */
export async function signIn({ thread }: Pick<Scene, 'thread'>): Promise<void> {
  const signedIn = thread.authorize('notes');
  const question = await nextQuestion(thread);
  await browse(question.url ?? '');
  await signedIn;
}

/** Calls the tool of the server. */
export function callEcho(step: Step, text = 'hello', callId?: string): ReturnType<Step['callTool']> {
  return step.callTool('mcp__notes__echo', { text }, callId === undefined ? {} : { callId });
}

/** Resolves with the first event of a kind. */
export function eventOf<TType extends ThreadEvent['type']>(
  { thread }: Pick<Scene, 'thread'>,
  type: TType,
): Promise<Extract<ThreadEvent, { type: TType }>> {
  return new Promise((resolve) => {
    const watching = thread.events$.subscribe((event) => {
      if (event.type !== type) return;
      resolve(event as Extract<ThreadEvent, { type: TType }>);
      queueMicrotask(() => watching.unsubscribe());
    });
  });
}

/** What a promise that should reject rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('Expected a rejection, got none.');
}

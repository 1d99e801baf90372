/** Threads over real servers, and what they tell, for the tests of questions. */
import { createThread, HoldfastError } from '../../../src/index.ts';
import type {
  ElicitationAnswer,
  PendingElicitation,
  ServerConfig,
  Thread,
  ThreadEvent,
  ThreadOptions,
  ToolResult,
} from '../../../src/index.ts';
import { rawServer, scriptedServer, serveHttp, stdioServerConfig } from '../../../src/testing/index.ts';
import type { RawHandler, RawServer, ServerScript } from '../../../src/testing/index.ts';

export type EventOf<TType extends ThreadEvent['type']> = Extract<ThreadEvent, { type: TType }>;

export const eras = ['legacy', 'modern'] as const;

export const ada = { action: 'accept', content: { name: 'Ada' } } as const satisfies ElicitationAnswer;

/** A thread whose facts are kept, and can be waited for. */
export class WatchedThread implements AsyncDisposable {
  readonly thread: Thread;
  /** Every fact so far, oldest first. */
  readonly events: ThreadEvent[] = [];
  readonly #watchers = new Set<(event: ThreadEvent) => void>();
  #questionsTaken = 0;

  constructor(options: ThreadOptions) {
    this.thread = createThread(options);
    this.thread.events$.subscribe((event) => {
      this.events.push(event);
      for (const look of this.#watchers) look(event);
    });
  }

  /** The facts of one type so far. */
  of<TType extends ThreadEvent['type']>(type: TType): readonly EventOf<TType>[] {
    return this.events.filter((event) => isOf(event, type));
  }

  /** Resolves with the `count`th fact of a type, or that matches: past or future. */
  async until<TType extends ThreadEvent['type']>(
    type: TType,
    matches: (event: EventOf<TType>) => boolean = () => true,
    count = 1,
  ): Promise<EventOf<TType>> {
    const found = this.of(type).filter(matches);
    const known = found[count - 1];
    if (known !== undefined) return known;
    let missing = count - found.length;
    return new Promise((resolve) => {
      const look = (event: ThreadEvent): void => {
        if (!isOf(event, type) || !matches(event)) return;
        missing -= 1;
        if (missing > 0) return;
        this.#watchers.delete(look);
        resolve(event);
      };
      this.#watchers.add(look);
    });
  }

  /** Resolves with the next question that was not taken yet. */
  async nextQuestion(): Promise<PendingElicitation> {
    this.#questionsTaken += 1;
    return (await this.until('elicitation.opened', undefined, this.#questionsTaken)).elicitation;
  }

  /** Position of the first fact that matches; -1 without one. */
  indexOf(type: ThreadEvent['type'], matches: (event: ThreadEvent) => boolean = () => true): number {
    return this.events.findIndex((event) => event.type === type && matches(event));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.thread.close();
  }
}

function isOf<TType extends ThreadEvent['type']>(event: ThreadEvent, type: TType): event is EventOf<TType> {
  return event.type === type;
}

/** Makes a thread that is watched from its first fact. */
export function watched(options: ThreadOptions): WatchedThread {
  return new WatchedThread(options);
}

/** The text of a result. */
export function textOf(result: ToolResult): string {
  return result.content.map((block) => (typeof block['text'] === 'string' ? block['text'] : block.type)).join('');
}

/** What an asking tool of a scripted server was answered. */
export function answerOf(result: ToolResult): unknown {
  const parsed: unknown = JSON.parse(textOf(result));
  return parsed;
}

/** The error a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<HoldfastError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error('Expected a rejection, and it resolved.');
}

/** One turn of the event loop: what was caused before it has happened after it. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export const places = ['in memory', 'over stdio', 'over HTTP'] as const;
export type Place = (typeof places)[number];

export interface PlacedServer extends AsyncDisposable {
  readonly config: ServerConfig;
}

/** Runs a scripted server where it is wanted. */
export async function place(where: Place, script: ServerScript): Promise<PlacedServer> {
  switch (where) {
    case 'in memory': {
      const server = scriptedServer(script);
      return { config: server.config, [Symbol.asyncDispose]: () => server.close() };
    }
    case 'over stdio':
      return { config: stdioServerConfig(script), [Symbol.asyncDispose]: () => Promise.resolve() };
    case 'over HTTP': {
      const server = await serveHttp(script);
      return { config: server.config, [Symbol.asyncDispose]: () => server.close() };
    }
  }
}

/** A modern peer driven by hand; it offers one tool, `echo`, whose calls are up to `handler`. */
export function modernPeer(handler: RawHandler): RawServer {
  const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
  return rawServer((message, self) => {
    switch (message['method']) {
      case 'server/discover':
        self.reply(message, {
          ...complete,
          supportedVersions: ['2026-07-28'],
          capabilities: { tools: {}, resources: {}, prompts: {} },
        });
        return true;
      case 'tools/list':
        self.reply(message, { ...complete, tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
        return true;
      default:
        return handler(message, self);
    }
  });
}

/** Random numbers that are the same in every run: 0 to 1. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The same items in another order. */
export function shuffled<TItem>(items: readonly TItem[], random: () => number): TItem[] {
  return items
    .map((item) => ({ item, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

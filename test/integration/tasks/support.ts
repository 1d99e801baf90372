/** A server driven by hand that makes a task of each call, and says of it what a test wants it to. */
import type { GivenTransportServer } from '../../../src/domain/config.ts';
import { rawServer } from '../../../src/testing/index.ts';
import type { RawMessage, RawServer } from '../../../src/testing/index.ts';

type Reply = Readonly<Record<string, unknown>>;

/** What is said to the requests about a task; see {@link refused}; undefined leaves it without an answer. */
export interface TaskScript {
  /** Goes over the record the task is made with. */
  readonly made?: Reply;
  /** To the first `tasks/get`, the second, …; the last one again and again. */
  readonly looks?: readonly (Reply | undefined)[];
  readonly result?: Reply;
  readonly update?: Reply;
  /** Says that it tells of tasks (modern). */
  readonly tells?: boolean;
}

export type TaskEra = 'legacy' | 'modern';

const times = { createdAt: '2026-01-01T00:00:00Z', lastUpdatedAt: '2026-01-01T00:00:00Z' } as const;

export class TaskPeer implements AsyncDisposable {
  readonly server: RawServer;
  readonly era: TaskEra;
  readonly #script: TaskScript;
  #looks = 0;

  constructor(era: TaskEra, script: TaskScript) {
    this.era = era;
    this.#script = script;
    const execution = { taskSupport: 'required' };
    this.server = rawServer((message, peer) => this.#answer(message, peer), {
      tools: [{ name: 'work', inputSchema: { type: 'object' }, execution }],
    });
  }

  /** What a thread's `servers` take. */
  get config(): GivenTransportServer {
    return this.server.config;
  }

  /** The methods about tasks that came, oldest first. */
  get heard(): readonly unknown[] {
    return this.server.received.map(({ method }) => method).filter((method) => String(method).startsWith('tasks/'));
  }

  /** A task as its server tells of it. */
  record(more: Reply = {}): Reply {
    const time = this.era === 'modern' ? { ttlMs: null, pollIntervalMs: 100 } : { ttl: null, pollInterval: 100 };
    return { taskId: 'task-1', status: 'working', ...times, ...time, ...more };
  }

  /** Tells of the task by itself. */
  tell(more: Reply = {}): void {
    const method = this.era === 'modern' ? 'notifications/tasks' : 'notifications/tasks/status';
    this.server.send({ jsonrpc: '2.0', method, params: this.record(more) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close();
  }

  #answer(message: RawMessage, peer: RawServer): boolean {
    const complete = this.era === 'modern' ? { resultType: 'complete' } : {};
    switch (message['method']) {
      case 'initialize': {
        if (this.era === 'modern') return false;
        const capabilities = { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } };
        const serverInfo = { name: 'tasks', version: '1.0.0' };
        peer.reply(message, { protocolVersion: '2025-11-25', capabilities, serverInfo });
        return true;
      }
      case 'server/discover': {
        if (this.era === 'legacy') return false;
        const extensions = this.#script.tells === true ? { 'io.modelcontextprotocol/tasks': {} } : {};
        const capabilities = { tools: {}, extensions };
        peer.reply(message, {
          ...complete,
          supportedVersions: ['2026-07-28'],
          capabilities,
          ttlMs: 0,
          cacheScope: 'private',
        });
        return true;
      }
      case 'tools/list': {
        const execution = { taskSupport: 'required' };
        const tools = [{ name: 'work', inputSchema: { type: 'object' }, execution }];
        peer.reply(message, { ...complete, tools, ttlMs: 0, cacheScope: 'private' });
        return true;
      }
      case 'tools/call': {
        const record = this.record(this.#script.made);
        peer.reply(message, this.era === 'modern' ? { resultType: 'task', ...record } : { task: record });
        return true;
      }
      case 'tasks/get': {
        const { looks = [] } = this.#script;
        const look = looks[Math.min(this.#looks, looks.length - 1)];
        this.#looks += 1;
        this.#say(message, look === undefined || 'refused' in look ? look : { ...complete, ...this.record(look) });
        return true;
      }
      case 'tasks/result':
        this.#say(message, this.#script.result);
        return true;
      case 'tasks/update':
        this.#say(message, this.#script.update ?? complete);
        return true;
      case 'tasks/cancel':
        peer.reply(message, complete);
        return true;
      case 'subscriptions/listen':
        return true;
      default:
        return false;
    }
  }

  #say(message: RawMessage, reply: Reply | undefined): void {
    if (reply === undefined) return;
    if (!('refused' in reply)) this.server.reply(message, reply);
    else this.server.send({ jsonrpc: '2.0', id: message['id'], error: reply['refused'] });
  }
}

/** Refuses a request about a task with a JSON-RPC error. */
export function refused(code: number, message: string, data?: unknown): Reply {
  return { refused: { code, message, ...(data === undefined ? {} : { data }) } };
}

/** A result of a call, of one text. */
export function said(text: string): Reply {
  return { content: [{ type: 'text', text }] };
}

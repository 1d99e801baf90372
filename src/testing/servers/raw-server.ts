/** A peer driven by hand, message by message, for tests of what no SDK would send. */
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import type { GivenTransportServer } from '../../domain/config.ts';
import { isRecord } from '../../domain/json.ts';

/** A JSON-RPC message as it came: nothing about it is checked. */
export type RawMessage = Readonly<Record<string, unknown>>;

/**
 * Looks at each message first.
 *
 * Return `true` to say that it was dealt with; anything else leaves it to the default: the legacy handshake, the listing
 * of `tools`, and `ping` are answered, other requests get `-32601`, notifications and responses are only recorded.
 */
export type RawHandler = (message: RawMessage, peer: RawServer) => boolean | undefined | void;

/** What a raw server is made with. */
export interface RawServerOptions {
  /** What the default answer to `tools/list` lists. Default: one tool, `echo`, which the default does not answer. */
  readonly tools?: readonly unknown[];
  /** Default `2025-11-25`. */
  readonly protocolVersion?: string;
  /** What the default answer to `initialize` announces. Default: tools, whose list may change. */
  readonly capabilities?: RawMessage;
}

/** Makes a hand-driven peer. Its `config` is a `ServerConfig`, for one connection. */
export function rawServer(handler: RawHandler = () => undefined, options: RawServerOptions = {}): RawServer {
  return new RawServer(handler, options);
}

interface Waiter {
  readonly matches: (message: RawMessage) => boolean;
  readonly resolve: (message: RawMessage) => void;
}

/** See {@link rawServer}. */
export class RawServer implements AsyncDisposable {
  readonly config: GivenTransportServer;
  /** Every message of the client, oldest first. */
  readonly received: RawMessage[] = [];
  readonly #transport: InMemoryTransport;
  readonly #options: RawServerOptions;
  readonly #waiters = new Set<Waiter>();
  #closed = false;

  constructor(handler: RawHandler, options: RawServerOptions) {
    const [client, server] = InMemoryTransport.createLinkedPair();
    this.config = { transport: client };
    this.#transport = server;
    this.#options = options;
    server.onclose = () => {
      this.#closed = true;
    };
    server.onmessage = (message) => {
      const raw = parseRaw(message);
      this.received.push(raw);
      if (handler(raw, this) !== true) this.#answerByDefault(raw);
      for (const waiter of this.#waiters) {
        if (!waiter.matches(raw)) continue;
        this.#waiters.delete(waiter);
        waiter.resolve(raw);
      }
    };
    // It has no start of its own to wait for: messages that came before are handed over now.
    void server.start();
  }

  /** Whether either side closed the connection. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Sends anything at all. Once the connection is closed, nothing. */
  send(message: unknown): void {
    if (this.#closed) return;
    void this.#transport.send(parseMessage(message));
  }

  /** Answers a request with any result. */
  reply(request: RawMessage, result: unknown): void {
    this.send({ jsonrpc: '2.0', id: request['id'], result });
  }

  /** Answers a request with an error. */
  fail(request: RawMessage, code: number, message: string, data?: unknown): void {
    this.send({ jsonrpc: '2.0', id: request['id'], error: { code, message, ...(data === undefined ? {} : { data }) } });
  }

  /** Resolves with the first message of this method, or that matches: past or future. */
  waitFor(matches: string | ((message: RawMessage) => boolean)): Promise<RawMessage> {
    const test = typeof matches === 'string' ? (message: RawMessage) => message['method'] === matches : matches;
    const found = this.received.find(test);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => this.#waiters.add({ matches: test, resolve }));
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #answerByDefault(message: RawMessage): void {
    if (message['id'] === undefined || typeof message['method'] !== 'string') return;
    if (message['method'] === 'initialize') {
      this.reply(message, {
        protocolVersion: this.#options.protocolVersion ?? '2025-11-25',
        capabilities: this.#options.capabilities ?? { tools: { listChanged: true } },
        serverInfo: { name: 'raw', version: '1.0.0' },
      });
    } else if (message['method'] === 'tools/list') {
      this.reply(message, { tools: this.#options.tools ?? [{ name: 'echo', inputSchema: { type: 'object' } }] });
    } else if (message['method'] === 'ping') {
      this.reply(message, {});
    } else {
      this.fail(message, -32_601, 'Method not found');
    }
  }
}

function parseRaw(message: unknown): RawMessage {
  return isRecord(message) ? message : { malformed: message };
}

/** Lets anything through to the client: that is what a raw peer is for. */
function parseMessage(message: unknown): JSONRPCMessage {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- unchecked on purpose
  return message as JSONRPCMessage;
}

/** Transports of the SDKs' shape as wire transports: one the caller made, or one end of a pair to a server in this process. */
import { InMemoryTransport } from '@modelcontextprotocol/client';
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';
import type { McpServerFactory, McpServerLike, McpTransport } from '../domain/config.ts';
import { HoldfastError, messageOf } from '../domain/errors.ts';
import type { ExitInfo, WireListener, WireSendOptions, WireTransport } from './transports/transport.ts';

/** Makes a wire transport of one the caller gave. It is used once. */
export function adoptTransport(given: McpTransport, listener: WireListener): WireTransport {
  const transport = parseTransport(given);
  return new AdoptedTransport(
    'given',
    transport.hasPerRequestStream === true,
    () => Promise.resolve({ transport, end: nothing }),
    listener,
  );
}

/** Makes a wire transport to a fresh server of this process. */
export function createInMemoryTransport(factory: McpServerFactory, listener: WireListener): WireTransport {
  const adopt = async (): Promise<Adopted> => {
    const server = await factory();
    const [transport, far] = InMemoryTransport.createLinkedPair();
    await connectServer(server, far);
    return { transport, end: async () => server.close?.() };
  };
  return new AdoptedTransport('in-memory', false, adopt, listener);
}

interface Adopted {
  readonly transport: Transport;
  /** Ends what the transport's own `close` does not. */
  readonly end: () => Promise<unknown>;
}

class AdoptedTransport implements WireTransport {
  readonly pid = undefined;
  readonly kind: 'given' | 'in-memory';
  readonly hasPerRequestStream: boolean;
  readonly #adopt: () => Promise<Adopted>;
  readonly #listener: WireListener;
  #adopted: Adopted | undefined;
  #state: 'idle' | 'open' | 'ended' = 'idle';
  #closing: Promise<void> | undefined;

  constructor(
    kind: 'given' | 'in-memory',
    hasPerRequestStream: boolean,
    adopt: () => Promise<Adopted>,
    listener: WireListener,
  ) {
    this.kind = kind;
    this.hasPerRequestStream = hasPerRequestStream;
    this.#adopt = adopt;
    this.#listener = listener;
  }

  get sessionId(): string | undefined {
    return this.#adopted?.transport.sessionId;
  }

  async start(): Promise<void> {
    try {
      const adopted = await this.#adopt();
      this.#adopted = adopted;
      if (this.#closing !== undefined) {
        await this.#release(adopted);
        throw this.#lost('it was closed while it started');
      }
      this.#listen(adopted.transport);
      this.#state = 'open';
      await adopted.transport.start();
    } catch (error) {
      if (error instanceof HoldfastError) throw error;
      throw new HoldfastError(
        'server_unavailable',
        `Expected the ${this.kind} server to start, got "${messageOf(error)}". Correct what makes it.`,
        { cause: error },
      );
    }
  }

  send(message: JSONRPCMessage, options?: WireSendOptions): Promise<void> {
    if (this.#state !== 'open' || this.#adopted === undefined) return Promise.reject(this.#lost('it has ended'));
    const mayBeCut = this.hasPerRequestStream && 'method' in message && 'id' in message;
    return this.#adopted.transport.send(message, mayBeCut ? this.#watched(message.id, options) : options);
  }

  /** The SDK's HTTP transport says of a stream only that it ended: after the response, or instead of it. */
  #watched(id: RequestId, options: WireSendOptions = {}): WireSendOptions {
    return {
      ...options,
      onRequestStreamEnd: () => {
        options.onRequestStreamEnd?.();
        if (this.#state !== 'open' || this.#closing !== undefined) return;
        this.#listener.onRequestFailed(id, this.#lost('the stream of the request ended before its result'));
      },
    };
  }

  setProtocolVersion(version: string): void {
    this.#adopted?.transport.setProtocolVersion?.(version);
  }

  stderrTail(): string {
    return '';
  }

  exitInfo(): ExitInfo | undefined {
    return undefined;
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#state = 'ended';
    if (this.#adopted !== undefined) await this.#release(this.#adopted);
  }

  async #release({ transport, end }: Adopted): Promise<void> {
    for (const result of await Promise.allSettled([transport.close(), end()])) {
      if (result.status === 'rejected') this.#listener.onWarning('transport_error', messageOf(result.reason));
    }
  }

  #listen(transport: Transport): void {
    transport.onmessage = (message) => {
      if (this.#state === 'open' && this.#closing === undefined) this.#listener.onMessage(message);
    };
    transport.onerror = (error) => {
      if (this.#state === 'open' && this.#closing === undefined)
        this.#listener.onWarning('transport_error', messageOf(error));
    };
    transport.onclose = () => {
      if (this.#state !== 'open' || this.#closing !== undefined) return;
      this.#state = 'ended';
      this.#listener.onClosed(this.#lost('it ended'));
    };
  }

  #lost(why: string): HoldfastError {
    return new HoldfastError('connection_lost', `Expected the ${this.kind} transport to be open, but ${why}.`);
  }
}

/** Takes a transport of any MCP SDK; the shape is the same, its message types are not. */
function parseTransport(given: McpTransport): Transport {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place where foreign transports come in
  return given as unknown as Transport;
}

/** Hands a server its end of the pair. Servers of every SDK take the same shape and name other types for it. */
async function connectServer(server: McpServerLike, far: Transport): Promise<void> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place where foreign servers are connected
  await server.connect(far as never);
}

function nothing(): Promise<void> {
  return Promise.resolve();
}

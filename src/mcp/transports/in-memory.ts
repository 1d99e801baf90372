/** An MCP server that runs in this process, linked without a wire (SPEC CN-1). */
import { InMemoryTransport } from '@modelcontextprotocol/client';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { McpServerFactory, McpServerLike } from '../../domain/config.ts';
import { HoldfastError, messageOf } from '../../domain/errors.ts';
import { isWireMessage } from './json-rpc.ts';
import type { WireListener, WireTransport } from './transport.ts';

export interface InMemoryTransportOptions {
  readonly factory: McpServerFactory;
  readonly listener: WireListener;
}

/** Makes the transport of one server of this process; `start` calls the factory and connects what it made. */
export function createInMemoryTransport(options: InMemoryTransportOptions): WireTransport {
  return new LinkedTransport(options);
}

class LinkedTransport implements WireTransport {
  readonly kind = 'in-memory';
  readonly hasPerRequestStream = false;
  readonly pid = undefined;
  readonly sessionId = undefined;
  readonly #factory: McpServerFactory;
  readonly #listener: WireListener;
  readonly #near: InMemoryTransport;
  readonly #far: InMemoryTransport;
  #server: McpServerLike | undefined;
  #state: 'idle' | 'open' | 'ended' = 'idle';
  #closing: Promise<void> | undefined;

  constructor(options: InMemoryTransportOptions) {
    this.#factory = options.factory;
    this.#listener = options.listener;
    [this.#near, this.#far] = InMemoryTransport.createLinkedPair();
  }

  async start(): Promise<void> {
    if (this.#state !== 'idle' || this.#isClosing()) throw closed();
    this.#near.onmessage = (message: unknown) => {
      if (this.#state !== 'open' || this.#isClosing()) return;
      if (isWireMessage(message)) this.#listener.onMessage(message);
      else this.#listener.onWarning('invalid_message', 'Expected a JSON-RPC message from the server of this process.');
    };
    this.#near.onclose = () => {
      this.#lose();
    };
    this.#state = 'open';
    try {
      this.#server = await this.#factory();
      // Closed meanwhile: what was made since must end too.
      if (this.#isClosing()) await this.#endServer();
      else await this.#connect(this.#server);
    } catch (error) {
      this.#state = 'ended';
      throw new HoldfastError(
        'server_unavailable',
        `Expected the server's factory to make a server that connects, got "${messageOf(error)}".`,
        { cause: error },
      );
    }
    if (this.#isClosing()) throw closed();
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#state !== 'open' || this.#isClosing()) return Promise.reject(closed());
    return this.#near.send(message);
  }

  setProtocolVersion(): void {
    // Said in the messages themselves.
  }

  stderrTail(): string {
    return '';
  }

  exitInfo(): undefined {
    return undefined;
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  /** The vocabulary names neither SDK; the servers of both take this transport. */
  async #connect(server: { connect(transport: InMemoryTransport): Promise<unknown> }): Promise<void> {
    await server.connect(this.#far);
    await this.#near.start();
  }

  async #end(): Promise<void> {
    this.#state = 'ended';
    await this.#near.close().catch(ignore);
    await this.#endServer();
  }

  async #endServer(): Promise<void> {
    try {
      await this.#server?.close?.();
    } catch {
      // A server that cannot be closed is not used again either way.
    }
    await this.#far.close().catch(ignore);
  }

  #isClosing(): boolean {
    return this.#closing !== undefined;
  }

  #lose(): void {
    if (this.#state !== 'open' || this.#isClosing()) return;
    this.#state = 'ended';
    this.#listener.onClosed(
      new HoldfastError('connection_lost', 'Expected the server of this process to stay connected, but it closed.', {
        outcome: 'unknown',
      }),
    );
  }
}

function closed(): HoldfastError {
  return new HoldfastError('connection_lost', 'Expected an open connection, but it was closed.', {
    outcome: 'not-sent',
  });
}

function ignore(): void {
  // Closing what is closed already.
}

/** Transports of the SDKs' shape as wire transports: one the caller made, or one end of a pair to a server in this process. */
import { InMemoryTransport } from '@modelcontextprotocol/client';
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';
import type { McpServerFactory, McpServerLike, McpTransport } from '../domain/config.ts';
import { HoldfastError, messageOf } from '../domain/errors.ts';
import type { CallErrorOutcome } from '../domain/errors.ts';
import { settlesWithin } from './deadline.ts';
import type { ExitInfo, WireListener, WireSendOptions, WireTransport } from './transports/transport.ts';

export interface AdoptOptions {
  /** How long `close` waits for what it closes, which is not ours and may never answer. Default 2,000. */
  readonly closeLimitMs?: number;
}

/** Makes a wire transport of one the caller gave. It is used once. */
export function adoptTransport(given: McpTransport, listener: WireListener, options: AdoptOptions = {}): WireTransport {
  const transport = parseTransport(given);
  return new AdoptedTransport({
    kind: 'given',
    hasPerRequestStream: transport.hasPerRequestStream === true,
    adopt: () => Promise.resolve({ transport, connect: nothing, end: nothing }),
    listener,
    ...options,
  });
}

/** Makes a wire transport to a fresh server of this process. */
export function createInMemoryTransport(
  factory: McpServerFactory,
  listener: WireListener,
  options: AdoptOptions = {},
): WireTransport {
  const adopt = async (): Promise<Adopted> => {
    const server = await factory();
    const [transport, far] = InMemoryTransport.createLinkedPair();
    return { transport, connect: () => connectServer(server, far), end: async () => server.close?.() };
  };
  return new AdoptedTransport({ kind: 'in-memory', hasPerRequestStream: false, adopt, listener, ...options });
}

interface Adopted {
  readonly transport: Transport;
  /** Brings the other side to listen. */
  readonly connect: () => Promise<unknown>;
  /** Ends what the transport's own `close` does not. */
  readonly end: () => Promise<unknown>;
}

interface AdoptedTransportOptions extends AdoptOptions {
  readonly kind: 'given' | 'in-memory';
  readonly hasPerRequestStream: boolean;
  readonly adopt: () => Promise<Adopted>;
  readonly listener: WireListener;
}

class AdoptedTransport implements WireTransport {
  readonly pid = undefined;
  readonly kind: 'given' | 'in-memory';
  readonly hasPerRequestStream: boolean;
  readonly #adopt: () => Promise<Adopted>;
  readonly #listener: WireListener;
  readonly #closeLimitMs: number;
  #adopted: Adopted | undefined;
  #state: 'idle' | 'open' | 'ended' = 'idle';
  #closing: Promise<void> | undefined;

  constructor({ kind, hasPerRequestStream, adopt, listener, closeLimitMs = 2_000 }: AdoptedTransportOptions) {
    this.kind = kind;
    this.hasPerRequestStream = hasPerRequestStream;
    this.#adopt = adopt;
    this.#listener = listener;
    this.#closeLimitMs = closeLimitMs;
  }

  get sessionId(): string | undefined {
    return this.#adopted?.transport.sessionId;
  }

  async start(): Promise<void> {
    if (this.#state !== 'idle' || this.#isClosing()) throw this.#lost('it was used before', 'not-sent');
    try {
      const adopted = await this.#adopt();
      this.#adopted = adopted;
      await this.#endIfClosing(adopted);
      // The other side may speak, or go, as soon as it listens.
      this.#listen(adopted.transport);
      this.#state = 'open';
      await adopted.connect();
      await adopted.transport.start();
      await this.#endIfClosing(adopted);
      if (this.#hasEnded()) throw this.#lost('it ended while it started', 'not-sent');
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
    if (this.#state !== 'open' || this.#adopted === undefined)
      return Promise.reject(this.#lost('it has ended', 'not-sent'));
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
        this.#listener.onRequestFailed(id, this.#lost('the stream of the request ended before its result', 'unknown'));
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

  /** Closed meanwhile: what was made or connected since must end too. */
  async #endIfClosing(adopted: Adopted): Promise<void> {
    if (!this.#isClosing()) return;
    await this.#release(adopted);
    throw this.#lost('it was closed while it started', 'not-sent');
  }

  async #release({ transport, end }: Adopted): Promise<void> {
    await Promise.all([this.#endOne('transport', async () => transport.close()), this.#endOne('server', end)]);
  }

  async #endOne(what: string, end: () => Promise<unknown>): Promise<void> {
    try {
      if (await settlesWithin(end(), this.#closeLimitMs)) return;
      const text = `Expected the ${this.kind} ${what} to close within ${String(this.#closeLimitMs)} ms, but it did not. It is left to itself.`;
      this.#listener.onWarning('transport_error', text);
    } catch (error) {
      this.#listener.onWarning('transport_error', messageOf(error));
    }
  }

  #isClosing(): boolean {
    return this.#closing !== undefined;
  }

  #hasEnded(): boolean {
    return this.#state === 'ended';
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
      this.#listener.onClosed(this.#lost('it ended', 'unknown'));
    };
  }

  #lost(why: string, outcome: CallErrorOutcome): HoldfastError {
    const message = `Expected the ${this.kind} transport to be open, but ${why}.`;
    return new HoldfastError('connection_lost', message, { outcome });
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

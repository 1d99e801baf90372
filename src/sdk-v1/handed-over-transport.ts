/**
 * The transport of a connected v1 client, shared between the client and Holdfast.
 *
 * Owns the handlers of that transport from `start` to `close`; the client's own are called through, and put back.
 *
 * - S1 Every response, progress and cancellation reaches the one that it is for, and nobody else.
 * - S2 Nothing is sent for the handshake: the client had it.
 * - S3 After `close` the transport is as it was before `start`.
 */
import type { McpTransport } from '../domain/config.ts';
import { HoldfastError } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';
import type { FromClientOptions } from './from-client.ts';
import { handshakeReply, methodNotFound } from './handshake.ts';
import type { V1Client, V1Transport } from './v1-client.ts';

type Frame = Readonly<Record<string, unknown>>;
type Handlers = Pick<V1Transport, 'onclose' | 'onerror' | 'onmessage'>;

/** What servers ask that Holdfast answers for the client. */
const questionMethods: ReadonlySet<unknown> = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list']);

/** The transports that are in Holdfast's hands. */
const handedOver = new WeakSet<object>();
let count = 0;

/** How many ids each of them has. Numbers, because servers that echo anything else wrongly exist. */
const idsEach = 1_000_000_000;

export class HandedOverTransport implements McpTransport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  readonly #client: V1Client;
  readonly #options: FromClientOptions;
  /** Added to the ids of Holdfast's requests on the wire: the client counts its own, from 0. */
  readonly #base: number;
  readonly #questions = new Set<unknown>();
  #transport: V1Transport | undefined;
  #before: Handlers = {};

  constructor(client: V1Client, options: FromClientOptions) {
    count += 1;
    this.#client = client;
    this.#options = options;
    this.#base = count * idsEach;
  }

  /** Whether the client is connected, and its handshake done. */
  get isConnected(): boolean {
    return this.#client.transport !== undefined && this.#client.getServerCapabilities() !== undefined;
  }

  get sessionId(): string | undefined {
    return this.#client.transport?.sessionId;
  }

  start(): Promise<void> {
    const { transport } = this.#client;
    if (transport === undefined || !this.isConnected) return Promise.reject(notConnected());
    if (handedOver.has(transport)) return Promise.reject(inUse());
    handedOver.add(transport);
    this.#transport = transport;
    const before = { onclose: transport.onclose, onerror: transport.onerror, onmessage: transport.onmessage };
    this.#before = before;
    transport.onmessage = (message: unknown, extra?: unknown) => this.#receive(message, extra);
    transport.onerror = (error) => {
      before.onerror?.(error);
      this.onerror?.(error);
    };
    transport.onclose = () => {
      this.#letGo();
      before.onclose?.();
      this.onclose?.();
    };
    return Promise.resolve();
  }

  async send(message: Frame, options?: object): Promise<void> {
    const transport = this.#transport;
    if (transport === undefined) throw notConnected();
    const local = handshakeReply(message, this.#client, transport);
    if (local === 'nothing') return;
    if (local !== undefined) this.onmessage?.(messageOf(local));
    else if (message['method'] === 'server/discover') this.onmessage?.(messageOf(methodNotFound(message)));
    else await transport.send(messageOf(this.#outward(message)), messageOf(options));
  }

  async close(): Promise<void> {
    const wasOpen = this.#transport !== undefined;
    this.#letGo();
    if (wasOpen && this.#options.close === true) await this.#client.close();
  }

  #letGo(): void {
    const transport = this.#transport;
    if (transport === undefined) return;
    this.#transport = undefined;
    handedOver.delete(transport);
    const { onclose, onerror, onmessage } = this.#before;
    Object.assign(transport, { onclose, onerror, onmessage });
  }

  /** Gives a message to whom it is for (S1). */
  #receive(message: unknown, extra: unknown): void {
    const own = isRecord(message) ? this.#inward(message) : 'client';
    if (own !== 'client') this.onmessage?.(messageOf(own === 'both' ? message : own), messageOf(extra));
    if (own === 'client' || own === 'both') this.#before.onmessage?.(messageOf(message), messageOf(extra));
  }

  /** The message as Holdfast knows it; or that it is for the client, or for both. */
  #inward(message: Frame): Frame | 'client' | 'both' {
    const { id, method } = message;
    if (method === undefined) {
      const own = this.#ownId(id);
      return own === undefined ? 'client' : { ...message, id: own };
    }
    const params = isRecord(message['params']) ? message['params'] : {};
    if (id !== undefined) {
      if (!this.#asksHoldfast(method)) return 'client';
      this.#questions.add(id);
      return message;
    }
    if (method === 'notifications/cancelled') return this.#questions.delete(params['requestId']) ? message : 'client';
    if (method !== 'notifications/progress') return 'both';
    const token = this.#ownId(params['progressToken']);
    return token === undefined ? 'client' : { ...message, params: { ...params, progressToken: token } };
  }

  #asksHoldfast(method: unknown): boolean {
    if (this.#options.questions === 'client' || typeof method !== 'string' || !questionMethods.has(method))
      return false;
    return method === 'elicitation/create' || !this.#clientAnswers(method);
  }

  #clientAnswers(method: string): boolean {
    try {
      this.#client.assertCanSetRequestHandler(method);
      return false;
    } catch {
      // The SDK says by throwing that there is a handler.
      return true;
    }
  }

  /** A message of Holdfast as it goes over the client's connection. */
  #outward(message: Frame): Frame {
    const { id, method } = message;
    if (method === undefined) {
      this.#questions.delete(id);
      return message;
    }
    const params = isRecord(message['params']) ? message['params'] : undefined;
    if (id !== undefined) {
      const meta = isRecord(params?.['_meta']) ? params['_meta'] : undefined;
      const marked = { ...message, id: this.#wireId(id) };
      if (meta?.['progressToken'] === undefined) return marked;
      return {
        ...marked,
        params: { ...params, _meta: { ...meta, progressToken: this.#wireId(meta['progressToken']) } },
      };
    }
    if (method !== 'notifications/cancelled') return message;
    return { ...message, params: { ...params, requestId: this.#wireId(params?.['requestId']) } };
  }

  #wireId(id: unknown): unknown {
    return typeof id === 'number' ? this.#base + id : id;
  }

  #ownId(id: unknown): number | undefined {
    const own = typeof id === 'number' ? id - this.#base : -1;
    return own >= 0 && own < idsEach ? own : undefined;
  }
}

/** Hands a value on to a handler or transport of an SDK, unread: the shapes are the same, and named otherwise there. */
function messageOf(message: unknown): never {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place where values pass between the SDKs
  return message as never;
}

function notConnected(): HoldfastError {
  return new HoldfastError(
    'server_unavailable',
    'Expected the v1 client of this server to be connected, and it is not. Holdfast cannot connect it: replace the runtime with a client that is.',
    { retryable: false, outcome: 'not-sent' },
  );
}

function inUse(): HoldfastError {
  return new HoldfastError(
    'server_unavailable',
    'Expected a v1 client that is not handed over yet, and this one is in use by another server or thread. Close that first, or connect a client for each.',
    { retryable: false, outcome: 'not-sent' },
  );
}

/**
 * One JSON-RPC conversation over one wire transport, shared by Holdfast and the SDK client of the connection.
 *
 * Owns the transport and who gets what comes in: Holdfast's own requests, questions, notices, the SDK client.
 * C2 a sink is never called while `request` runs.
 * C4 when the conversation ends, every pending request fails before anyone is told of the end; nothing is told after.
 */
import type {
  JSONRPCMessage,
  MessageExtraInfo,
  RequestId,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import { isTooDeep, maxDepth } from '../domain/depth.ts';
import { messageOf, toFailure } from '../domain/errors.ts';
import type { Failure, HoldfastError } from '../domain/errors.ts';
import { isRecord, shown } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ClientOffer, LinkHandlers, QuestionReply, RequestKey, WireRequest } from '../domain/link.ts';
import type { Envelope } from './client-identity.ts';
import { settlesWithin } from './deadline.ts';
import { recoded, toWireError } from './errors.ts';
import { WireError, say } from './wire-error.ts';
import { Notices } from './notices.ts';
import { QuestionBook } from './questions.ts';
import { RequestTable } from './request-table.ts';
import type { ChannelStats, WireSink } from './request-table.ts';
import type { WireListener, WireSendOptions, WireTransport } from './transports/transport.ts';
import { isCancellation, isRefused, parseFrame, parseObject, parseRpcError, rpcCodes } from './wire.ts';

export interface ChannelOptions {
  readonly server: string;
  readonly offer: ClientOffer;
  /** Guarded: they never throw. */
  readonly handlers: LinkHandlers;
  /** Makes the transport; called once, by the constructor. */
  readonly transport: (listener: WireListener) => WireTransport;
  /** The conversation ended, by the server or by `close`. Called once, after every pending request failed. */
  readonly onEnd: (failure: Failure, closedHere: boolean) => void;
  /** Everything the conversation was made of is gone: `close` is about to resolve. */
  readonly onGone?: () => void;
}

/** How long closing waits for a legacy HTTP server to hear that its requests are cancelled. */
const farewellMs = 500;

export class Channel implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;

  readonly wire: WireTransport;
  /** One HTTP exchange a request: read by the SDK client and by {@link Channel.cancel}. */
  readonly hasPerRequestStream: boolean;
  readonly #options: ChannelOptions;
  readonly #requests: RequestTable;
  readonly #questions: QuestionBook;
  readonly #notices: Notices;
  readonly #sdkRequests = new Set<RequestId>();
  #envelope: Envelope | undefined;
  #writing = 0;
  #started: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #end: WireError | undefined;
  #fault: HoldfastError | undefined;

  constructor(options: ChannelOptions) {
    const { handlers, offer } = options;
    this.#options = options;
    this.#requests = new RequestTable(options.server, handlers.onWarning.bind(handlers));
    this.#notices = new Notices(handlers);
    this.#questions = new QuestionBook({
      offer,
      handlers,
      inFlight: () => this.#requests.size,
      respond: (id, reply) => {
        this.#write({ jsonrpc: '2.0', id, ...reply });
      },
    });
    this.wire = options.transport({
      onMessage: this.#receive,
      onRequestFailed: (id, error) => {
        this.#requestFailed(id, error);
      },
      onWarning: handlers.onWarning.bind(handlers),
      onClosed: (error) => {
        this.#finish(toWireError(error, { server: options.server, expected: 'an open connection' }), false);
      },
    });
    this.hasPerRequestStream = this.wire.hasPerRequestStream;
  }

  /** The legacy HTTP session, as the SDK client wants to know it. */
  get sessionId(): string | undefined {
    return this.wire.sessionId;
  }

  /** Why the conversation ended, once it has. */
  get end(): WireError | undefined {
    return this.#end;
  }

  /** The error that cost the SDK client a request or the connection: says more than what the SDK throws for it. */
  get fault(): HoldfastError | undefined {
    return this.#fault;
  }

  get isIdle(): boolean {
    return this.#requests.size === 0;
  }

  get stats(): ChannelStats {
    return this.#requests.stats;
  }

  /** Starts the transport, once; later calls return the same promise. */
  start(): Promise<void> {
    this.#started ??= this.wire.start();
    return this.#started;
  }

  setProtocolVersion(version: string): void {
    this.wire.setProtocolVersion(version);
  }

  /** Every request carries this from now on, and requests of the server are dropped: the connection is modern. */
  setEnvelope(envelope: Envelope): void {
    this.#envelope = envelope;
  }

  /** A frame of the SDK client. */
  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    // The end of its own stream has said that already.
    if (this.#envelope !== undefined && this.hasPerRequestStream && isCancellation(message)) return;
    if ('method' in message && 'id' in message) this.#sdkRequests.add(message.id);
    try {
      await this.wire.send(message, options);
    } catch (error) {
      if ('id' in message && message.id !== undefined) this.#sdkRequests.delete(message.id);
      throw error;
    }
  }

  /** Sends a request of Holdfast and returns at once. */
  request(request: WireRequest, sink: WireSink, headers?: Readonly<Record<string, string>>): RequestKey {
    const id = this.#requests.add(request.method, sink);
    if (this.#end !== undefined) {
      const error = recoded(this.#end, this.#end.code, { outcome: 'not-sent' });
      queueMicrotask(() => {
        if (this.#requests.drop(id) !== undefined) this.#requests.tell(sink, error);
      });
      return String(id);
    }
    const frame = {
      jsonrpc: '2.0',
      id,
      method: request.method,
      params: this.#paramsOf(request.params, sink.onProgress === undefined ? undefined : id),
    };
    if (this.hasPerRequestStream) {
      this.#write(
        frame,
        { requestSignal: this.#requests.openStream(id), ...(headers === undefined ? {} : { headers }) },
        id,
      );
    } else {
      this.#write(frame, undefined, id);
    }
    return String(id);
  }

  /** Forgets a request and tells the server. The result that may still come is dropped and counted. */
  cancel(key: RequestKey): void {
    const id = Number(key);
    const dropped = this.#requests.drop(id);
    if (dropped === undefined || this.#end !== undefined) return;
    const { stream } = dropped;
    if (this.#envelope !== undefined && stream !== undefined) stream.abort();
    // A legacy server does not take a closed stream for a cancellation: it is told first, then the socket is freed.
    else void this.#tellCancelled(id).then(() => stream?.abort());
  }

  /** Goes on hearing the progress of a request that has its result. The returned function ends it. */
  followProgress(key: RequestKey, onProgress: NonNullable<WireSink['onProgress']>): () => void {
    return this.#requests.follow(Number(key), onProgress);
  }

  /** A notification to the server. */
  notify(method: string, params?: JsonObject): void {
    if (this.#end === undefined) this.#write({ jsonrpc: '2.0', method, params: this.#paramsOf(params) });
  }

  /** Answers a question of the server. */
  answer(id: string | number, reply: QuestionReply): void {
    this.#questions.answer(id, reply);
  }

  /** The link is about to be listed: list changes the server told before are in that listing. */
  forgetListChanges(): void {
    this.#notices.forget();
  }

  /** The owner has its link: it hears of list changes from now on, those since the listing included. */
  releaseListChanges(): void {
    if (this.#end === undefined) this.#notices.release();
  }

  /** Says that a list may have changed although no notification came: a subscription was lost for a while. */
  listMayHaveChanged(kind: Parameters<LinkHandlers['onListChanged']>[0]): void {
    if (this.#end === undefined) this.#notices.changed(kind);
  }

  /** Says the same of a resource that is subscribed to. */
  resourceMayHaveChanged(uri: string): void {
    if (this.#end === undefined) this.#notices.updated(uri);
  }

  /** Ends the conversation: fails what is pending, tells a legacy HTTP server, ends the transport. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    const isLegacyHttp = this.hasPerRequestStream && this.#envelope === undefined;
    const abandoned = this.#end === undefined && isLegacyHttp ? this.#requests.ids() : [];
    this.#finish(
      new WireError('connection_lost', this.#say('an open connection', 'its end: it was closed here'), {
        outcome: 'unknown',
      }),
      true,
    );
    if (abandoned.length > 0)
      await settlesWithin(Promise.all(abandoned.map((id) => this.#tellCancelled(id))), farewellMs);
    this.#requests.abortAll();
    await this.wire.close();
    this.#options.onGone?.();
  }

  #paramsOf(params: JsonObject | undefined, progressToken?: number): object | undefined {
    if (this.#envelope === undefined && progressToken === undefined) return params;
    const meta = parseObject(params?.['_meta']);
    return {
      ...params,
      _meta: { ...this.#envelope, ...meta, ...(progressToken === undefined ? {} : { progressToken }) },
    };
  }

  /** Writes a frame. What is sent back before this returns waits for a microtask (C2). */
  #write(frame: object, options?: WireSendOptions, id?: number): void {
    this.#writing++;
    try {
      this.wire.send(parseFrame(frame), options).then(undefined, (error: unknown) => {
        this.#sendFailed(error, id);
      });
    } catch (error) {
      queueMicrotask(() => {
        this.#sendFailed(error, id);
      });
    } finally {
      this.#writing--;
    }
  }

  async #tellCancelled(id: number): Promise<void> {
    try {
      const params = this.#paramsOf({ requestId: id, reason: 'cancelled' });
      await this.wire.send(parseFrame({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
    } catch (error) {
      if (this.#end === undefined) this.#warn('transport_error', messageOf(error));
    }
  }

  readonly #receive = (message: unknown, requestId?: RequestId): void => {
    if (this.#end !== undefined) return;
    if (this.#writing > 0) {
      queueMicrotask(() => {
        this.#receive(message, requestId);
      });
      return;
    }
    if (Array.isArray(message)) {
      for (const each of message) if (!Array.isArray(each)) this.#receive(each, requestId);
      return;
    }
    if (!isRecord(message)) {
      this.#warn('invalid_message', this.#say('a JSON-RPC message', message === null ? 'null' : `a ${typeof message}`));
      return;
    }
    const { id, method } = message;
    if (typeof method !== 'string') this.#response(id, message);
    else if (id === undefined) this.#notification(method, message);
    else this.#inboundRequest(id, method, message, requestId);
  };

  #response(id: unknown, message: Readonly<Record<string, unknown>>): void {
    if (this.#requests.settle(id, message)) return;
    if ((typeof id === 'number' || typeof id === 'string') && this.#sdkRequests.delete(id)) {
      this.#answerSdk(id, message);
    } else if (this.#requests.owns(id)) {
      this.#requests.stats.lateResults++;
    } else {
      this.#requests.stats.unknownResults++;
      this.#warn(
        'unknown_response',
        this.#say('responses to open requests', `one for ${id === undefined ? 'no request' : shown(id)}`),
      );
    }
  }

  /** The SDK client waits for ever when a response is not of the shape it knows. */
  #answerSdk(id: RequestId, response: Readonly<Record<string, unknown>>): void {
    const { result, error } = response;
    if (isRefused(response)) {
      this.#toSdk({ jsonrpc: '2.0', id, error: parseRpcError(error) });
    } else if (isTooDeep(result)) {
      this.#failSdk(id, new WireError('protocol_error', this.#say('a result', `one of over ${maxDepth} levels`)));
    } else if (parseObject(result) !== undefined) {
      this.#toSdk({ jsonrpc: '2.0', id, result });
    } else {
      const kind = result === null ? 'null' : Array.isArray(result) ? 'array' : typeof result;
      this.#failSdk(id, new WireError('protocol_error', this.#say('a result', `one that is no object (${kind})`)));
    }
  }

  #failSdk(id: RequestId, error: HoldfastError): void {
    this.#fault = error;
    this.#toSdk({ jsonrpc: '2.0', id, error: { code: rpcCodes.serverBusy, message: error.message } });
  }

  #notification(method: string, message: Readonly<Record<string, unknown>>): void {
    const params = parseObject(message['params']) ?? {};
    if (method === 'notifications/progress') {
      this.#requests.progress(params);
      return;
    }
    if (method === 'notifications/cancelled' && this.#questions.withdraw(params['requestId'], params['reason'])) return;
    if (!this.#notices.take(method, params)) this.#toSdk(message);
  }

  #inboundRequest(
    id: unknown,
    method: string,
    message: Readonly<Record<string, unknown>>,
    requestId: RequestId | undefined,
  ): void {
    if (typeof id !== 'number' && typeof id !== 'string') {
      this.#warn('invalid_message', this.#say('a number or string as request id', shown(id)));
    } else if (this.#envelope !== undefined) {
      this.#warn('request_dropped', this.#say('no requests from a server of the modern era', `"${method}"`));
    } else if (this.#questions.accepts(method)) {
      this.#questions.ask(id, method, message['params'], this.#requests.has(requestId) ? String(requestId) : undefined);
    } else {
      this.#toSdk(message);
    }
  }

  #toSdk(message: object): void {
    try {
      this.onmessage?.(parseFrame(message));
    } catch (error) {
      this.#warn('invalid_message', this.#say('a JSON-RPC message', messageOf(error)));
    }
  }

  #requestFailed(id: RequestId, error: HoldfastError): void {
    if (this.#requests.owns(id)) this.#requests.fail(id, error, this.sessionId !== undefined);
    else if (this.#sdkRequests.delete(id)) this.#failSdk(id, error);
  }

  #sendFailed(error: unknown, id: number | undefined): void {
    if (id !== undefined) this.#requests.fail(id, error, this.sessionId !== undefined);
    else if (this.#end === undefined) this.#warn('transport_error', messageOf(error));
  }

  #finish(error: WireError, closedHere: boolean): void {
    if (this.#end !== undefined) return;
    this.#end = error;
    if (!closedHere) this.#fault ??= error;
    this.#sdkRequests.clear();
    this.#questions.clear();
    this.#notices.clear();
    this.#requests.failAll(error);
    try {
      this.onclose?.();
    } finally {
      this.#options.onEnd(toFailure(error), closedHere);
    }
  }

  #say(expected: string, got: string): string {
    return say({ server: this.#options.server, expected }, got);
  }

  #warn(code: string, message: string): void {
    this.#options.handlers.onWarning(code, message);
  }
}

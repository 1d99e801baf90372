/**
 * Requests that are no tool calls: refused here when the server never offered them, and the two eras of subscriptions.
 *
 * Owns what is settled here and not by a response. O1 a sink hears at most once, and nothing once it is cancelled.
 */
import type { Client } from '@modelcontextprotocol/client';
import { toFailure } from '../domain/errors.ts';
import type { Failure } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';
import type { LinkInfo, RequestFailure, RequestKey, RequestSink, WireRequest } from '../domain/link.ts';
import type { Channel } from './channel.ts';
import { toWireError } from './errors.ts';
import { WireError, say } from './wire-error.ts';
import { ListenStream } from './subscription.ts';
import type { Warn } from './warnings.ts';
import { clip, rpcCodes } from './wire.ts';

export interface OtherRequestsOptions {
  readonly server: string;
  readonly channel: Channel;
  readonly client: Client;
  readonly warn: Warn;
  readonly info: LinkInfo;
  /** Aborted once the conversation is over. */
  readonly ended: AbortSignal;
}

/** The capability a server has to announce for a request. Requests that are not here go to any server. */
const capabilityOf: Readonly<Record<string, string>> = {
  'tools/list': 'tools',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
  'resources/read': 'resources',
  'resources/subscribe': 'resources',
  'resources/unsubscribe': 'resources',
  'prompts/list': 'prompts',
  'prompts/get': 'prompts',
  'completion/complete': 'completions',
};

/** The first revision with the capability `completions`. Revisions are dates, so they compare as text. */
const firstWithCompletions = '2025-03-26';

const subscriptionMethods: ReadonlySet<string> = new Set(['resources/subscribe', 'resources/unsubscribe']);

export class OtherRequests {
  /** The resources whose updates this link was asked for, and is told. */
  readonly subscribed = new Set<string>();
  readonly #options: OtherRequestsOptions;
  /** Of modern servers: subscriptions are no requests there. */
  readonly #stream: ListenStream | undefined;
  readonly #local = new Set<RequestKey>();
  #count = 0;

  constructor(options: OtherRequestsOptions) {
    this.#options = options;
    const { info, ended } = options;
    if (info.era !== 'modern' || ended.aborted) return;
    const stream = new ListenStream({ ...options, capabilities: info.capabilities });
    this.#stream = stream;
    ended.addEventListener('abort', () => {
      stream.stop();
    });
  }

  /** Hears the list changes of a modern server until the conversation is over. */
  startListening(): void {
    this.#stream?.start();
  }

  send(request: WireRequest, sink: RequestSink): RequestKey {
    const missing = this.#missing(request.method);
    if (missing !== undefined) return this.#settleHere(Promise.reject(missing), sink);
    const isSubscription = subscriptionMethods.has(request.method);
    const given = request.params?.['uri'];
    const uri = typeof given === 'string' ? given : '';
    const stream = this.#stream;
    if (isSubscription && stream !== undefined) {
      const isMore = request.method === 'resources/subscribe';
      const changed = isMore ? stream.subscribe(uri) : stream.unsubscribe(uri);
      return this.#settleHere(
        changed.then(() => {
          this.#noteSubscription(request.method, uri);
        }),
        sink,
      );
    }
    return this.#options.channel.request(request, {
      ...(sink.onProgress === undefined ? {} : { onProgress: sink.onProgress.bind(sink) }),
      onResult: (result) => {
        if (isSubscription) this.#noteSubscription(request.method, uri);
        sink.onResult(result);
      },
      onFailure: (failed) => {
        sink.onFailure(this.#explained(request.method, failed));
      },
    });
  }

  /** Whether a request is one of these; it is forgotten then. */
  cancel(key: RequestKey): boolean {
    return this.#local.delete(key);
  }

  #noteSubscription(method: string, uri: string): void {
    if (method === 'resources/subscribe') this.subscribed.add(uri);
    else this.subscribed.delete(uri);
  }

  #settleHere(settled: Promise<unknown>, sink: RequestSink): RequestKey {
    this.#count += 1;
    const key = `here-${String(this.#count)}`;
    this.#local.add(key);
    const ifWanted = (tell: () => void): void => {
      if (this.#local.delete(key)) tell();
    };
    settled.then(
      () => {
        ifWanted(() => {
          sink.onResult({});
        });
      },
      (error: unknown) => {
        ifWanted(() => {
          sink.onFailure({ failure: this.#failureOf(error) });
        });
      },
    );
    return key;
  }

  #failureOf(error: unknown): Failure {
    return toFailure(toWireError(error, { server: this.#options.server, expected: 'to subscribe' }));
  }

  /** Why a server is not asked at all. */
  #missing(method: string): WireError | undefined {
    const name = Object.hasOwn(capabilityOf, method) ? capabilityOf[method] : undefined;
    if (name === undefined) return undefined;
    const { capabilities, protocolVersion } = this.#options.info;
    // Older servers had no way to announce completions.
    if (name === 'completions' && protocolVersion < firstWithCompletions) return undefined;
    const capability = capabilities[name];
    if (!isRecord(capability)) return this.#notOffered(method, `"${name}"`);
    if (subscriptionMethods.has(method) && capability['subscribe'] !== true)
      return this.#notOffered(method, 'subscriptions to resources');
    return undefined;
  }

  #notOffered(method: string, what: string): WireError {
    const context = { server: this.#options.server, expected: `a server that offers ${what}, for "${method}"` };
    const message = say(context, 'one that does not', 'It was not asked');
    return new WireError('unsupported', message, { retryable: false, outcome: 'not-sent' });
  }

  /** A server that announces what it then does not know says so about itself, not about the request. */
  #explained(method: string, failed: RequestFailure): RequestFailure {
    const name = Object.hasOwn(capabilityOf, method) ? capabilityOf[method] : undefined;
    if (failed.rpc?.code !== rpcCodes.methodNotFound || name === undefined) return failed;
    const context = { server: this.#options.server, expected: `a result of "${method}", for it announces "${name}"` };
    const got = `error ${String(failed.rpc.code)} (${clip(failed.rpc.message)})`;
    const message = say(context, got, 'This is a fault of the server');
    return { ...failed, failure: { ...failed.failure, message, retryable: false } };
  }
}

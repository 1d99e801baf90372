/** What a thread asks of servers outside its steps, and tells of them. What is rarely used is loaded by the first who does. */
import type { ReadOptions, ReadyOptions, RequestOptions, ResourceClient } from './api.ts';
import type { Effects } from './actors/effects.ts';
import { closedError } from './actors/publications.ts';
import { checkName } from './check-arguments.ts';
import { checkWait } from './check-requests.ts';
import type { JsonObject } from './domain/json.ts';
import type { ThreadSnapshot } from './domain/snapshot.ts';
import type { StatusOptions, ThreadStatus } from './domain/status.ts';
import type { CallInput } from './machines/call-context.ts';
import { runtimeId } from './machines/thread.ts';
import type { ResourceReads } from './resource-client.ts';
import { throughCache } from './remembered-results.ts';
import { ServerRequester } from './server-requests.ts';
import type { SendRequest } from './server-requests.ts';
import { newCall, plannedServer, requestInput } from './step.ts';

/** How several servers are asked at once, all of one runtime. */
export interface Gathering {
  readonly effects: Effects;
  together<TResult>(run: (request: SendRequest) => Promise<TResult>, options: RequestOptions): Promise<TResult>;
}

let threads = 0;

/** The requests of a thread, which go to its current runtime and hold it while they run. */
export abstract class CurrentRequester extends ServerRequester {
  protected abstract get effects(): Effects;
  #resources: ResourceClient | undefined;

  #calls = 0;

  abstract ready(options?: ReadyOptions): Promise<void>;
  abstract snapshot(): ThreadSnapshot;
  /** Makes the actor of a request. */
  protected abstract beginRequest(input: CallInput): void;

  get resources(): ResourceClient {
    this.#resources ??= this.#makeClient();
    return this.#resources;
  }

  async subscribeResource(server: string, uri: string, options: RequestOptions = {}): Promise<void> {
    checkName(uri, 'the uri of a resource');
    checkWait(options, 'subscribeResource');
    await this.whenReady(options);
    const { effects } = this;
    plannedServer(effects, effects.publications.current, server);
    if (effects.subscriptions?.isInForce(server, uri) === true) return;
    const { Subscriptions } = await import('./actors/subscriptions.ts');
    effects.subscriptions ??= new Subscriptions(effects);
    await effects.subscriptions.begin(server, uri, () => this.request(server, 'resources/subscribe', { uri }, options));
  }

  async unsubscribeResource(server: string, uri: string, options: RequestOptions = {}): Promise<void> {
    checkName(server, 'the name of a server');
    checkName(uri, 'the uri of a resource');
    checkWait(options, 'unsubscribeResource');
    await this.whenReady(options);
    // A server that is away has forgotten it, and is not asked again when it is back.
    if (this.effects.subscriptions?.remove(server, uri) === true)
      await this.request(server, 'resources/unsubscribe', { uri }, options);
  }

  async status(options: StatusOptions = {}): Promise<ThreadStatus> {
    const { statusOf } = await import('./status.ts');
    return statusOf(this.snapshot(), this.#gathering(), options);
  }

  protected async request(
    server: string,
    method: string,
    params: JsonObject,
    options: RequestOptions = {},
  ): Promise<JsonObject> {
    checkWait(options, method);
    await this.whenReady(options);
    return this.requestOf(this.effects.publications.current, server, method, params, options);
  }

  /** Several requests that belong together go to one runtime, which they hold until the last is answered. */
  protected override async together<TResult>(
    run: (request: SendRequest) => Promise<TResult>,
    options: RequestOptions,
  ): Promise<TResult> {
    await this.whenReady(options);
    const { effects } = this;
    const generation = effects.publications.current;
    const id = this.nextCallId();
    effects.lookUp(runtimeId(generation))?.send({ type: 'runtime.hold', id, kind: 'request' });
    try {
      return await run((server, method, params, given = {}) =>
        this.requestOf(generation, server, method, params, given),
      );
    } finally {
      effects.lookUp(runtimeId(generation))?.send({ type: 'runtime.release', id });
    }
  }

  /** Sends one request to a server of one runtime. */
  protected async requestOf(
    generation: number,
    server: string,
    method: string,
    params: JsonObject,
    options: RequestOptions,
  ): Promise<JsonObject> {
    const { effects } = this;
    if (effects.publications.isClosed) throw closedError();
    const planned = plannedServer(effects, generation, server);
    const input = requestInput(this.nextCallId(), planned, generation, method, params, options);
    return effects.calls.start(newCall(input, planned, options), (given) => {
      this.beginRequest(given);
    });
  }

  protected nextCallId(): string {
    this.#calls += 1;
    return `call-${String(this.#calls)}`;
  }

  protected override async cached(
    server: string,
    method: string,
    params: JsonObject,
    options: ReadOptions,
    send: () => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const { effects } = this;
    checkWait(options, method);
    if (effects.publications.current === 0) await this.whenReady(options);
    if (effects.publications.isClosed) return send();
    return throughCache(effects, effects.publications.current, { server, method, params, options, send });
  }

  /** Resolves when a runtime is current and the thread is open. */
  protected async whenReady({ signal }: RequestOptions): Promise<void> {
    const { current, isClosed } = this.effects.publications;
    if (current === 0 || isClosed) await this.ready(signal === undefined ? {} : { signal });
  }

  #gathering(): Gathering {
    return { effects: this.effects, together: (run, options) => this.together(run, options) };
  }

  /** What checks resources and lists those of all servers. */
  async #reads(): Promise<ResourceReads> {
    const { createReads } = await import('./resource-client.ts');
    return createReads(this, this.#gathering());
  }

  #makeClient(): ResourceClient {
    threads += 1;
    // No two threads of a process have the same key, and a text keeps nothing alive.
    const prefix = `${String(process.pid)}.${String(threads)}`;
    const { publications, servers } = this.effects;
    return Object.freeze<ResourceClient>({
      get cacheKey() {
        return `${prefix}.${String(publications.current)}`;
      },
      has: (server) => servers.resolve(publications.current, server)?.connection !== undefined,
      list: async (...given) => (await this.#reads()).list(...given),
      listTemplates: async (...given) => (await this.#reads()).listTemplates(...given),
      listAll: async (...given) => (await this.#reads()).listAll(...given),
      listAllTemplates: async (...given) => (await this.#reads()).listAllTemplates(...given),
      read: async (...given) => (await this.#reads()).read(...given),
    });
  }
}

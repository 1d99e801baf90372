/** Requests to one server other than tool calls: the same for a step, which pins them, and for a thread. */
import type { ListOptions, ReadOptions, RequestOptions, ServerRequests } from './api.ts';
import { checkName } from './check-arguments.ts';
import { toJson } from './domain/json.ts';
import type { JsonObject } from './domain/json.ts';
import { followPages } from './mcp/listing.ts';
import { PagesLife } from './remembered-results.ts';

/** Sends one request to a server; resolves with its result. */
export type SendRequest = (
  server: string,
  method: string,
  params: JsonObject,
  options?: RequestOptions,
) => Promise<JsonObject>;

/** Makes the requests over one way of sending. */
export abstract class ServerRequester implements ServerRequests {
  /** Sends one request to a server; resolves with its result. */
  protected abstract request(
    server: string,
    method: string,
    params: JsonObject,
    options?: RequestOptions,
  ): Promise<JsonObject>;

  /** Gives what was kept of an earlier result, or sends and keeps it. */
  protected cached(
    _server: string,
    _method: string,
    _params: JsonObject,
    _options: ReadOptions,
    send: () => Promise<JsonObject>,
  ): Promise<JsonObject> {
    return send();
  }

  /** Runs several requests that must go to the same runtime. */
  protected together<TResult>(
    run: (request: SendRequest) => Promise<TResult>,
    _options: RequestOptions,
  ): Promise<TResult> {
    return run((server, method, params, options) => this.request(server, method, params, options));
  }

  listTools(server: string, options?: ListOptions): Promise<JsonObject> {
    return this.#list(server, 'tools/list', 'tools', options);
  }

  listResources(server: string, options?: ListOptions): Promise<JsonObject> {
    return this.#list(server, 'resources/list', 'resources', options);
  }

  listResourceTemplates(server: string, options?: ListOptions): Promise<JsonObject> {
    return this.#list(server, 'resources/templates/list', 'resourceTemplates', options);
  }

  listPrompts(server: string, options?: ListOptions): Promise<JsonObject> {
    return this.#list(server, 'prompts/list', 'prompts', options);
  }

  async readResource(server: string, uri: string, options: ReadOptions = {}): Promise<JsonObject> {
    checkName(uri, 'the uri of a resource');
    return this.cached(server, 'resources/read', { uri }, options, () =>
      this.#checked(server, 'resources/read', { uri }, options),
    );
  }

  async getPrompt(
    server: string,
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: RequestOptions,
  ): Promise<JsonObject> {
    checkName(name, 'the name of a prompt');
    return this.#checked(
      server,
      'prompts/get',
      { name, ...(args === undefined ? {} : { arguments: { ...args } }) },
      options,
    );
  }

  complete(server: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject> {
    return this.#checked(server, 'completion/complete', params, options);
  }

  #checked(server: string, method: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject> {
    return checked((...given) => this.request(...given), server, method, params, options);
  }

  async #list(server: string, method: string, key: string, options: ListOptions = {}): Promise<JsonObject> {
    const { cursor, all, ...rest } = options;
    const params = cursor === undefined ? {} : { cursor };
    if (all !== true)
      return this.cached(server, method, params, rest, () => this.#checked(server, method, params, rest));
    return this.cached(server, method, { all: true }, rest, () => this.#listAll(server, method, key, rest));
  }

  /** All pages as one, which counts as long as the first of them that is old. */
  async #listAll(server: string, method: string, key: string, options: RequestOptions): Promise<JsonObject> {
    const life = new PagesLife();
    const follow = (request: SendRequest): Promise<readonly unknown[]> =>
      followPages(async (page) => life.of(await checked(request, server, method, page.params ?? {}, options)), {
        server,
        method,
        key,
      });
    return { [key]: toJson(await this.together(follow, options)), ...life.all() };
  }
}

/** A request whose result must be of its shape, which is known once it is needed. */
async function checked(request: SendRequest, ...given: Parameters<SendRequest>): Promise<JsonObject> {
  const [server, method] = given;
  const result = await request(...given);
  const { checkShape } = await import('./result-shapes.ts');
  checkShape(method, server, result);
  return result;
}

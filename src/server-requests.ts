/** Requests to one server other than tool calls: the same for a step, which pins them, and for a thread. */
import type { ListOptions, RequestOptions, ServerRequests } from './api.ts';
import { checkName } from './check-arguments.ts';
import { toJson } from './domain/json.ts';
import type { JsonObject } from './domain/json.ts';
import { followPages } from './mcp/listing.ts';

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

  async readResource(server: string, uri: string, options?: RequestOptions): Promise<JsonObject> {
    checkName(uri, 'the uri of a resource');
    return this.request(server, 'resources/read', { uri }, options);
  }

  async getPrompt(
    server: string,
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: RequestOptions,
  ): Promise<JsonObject> {
    checkName(name, 'the name of a prompt');
    return this.request(
      server,
      'prompts/get',
      { name, ...(args === undefined ? {} : { arguments: { ...args } }) },
      options,
    );
  }

  complete(server: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject> {
    return this.request(server, 'completion/complete', params, options);
  }

  async #list(server: string, method: string, key: string, options: ListOptions = {}): Promise<JsonObject> {
    const { cursor, all, ...rest } = options;
    if (all !== true) return this.request(server, method, cursor === undefined ? {} : { cursor }, rest);
    const follow = (request: SendRequest): Promise<readonly unknown[]> =>
      followPages((page) => request(server, page.method, page.params ?? {}, rest), { server, method, key });
    return { [key]: toJson(await this.together(follow, rest)) };
  }
}

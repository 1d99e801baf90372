/** Requests to one server other than tool calls: the same for a step, which pins them, and for a thread. */
import type { ListOptions, RequestOptions, ServerRequests } from './api.ts';
import { checkName } from './check-arguments.ts';
import { followPages } from './mcp/listing.ts';
import type { Json, JsonObject } from './domain/json.ts';

/** Sends one request to a server; resolves with its result. */
export type SendRequest = (
  server: string,
  method: string,
  params: JsonObject,
  options?: RequestOptions,
) => Promise<JsonObject>;

/** Makes the requests over one way of sending. */
export function serverRequests(send: SendRequest): ServerRequests {
  const list =
    (method: string, items: string) =>
    async (server: string, options: ListOptions = {}): Promise<JsonObject> => {
      const { cursor, all, ...rest } = options;
      if (all !== true) return send(server, method, cursor === undefined ? {} : { cursor }, rest);
      const listed = await followPages((page) => send(server, method, page.params ?? {}, rest), {
        server,
        method,
        key: items,
      });
      return { [items]: listed as readonly Json[] };
    };
  return {
    listTools: list('tools/list', 'tools'),
    listResources: list('resources/list', 'resources'),
    listResourceTemplates: list('resources/templates/list', 'resourceTemplates'),
    listPrompts: list('prompts/list', 'prompts'),
    async readResource(server, uri, options) {
      checkName(uri, 'the uri of a resource');
      return send(server, 'resources/read', { uri }, options);
    },
    async getPrompt(server, name, args, options) {
      checkName(name, 'the name of a prompt');
      return send(server, 'prompts/get', { name, ...(args === undefined ? {} : { arguments: { ...args } }) }, options);
    },
    async complete(server, params, options) {
      return send(server, 'completion/complete', params, options);
    },
  };
}

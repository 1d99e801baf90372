/** Resources of one or all servers, each item checked. Loaded by the first who asks. */
import type { ListAllOptions, ResourceClient, ServerRequests } from './api.ts';
import { checkName } from './check-arguments.ts';
import { checkWait } from './check-requests.ts';
import { HoldfastError, toFailure } from './domain/errors.ts';
import type { Failure } from './domain/errors.ts';
import { isRecord, shown } from './domain/json.ts';
import type { JsonObject } from './domain/json.ts';
import type {
  FromServer,
  ListedResource,
  ListedResourceTemplate,
  ResourceListing,
  ResourcePage,
  ResourceReadResult,
} from './domain/resource.ts';
import { followPages } from './mcp/listing.ts';
import type { Gathering } from './resource-requests.ts';
import type { SendRequest } from './server-requests.ts';

/** What can be listed of all servers, and what each item must have. */
const listings = {
  resources: { method: 'resources/list', needs: ['uri', 'name'] },
  resourceTemplates: { method: 'resources/templates/list', needs: ['uriTemplate', 'name'] },
  prompts: { method: 'prompts/list', needs: ['name'] },
} as const satisfies Record<string, { readonly method: string; readonly needs: readonly string[] }>;

interface Items {
  readonly resources: ListedResource;
  readonly resourceTemplates: ListedResourceTemplate;
  readonly prompts: JsonObject;
}

/** How long each server may take when all are asked. */
const listingTimeoutMs = 10_000;

/** The part of a client that sends requests. */
export type ResourceReads = Omit<ResourceClient, 'cacheKey' | 'has'>;

/** Makes the requests of a client over those of its thread. */
export function createReads(requests: ServerRequests, gathering: Gathering): ResourceReads {
  return {
    list: async (server, options) => readPage('resources', server, await requests.listResources(server, options)),
    listTemplates: async (server, options) =>
      readPage('resourceTemplates', server, await requests.listResourceTemplates(server, options)),
    listAll: async (options) => listAll('resources', gathering, options),
    listAllTemplates: async (options) => listAll('resourceTemplates', gathering, options),
    read: async (server, uri, options) => readContents(await requests.readResource(server, uri, options)),
  };
}

/** Reads one page, or all of one server. @throws HoldfastError `protocol_error` for an item that is none. */
function readPage<TKey extends keyof Items>(key: TKey, server: string, result: JsonObject): ResourcePage<Items[TKey]> {
  const { nextCursor } = result;
  const items = parseItems(key, server, result[key]);
  return { items, ...(typeof nextCursor === 'string' ? { nextCursor } : {}) };
}

/** Names what was checked where the result arrived. */
function readContents(result: JsonObject): ResourceReadResult {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every result of resources/read is checked on arrival
  return result as ResourceReadResult;
}

/** Lists all of one kind, of the servers that are named or of all, each within its own time. */
async function listAll<TKey extends keyof Items>(
  key: TKey,
  gathering: Gathering,
  options: ListAllOptions = {},
): Promise<ResourceListing<Items[TKey]>> {
  checkWait(options, 'listAll');
  const { servers: given, signal } = options;
  for (const server of given ?? []) checkName(server, 'the name of a server');
  return gathering.together(
    async (request) => {
      const names = given ?? namesOf(gathering);
      const listed = await Promise.all(names.map(async (server) => listOf(key, server, request, options)));
      if (signal?.aborted === true)
        throw new HoldfastError('aborted', `Listing "${key}" was aborted before every server had answered.`);
      const items = listed.flatMap(({ server, items: own }) =>
        own.map((item): FromServer<Items[TKey]> => ({ server, item })),
      );
      const failures = listed.flatMap(({ server, failure }) =>
        failure === undefined ? [] : [[server, failure] as const],
      );
      return { items, failures: Object.fromEntries(failures) };
    },
    signal === undefined ? {} : { signal },
  );
}

/** What one server has of a kind. One that does not offer it has none, which is no failure. Never rejects. */
export async function listOf<TKey extends keyof Items>(
  key: TKey,
  server: string,
  request: SendRequest,
  { timeoutMs = listingTimeoutMs, signal }: ListAllOptions,
): Promise<{ readonly server: string; readonly items: readonly Items[TKey][]; readonly failure?: Failure }> {
  const { method } = listings[key];
  const given = { timeoutMs, ...(signal === undefined ? {} : { signal }) };
  try {
    const page = (asked: { readonly method: string; readonly params?: JsonObject }): Promise<JsonObject> =>
      request(server, asked.method, asked.params ?? {}, given);
    return { server, items: parseItems(key, server, await followPages(page, { server, method, key })) };
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'unsupported') return { server, items: [] };
    return { server, items: [], failure: toFailure(error) };
  }
}

/** The servers of the current runtime that are on, and those that cannot be, which say why. */
function namesOf({ effects }: Gathering): readonly string[] {
  const plan = effects.servers.planOf(effects.publications.current);
  if (plan === undefined) return [];
  const on = [...plan.servers.values()].filter(({ config }) => config.enabled !== false).map(({ server }) => server);
  return [...new Set([...on, ...Object.keys(plan.misconfigured)])];
}

/** Reads the entries of a listing as what they were just checked to be. */
function parseItems<TKey extends keyof Items>(key: TKey, server: string, value: unknown): readonly Items[TKey][] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  for (const [index, item] of list.entries()) {
    const missing = listings[key].needs.find((name) => !isRecord(item) || typeof item[name] !== 'string');
    if (missing === undefined) continue;
    const got = isRecord(item) ? shown(item[missing]) : shown(item);
    throw new HoldfastError(
      'protocol_error',
      `Server "${server}": expected "${missing}" of entry ${String(index)} of "${key}" to be a string, got ${got}. This is a fault of the server.`,
      { outcome: 'failed', issues: [{ path: `/${key}/${String(index)}/${missing}`, message: 'expected a string' }] },
    );
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each has what its kind needs
  return list as readonly Items[TKey][];
}

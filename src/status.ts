/** How the servers of a thread are (SPEC RE-3). Loaded by the first who asks; a plain call knows nothing of it. */
import type { LiveConnection } from './actors/servers.ts';
import { showsCached, shownTools } from './actors/known-tools.ts';
import { ConnectionStats } from './actors/connection-stats.ts';
import { checkTimeout, checkAbortSignal, checkOptions } from './check-arguments.ts';
import type { ToolSettings } from './domain/config.ts';
import { HoldfastError } from './domain/errors.ts';
import type { Failure } from './domain/errors.ts';
import { frozenCopy } from './domain/frozen.ts';
import { shown as asText } from './domain/json.ts';
import type { ServerSnapshot, ThreadSnapshot } from './domain/snapshot.ts';
import { statusDetails } from './domain/status.ts';
import type {
  ListingStatus,
  MissingTool,
  ServerStatus,
  StatusOptions,
  ThreadStatus,
  ToolCounts,
  ToolStatus,
} from './domain/status.ts';
import type { ListedTool } from './domain/tool.ts';
import { fingerprint } from './mcp/fingerprint.ts';
import { nameTools } from './mcp/names.ts';
import { isModelVisible, isToolAllowed } from './mcp/tool-view.ts';
import { listOf } from './resource-client.ts';
import type { Gathering } from './resource-requests.ts';
import { countsOf, latencyOf } from './status-numbers.ts';
import type { SendRequest } from './server-requests.ts';

/** @throws HoldfastError `invalid_argument` for options that are none, or a server there is not. */
export async function statusOf(
  snapshot: ThreadSnapshot,
  gathering: Gathering,
  options: StatusOptions,
): Promise<ThreadStatus> {
  checkStatus(options);
  const current = snapshot.servers.filter(({ generations }) => generations.includes(snapshot.generation));
  const removed = gathering.effects.servers.planOf(snapshot.generation)?.removed ?? {};
  const shown = current.length === 0 && snapshot.generation === 0 ? snapshot.servers : current;
  const entries = selected(shown, removed, options);
  const { detail = 'summary' } = options;
  if (detail !== 'full' || snapshot.generation === 0)
    return finished(
      gathering,
      snapshot,
      entries.map((entry) => statusOfServer(gathering, entry, snapshot, detail)),
    );
  const { signal } = options;
  return gathering.together(
    async (request) => {
      const servers = await Promise.all(
        entries.map(async (entry) => ({
          ...statusOfServer(gathering, entry, snapshot, detail),
          ...(await listingsOf(entry, request, options)),
        })),
      );
      if (signal?.aborted === true)
        throw new HoldfastError('aborted', 'The status was aborted before every server had answered.');
      return finished(gathering, snapshot, servers);
    },
    signal === undefined ? {} : { signal },
  );
}

function finished(
  { effects }: Gathering,
  { generation, plugins }: ThreadSnapshot,
  servers: readonly ServerStatus[],
): ThreadStatus {
  const removed = effects.servers.planOf(generation)?.removed ?? {};
  const status = {
    generation,
    servers,
    ...(Object.keys(removed).length === 0 ? {} : { removed }),
    ...(plugins === undefined ? {} : { plugins }),
  };
  return frozenCopy<ThreadStatus>(effects.redactor.value(status));
}

function statusOfServer(
  gathering: Gathering,
  entry: ServerSnapshot,
  snapshot: ThreadSnapshot,
  detail: NonNullable<StatusOptions['detail']>,
): ServerStatus {
  const { effects } = gathering;
  const connection = effects.servers.connection(entry.connection);
  const stats = connection?.stats ?? new ConnectionStats();
  const link = connection?.link;
  const tools = connection === undefined ? [] : toolsOf(gathering, connection, snapshot.generation);
  const latency = latencyOf(stats);
  const subscriptions = [...(link?.subscribed ?? [])];
  return {
    ...entry,
    ...(link === undefined ? {} : { capabilities: Object.keys(link.info.capabilities).toSorted() }),
    counts: countsOf(stats, link?.stats),
    ...(latency === undefined ? {} : { latency }),
    tools: toolCountsOf(tools, connection),
    ...(subscriptions.length === 0 ? {} : { subscriptions }),
    ...(detail === 'summary' ? {} : { toolList: tools }),
    ...(detail === 'full' && link?.info.instructions !== undefined ? { instructions: link.info.instructions } : {}),
  };
}

/** Every tool the server listed, those it listed to no use included. */
function toolsOf({ effects }: Gathering, connection: LiveConnection, generation: number): readonly ToolStatus[] {
  const settings = effects.servers.resolve(generation, connection.server)?.config.tools ?? connection.config.tools;
  const names = new Map(
    effects.servers
      .view(generation)
      .tools.filter(({ server }) => server === connection.server)
      .map((info) => [info.tool, info.name]),
  );
  const listed = shownTools(connection).map((tool): ToolStatus => {
    const name = names.get(tool.name);
    const missing = name === undefined ? whyMissing(tool, settings) : undefined;
    const isRenamed = name !== undefined && name !== plainName(connection.server, tool.name);
    return {
      tool: tool.name,
      ...(name === undefined ? {} : { name }),
      ...(isRenamed ? { renamed: true } : {}),
      ...(tool.title === undefined ? {} : { title: tool.title }),
      fingerprint: fingerprint(tool),
      ...(missing === undefined ? {} : { missing }),
    };
  });
  const dropped = connection.dropped.map(({ tool, reason }): ToolStatus => ({
    tool,
    missing: { reason: 'dropped', message: reason },
  }));
  return [...listed, ...dropped];
}

/** The name a tool gets when no other tool wants it and it is short enough. */
function plainName(server: string, tool: string): string | undefined {
  return nameTools([{ server, tool }], { maxLength: longestName }).names[0];
}

/** Longer than any name may be, so that only another tool or the limit of the thread makes a difference. */
const longestName = 128;

function whyMissing(tool: ListedTool, settings: ToolSettings | undefined): MissingTool | undefined {
  if (!isModelVisible(tool))
    return {
      reason: 'hidden',
      message: 'Its "_meta.ui.visibility" does not name the model. The server can change that.',
    };
  if (isToolAllowed(settings, tool.name)) return undefined;
  return settings?.deny?.includes(tool.name) === true
    ? { reason: 'denied', message: '"tools.deny" of its server names it. Take it out to show the tool.' }
    : { reason: 'notAllowed', message: '"tools.allow" of its server does not name it. Add it to show the tool.' };
}

function toolCountsOf(tools: readonly ToolStatus[], connection: LiveConnection | undefined): ToolCounts {
  const missing = (...reasons: readonly MissingTool['reason'][]): number =>
    tools.filter((tool) => tool.missing !== undefined && reasons.includes(tool.missing.reason)).length;
  return {
    listed: tools.length,
    shown: tools.filter(({ name }) => name !== undefined).length,
    denied: missing('denied', 'notAllowed'),
    hidden: missing('hidden'),
    dropped: missing('dropped'),
    ...(connection !== undefined && showsCached(connection) ? { cached: true } : {}),
  };
}

async function listingsOf(
  { name, state }: ServerSnapshot,
  request: SendRequest,
  options: StatusOptions,
): Promise<Pick<ServerStatus, 'resources' | 'resourceTemplates' | 'prompts'>> {
  // What is off, or has failed, has said why already.
  if (state !== 'ready' && state !== 'degraded') return {};
  const { timeoutMs, signal } = options;
  const given = { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(signal === undefined ? {} : { signal }) };
  const ask = async (key: 'resources' | 'resourceTemplates' | 'prompts'): Promise<ListingStatus> => {
    const { items, failure } = await listOf(key, name, request, given);
    return { count: items.length, items, ...(failure === undefined ? {} : { failure }) };
  };
  const [resources, resourceTemplates, prompts] = await Promise.all([
    ask('resources'),
    ask('resourceTemplates'),
    ask('prompts'),
  ]);
  return { resources, resourceTemplates, prompts };
}

function selected(
  servers: readonly ServerSnapshot[],
  removed: Readonly<Record<string, Failure>>,
  { servers: names }: StatusOptions,
): readonly ServerSnapshot[] {
  if (names === undefined) return servers;
  const unknown = names.find((name) => !servers.some((server) => server.name === name));
  if (unknown === undefined) return servers.filter(({ name }) => names.includes(name));
  const why = Object.hasOwn(removed, unknown) ? ` ${removed[unknown]?.message ?? ''}` : '';
  const known = servers.map(({ name }) => `"${name}"`).join(', ');
  throw new HoldfastError(
    'invalid_argument',
    `Expected the names of servers of the current runtime (${known === '' ? 'it has none' : known}), got ${asText(unknown)}.${why}`,
  );
}

function checkStatus(options: StatusOptions): void {
  checkOptions(options, 'status');
  checkTimeout(options.timeoutMs);
  checkAbortSignal(options.signal);
  const { detail = 'summary', servers } = options;
  const details: readonly unknown[] = statusDetails;
  const names: unknown = servers;
  if (!details.includes(detail))
    throw new HoldfastError(
      'invalid_argument',
      `Expected detail to be "summary", "tools" or "full", got ${asText(detail)}.`,
    );
  if (names !== undefined && !(Array.isArray(names) && names.every((name) => typeof name === 'string')))
    throw new HoldfastError('invalid_argument', `Expected servers to be a list of names, got ${asText(names)}.`);
}

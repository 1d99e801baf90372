/** The sections of the world state that Holdfast makes itself (SPEC WS-1), each bounded. Keys are what changes by itself. */
import type { ConnectorAttribution, ServerProvenance } from '../domain/catalog.ts';
import type { EnvironmentStates } from '../domain/environment.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { SkillInfo, SkillOrigin } from '../domain/skill.ts';
import type { ServerState } from '../domain/snapshot.ts';
import type { ToolInfo } from '../domain/tool.ts';

/** The ids Holdfast's own sections have: no other section may. */
export const ownSections = ['environments', 'servers', 'plugins', 'tools', 'skills', 'omitted'] as const;

/** What the sections hold at most: lengths in characters, of JSON where it is a whole section. */
export const worldLimits = {
  instructions: 4_096,
  servers: 32_768,
  environments: 64,
  plugins: 64,
  toolNames: 250,
  tools: 4_096,
  skills: 16_384,
  reason: 1_024,
} as const;

/** A section: its entries by name, and how many did not fit. */
export interface OwnSection {
  readonly entries: JsonObject;
  readonly omitted: number;
}

/** A server as a step finds it. */
export interface WorldServer {
  readonly name: string;
  readonly state: ServerState;
  readonly title?: string;
  readonly instructions?: string;
  readonly provenance?: ServerProvenance;
}

/** A plugin, whether it counts now or not. */
export interface WorldPlugin {
  readonly id: string;
  readonly name: string;
  readonly environment?: string;
  /** Why it does not count, where it does not: how its environment is. */
  readonly state?: string;
  readonly connectors: readonly ConnectorAttribution[];
}

/** The places there are: this machine first. */
export function environmentsSection(states: EnvironmentStates, cwd: string): OwnSection {
  const named = Object.entries(states).map(([id, state]): [string, JsonObject] => {
    const place = state.kind === 'ready' && state.cwd !== undefined ? { cwd: state.cwd } : {};
    const why = state.kind === 'failed' ? { reason: clip(state.reason, worldLimits.reason) } : {};
    return [id, { state: state.kind, ...place, ...why }];
  });
  return bounded([['local', { state: 'ready', cwd }], ...named], { items: worldLimits.environments });
}

/** How the servers are, and what the ready ones say of their use: untrusted text, each under its server's name. */
export function serversSection(servers: readonly WorldServer[]): OwnSection {
  const entries = servers.map(({ name, state, title, instructions }): [string, JsonObject] => [
    name,
    {
      state,
      ...(title === undefined ? {} : { title }),
      ...(instructions === undefined ? {} : { instructions: clip(instructions, worldLimits.instructions) }),
    },
  ]);
  return bounded(entries, { length: worldLimits.servers });
}

/** Plugins, with their servers and connectors. */
export function pluginsSection(plugins: readonly WorldPlugin[], servers: readonly WorldServer[]): OwnSection {
  const all = new Map(plugins.map((plugin) => [plugin.id, plugin]));
  for (const { provenance } of servers) {
    const plugin = provenance?.plugin;
    if (plugin !== undefined && !all.has(plugin.id)) all.set(plugin.id, { ...plugin, connectors: [] });
  }
  const entries = [...all.values()].map(({ id, name, environment, state, connectors }): [string, JsonObject] => {
    const own = servers.filter(({ provenance }) => provenance?.plugin?.id === id);
    const through = own.flatMap(({ provenance }) => provenance?.connector ?? []);
    const apps = new Map([...connectors, ...through].map((each) => [each.id, each.name ?? each.id]));
    return [
      id,
      {
        name,
        ...(environment === undefined ? {} : { environment }),
        ...(state === undefined ? {} : { state }),
        ...(own.length === 0 ? {} : { servers: own.map((server) => server.name) }),
        ...(apps.size === 0 ? {} : { connectors: Object.fromEntries(apps) }),
      },
    ];
  });
  return bounded(entries, { items: worldLimits.plugins });
}

const described = new WeakMap<readonly ToolInfo[], OwnSection>();

/** What tools there are, server by server, in few words: for hosts that put only some of them before the model. */
export function toolsSection(tools: readonly ToolInfo[]): OwnSection {
  const known = described.get(tools);
  if (known !== undefined) return known;
  const byServer = new Map<string, string[]>();
  for (const { server, tool } of tools) {
    const names = byServer.get(server);
    if (names === undefined) byServer.set(server, [tool]);
    else names.push(tool);
  }
  const entries = [...byServer].map(([server, names]): [string, JsonObject] => [
    server,
    { count: names.length, names: joined(names, worldLimits.toolNames) },
  ]);
  const section = bounded(entries, { length: worldLimits.tools });
  described.set(tools, section);
  return section;
}

/** The skills by id, in few words. */
export function skillsSection(skills: readonly SkillInfo[]): OwnSection {
  const entries = skills.map(({ id, name, description, origin, needs }): [string, JsonObject] => [
    id,
    {
      name,
      description,
      from: originInWords(origin),
      ...(needs === undefined
        ? {}
        : { needs: Object.fromEntries(needs.map((need) => [need.server, need.available ? 'available' : 'missing'])) }),
    },
  ]);
  return bounded(entries, { length: worldLimits.skills });
}

/** Where a skill is from, as a model reads it. */
export function originInWords(origin: SkillOrigin): string {
  switch (origin.kind) {
    case 'server':
      return `MCP server "${origin.server}"`;
    case 'environment':
      return `plugin "${origin.plugin}" in environment "${origin.environment}"`;
    case 'extension':
      return `extension "${origin.extension}"`;
  }
}

/** Takes entries as long as they fit. */
function bounded(
  entries: readonly (readonly [string, JsonObject])[],
  { items = Infinity, length = Infinity }: { readonly items?: number; readonly length?: number },
): OwnSection {
  const taken: [string, Json][] = [];
  let used = 2;
  for (const [key, value] of entries) {
    used += length === Infinity ? 0 : JSON.stringify(key).length + JSON.stringify(value).length + 2;
    if (taken.length >= items || used > length) break;
    taken.push([key, value]);
  }
  return { entries: Object.fromEntries(taken), omitted: entries.length - taken.length };
}

function joined(names: readonly string[], length: number): string {
  let text = '';
  for (const name of names) {
    if (text.length + name.length + 5 > length) return text === '' ? clip(name, length) : `${text}, …`;
    text = text === '' ? name : `${text}, ${name}`;
  }
  return text;
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

/** The servers of one runtime, as the world state tells of them (SPEC WS-1). */
import type { Effects } from './actors/effects.ts';
import { isUsable } from './actors/servers.ts';
import type { LiveConnection } from './actors/servers.ts';
import type { WorldServer } from './catalog/world-sections.ts';
import type { ServerConfig } from './domain/config.ts';

/** The connections of a runtime. */
export function connectionsOf({ servers }: Effects, generation: number): readonly LiveConnection[] {
  const planned = [...(servers.planOf(generation)?.servers.values() ?? [])];
  return planned.flatMap(({ connection }) => connection ?? []);
}

/** The configurations of a runtime's servers, by name. */
export function configsOf({ servers }: Effects, generation: number): ReadonlyMap<string, ServerConfig> {
  const planned = [...(servers.planOf(generation)?.servers.values() ?? [])];
  return new Map(planned.map(({ server, config }) => [server, config]));
}

/** How each server is, and what the ready ones say. */
export function worldServers({ servers }: Effects, generation: number): readonly WorldServer[] {
  const plan = servers.planOf(generation);
  const named = [...(plan?.servers.values() ?? [])].flatMap(
    ({ server, config, provenance, connection }): WorldServer[] => {
      if (connection === undefined)
        return config.enabled === false ? [{ name: server, state: 'disabled', provenance }] : [];
      const { link, state } = connection;
      const isThere = isUsable(connection) && link !== undefined;
      const title = link?.info.serverInfo?.title;
      return [
        {
          name: server,
          state,
          provenance,
          ...(isThere && title !== undefined ? { title } : {}),
          ...(isThere && link.info.instructions !== undefined ? { instructions: link.info.instructions } : {}),
        },
      ];
    },
  );
  const idle = (names: readonly string[], state: 'disabled' | 'misconfigured'): readonly WorldServer[] =>
    names
      .filter((name) => !(plan?.servers.has(name) ?? false))
      .map((name) => ({ name, state, provenance: plan?.provenance.get(name) ?? {} }));
  return [
    ...named,
    ...idle(Object.keys(plan?.disabled ?? {}), 'disabled'),
    ...idle(Object.keys(plan?.misconfigured ?? {}), 'misconfigured'),
  ];
}

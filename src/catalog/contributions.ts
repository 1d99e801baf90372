/** What selected plugins bring while their environments are ready, and what extensions lay over all (SPEC CA-7, CA-5). */
import type { EnvironmentStates, Launcher, SelectedRoot } from '../domain/environment.ts';
import type { CatalogBuilder } from './builder.ts';
import type { RootExtras } from './executor-skills.ts';
import type { ExtensionOverlay } from './extensions.ts';
import type { PluginConfig } from './plugin-config.ts';

/** One plugin, and what it brings. */
export interface Contribution {
  readonly root: SelectedRoot;
  readonly order: number;
  readonly config: PluginConfig;
}

/** What one plugin brings besides servers, and the place its skills are read in. */
export interface PlacedExtras extends RootExtras {
  readonly root: SelectedRoot;
  readonly launcher: Launcher;
}

/** States, and what counts under them. */
export interface Available {
  readonly states: EnvironmentStates;
  readonly contributions: readonly Contribution[];
  readonly extras: readonly PlacedExtras[];
  /** What reads skills and connectors of what is ready now: the same promise for the same reading. None rejects. */
  readonly unread: readonly Promise<unknown>[];
}

/** Registers what counts. */
export function addContributions(builder: CatalogBuilder, contributions: readonly Contribution[]): CatalogBuilder {
  for (const { root, order, config } of contributions)
    builder.registerAll({ kind: 'selectedPlugin', plugin: root.plugin, order }, config);
  return builder;
}

/** Lays what extensions say over a catalog. */
export function addOverlays(builder: CatalogBuilder, overlays: readonly ExtensionOverlay[]): CatalogBuilder {
  for (const { extension, order, servers } of overlays) {
    const source = { kind: 'extension', id: extension, order } as const;
    for (const name of servers.remove ?? []) builder.remove({ name, source });
    builder.registerAll(source, { servers: servers.set ?? {} });
  }
  return builder;
}

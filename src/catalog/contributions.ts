/**
 * What selected plugins bring while their environments are ready (SPEC CA-7).
 *
 * - X1 A plugin is read once for the life of its thread, "no plugin" included; whether its environment is ready only says
 *   whether it counts. What failed is read again at the next change.
 * - X2 States are never held back by reading: what is known comes at once, the rest when it is read.
 */
import { defer, finalize, from, map, merge, of, switchMap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Environments } from '../api.ts';
import type { EnvironmentStates, Launcher, SelectedRoot } from '../domain/environment.ts';
import { messageOf } from '../domain/errors.ts';
import type { CatalogBuilder } from './builder.ts';
import { stateOf } from './environments.ts';
import { localLauncher } from './launchers.ts';
import type { PluginConfig } from './plugin-config.ts';

/** One plugin, and what it brings. */
export interface Contribution {
  readonly root: SelectedRoot;
  readonly order: number;
  readonly config: PluginConfig;
}

/** States, and what counts under them. */
export interface Available {
  readonly states: EnvironmentStates;
  readonly contributions: readonly Contribution[];
}

/** The environments as they change, with what their plugins bring. Unsubscribing ends what is being read. */
export function availableIn(environments: Environments, warn: (message: string) => void): Observable<Available> {
  return defer(() => {
    const discovery = new Discovery(environments.roots ?? [], warn);
    return from(environments.states$).pipe(
      switchMap((states) => {
        const unread = discovery.read(states);
        const now = of(discovery.available(states));
        return unread === undefined ? now : merge(now, from(unread).pipe(map(() => discovery.available(states))));
      }),
      finalize(() => discovery.stop()),
    );
  });
}

/** Registers what counts. */
export function addContributions(builder: CatalogBuilder, contributions: readonly Contribution[]): CatalogBuilder {
  for (const { root, order, config } of contributions)
    builder.registerAll({ kind: 'selectedPlugin', plugin: root.plugin, order }, config);
  return builder;
}

/** What reading a plugin came to. */
type Reading = PluginConfig | 'no plugin';

class Discovery {
  readonly #roots: readonly SelectedRoot[];
  readonly #warn: (message: string) => void;
  readonly #known = new Map<SelectedRoot, Reading>();
  readonly #reading = new Map<SelectedRoot, Promise<void>>();
  readonly #controller = new AbortController();

  constructor(roots: readonly SelectedRoot[], warn: (message: string) => void) {
    this.#roots = roots;
    this.#warn = warn;
  }

  stop(): void {
    this.#controller.abort();
  }

  /** Reads what is ready and not known yet; `undefined` if that is nothing. Never rejects. */
  read(states: EnvironmentStates): Promise<unknown> | undefined {
    const unread = this.#roots.flatMap((root) => {
      const launcher = launcherOf(root, states);
      return launcher === undefined || this.#known.has(root) ? [] : [this.#readOnce(root, launcher)];
    });
    return unread.length === 0 ? undefined : Promise.all(unread);
  }

  available(states: EnvironmentStates): Available {
    const contributions = this.#roots.flatMap((root, position) => {
      const config = launcherOf(root, states) === undefined ? undefined : this.#known.get(root);
      return config === undefined || config === 'no plugin' ? [] : [{ root, order: root.order ?? position, config }];
    });
    return { states, contributions };
  }

  #readOnce(root: SelectedRoot, launcher: Launcher): Promise<void> {
    const known = this.#reading.get(root);
    if (known !== undefined) return known;
    const reading = this.#read(root, launcher).finally(() => this.#reading.delete(root));
    this.#reading.set(root, reading);
    return reading;
  }

  async #read(root: SelectedRoot, launcher: Launcher): Promise<void> {
    const { signal } = this.#controller;
    const file = `${root.path.replace(/[\\/]+$/, '')}/.mcp.json`;
    try {
      const text = await launcher.readFile?.(file, { signal });
      if (signal.aborted) return;
      const reading = text === undefined ? 'no plugin' : await this.#parse(text, root, file);
      this.#known.set(root, reading);
    } catch (error) {
      if (!signal.aborted)
        this.#warn(`Plugin "${root.plugin.id}" could not be read, and is left out: ${messageOf(error)}`);
    }
  }

  /** The reader of configuration is loaded when there is something to read: most threads have no plugins (PE-5). */
  async #parse(text: string, root: SelectedRoot, file: string): Promise<PluginConfig> {
    const { parsePluginConfig } = await import('./plugin-config.ts');
    const config = parsePluginConfig(text, { root: root.path, environment: root.environment, file });
    for (const { message } of config.warnings) this.#warn(message);
    return config;
  }
}

function launcherOf({ environment }: SelectedRoot, states: EnvironmentStates): Launcher | undefined {
  const state = stateOf(states, environment);
  if (state?.kind === 'ready') return state.launcher;
  return environment === 'local' && state === undefined ? localLauncher : undefined;
}

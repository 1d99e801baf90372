/**
 * Reads what selected plugins bring, as their environments come and go (SPEC CA-7). Loaded where there are environments.
 *
 * - X1 A plugin is read once for the life of its thread, "no plugin" included; whether its environment is ready only says
 *   whether it counts. What failed is read again at the next change.
 * - X2 States are never held back by reading: what is known comes at once, the rest when it is read. Servers do not wait
 *   for skills and connectors.
 */
import { defer, finalize, from, map, merge, of, switchMap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Environments } from '../api.ts';
import type { EnvironmentStates, Launcher, SelectedRoot } from '../domain/environment.ts';
import { messageOf } from '../domain/errors.ts';
import { statesChecker } from './checked-states.ts';
import type { Available } from './contributions.ts';
import { stateOf } from './environments.ts';
import type { RootExtras } from './executor-skills.ts';
import { localLauncher } from './launchers.ts';
import type { PluginConfig } from './plugin-config.ts';
import { isUnfit } from './plugin-faults.ts';
import type { WarnOfPlugin } from './plugin-faults.ts';

/** The environments as they change, with what their plugins bring. Unsubscribing ends what is being read. */
export function availableIn(environments: Environments, warn: WarnOfPlugin): Observable<Available> {
  return defer(() => {
    const discovery = new Discovery(environments.roots ?? [], warn);
    const check = statesChecker(warn);
    return from(environments.states$).pipe(
      switchMap((given) => {
        const states = check(given);
        const reading = discovery.read(states);
        const later = reading.map((read) => from(read).pipe(map(() => discovery.available(states))));
        return merge(of(discovery.available(states)), ...later);
      }),
      finalize(() => discovery.stop()),
    );
  });
}

/** What reading a plugin came to. */
type Reading = PluginConfig | 'no plugin';

class Discovery {
  readonly #roots: readonly SelectedRoot[];
  readonly #warn: WarnOfPlugin;
  readonly #controller = new AbortController();
  readonly #servers = new ReadOnce<Reading>((root, launcher) => this.#readServers(root, launcher));
  readonly #extras = new ReadOnce<RootExtras>((root, launcher) => this.#readExtras(root, launcher));

  constructor(roots: readonly SelectedRoot[], warn: WarnOfPlugin) {
    this.#roots = roots;
    this.#warn = warn;
  }

  stop(): void {
    this.#controller.abort();
  }

  /** Reads what is ready and not known yet, servers apart from the rest. Never rejects. */
  read(states: EnvironmentStates): readonly Promise<unknown>[] {
    const ready = this.#ready(states);
    return [this.#servers.read(ready), this.#extras.read(ready)].flatMap((reading) => reading ?? []);
  }

  available(states: EnvironmentStates): Available {
    const ready = this.#ready(states);
    const contributions = ready.flatMap(({ root, position }) => {
      const config = this.#servers.known(root);
      return config === undefined || config === 'no plugin' ? [] : [{ root, order: root.order ?? position, config }];
    });
    const extras = ready.flatMap(({ root, launcher }) => {
      const known = this.#extras.known(root);
      return known === undefined ? [] : [{ ...known, root, launcher }];
    });
    return { states, contributions, extras, unread: this.#extras.pending(ready) };
  }

  #ready(states: EnvironmentStates): readonly ReadyRoot[] {
    return this.#roots.flatMap((root, position) => {
      const launcher = launcherOf(root, states);
      return launcher === undefined ? [] : [{ root, position, launcher }];
    });
  }

  async #readServers(root: SelectedRoot, launcher: Launcher): Promise<Reading | undefined> {
    const file = `${root.path.replace(/[\\/]+$/, '')}/.mcp.json`;
    return this.#orWarn(`Plugin "${root.plugin.id}" could not be read, and is left out`, async (signal) => {
      const text = await launcher.readFile?.(file, { signal });
      if (signal.aborted) return undefined;
      return text === undefined ? 'no plugin' : this.#parse(text, root, file);
    });
  }

  async #readExtras(root: SelectedRoot, launcher: Launcher): Promise<RootExtras | undefined> {
    const what = `The skills and connectors of plugin "${root.plugin.id}" could not be read, and are left out`;
    return this.#orWarn(what, async (signal) => {
      const { readExtras } = await import('./executor-skills.ts');
      return readExtras(root, launcher, { signal, warn: this.#warn });
    });
  }

  async #orWarn<TValue>(what: string, read: (signal: AbortSignal) => Promise<TValue>): Promise<TValue | undefined> {
    const { signal } = this.#controller;
    try {
      return await read(signal);
    } catch (error) {
      if (!signal.aborted) this.#warn(`${what}: ${messageOf(error)}`, isUnfit(error) ? 'plugin_invalid' : undefined);
      return undefined;
    }
  }

  /** The reader of configuration is loaded when there is something to read: most threads have no plugins (PE-5). */
  async #parse(text: string, root: SelectedRoot, file: string): Promise<PluginConfig> {
    const { parsePluginConfig } = await import('./plugin-config.ts');
    const config = parsePluginConfig(text, { root: root.path, environment: root.environment, file });
    for (const { message } of config.warnings) this.#warn(message, 'plugin_invalid');
    return config;
  }
}

interface ReadyRoot {
  readonly root: SelectedRoot;
  readonly position: number;
  readonly launcher: Launcher;
}

/** One kind of reading, once for each root; what came to nothing is read again when it is asked for again. */
class ReadOnce<TValue> {
  readonly #read: (root: SelectedRoot, launcher: Launcher) => Promise<TValue | undefined>;
  readonly #known = new Map<SelectedRoot, TValue>();
  readonly #reading = new Map<SelectedRoot, Promise<void>>();

  constructor(read: (root: SelectedRoot, launcher: Launcher) => Promise<TValue | undefined>) {
    this.#read = read;
  }

  known(root: SelectedRoot): TValue | undefined {
    return this.#known.get(root);
  }

  /** `undefined` when everything is known. */
  read(ready: readonly ReadyRoot[]): Promise<unknown> | undefined {
    const unread = ready.filter(({ root }) => !this.#known.has(root));
    return unread.length === 0 ? undefined : Promise.all(unread.map((each) => this.#once(each)));
  }

  /** What is being read now. */
  pending(ready: readonly ReadyRoot[]): readonly Promise<unknown>[] {
    return ready.flatMap(({ root }) => this.#reading.get(root) ?? []);
  }

  #once({ root, launcher }: ReadyRoot): Promise<void> {
    const before = this.#reading.get(root);
    if (before !== undefined) return before;
    const reading = this.#keep(root, launcher).finally(() => this.#reading.delete(root));
    this.#reading.set(root, reading);
    return reading;
  }

  async #keep(root: SelectedRoot, launcher: Launcher): Promise<void> {
    const value = await this.#read(root, launcher);
    if (value !== undefined) this.#known.set(root, value);
  }
}

function launcherOf({ environment }: SelectedRoot, states: EnvironmentStates): Launcher | undefined {
  const state = stateOf(states, environment);
  if (state?.kind === 'ready') return state.launcher;
  return environment === 'local' && state === undefined ? localLauncher : undefined;
}

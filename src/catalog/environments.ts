/** The environments of a host: what is known of each, told whenever it changes (SPEC CA-7). */
import { BehaviorSubject } from 'rxjs';
import type { Environments, RuntimeServers } from '../api.ts';
import type { EnvironmentState, EnvironmentStates, Launcher, Place, SelectedRoot } from '../domain/environment.ts';
import type { ServerConfig } from '../domain/config.ts';
import { HoldfastError } from '../domain/errors.ts';
import { isRecord, shown } from '../domain/json.ts';
import type { PluginSnapshot } from '../domain/snapshot.ts';

/** Environments whose states are set by hand. */
export interface EnvironmentRegistry extends Environments {
  /** What is known now. */
  readonly states: EnvironmentStates;
  starting(id: string): void;
  /** With the handle of before nothing changes: its servers stay. */
  ready(id: string, place: { readonly handle: string; readonly launcher: Launcher; readonly cwd?: string }): void;
  /** `reason` is a sentence. */
  failed(id: string, reason: string): void;
  /** Forgets an environment. */
  remove(id: string): void;
}

/**
 * Makes an empty registry. What is no root, no id or no launcher is refused: `invalid_argument`.
 *
 * @example
 * const environments = createEnvironments({ roots: [{ plugin, environment: 'box', path: '/plugins/docs' }] });
 * const thread = createThread({ environments });
 * environments.starting('box');
 * environments.ready('box', { handle: container.id, launcher: commandLauncher({ prefix: ['docker', 'exec', '-i', container.id] }) });
 */
export function createEnvironments(options: { readonly roots?: readonly SelectedRoot[] } = {}): EnvironmentRegistry {
  const { roots = [] } = options;
  checkRoots(roots);
  const states$ = new BehaviorSubject<EnvironmentStates>({});
  const set = (id: string, state: EnvironmentState): void => {
    if (!isName(id)) throw expected('the id of an environment', id);
    if (!isSameState(stateOf(states$.value, id), state)) states$.next({ ...states$.value, [id]: state });
  };
  return {
    states$: states$.asObservable(),
    roots,
    get states() {
      return states$.value;
    },
    starting: (id) => set(id, { kind: 'starting' }),
    ready(id, place) {
      checkPlace(place);
      const { handle, launcher, cwd } = place;
      set(id, { kind: 'ready', handle, launcher, ...(cwd === undefined ? {} : { cwd }) });
    },
    failed: (id, reason) => set(id, { kind: 'failed', reason }),
    remove(id) {
      if (stateOf(states$.value, id) === undefined) return;
      states$.next(Object.fromEntries(Object.entries(states$.value).filter(([known]) => known !== id)));
    },
  };
}

/** What is known of an environment; `undefined` for one nobody named. */
export function stateOf(states: EnvironmentStates, id: string): EnvironmentState | undefined {
  return Object.hasOwn(states, id) ? states[id] : undefined;
}

/** Selected plugins, each as its environment is. */
export function pluginsIn(
  { roots = [] }: Pick<Environments, 'roots'>,
  states: EnvironmentStates,
): readonly PluginSnapshot[] {
  return roots.map(({ plugin: { id, name }, environment }) => {
    const state = stateOf(states, environment);
    const kind = state?.kind ?? (environment === 'local' ? 'ready' : 'unknown');
    return { id, name, environment, state: kind, ...(state?.kind === 'failed' ? { reason: state.reason } : {}) };
  });
}

/** The same servers, each process of another environment with the place it starts in, or the reason it cannot. */
export function placeServers(next: RuntimeServers, states: EnvironmentStates): RuntimeServers {
  const places = Object.entries(next.servers).flatMap(([name, config]) => {
    const environment = environmentOf(config);
    return environment === undefined ? [] : [[name, placeIn(environment, stateOf(states, environment))] as const];
  });
  return places.length === 0 ? next : { ...next, places: Object.fromEntries(places) };
}

function environmentOf(config: ServerConfig): string | undefined {
  return 'command' in config && config.environment !== 'local' ? config.environment : undefined;
}

function placeIn(environment: string, state: EnvironmentState | undefined): Place {
  switch (state?.kind) {
    case 'ready':
      return { handle: state.handle, launcher: state.launcher };
    case 'starting':
      return {
        problem: `Expected environment "${environment}" to be ready, and it is starting. The server starts with it.`,
      };
    case 'failed':
      return { problem: `Expected environment "${environment}" to be ready, and it failed: ${state.reason}` };
    case undefined:
      return {
        problem: `Expected a known environment, got "${environment}". Leave "environment" out: others than "local" are there only where a program gives createThread "environments".`,
      };
  }
}

function isSameState(a: EnvironmentState | undefined, b: EnvironmentState): boolean {
  if (a?.kind !== b.kind) return false;
  if (a.kind === 'ready' && b.kind === 'ready') return a.handle === b.handle && a.cwd === b.cwd;
  return a.kind !== 'failed' || b.kind !== 'failed' || a.reason === b.reason;
}

function checkRoots(roots: unknown): void {
  if (!Array.isArray(roots)) throw expected('"roots" to be a list of plugins', roots);
  for (const root of roots as readonly unknown[]) {
    const { plugin, environment, path } = isRecord(root) ? root : {};
    if (!isRecord(plugin) || !isName(plugin['id']) || !isName(environment))
      throw expected('each root as { plugin: { id, name }, environment, path }', root);
    if (typeof path !== 'string' || !/^(?:\/|[A-Za-z]:[\\/]|\\\\)/.test(path))
      throw expected(`the absolute path of plugin "${String(plugin['id'])}"`, path);
  }
}

function checkPlace(place: unknown): void {
  const { handle, launcher } = isRecord(place) ? place : {};
  if (!isName(handle)) throw expected('a handle that names the place', handle);
  if (!isRecord(launcher) || typeof launcher['launch'] !== 'function')
    throw expected('a launcher: "localLauncher", or one that "commandLauncher" makes', launcher);
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function expected(what: string, got: unknown): HoldfastError {
  return new HoldfastError('invalid_argument', `Expected ${what}, got ${shown(got)}.`);
}

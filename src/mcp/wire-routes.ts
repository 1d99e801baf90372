/** From a server's configuration to the transports that can reach it. */
import type { ServerSettings, StdioServer } from '../domain/config.ts';
import type { LaunchCommand, Place } from '../domain/environment.ts';
import { HoldfastError, messageOf } from '../domain/errors.ts';
import type { OpenLinkOptions } from '../domain/link.ts';
import { adoptTransport, createInMemoryTransport } from './adopted-transport.ts';
import { createStdioTransport } from './transports/stdio.ts';
import type { StdioTransportOptions } from './transports/stdio.ts';
import type { WireListener } from './transports/transport.ts';
import type { WireRoute, WireRoutes } from './wire-route.ts';

/**
 * Says how a server can be reached.
 *
 * `isHurried` is asked when a process is ended: one whose start was given up gets little grace.
 *
 * @throws HoldfastError `server_misconfigured` for a variable that is not set.
 */
export async function routesOf(
  { config, server, place }: OpenLinkOptions,
  isHurried: () => boolean,
): Promise<WireRoutes> {
  if ('command' in config) return [stdioRoute(launchOf(server, config, place), isHurried)];
  if ('inMemory' in config) {
    return [
      { kind: 'in-memory', repeatable: true, open: (listener) => createInMemoryTransport(config.inMemory, listener) },
    ];
  }
  if (!('url' in config)) {
    return [{ kind: 'given', repeatable: false, open: (listener) => adoptTransport(config.transport, listener) }];
  }
  const { httpRoutes } = await import('./http-routes.ts');
  return httpRoutes(server, config);
}

function stdioRoute(launch: LaunchCommand, isHurried: () => boolean): WireRoute {
  const patient = (listener: WireListener): StdioTransportOptions => ({
    ...launch,
    listener,
    // Read when the process is ended, not now.
    get graceMs() {
      return isHurried() ? graceMs.hurried : graceMs.usual;
    },
  });
  return {
    kind: 'stdio',
    repeatable: true,
    open: (listener) => createStdioTransport(patient(listener)),
    sibling: (listener) => createStdioTransport({ ...launch, listener, graceMs: graceMs.hurried }),
  };
}

/** The process to start here: the server itself, or what leads to it in its environment. */
function launchOf(server: string, config: StdioServer & ServerSettings, place: Place | undefined): LaunchCommand {
  const { command, args = [], env = {}, envFrom = {}, cwd } = config;
  if (place === undefined)
    return { command, args, env: { ...handedOn(config), ...env }, ...(cwd === undefined ? {} : { cwd }) };
  if ('problem' in place) throw new HoldfastError('server_unavailable', `Server "${server}": ${place.problem}`);
  try {
    return place.launcher.launch({ command, args, env, envFrom, ...(cwd === undefined ? {} : { cwd }) });
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    throw new HoldfastError(
      'server_unavailable',
      `Server "${server}": expected its environment to say how it starts there, got: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/** The variables of this machine that a server running on it is given. */
function handedOn({ envFrom = {}, environment = 'local' }: StdioServer & ServerSettings): Record<string, string> {
  if (environment !== 'local') return {};
  return Object.fromEntries(
    Object.entries(envFrom).flatMap(([name, variable]) => {
      const value = process.env[variable];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** How long a process has after the end of its stdin, and again after SIGTERM (SPEC RT-11). */
const graceMs = { usual: 2_000, hurried: 200 } as const;

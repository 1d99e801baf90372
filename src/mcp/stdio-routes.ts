/** From the configuration of a server that is a process to the transport that starts it. Loaded with the first such server. */
import type { ServerSettings, StdioServer } from '../domain/config.ts';
import type { LaunchCommand, Place } from '../domain/environment.ts';
import { HoldfastError, messageOf } from '../domain/errors.ts';
import { createStdioTransport } from './transports/stdio.ts';
import type { StdioTransportOptions } from './transports/stdio.ts';
import type { WireListener } from './transports/transport.ts';
import type { WireRoute } from './wire-route.ts';

/** Says how a server that is a process can be reached. @throws HoldfastError `server_unavailable` when its environment cannot start it. */
export function stdioRoute(
  server: string,
  config: StdioServer & ServerSettings,
  place: Place | undefined,
  isHurried: () => boolean,
): WireRoute {
  const launch = launchOf(server, config, place);
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
  const { command, args = [], env = {}, envFrom = {}, cwd, environment = 'local' } = config;
  if (place === undefined && environment !== 'local')
    throw new HoldfastError(
      'server_unavailable',
      `Server "${server}": expected to know how it starts in environment "${environment}", and nothing says it. It is not started elsewhere.`,
    );
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

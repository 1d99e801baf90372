/** From a server's configuration to the transports that can reach it. */
import type { HttpServer, ServerSettings, StdioServer } from '../domain/config.ts';
import type { LaunchCommand, Place } from '../domain/environment.ts';
import { HoldfastError, messageOf } from '../domain/errors.ts';
import type { OpenLinkOptions } from '../domain/link.ts';
import type { TransportKind } from '../domain/snapshot.ts';
import { adoptTransport, createInMemoryTransport } from './adopted-transport.ts';
import { headersOf } from './http-access.ts';
import { createHttpTransport } from './transports/http.ts';
import { createSseTransport } from './transports/sse.ts';
import { createStdioTransport } from './transports/stdio.ts';
import type { StdioTransportOptions } from './transports/stdio.ts';
import type { WireListener, WireTransport } from './transports/transport.ts';

/** One way to reach a server; each `open` is a fresh transport, not started. */
export interface WireRoute {
  readonly kind: TransportKind;
  /** It can be opened more than once. */
  readonly repeatable: boolean;
  readonly open: (listener: WireListener) => WireTransport;
  /** The same server for a moment, ended with little grace. */
  readonly sibling?: (listener: WireListener) => WireTransport;
}

/** The ways to a server: the first to try, and the one to try when an HTTP server turns out to be of the older kind. */
export type WireRoutes = readonly [WireRoute, WireRoute?];

/**
 * Says how a server can be reached.
 *
 * `isHurried` is asked when a process is ended: one whose start was given up gets little grace.
 *
 * @throws HoldfastError `server_misconfigured` for a variable that is not set.
 */
export function routesOf({ config, server, place }: OpenLinkOptions, isHurried: () => boolean): WireRoutes {
  if ('command' in config) return [stdioRoute(launchOf(server, config, place), isHurried)];
  if ('inMemory' in config) {
    return [
      { kind: 'in-memory', repeatable: true, open: (listener) => createInMemoryTransport(config.inMemory, listener) },
    ];
  }
  if (!('url' in config)) {
    return [{ kind: 'given', repeatable: false, open: (listener) => adoptTransport(config.transport, listener) }];
  }
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

function httpRoutes(server: string, config: HttpServer): WireRoutes {
  const { url, transport = 'auto' } = config;
  const headers = headersOf(server, config, process.env);
  const http: WireRoute = {
    kind: 'http',
    repeatable: true,
    open: (listener) => createHttpTransport({ url, headers, listener }),
  };
  const sse: WireRoute = {
    kind: 'sse',
    repeatable: true,
    open: (listener) => createSseTransport({ url, headers, listener }),
  };
  switch (transport) {
    case 'http':
      return [http];
    case 'sse':
      return [sse];
    case 'auto':
      return [http, sse];
  }
}

/** From a server's configuration to the transports that can reach it. */
import type { OpenLinkOptions } from '../domain/link.ts';
import type { WireRoutes } from './wire-route.ts';

/**
 * Says how a server can be reached.
 *
 * `isHurried` is asked when a process is ended: one whose start was given up gets little grace.
 *
 * @throws HoldfastError `server_misconfigured` for a variable that is not set.
 */
export async function routesOf(
  { config, server, place, authorizer }: OpenLinkOptions,
  isHurried: () => boolean,
): Promise<WireRoutes> {
  if ('command' in config) {
    const { stdioRoute } = await import('./stdio-routes.ts');
    return [stdioRoute(server, config, place, isHurried)];
  }
  if ('url' in config) {
    const { httpRoutes } = await import('./http-routes.ts');
    return httpRoutes(server, config, authorizer);
  }
  const { adoptTransport, createInMemoryTransport } = await import('./adopted-transport.ts');
  if ('inMemory' in config) {
    return [
      { kind: 'in-memory', repeatable: true, open: (listener) => createInMemoryTransport(config.inMemory, listener) },
    ];
  }
  return [{ kind: 'given', repeatable: false, open: (listener) => adoptTransport(config.transport, listener) }];
}

/** Connections to a proxy, through which tunnels to https servers are made. */
import { Pool } from 'undici';
import { tunnelBroken } from './nobody-there.ts';

/**
 * Makes a pool that reports a tunnel the proxy broke off as a failure.
 *
 * undici takes a socket error during a connect for a chance to try again, at once and for ever: a proxy that drops its
 * connections would keep the process busy until the caller's time is over.
 */
export function makeTunnelPool(origin: URL, settings: object): Pool {
  const pool = new Pool(origin, settings);
  const connect = pool.connect.bind(pool);
  return Object.assign(pool, {
    connect: async (options: Parameters<Pool['connect']>[0]) => {
      try {
        return await connect(options);
      } catch (error) {
        throw Object.assign(new Error('The proxy broke off the tunnel.', { cause: error }), { code: tunnelBroken });
      }
    },
  });
}

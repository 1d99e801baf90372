/** How a server is authorized (SPEC AU-3). */
import type { ServerConfig } from '../domain/config.ts';
import type { AuthState } from '../domain/snapshot.ts';
import type { LiveConnection } from './servers.ts';

/** How a server is authorized, for the snapshot (SPEC AU-3). */
export function authStateOf({ config, state, authorizer }: LiveConnection): AuthState {
  if (!('url' in config)) return 'unsupported';
  if (hasOwnCredential(config)) return 'bearerToken';
  if (state === 'authRequired' && authorizer?.state !== 'reauthenticate') return 'notLoggedIn';
  return authorizer?.state ?? 'unknown';
}

/** A credential of the configuration itself: nobody signs in. */
export function hasOwnCredential(config: ServerConfig): boolean {
  if (!('url' in config)) return false;
  const { bearerTokenVariable, headers, headersFrom, renewHeaders } = config;
  return (
    bearerTokenVariable !== undefined ||
    renewHeaders !== undefined ||
    Object.keys({ ...headers, ...headersFrom }).some((name) => name.toLowerCase() === 'authorization')
  );
}

/** Where the browser comes back to: the host's own url, or this machine's loopback while somebody signs in. */
import type { AuthorizationOptions, CallbackResult } from '../../domain/authorization.ts';
import type { OAuthConfig } from '../../domain/config.ts';
import { HoldfastError } from '../../domain/errors.ts';
import { isLoopbackName } from './clients.ts';
import { listenOnLoopback } from './loopback.ts';
import type { Loopback } from './loopback.ts';

export interface WayBackOptions {
  readonly config: OAuthConfig;
  readonly host: AuthorizationOptions;
  /** The urls this client is registered with. */
  readonly registered: readonly string[];
  readonly onCallback: (url: string) => Promise<CallbackResult>;
}

/** Opens it. @throws HoldfastError `server_misconfigured` for a url that is none, `auth_required` when a port is taken. */
export async function wayBack({ config, host, registered, onCallback }: WayBackOptions): Promise<Loopback> {
  const wanted = config.redirectUrl ?? host.redirectUrl;
  if (wanted !== undefined) {
    if (!URL.canParse(wanted))
      throw new HoldfastError(
        'server_misconfigured',
        `Expected "redirectUrl" to be a url, got "${wanted}". Correct it.`,
      );
    const { protocol, hostname, port, pathname } = new URL(wanted);
    const isHere = protocol === 'http:' && isLoopbackName(hostname) && port !== '' && host.redirectUrl !== wanted;
    return isHere ? listenOnLoopback({ hostname, port: Number(port), path: pathname, onCallback }) : elsewhere(wanted);
  }
  if (config.callbackPort !== undefined && config.callbackPort !== 0)
    return listenOnLoopback({ hostname: 'localhost', port: config.callbackPort, path: '/callback', onCallback });
  const free = { hostname: '127.0.0.1', path: '/callback', onCallback };
  // Where a client is registered with, if that is free; else it registers anew.
  for (const port of new Set(registered.flatMap(portOf))) {
    const back = await listenOnLoopback({ ...free, port }).catch(() => undefined);
    if (back !== undefined) return back;
  }
  return listenOnLoopback({ ...free, port: 0 });
}

function portOf(url: string): readonly number[] {
  if (!URL.canParse(url)) return [];
  const { protocol, hostname, port, pathname } = new URL(url);
  const isFree = protocol === 'http:' && hostname === '127.0.0.1' && pathname === '/callback' && port !== '';
  return isFree ? [Number(port)] : [];
}

function elsewhere(redirectUrl: string): Loopback {
  return {
    redirectUrl,
    close: () => {
      // It is the host's.
    },
  };
}

/**
 * The connection pools of the process, shared by every HTTP transport and ended with the last one (SPEC CN-7, H10).
 *
 * Owns undici dispatchers. Invariant `D1`: while a lease is out its pools live; when the last lease is released, no socket
 * stays open.
 */
import { Agent, EnvHttpProxyAgent } from 'undici';
import type { Dispatcher } from 'undici';
import type { Authorities } from './authorities.ts';
import { makeTunnelPool } from './tunnel-pool.ts';

export interface DispatcherLease {
  /** For requests that wait for a result. */
  readonly calls: Dispatcher;
  /**
   * For event streams, notifications, answers and the end of a session.
   *
   * Apart from `calls` and without a bound of its own: a call that waits for a person must not keep the answer from
   * going out.
   */
  readonly control: Dispatcher;
  /** Idempotent. Resolves when the sockets are closed, if this was the last lease. */
  release(): Promise<void>;
}

interface Pools {
  readonly calls: Dispatcher;
  readonly control: Dispatcher;
  leases: number;
}

/** Per origin. High, because calls that wait for a person hold their connection for as long; low enough for descriptors. */
const maxCallConnections = 1_024;

const registry = new Map<string, Pools>();

export interface LeaseOptions {
  /** Where proxies are read from. Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Trusted beside the usual ones. */
  readonly authorities?: Authorities | undefined;
}

/** Takes a lease of the pools for `url`: direct ones, or through the proxy the environment names for it. */
export function leaseDispatchers(url: URL, options: LeaseOptions = {}): DispatcherLease {
  const { env = process.env, authorities } = options;
  const proxy = isLoopback(url.hostname) ? undefined : proxyFrom(env);
  const key = JSON.stringify([proxy, authorities?.key]);
  let pools = registry.get(key);
  if (pools === undefined) {
    pools = {
      calls: makeDispatcher(proxy, authorities, maxCallConnections),
      control: makeDispatcher(proxy, authorities),
      leases: 0,
    };
    registry.set(key, pools);
  }
  pools.leases += 1;
  return leaseOf(key, pools);
}

function leaseOf(key: string, pools: Pools): DispatcherLease {
  let released: Promise<void> | undefined;
  const release = async (): Promise<void> => {
    pools.leases -= 1;
    if (pools.leases > 0) return;
    registry.delete(key);
    await Promise.all([pools.calls.destroy(), pools.control.destroy()]);
  };
  return {
    calls: pools.calls,
    control: pools.control,
    release: () => {
      released ??= release();
      return released;
    },
  };
}

interface ProxySettings {
  readonly http: string;
  readonly https: string;
  readonly except: string;
}

function proxyFrom(env: NodeJS.ProcessEnv): ProxySettings | undefined {
  const http = env['http_proxy'] ?? env['HTTP_PROXY'] ?? '';
  const https = env['https_proxy'] ?? env['HTTPS_PROXY'] ?? http;
  if (http === '' && https === '') return undefined;
  return { http, https, except: env['no_proxy'] ?? env['NO_PROXY'] ?? '' };
}

function makeDispatcher(
  proxy: ProxySettings | undefined,
  authorities: Authorities | undefined,
  connections?: number,
): Dispatcher {
  const tls = authorities === undefined ? undefined : { secureContext: authorities.context };
  const options = {
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(connections === undefined ? {} : { connections }),
    ...(tls === undefined ? {} : { connect: tls }),
  };
  if (proxy === undefined) return new Agent(options);
  // Plain http is asked of the proxy as such; only https needs a tunnel through it.
  return new EnvHttpProxyAgent({
    ...options,
    httpProxy: proxy.http,
    httpsProxy: proxy.https,
    noProxy: proxy.except,
    proxyTunnel: false,
    ...(tls === undefined ? {} : { requestTls: tls }),
    clientFactory: (origin, settings) => makeTunnelPool(origin, settings),
  });
}

/** A proxy cannot reach this machine's own loopback. */
function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(?:\.\d+){3}$/.test(hostname)
  );
}

/**
 * The ways to a server over HTTP.
 *
 * Loaded with the first server that has a url: a thread of processes needs no HTTP client (SPEC PE-5).
 */
import type { Authorizer } from '../domain/authorization.ts';
import type { HttpServer } from '../domain/config.ts';
import { headersOf } from './http-access.ts';
import { readAuthorities } from './transports/authorities.ts';
import { createHttpTransport } from './transports/http.ts';
import { createSseTransport } from './transports/sse.ts';
import type { WireRoute, WireRoutes } from './wire-route.ts';

/** @throws HoldfastError `server_misconfigured` for a variable that is not set, or a bad file of certificates. */
export async function httpRoutes(server: string, config: HttpServer, authorizer?: Authorizer): Promise<WireRoutes> {
  const { url, transport = 'auto', caFile, renewHeaders } = config;
  const headers = headersOf(server, config, process.env);
  const access = {
    url,
    headers,
    ...(authorizer === undefined ? {} : { authorizer }),
    ...(renewHeaders === undefined ? {} : { renewHeaders }),
    ...(caFile === undefined ? {} : { authorities: await readAuthorities(server, caFile) }),
  };
  const http: WireRoute = {
    kind: 'http',
    repeatable: true,
    open: (listener) => createHttpTransport({ ...access, listener }),
  };
  const sse: WireRoute = {
    kind: 'sse',
    repeatable: true,
    open: (listener) => createSseTransport({ ...access, listener }),
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

/** What a configured HTTP server is sent with every request: its headers and its bearer token. */
import type { HttpServer } from '../domain/config.ts';
import { WireError } from './wire-error.ts';

/**
 * Puts together the headers of a server. Values from variables win over plain ones, the bearer token over both.
 *
 * @throws HoldfastError `server_misconfigured` that names the variable which is not set.
 */
export function headersOf(
  server: string,
  config: HttpServer,
  variables: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const headers: Record<string, string> = { ...config.headers };
  const read = (variable: string, use: string): string => {
    const value = variables[variable];
    if (value !== undefined && value !== '') return value;
    throw new WireError(
      'server_misconfigured',
      `Server "${server}": expected the environment variable "${variable}" for ${use}, but it is not set. Set it.`,
    );
  };
  for (const [header, variable] of Object.entries(config.headersFrom ?? {}))
    headers[header] = read(variable, `the header "${header}"`);
  if (config.bearerTokenVariable !== undefined)
    headers['authorization'] = `Bearer ${read(config.bearerTokenVariable, 'the bearer token')}`;
  return headers;
}

/** Tells whether a server is configured with a credential: a 401 then asks for a better one. */
export function hasCredential(config: HttpServer): boolean {
  const names = [...Object.keys(config.headers ?? {}), ...Object.keys(config.headersFrom ?? {})];
  return (
    config.oauth !== undefined ||
    config.renewHeaders !== undefined ||
    config.bearerTokenVariable !== undefined ||
    names.some((name) => name.toLowerCase() === 'authorization')
  );
}

/** The headers a configuration asks for, with the values the environment holds (SPEC CN-7). */
import { HoldfastError } from '../../domain/errors.ts';
import type { HttpServer } from '../../domain/config.ts';

type HeaderConfig = Pick<HttpServer, 'headers' | 'headersFrom' | 'bearerTokenVariable'>;

/**
 * Resolves `headers`, `headersFrom` and `bearerTokenVariable`, the later winning over the earlier.
 *
 * @throws HoldfastError `server_misconfigured` naming the variable that is not set, or the header that HTTP does not
 * allow. Values are never quoted.
 */
export function resolveHeaders(
  config: HeaderConfig,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(config.headers ?? {})) setHeader(headers, name, value);
  for (const [name, variable] of Object.entries(config.headersFrom ?? {})) {
    setHeader(headers, name, readVariable(variable, `header "${name}"`, env));
  }
  if (config.bearerTokenVariable !== undefined) {
    const token = readVariable(config.bearerTokenVariable, 'the bearer token', env);
    setHeader(headers, 'authorization', `Bearer ${token}`);
  }
  return Object.fromEntries(headers);
}

function readVariable(variable: string, purpose: string, env: Readonly<Record<string, string | undefined>>): string {
  const value = env[variable]?.trim();
  if (value !== undefined && value !== '') return value;
  throw new HoldfastError(
    'server_misconfigured',
    `Expected the environment variable "${variable}" for ${purpose}, but it is ${value === undefined ? 'not set' : 'empty'}. Set it.`,
  );
}

function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    // The platform's message would quote the value, which may be a secret.
    throw new HoldfastError(
      'server_misconfigured',
      `Expected header "${name}" to have a name and a value HTTP allows, but it has not. Remove line breaks and other control characters.`,
    );
  }
}

/** Who signs in to the servers of one thread: made with the first link of a server that is reached over HTTP. */
import type { Clock } from '../api.ts';
import type { AuthorizationOptions, Authorizer } from '../domain/authorization.ts';
import type { ServerConfig } from '../domain/config.ts';
import type { Redactor } from '../domain/redact.ts';
import type { AuthState } from '../domain/snapshot.ts';
import type { Facts } from './facts.ts';
import type { Effects } from './effects.ts';
import type { LiveConnection } from './servers.ts';
import type { SignIns } from './sign-ins.ts';

export interface AuthorizersPorts {
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly facts: Facts;
  readonly host: AuthorizationOptions;
}

/** Gives a connection its authorizer, made once; none where a credential is configured, or none can be used. */
export async function authorizerOf(
  connection: LiveConnection,
  { clock, redactor, facts, host }: AuthorizersPorts,
): Promise<Authorizer | undefined> {
  const { config, server } = connection;
  if (!('url' in config) || hasOwnCredential(config) || !URL.canParse(config.url)) return undefined;
  if (connection.authorizer !== undefined) return connection.authorizer;
  const { createAuthorizer, createKeptCredentials } = await import('../mcp/auth/index.ts');
  connection.authorizer ??= createAuthorizer({
    server,
    config,
    host,
    store: () => Promise.resolve(host.credentials ?? createKeptCredentials()),
    clock,
    onSecret: (secret) => {
      redactor.add(secret);
    },
    onWarning: (code, message) => {
      facts.warn(code, message, server);
    },
  });
  return connection.authorizer;
}

/** The sign-ins of a thread. */
export async function signInsOf(effects: Effects): Promise<SignIns> {
  const { clock, servers, calls, redactor } = effects;
  const { SignIns } = await import('./sign-ins.ts');
  return new SignIns({
    clock,
    servers,
    questions: () => effects.questions,
    isOpen: (record) => calls.record(record.input.call) === record,
    send: (id, event) => {
      effects.lookUp(id)?.send(event);
    },
    redact: (failure) => redactor.value(failure),
  });
}

/** How a server is authorized, for the snapshot (SPEC AU-3). */
export function authStateOf({ config, state, authorizer }: LiveConnection): AuthState {
  if (!('url' in config)) return 'unsupported';
  if (hasOwnCredential(config)) return 'bearerToken';
  if (state === 'authRequired' && authorizer?.state !== 'reauthenticate') return 'notLoggedIn';
  return authorizer?.state ?? 'unknown';
}

/** A credential of the configuration itself: nobody signs in. */
function hasOwnCredential(config: ServerConfig): boolean {
  if (!('url' in config)) return false;
  const { bearerTokenVariable, headers, headersFrom } = config;
  return (
    bearerTokenVariable !== undefined ||
    Object.keys({ ...headers, ...headersFrom }).some((name) => name.toLowerCase() === 'authorization')
  );
}

/** Who signs in to the servers of one thread: made with the first link of a server that is reached over HTTP. */
import type { Clock } from '../api.ts';
import type { AuthorizationOptions, Authorizer, CredentialStore } from '../domain/authorization.ts';
import type { Redactor } from '../domain/redact.ts';
import type { Facts } from './facts.ts';
import { hasOwnCredential } from './auth-state.ts';
import type { Effects } from './effects.ts';
import type { ResultsCache } from './results-cache.ts';
import type { LiveConnection } from './servers.ts';
import { SignIns } from './sign-ins.ts';

export interface AuthorizersPorts {
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly facts: Facts;
  readonly host: AuthorizationOptions;
  readonly results: Pick<ResultsCache, 'credentialsChanged'>;
  readonly signIns: () => SignIns | undefined;
}

/** The stores of this user, by their directory: one for all threads, so that they hear of each other. */
const keptStores = new Map<string, CredentialStore>();

/** Gives a connection its authorizer, made once; none where a credential is configured, or none can be used. */
export async function authorizerOf(
  connection: LiveConnection,
  { clock, redactor, facts, host, results, signIns }: AuthorizersPorts,
): Promise<Authorizer | undefined> {
  const { config, server } = connection;
  if (!('url' in config) || hasOwnCredential(config) || !URL.canParse(config.url)) return undefined;
  if (connection.authorizer !== undefined) return connection.authorizer;
  const { createAuthorizer, createKeptCredentials, credentialsDirectory } = await import('../mcp/auth/index.ts');
  const keptStore = (): CredentialStore => {
    const directory = credentialsDirectory();
    const store = keptStores.get(directory) ?? createKeptCredentials({ directory });
    keptStores.set(directory, store);
    return store;
  };
  connection.authorizer ??= createAuthorizer({
    server,
    config,
    host,
    store: () => Promise.resolve(host.credentials ?? keptStore()),
    clock,
    onSecret: (secret) => {
      redactor.add(secret);
    },
    onWarning: (code, message) => {
      facts.warn(code, message, server);
    },
    onChanged: (isAdopted) => {
      results.credentialsChanged(connection);
      if (isAdopted && connection.tools.length > 0) connection.relist?.();
    },
    onSignedInElsewhere: () => {
      signIns()?.goOn(connection);
    },
  });
  return connection.authorizer;
}

/** The sign-ins of a thread. */
export function signInsOf(effects: Effects): SignIns {
  const { clock, servers, calls, redactor } = effects;
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

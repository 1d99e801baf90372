/** The ways to a token that need no person: as this program itself, as its workload, as somebody signed in elsewhere. */
import { createPrivateKeyJwtAuth, fetchToken, OAuthErrorCode } from '@modelcontextprotocol/client';
import type {
  AddClientAuthentication,
  DpopSession,
  OAuthClientProvider,
  OAuthTokens,
} from '@modelcontextprotocol/client';
import type { Fetch } from '../../domain/authorization.ts';
import type { OAuthConfig } from '../../domain/config.ts';
import { HoldfastError } from '../../domain/errors.ts';
import type { KnownClient } from './credentials.ts';
import type { Discovered } from './discovery.ts';
import { isOAuthError, toAuthError } from './errors.ts';
import { vouchedAssertion } from './identity-provider.ts';
import type { ChosenScope } from './scopes.ts';

export interface GrantOptions {
  readonly config: OAuthConfig;
  readonly discovered: Discovered;
  readonly client: KnownClient;
  readonly scope: ChosenScope;
  readonly dpop: DpopSession | undefined;
  readonly fetch: Fetch;
  /** The value of an environment variable, read now. @throws HoldfastError `server_misconfigured` */
  readonly secret: (variable: string) => string;
}

const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Asks for tokens. @throws HoldfastError `auth_required` when they are refused. */
export async function tokensByGrant(options: GrantOptions): Promise<OAuthTokens> {
  const { scope, config } = options;
  try {
    return await request(options, scope.scope);
  } catch (error) {
    const mayDropScopes = config.grant === 'client_credentials' && scope.isDiscovered && scope.scope !== undefined;
    if (!mayDropScopes || !isOAuthError(error, OAuthErrorCode.InvalidScope))
      throw toAuthError(error, 'to be given a token');
  }
  try {
    return await request(options, undefined);
  } catch (error) {
    throw toAuthError(error, 'to be given a token');
  }
}

/** What signs for the client where it has a key instead of a secret. */
export function clientAuthentication({
  config,
  client,
  secret,
}: Pick<GrantOptions, 'config' | 'client' | 'secret'>): AddClientAuthentication | undefined {
  if (config.privateKeyVariable === undefined) return undefined;
  return createPrivateKeyJwtAuth({
    issuer: client.client_id,
    subject: client.client_id,
    privateKey: secret(config.privateKeyVariable),
    alg: config.signingAlgorithm ?? 'ES256',
  });
}

async function request(options: GrantOptions, scope: string | undefined): Promise<OAuthTokens> {
  const { discovered, client, dpop, fetch } = options;
  const parameters = new URLSearchParams(await parametersOf(options, scope));
  if (scope !== undefined) parameters.set('scope', scope);
  const authentication = clientAuthentication(options);
  const provider: OAuthClientProvider = {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [] },
    clientInformation: () => ({ ...client, issuer: discovered.issuer }),
    tokens: () => undefined,
    saveTokens: nothing,
    redirectToAuthorization: nothing,
    saveCodeVerifier: nothing,
    codeVerifier: () => '',
    prepareTokenRequest: () => parameters,
    ...(dpop === undefined ? {} : { dpop: () => dpop }),
    ...(authentication === undefined ? {} : { addClientAuthentication: authentication }),
  };
  return fetchToken(provider, discovered.authorizationServerUrl, {
    ...(discovered.metadata === undefined ? {} : { metadata: discovered.metadata }),
    ...(discovered.resource === undefined ? {} : { resource: discovered.resource }),
    ...(scope === undefined ? {} : { scope }),
    fetchFn: fetch,
  });
}

async function parametersOf(options: GrantOptions, scope: string | undefined): Promise<Record<string, string>> {
  const { config, secret } = options;
  const { grant = 'authorization_code' } = config;
  switch (grant) {
    case 'client_credentials':
      return { grant_type: 'client_credentials' };
    case 'jwt_bearer':
      return { grant_type: jwtBearer, assertion: secret(required(config, 'assertionVariable')) };
    case 'id_jag':
      return { grant_type: jwtBearer, assertion: await identityAssertion(options, scope) };
    case 'authorization_code':
      throw new HoldfastError('auth_required', 'Expected a person to sign in. Call thread.authorize for the server.');
  }
}

/** The company's identity provider says to the authorization server who the person is. */
function identityAssertion(
  { config, discovered, client, fetch, secret }: GrantOptions,
  scope: string | undefined,
): Promise<string> {
  const { identityClientId = client.client_id, identityClientSecretVariable } = config;
  return vouchedAssertion({
    identityProvider: required(config, 'identityProvider'),
    clientId: identityClientId,
    clientSecret: identityClientSecretVariable === undefined ? undefined : secret(identityClientSecretVariable),
    idToken: secret(required(config, 'idTokenVariable')),
    audience: discovered.issuer,
    resource: discovered.resource ?? '',
    scope,
    fetch,
  });
}

function required(config: OAuthConfig, field: 'assertionVariable' | 'identityProvider' | 'idTokenVariable'): string {
  const value = config[field];
  if (value !== undefined) return value;
  throw new HoldfastError(
    'server_misconfigured',
    `Expected "oauth.${field}" with the grant "${config.grant ?? ''}", got none. Set it.`,
  );
}

function nothing(): void {
  // Tokens are kept by who asked for them.
}

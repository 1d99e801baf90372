/**
 * Who this client is to an authorization server (SPEC AU-1): registered beforehand, its metadata document, or registered
 * here. What is registered here is kept per issuer and used again while the way back fits.
 */
import {
  isHttpsUrl,
  isStrictScopeSuperset,
  registerClient,
  RegistrationRejectedError,
} from '@modelcontextprotocol/client';
import type { OAuthClientMetadata } from '@modelcontextprotocol/client';
import type { AuthorizationOptions, Fetch } from '../../domain/authorization.ts';
import type { OAuthConfig } from '../../domain/config.ts';
import { HoldfastError } from '../../domain/errors.ts';
import type { KnownClient } from './credentials.ts';
import type { Discovered } from './discovery.ts';
import { isSameIssuer } from './discovery.ts';
import { toAuthError } from './errors.ts';
import type { ChosenScope } from './scopes.ts';

export interface ClientOptions {
  readonly config: OAuthConfig;
  readonly host: AuthorizationOptions;
  readonly discovered: Discovered;
  /** Those kept of this issuer. */
  readonly known: readonly KnownClient[];
  /** The issuer this client's own secret was first shown to. */
  readonly pinnedIssuer: string | undefined;
  readonly redirectUrl: string;
  readonly scope: ChosenScope;
  readonly now: number;
  readonly fetch: Fetch;
  /** The value of an environment variable. @throws HoldfastError `server_misconfigured` */
  readonly secret: (variable: string) => string;
}

/** The client to use, registered if need be. */
export async function clientFor(options: ClientOptions): Promise<KnownClient> {
  const { config, host, discovered, known } = options;
  const configured = configuredClient(options);
  if (configured !== undefined) return configured;
  const documentUrl = checkedDocumentUrl(config.clientMetadataUrl ?? host.clientMetadataUrl);
  const takesDocuments = discovered.metadata?.client_id_metadata_document_supported === true;
  if (documentUrl !== undefined && takesDocuments)
    return { client_id: documentUrl, token_endpoint_auth_method: 'none' };
  const kept = known.find((each) => isUsable(each, options));
  return kept ?? registeredClient(options);
}

/** Registers a client. @throws HoldfastError `auth_required` where that is refused. */
export async function registeredClient(options: ClientOptions): Promise<KnownClient> {
  try {
    return await register(options, options.scope.scope);
  } catch (error) {
    // Nobody here asked for these scopes: an authorization server that does not know them may know the client without.
    const mayDropScopes = options.scope.isDiscovered && options.scope.scope !== undefined;
    if (!mayDropScopes || !(error instanceof RegistrationRejectedError)) throw toAuthError(error, registering);
  }
  return register(options, undefined).catch((error: unknown) => {
    throw toAuthError(error, registering);
  });
}

const registering = 'to register as a client';

/** @throws HoldfastError `server_misconfigured` for a url nobody would take for a client's id. */
function checkedDocumentUrl(url: string | undefined): string | undefined {
  if (url === undefined || isHttpsUrl(url)) return url;
  throw new HoldfastError(
    'server_misconfigured',
    `Expected "clientMetadataUrl" to be an https url with a path, got "${url}". Correct it.`,
  );
}

/** A client that was registered beforehand; its secret goes to one authorization server only. */
export function configuredClient({
  config,
  discovered,
  pinnedIssuer,
  secret,
}: Pick<ClientOptions, 'config' | 'discovered' | 'pinnedIssuer' | 'secret'>): KnownClient | undefined {
  if (config.clientId === undefined) return undefined;
  const wanted = config.issuer ?? pinnedIssuer;
  if (wanted !== undefined && !isSameIssuer(wanted, discovered.issuer)) throw movedError(wanted, discovered.issuer);
  const { clientSecretVariable } = config;
  if (clientSecretVariable === undefined) return { client_id: config.clientId };
  return { client_id: config.clientId, client_secret: secret(clientSecretVariable) };
}

/** Whether the person set a client up by hand: its registration belongs to one issuer. */
export function movedError(wanted: string, got: string): HoldfastError {
  return new HoldfastError(
    'auth_required',
    `Expected the authorization server "${wanted}", which "oauth.clientId" belongs to, got "${got}". The client's credentials were not sent. Set "oauth.issuer" if the server has moved.`,
  );
}

async function register(
  { host, discovered, redirectUrl, fetch }: ClientOptions,
  scope: string | undefined,
): Promise<KnownClient> {
  const { metadata, authorizationServerUrl } = discovered;
  if (metadata !== undefined && metadata.registration_endpoint === undefined) {
    throw new HoldfastError(
      'auth_required',
      `Expected the authorization server "${discovered.issuer}" to register clients, and it does not. Register one by hand and set "oauth.clientId".`,
    );
  }
  const { client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method } = await registerClient(
    authorizationServerUrl,
    {
      ...(metadata === undefined ? {} : { metadata }),
      clientMetadata: clientMetadata(host, redirectUrl),
      ...(scope === undefined ? {} : { scope }),
      fetchFn: fetch,
    },
  );
  return {
    client_id,
    client_name: nameOf(host),
    redirect_uris: [redirectUrl],
    ...(scope === undefined ? {} : { scope }),
    ...(client_secret === undefined ? {} : { client_secret }),
    ...(client_secret_expires_at === undefined ? {} : { client_secret_expires_at }),
    ...(token_endpoint_auth_method === undefined ? {} : { token_endpoint_auth_method }),
  };
}

function nameOf({ clientName = 'Holdfast' }: AuthorizationOptions): string {
  return clientName;
}

function clientMetadata(host: AuthorizationOptions, redirectUrl: string): OAuthClientMetadata {
  const { clientUri } = host;
  return {
    client_name: nameOf(host),
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: isNative(redirectUrl) ? 'native' : 'web',
    ...(clientUri === undefined ? {} : { client_uri: clientUri }),
  };
}

/** Whether it may be used again, if it is free where its browser comes back to. */
export function mayBeUsed(
  { client_secret_expires_at = 0, client_name, scope: registered, isHeldToScope }: KnownClient,
  { host, scope: { scope }, now }: Pick<ClientOptions, 'host' | 'scope' | 'now'>,
): boolean {
  const isFresh = client_secret_expires_at === 0 || client_secret_expires_at * 1_000 > now;
  const isSameName = client_name === undefined || client_name === nameOf(host);
  const isTooNarrow = isHeldToScope === true && registered !== undefined && isStrictScopeSuperset(scope, registered);
  return isFresh && isSameName && !isTooNarrow;
}

/**
 * Some authorization servers hold a client to the very url it registered with, and say so on the page a person sees, and not
 * here: another port is another client.
 */
function isUsable(client: KnownClient, options: ClientOptions): boolean {
  const { redirect_uris } = client;
  return mayBeUsed(client, options) && (redirect_uris === undefined || redirect_uris.includes(options.redirectUrl));
}

/** Whether more is asked for than a client was registered for here: it may be held to that. */
export function asksForMore({ scope: registered }: KnownClient, scope: string | undefined): boolean {
  return registered !== undefined && isStrictScopeSuperset(scope, registered);
}

/** A client on the machine of its person: the way back is its loopback or a scheme of its own. */
export function isNative(redirectUrl: string): boolean {
  const { protocol, hostname } = new URL(redirectUrl);
  return (protocol !== 'https:' && protocol !== 'http:') || isLoopbackName(hostname);
}

/** Whether a host name is this machine. */
export function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** Finds who signs in to a server, and how: protected-resource and authorization-server metadata (SPEC AU-1). */
import {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import type { AuthorizationServerMetadata, OAuthProtectedResourceMetadata } from '@modelcontextprotocol/client';
import type { Fetch } from '../../domain/authorization.ts';
import type { OAuthConfig } from '../../domain/config.ts';
import { HoldfastError } from '../../domain/errors.ts';
import { clip } from '../wire.ts';
import { toAuthError } from './errors.ts';

/** What was found out. */
export interface Discovered {
  readonly authorizationServerUrl: string;
  /** The issuer in its metadata, else its url: what credentials are kept under. */
  readonly issuer: string;
  /** Absent for servers of 2025-03-26 without any: their endpoints are at the usual places. */
  readonly metadata?: AuthorizationServerMetadata;
  /** Sent as `resource` with every request. */
  readonly resource?: string;
  readonly scopesSupported?: readonly string[];
}

export interface DiscoveryOptions {
  readonly serverUrl: string;
  readonly config: OAuthConfig;
  /** From the challenge. */
  readonly resourceMetadataUrl?: URL | undefined;
  readonly fetch: Fetch;
}

/** @throws HoldfastError `protocol_error` for documents that are wrong, `server_unavailable` when nobody answers. */
export async function discover(options: DiscoveryOptions): Promise<Discovered> {
  const { serverUrl, config, fetch } = options;
  const resourceMetadata = await resourceMetadataOf(options);
  const resource = resourceOf(serverUrl, config, resourceMetadata);
  const authorizationServerUrl = authorizationServerOf(serverUrl, config, resourceMetadata);
  let status = 0;
  const metadata = await serverMetadataOf(authorizationServerUrl, async (url, init) => {
    const response = await fetch(url, init);
    ({ status } = response);
    return response;
  });
  // Only servers of 2025-03-26, which have no metadata of their own, do without.
  if (metadata === undefined && resourceMetadata !== undefined)
    throw new HoldfastError(
      'protocol_error',
      `Expected the authorization server "${clip(authorizationServerUrl)}" to have metadata, got HTTP ${String(status)} where it should be. Nobody was asked to sign in.`,
    );
  const scopesSupported = resourceMetadata?.scopes_supported;
  return {
    authorizationServerUrl,
    issuer: metadata?.issuer ?? authorizationServerUrl,
    ...(metadata === undefined ? {} : { metadata }),
    ...(resource === undefined ? {} : { resource }),
    ...(scopesSupported === undefined ? {} : { scopesSupported }),
  };
}

async function resourceMetadataOf({
  serverUrl,
  resourceMetadataUrl,
  fetch,
}: DiscoveryOptions): Promise<OAuthProtectedResourceMetadata | undefined> {
  let status = 0;
  const watched: Fetch = async (url, init) => {
    const response = await fetch(url, init);
    status = response.status;
    return response;
  };
  try {
    return await discoverOAuthProtectedResourceMetadata(
      serverUrl,
      resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl },
      watched,
    );
  } catch (error) {
    // Not there is allowed; there and wrong is not.
    if (status >= 400 && status < 500) return undefined;
    throw toAuthError(error, `the metadata of the protected resource "${clip(serverUrl)}"`);
  }
}

function resourceOf(
  serverUrl: string,
  config: OAuthConfig,
  metadata: OAuthProtectedResourceMetadata | undefined,
): string | undefined {
  if (config.resource !== undefined) return config.resource;
  if (metadata === undefined) return undefined;
  const own = resourceUrlFromServerUrl(serverUrl);
  const isAllowed =
    URL.canParse(metadata.resource) &&
    checkResourceAllowed({ requestedResource: own, configuredResource: metadata.resource });
  if (isAllowed) return metadata.resource;
  throw new HoldfastError(
    'protocol_error',
    `Expected the metadata of "${own.href}" to be about it, got one about "${clip(metadata.resource)}". Nobody was asked to sign in. If it is right, set "oauth.resource" to it.`,
  );
}

function authorizationServerOf(
  serverUrl: string,
  config: OAuthConfig,
  metadata: OAuthProtectedResourceMetadata | undefined,
): string {
  const named = metadata?.authorization_servers ?? [];
  if (config.issuer === undefined) return named[0] ?? String(new URL('/', serverUrl));
  const wanted = config.issuer;
  const found = named.find((each) => isSameIssuer(each, wanted));
  if (found !== undefined || named.length === 0) return found ?? wanted;
  throw new HoldfastError(
    'auth_required',
    `Expected the server to be signed in to by "${clip(wanted)}" ("oauth.issuer"), got ${named.map((each) => `"${clip(each)}"`).join(', ')}. No credential was sent. Correct "oauth.issuer" if the server has moved.`,
  );
}

/** One slash at the end makes no other issuer. */
export function isSameIssuer(a: string, b: string): boolean {
  return a === b || `${a}/` === b || a === `${b}/`;
}

async function serverMetadataOf(url: string, fetch: Fetch): Promise<AuthorizationServerMetadata | undefined> {
  try {
    return await discoverAuthorizationServerMetadata(url, { fetchFn: fetch });
  } catch (error) {
    throw toAuthError(error, `the metadata of the authorization server "${clip(url)}"`);
  }
}

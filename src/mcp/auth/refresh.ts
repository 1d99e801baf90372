/** Trades a refresh token for new tokens (SPEC AU-1). Runs under the lock of the entry. */
import { randomUUID } from 'node:crypto';
import { OAuthErrorCode, refreshAuthorization } from '@modelcontextprotocol/client';
import type { AddClientAuthentication, DpopSession } from '@modelcontextprotocol/client';
import type { Fetch } from '../../domain/authorization.ts';
import { currentTokens, timesOf } from './credentials.ts';
import type { Credentials, IssuerCredentials, KnownClient } from './credentials.ts';
import { isSameIssuer } from './discovery.ts';
import type { Discovered } from './discovery.ts';
import { isOAuthError, toAuthError } from './errors.ts';
import { checkToken } from './token-answers.ts';
import { checkTokenType } from './token-type.ts';

export interface RefreshOptions {
  readonly credentials: Credentials;
  readonly discovered: Discovered;
  readonly dpop: DpopSession | undefined;
  readonly now: number;
  authentication(client: KnownClient): AddClientAuthentication | undefined;
  readonly fetch: Fetch;
  /** The client that was set up by hand, with its secret. */
  client(discovered: Discovered): KnownClient | undefined;
}

/**
 * The credentials as they are to be kept; `undefined` where there is nothing to trade.
 *
 * @throws HoldfastError `server_unavailable` when the authorization server cannot say.
 */
export async function refreshed(
  options: RefreshOptions,
): Promise<{ readonly credentials: Credentials; readonly isRenewed: boolean } | undefined> {
  const { credentials, discovered, dpop, fetch, now } = options;
  const { issuer } = credentials;
  const kept = currentTokens(credentials);
  // Another authorization server has to be signed in to anew: it is shown nothing of this one's.
  if (issuer === undefined || kept?.refresh_token === undefined || !isSameIssuer(issuer, discovered.issuer))
    return undefined;
  const own = credentials.issuers[issuer] ?? {};
  const client = options.client(discovered) ?? own.client;
  if (client === undefined) return undefined;
  const authentication = options.authentication(client);
  const withOwn = (next: IssuerCredentials): Credentials => ({
    ...credentials,
    issuers: { ...credentials.issuers, [issuer]: next },
  });
  try {
    const { access_token, token_type, refresh_token, scope, expires_in } = await refreshAuthorization(
      discovered.authorizationServerUrl,
      {
        ...(discovered.metadata === undefined ? {} : { metadata: discovered.metadata }),
        ...(discovered.resource === undefined ? {} : { resource: discovered.resource }),
        ...(authentication === undefined ? {} : { addClientAuthentication: authentication }),
        ...(dpop === undefined ? {} : { dpop }),
        clientInformation: client,
        refreshToken: kept.refresh_token,
        fetchFn: fetch,
      },
    );
    checkToken({ access_token }, issuer);
    checkTokenType({ token_type }, issuer, { hasKey: dpop !== undefined });
    const granted = scope ?? kept.scope;
    const tokens = {
      access_token,
      token_type,
      refresh_token: refresh_token ?? kept.refresh_token,
      family: kept.family ?? randomUUID(),
      ...(granted === undefined ? {} : { scope: granted }),
      ...timesOf(now, expires_in),
    };
    return { credentials: withOwn({ ...own, tokens }), isRenewed: true };
  } catch (error) {
    const { tokens: _tokens, client: _client, ...rest } = own;
    if (isOAuthError(error, OAuthErrorCode.InvalidGrant, OAuthErrorCode.InvalidDpopProof))
      return {
        credentials: withOwn({ ...rest, ...(own.client === undefined ? {} : { client: own.client }) }),
        isRenewed: false,
      };
    // The authorization server has forgotten this client: it registers anew.
    if (isOAuthError(error, OAuthErrorCode.InvalidClient, OAuthErrorCode.UnauthorizedClient))
      return { credentials: withOwn(rest), isRenewed: false };
    throw toAuthError(error, 'the refresh token to be taken');
  }
}

/** The authorization-code flow: the url a person is sent to, and the code they bring back (SPEC AU-1). */
import {
  exchangeAuthorization,
  isStrictScopeSuperset,
  OAuthErrorCode,
  OAuthError,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import type { AddClientAuthentication, DpopSession, OAuthTokens } from '@modelcontextprotocol/client';
import type { Fetch } from '../../domain/authorization.ts';
import { HoldfastError } from '../../domain/errors.ts';
import { checkUrl } from '../../domain/url-question.ts';
import { asksForMore } from './clients.ts';
import type { KnownClient } from './credentials.ts';
import type { Discovered } from './discovery.ts';
import { isOAuthError, toAuthError } from './errors.ts';
import type { AuthorizationRequest, Exchange } from './running-sign-in.ts';
import type { ChosenScope } from './scopes.ts';
import { checkToken } from './token-answers.ts';
import { checkTokenType } from './token-type.ts';

export interface CodeFlowOptions {
  readonly discovered: Discovered;
  readonly client: KnownClient;
  readonly redirectUrl: string;
  readonly state: string;
  readonly scope: ChosenScope;
  readonly authentication: AddClientAuthentication | undefined;
  readonly dpop: DpopSession | undefined;
  /** Runs with a bounded fetch, until it is given up. */
  withFetch<TResult>(run: (fetch: Fetch) => Promise<TResult>, signal: AbortSignal): Promise<TResult>;
  /** Keeps what came, and commits it. */
  keep(tokens: OAuthTokens, scope: string | undefined, client: KnownClient, exchange: Exchange): Promise<void>;
  /** Registers a client for these scopes; absent once that was done. */
  readonly widen?: () => Promise<KnownClient>;
  /** The authorization server does not know the client. */
  onClientUnknown(client: KnownClient): Promise<void>;
}

/** Makes the request. @throws HoldfastError `protocol_error` for a url nobody should be sent to. */
export async function authorizationRequest(options: CodeFlowOptions): Promise<AuthorizationRequest> {
  const { discovered, client, redirectUrl, state, scope } = options;
  const { authorizationUrl, codeVerifier } = await begin(options);
  const checked = checkUrl(authorizationUrl.href);
  if (!checked.ok)
    throw new HoldfastError('protocol_error', `The url to sign in at is not shown to anybody: ${checked.reason}`);

  const redeem = async (answer: URLSearchParams, exchange: Exchange): Promise<AuthorizationRequest | undefined> => {
    const code = codeIn(answer, discovered);
    if (code === undefined) {
      const isScopeRefused = answer.get('error') === OAuthErrorCode.InvalidScope;
      const { widen, ...narrow } = options;
      if (isScopeRefused && widen !== undefined && asksForMore(client, scope.scope))
        return authorizationRequest({ ...narrow, client: await widen() });
      // Nobody here asked for these scopes: without them it may work.
      if (scope.isDiscovered && scope.scope !== undefined && isScopeRefused)
        return authorizationRequest({ ...options, scope: { isDiscovered: false } });
      throw refusalIn(answer);
    }
    const iss = answer.get('iss');
    const exchangeCode = (fetch: Fetch): Promise<OAuthTokens> =>
      exchangeAuthorization(discovered.authorizationServerUrl, {
        ...(discovered.metadata === undefined ? {} : { metadata: discovered.metadata }),
        ...(discovered.resource === undefined ? {} : { resource: discovered.resource }),
        ...(iss === null ? {} : { iss }),
        ...(options.authentication === undefined ? {} : { addClientAuthentication: options.authentication }),
        ...(options.dpop === undefined ? {} : { dpop: options.dpop }),
        clientInformation: client,
        authorizationCode: code,
        codeVerifier,
        redirectUri: redirectUrl,
        fetchFn: fetch,
      });
    const tokens = await options.withFetch(exchangeCode, exchange.signal).catch(async (error: unknown) => {
      if (isOAuthError(error, OAuthErrorCode.InvalidClient, OAuthErrorCode.UnauthorizedClient))
        await options.onClientUnknown(client);
      throw error;
    });
    checkToken(tokens, discovered.issuer);
    checkTokenType(tokens, discovered.issuer, { hasKey: options.dpop !== undefined });
    // Where that is for its registration, the next one who wants more registers anew.
    const isHeldToScope =
      tokens.scope !== undefined &&
      asksForMore(client, scope.scope) &&
      isStrictScopeSuperset(scope.scope, tokens.scope);
    await options.keep(tokens, scope.scope, isHeldToScope ? { ...client, isHeldToScope } : client, exchange);
    return undefined;
  };
  return { url: checked.url, redeem };

  function begin({
    discovered: { authorizationServerUrl, metadata, resource },
  }: CodeFlowOptions): ReturnType<typeof startAuthorization> {
    return startAuthorization(authorizationServerUrl, {
      ...(metadata === undefined ? {} : { metadata }),
      ...(resource === undefined ? {} : { resource }),
      ...(scope.scope === undefined ? {} : { scope: scope.scope }),
      clientInformation: client,
      redirectUrl,
      state,
    }).catch((error: unknown) => {
      throw toAuthError(error, 'a url to sign in at');
    });
  }
}

/** The code in an answer, once it is known to be of the authorization server that was asked (RFC 9207). */
function codeIn(answer: URLSearchParams, { metadata }: Discovered): string | undefined {
  validateAuthorizationResponseIssuer({
    iss: answer.get('iss') ?? undefined,
    expectedIssuer: metadata?.issuer,
    issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
  });
  return answer.get('code') ?? undefined;
}

function refusalIn(answer: URLSearchParams): Error {
  const error = answer.get('error');
  if (error === null)
    return new HoldfastError(
      'protocol_error',
      'Expected a code or an error from the authorization server, got neither.',
    );
  return new OAuthError(error, answer.get('error_description') ?? error);
}

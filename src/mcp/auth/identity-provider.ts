/** A company's identity provider vouches for a person: the first half of enterprise-managed authorization (SPEC ER-5). */
import { buildDiscoveryUrls, requestJwtAuthorizationGrant } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { Fetch } from '../../domain/authorization.ts';
import { HoldfastError, messageOf } from '../../domain/errors.ts';
import { clip } from '../wire.ts';
import { isSameIssuer } from './discovery.ts';

export interface VouchOptions {
  /** The issuer url of the identity provider. */
  readonly identityProvider: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly idToken: string;
  /** The authorization server that is to believe it. */
  readonly audience: string;
  readonly resource: string;
  readonly scope: string | undefined;
  readonly fetch: Fetch;
}

/** Gets the assertion for the authorization server (an ID-JAG). @throws HoldfastError `auth_required` */
export async function vouchedAssertion(options: VouchOptions): Promise<string> {
  const { identityProvider, clientId, clientSecret, idToken, audience, resource, scope, fetch } = options;
  try {
    const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
      tokenEndpoint: await tokenEndpointOf(identityProvider, fetch),
      audience,
      resource,
      idToken,
      clientId,
      ...(clientSecret === undefined ? {} : { clientSecret }),
      ...(scope === undefined ? {} : { scope }),
      fetchFn: fetch,
    });
    return jwtAuthGrant;
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    throw new HoldfastError(
      'auth_required',
      `Expected the identity provider "${identityProvider}" to vouch for the person, got: ${clip(messageOf(error))}`,
      { cause: error },
    );
  }
}

/** Of its metadata only the token endpoint is needed: what else a provider leaves out is its business. */
const metadataSchema = z.looseObject({ issuer: z.string(), token_endpoint: z.url() });

async function tokenEndpointOf(issuer: string, fetch: Fetch): Promise<string> {
  for (const { url } of buildDiscoveryUrls(issuer)) {
    const response = await fetch(url, { headers: { accept: 'application/json' } });
    if (!response.ok) continue;
    const { issuer: said, token_endpoint } = metadataSchema.parse(await response.json());
    if (isSameIssuer(said, issuer)) return token_endpoint;
    throw new HoldfastError(
      'protocol_error',
      `Expected the metadata of the identity provider "${issuer}" to be its own, got that of "${clip(said)}". Nothing was sent there.`,
    );
  }
  throw new HoldfastError(
    'auth_required',
    `Expected the identity provider "${issuer}" to have metadata, got none. Check "oauth.identityProvider".`,
  );
}

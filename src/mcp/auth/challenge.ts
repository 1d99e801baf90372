/** What a server says when it does not let a request in. */
import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';

/** A refusal that credentials may mend. */
export interface Challenge {
  readonly status: 401 | 403;
  /** It named a scheme: it says itself that credentials help. */
  readonly isNamed: boolean;
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
}

/** Reads a response; `undefined` for one that asks for no credential. */
export function challengeOf(response: Response): Challenge | undefined {
  const { status } = response;
  if (status !== 401 && status !== 403) return undefined;
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(response);
  if (status === 403 && error !== 'insufficient_scope') return undefined;
  return {
    status,
    isNamed: response.headers.has('www-authenticate'),
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
    ...(scope === undefined ? {} : { scope }),
  };
}

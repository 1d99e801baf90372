/** Which kinds of tokens are used: who does not know a kind must not use it (RFC 6749 section 7.1). */
import type { OAuthTokens } from '@modelcontextprotocol/client';
import { HoldfastError } from '../../domain/errors.ts';
import { clip } from '../wire.ts';

/**
 * Checks the kind of a token before it is kept or used.
 *
 * @throws HoldfastError `protocol_error` for one that is neither borne nor bound to the key it was asked for with.
 */
export function checkTokenType(
  { token_type }: Pick<OAuthTokens, 'token_type'>,
  issuer: string,
  { hasKey }: { readonly hasKey: boolean },
): void {
  const kind = token_type.toLowerCase();
  if (kind === 'bearer' || (kind === 'dpop' && hasKey)) return;
  const advice = kind === 'dpop' ? 'Set "oauth.dpop" if its tokens are bound to a key.' : 'Nobody here can use it.';
  throw new HoldfastError(
    'protocol_error',
    `Expected a token of the type "Bearer"${hasKey ? ' or "DPoP"' : ''} from the authorization server "${clip(issuer)}", got one of the type "${clip(token_type)}". It was not kept or sent. ${advice}`,
  );
}

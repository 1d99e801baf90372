/** What goes wrong while signing in, as Holdfast's errors. */
import {
  AuthorizationServerMismatchError,
  InsecureTokenEndpointError,
  IssuerMismatchError,
  OAuthError,
  OAuthErrorCode,
  RegistrationRejectedError,
} from '@modelcontextprotocol/client';
import { HoldfastError, messageOf } from '../../domain/errors.ts';
import { clip } from '../wire.ts';

/** Makes the error of anything thrown on the way to a token. `doing` reads after "expected": `the code to be taken`. */
export function toAuthError(error: unknown, doing: string): HoldfastError {
  if (error instanceof HoldfastError) return error;
  if (error instanceof OAuthError) {
    const code = isOAuthError(error, OAuthErrorCode.AccessDenied) ? 'authorization_declined' : 'auth_required';
    return new HoldfastError(
      code,
      `Expected ${doing}, got the error "${clip(error.code)}" (${clip(error.message)}) from the authorization server.`,
      { cause: error },
    );
  }
  if (error instanceof RegistrationRejectedError) {
    return new HoldfastError(
      'auth_required',
      `Expected to register as a client, got HTTP ${String(error.status)} from the authorization server. Register one by hand and set "oauth.clientId".`,
      { cause: error },
    );
  }
  if (error instanceof IssuerMismatchError) {
    // What came with a wrong issuer is somebody else's text: it is not repeated.
    return new HoldfastError(
      'protocol_error',
      `Expected ${doing} by the authorization server "${clip(error.expected ?? '')}", got something by another or without its name. It was not used.`,
      { cause: error },
    );
  }
  if (error instanceof InsecureTokenEndpointError || error instanceof AuthorizationServerMismatchError)
    return new HoldfastError('protocol_error', `Expected ${doing}, got: ${clip(error.message)}`, { cause: error });
  return new HoldfastError(
    'protocol_error',
    `Expected ${doing}, got an answer of another shape (${clip(messageOf(error))}). This is a fault of the authorization server.`,
    { cause: error },
  );
}

/** Waits for credentials of a request that has not run: what goes wrong says so. */
export async function beforeSending<TResult>(credentials: Promise<TResult>): Promise<TResult> {
  try {
    return await credentials;
  } catch (error) {
    const { code, message, retryable } = toAuthError(error, 'credentials');
    throw new HoldfastError(code, message, { retryable, outcome: 'not-sent', cause: error });
  }
}

/** Whether the authorization server said this of a request for tokens. */
export function isOAuthError(error: unknown, ...codes: readonly OAuthErrorCode[]): boolean {
  return error instanceof OAuthError && codes.map(String).includes(error.code);
}

/** Signing in to servers: what hosts may give for it, and the port between a connection and who signs it in (SPEC AU). */
import type { HoldfastError } from './errors.ts';
import type { AuthState } from './snapshot.ts';
import type { ToolInfo, ToolResult } from './tool.ts';

/**
 * Keeps credentials. What is kept is secret: a store hands it to nobody else.
 *
 * Keys and values are text; Holdfast makes one entry a server, with what each authorization server gave for it.
 */
export interface CredentialStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Runs while no one else does for this key, in this process or another that uses the same store: a refresh token that
   * is replaced with each use must be used once.
   */
  exclusively<TResult>(
    key: string,
    run: () => Promise<TResult>,
    options?: { readonly signal?: AbortSignal },
  ): Promise<TResult>;
}

/** How a host signs in to servers. */
export interface AuthorizationOptions {
  /** Default: the keyring of the system, else a file only its user can read. */
  readonly credentials?: CredentialStore;
  /** What a person reads when they are asked to let this client in. Default `Holdfast`. */
  readonly clientName?: string;
  /** The home page of the client. */
  readonly clientUri?: string;
  /** Https url of the client's metadata document, used as its id where the authorization server knows such ids. */
  readonly clientMetadataUrl?: string;
  /**
   * Where the browser comes back to, for hosts this machine's loopback is not reachable for: give what came there to
   * `thread.finishAuthorization`. Default: Holdfast listens on the loopback while somebody signs in.
   */
  readonly redirectUrl?: string;
  /** How long a person has to sign in. Default 600,000. */
  readonly signInTimeoutMs?: number;
}

/** How long a person has to sign in, unless the host says otherwise. */
export const signInTimeoutMs = 600_000;

/** How a sign-in is begun. */
export interface SignInRequest {
  /** Asked for instead of anything configured or named by the server. */
  readonly scopes?: readonly string[];
  /** Sign in anew though there are credentials. */
  readonly anew?: boolean;
}

/** One sign-in that waits for a person; shared by all who wait for the same server. */
export interface SignIn {
  /** Where the person signs in. */
  readonly url: string;
  /** Resolves when the credentials are kept. Rejects with a {@link HoldfastError}; never unhandled. */
  readonly done: Promise<void>;
  /** One more waits for it; call what it returns when they do not any more. When nobody does, it is given up. */
  join(): () => void;
}

/** What came of the url a browser was sent back to. */
export type CallbackResult =
  | { readonly kind: 'signedIn' }
  /** The authorization server wants to be asked again, another way: send the browser there. */
  | { readonly kind: 'again'; readonly url: string }
  | { readonly kind: 'failed'; readonly error: HoldfastError }
  /** No sign-in waits for this url. */
  | { readonly kind: 'unknown' };

/** A `fetch` of one transport. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Lets one server be used: knows its credentials, gets them, renews them. Outlives the links of its connection. */
export interface Authorizer {
  readonly state: AuthState;
  /** A person can help; else credentials come without one, or not at all. */
  readonly canSignIn: boolean;
  /** It looks at the headers of every response. */
  readonly readsHeaders: boolean;
  /** Reads what is kept, once, and says what that comes to. */
  load(): Promise<AuthState>;
  /** Puts credentials on what goes to the server, and answers its challenges where no person is needed. */
  authorize(next: Fetch): Fetch;
  /**
   * Begins a sign-in, or joins the one that is open; `undefined` when there are newer credentials to try first.
   *
   * @throws HoldfastError `auth_required` where a sign-in cannot help, `protocol_error` for metadata that is wrong,
   * `server_unavailable` when the authorization server cannot be reached.
   */
  signIn(request?: SignInRequest): Promise<SignIn | undefined>;
  /** Takes the url a browser was sent back to, if it belongs to a sign-in of this server. */
  finish(callbackUrl: string): Promise<CallbackResult>;
  /** Gives up what is open. */
  close(): void;
}

/**
 * Says of a failed result whether its tool needs the person to sign in somewhere: where, and a sentence that says why. Nothing
 * for every other result. `connectorSignIn` of `holdfast/mcp` reads those of connectors.
 */
export type SignInReader = (
  result: ToolResult,
  tool: ToolInfo,
) => { readonly url: string; readonly message: string } | undefined;

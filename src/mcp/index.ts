/** `holdfast/mcp`: the protocol edge, for those who bring their own orchestration. */
export { openLink } from './open-link.ts';
export { createToolCache } from './tool-cache.ts';
export type { ToolCacheOptions } from './tool-cache.ts';
export { listingLimits, listPages } from './listing.ts';
export type { Listing } from './listing.ts';
export { boundResult } from './bound-result.ts';
export type { BoundResultOptions } from './bound-result.ts';
export { connectorSignIn, signedInResult } from './connector-sign-in.ts';
export type { ConnectorSignIn, ConnectorSignInOptions } from './connector-sign-in.ts';
export { createResultShelf } from './result-shelf.ts';
export type { ReadPieceOptions, ResultPiece, ResultShelf, ResultShelfOptions } from './result-shelf.ts';
export { nameTools } from './names.ts';
export type { NameToolsOptions, RawTool, ToolNames } from './names.ts';
export { fingerprint } from './fingerprint.ts';
export { createKeptCredentials, credentialsDirectory } from './auth/kept-credentials.ts';
export type { KeptCredentialsOptions } from './auth/kept-credentials.ts';
export { createMemoryCredentials } from './auth/memory-credentials.ts';
export { forgetCredentials } from './auth/forget.ts';
export type { ForgetOptions, Forgotten } from './auth/forget.ts';
export type {
  AuthorizationOptions,
  Authorizer,
  CallbackResult,
  CredentialStore,
  Fetch,
  SignIn,
  SignInRequest,
} from '../domain/authorization.ts';
export type {
  ClientOffer,
  DroppedTool,
  EraVerdict,
  Inventory,
  Link,
  LinkHandlers,
  LinkInfo,
  LinkStats,
  OpenLink,
  OpenLinkOptions,
  QuestionReply,
  RequestFailure,
  RequestKey,
  RequestSink,
  ServerQuestion,
  WireRequest,
} from '../domain/link.ts';

/** `holdfast/mcp`: the protocol edge, for those who bring their own orchestration. */
export { openLink } from './open-link.ts';
export { listingLimits, listPages } from './listing.ts';
export type { Listing } from './listing.ts';
export { boundResult } from './bound-result.ts';
export type { BoundResultOptions } from './bound-result.ts';
export { createResultShelf } from './result-shelf.ts';
export type { ReadPieceOptions, ResultPiece, ResultShelf, ResultShelfOptions } from './result-shelf.ts';
export { nameTools } from './names.ts';
export type { NameToolsOptions, RawTool, ToolNames } from './names.ts';
export { fingerprint } from './fingerprint.ts';
export type {
  ClientOffer,
  EraVerdict,
  Inventory,
  Link,
  LinkHandlers,
  LinkInfo,
  OpenLink,
  OpenLinkOptions,
  QuestionReply,
  RequestFailure,
  RequestKey,
  RequestSink,
  ServerQuestion,
  WireRequest,
} from '../domain/link.ts';

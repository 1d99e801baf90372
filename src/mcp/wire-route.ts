/** Ways to reach a server, as transports not yet started. */
import type { TransportKind } from '../domain/snapshot.ts';
import type { WireListener, WireTransport } from './transports/transport.ts';

/** One way to reach a server; each `open` is a fresh transport, not started. */
export interface WireRoute {
  readonly kind: TransportKind;
  /** It can be opened more than once. */
  readonly repeatable: boolean;
  readonly open: (listener: WireListener) => WireTransport;
  /** The same server for a moment, ended with little grace. */
  readonly sibling?: (listener: WireListener) => WireTransport;
}

/** The ways to a server: the first to try, and the one to try when an HTTP server turns out to be of the older kind. */
export type WireRoutes = readonly [WireRoute, WireRoute?];

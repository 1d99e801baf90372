/** Who Holdfast says it is, what it offers servers, and the SDK client that makes the handshake. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  Client,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/client';
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { LogLevel } from '../domain/config.ts';
import type { ClientOffer } from '../domain/link.ts';
import type { Era } from '../domain/snapshot.ts';
import { tasksExtension } from '../domain/task.ts';

/** The name and version every server is told. */
export const clientInfo = { name: 'holdfast', version: '0.1.0' } as const;

/**
 * What a server may ask of this client (SPEC ER-4, EL-5), and that it may make tasks of calls (ER-3). A server of 2025-11-25
 * needs no leave for that, and may make none of what it asks here: it is told of no tasks.
 */
export function capabilitiesFor(offer: ClientOffer, era: Era): ClientCapabilities {
  return {
    elicitation: { form: {}, url: {} },
    ...(offer.sampling ? { sampling: {} } : {}),
    // A modern server hears of no changes: it asks when it wants to know.
    ...(offer.roots ? { roots: era === 'modern' ? {} : { listChanged: true } } : {}),
    ...(era === 'modern' ? { extensions: { [tasksExtension]: {} } } : {}),
  };
}

/** The `_meta` every modern request carries. Made once a link, spread into each request. */
export type Envelope = Readonly<Record<string, unknown>>;

/** `logLevel`: what the server may log meanwhile. Without one, nothing. */
export function envelopeFor(protocolVersion: string, offer: ClientOffer, logLevel?: LogLevel): Envelope {
  return {
    [PROTOCOL_VERSION_META_KEY]: protocolVersion,
    ...(logLevel === undefined ? {} : { [LOG_LEVEL_META_KEY]: logLevel }),
    [CLIENT_INFO_META_KEY]: clientInfo,
    [CLIENT_CAPABILITIES_META_KEY]: capabilitiesFor(offer, 'modern'),
  };
}

/** An SDK client for one connection: handshake, pings and `subscriptions/listen`; calls do not go through it. */
export function createClient(offer: ClientOffer, era: Era): Client {
  return new Client(clientInfo, { capabilities: capabilitiesFor(offer, era), inputRequired: { autoFulfill: false } });
}

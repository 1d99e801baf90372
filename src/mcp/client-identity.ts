/** Who Holdfast says it is, what it offers servers, and the SDK client that makes the handshake. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  Client,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/client';
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { ClientOffer } from '../domain/link.ts';

/** The name and version every server is told. */
export const clientInfo = { name: 'holdfast', version: '0.1.0' } as const;

/** What a server may ask of this client (SPEC ER-4, EL-5). */
export function capabilitiesFor(offer: ClientOffer): ClientCapabilities {
  return {
    elicitation: { form: {}, url: {} },
    ...(offer.sampling ? { sampling: {} } : {}),
    ...(offer.roots ? { roots: { listChanged: true } } : {}),
  };
}

/** The `_meta` every modern request carries. Made once a link, spread into each request. */
export type Envelope = Readonly<Record<string, unknown>>;

export function envelopeFor(protocolVersion: string, offer: ClientOffer): Envelope {
  return {
    [PROTOCOL_VERSION_META_KEY]: protocolVersion,
    [CLIENT_INFO_META_KEY]: clientInfo,
    [CLIENT_CAPABILITIES_META_KEY]: capabilitiesFor(offer),
  };
}

/** An SDK client for one connection: handshake, pings and `subscriptions/listen`; calls do not go through it. */
export function createClient(offer: ClientOffer): Client {
  return new Client(clientInfo, { capabilities: capabilitiesFor(offer), inputRequired: { autoFulfill: false } });
}

/** From a v1 client to the configuration of a server. */
import type { GivenTransportServer, ServerSettings } from '../domain/config.ts';
import { HoldfastError } from '../domain/errors.ts';
import { HandedOverTransport } from './handed-over-transport.ts';
import type { V1Client } from './v1-client.ts';

/** How a client is handed over. */
export interface FromClientOptions {
  /** Close the client when Holdfast is done with the server. Default false: it stays connected, and yours. */
  readonly close?: boolean;
  /**
   * Who answers what the server asks. `holdfast` (default): elicitations become questions of the thread; so do sampling and
   * roots, unless the client has a handler for them. `client`: the client's handlers answer everything.
   */
  readonly questions?: 'holdfast' | 'client';
}

/**
 * Makes the configuration of a server of a connected v1 `Client`: give it to a thread, with any other setting beside it.
 *
 * The client goes on working for you: requests of both go over its one connection, and each gets its own answers, progress
 * and cancellations; both hear of changed lists and resources, and of logs. The client connected, so it decided what the
 * server was told of its capabilities: without `elicitation` among them the server cannot ask.
 *
 * A client is handed over once at a time. Holdfast cannot connect it again: when its connection ends the server is `failed`
 * until a replacement brings a client that is connected.
 *
 * @throws HoldfastError `invalid_argument` for a client that is not connected, or handed over already.
 */
export function fromClient(client: V1Client, options: FromClientOptions = {}): GivenTransportServer & ServerSettings {
  const transport = new HandedOverTransport(client, options);
  if (!transport.isConnected)
    throw new HoldfastError(
      'invalid_argument',
      'Expected a client that is connected, got one that is not. Await its "connect" before you hand it over.',
    );
  return { transport, protocol: 'legacy' };
}

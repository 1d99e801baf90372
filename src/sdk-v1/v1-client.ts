/** The parts of the MCP SDK 1.x that are used: shapes, so that any 1.x version will do. */

/** A connected transport, as the SDK's `Transport`. */
export interface V1Transport {
  send(message: never, options?: never): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  readonly sessionId?: string | undefined;
  /** Only transports over HTTP have it. */
  readonly protocolVersion?: unknown;
}

/** A `Client` of `@modelcontextprotocol/sdk` 1.x. */
export interface V1Client {
  readonly transport: V1Transport | undefined;
  getServerCapabilities(): object | undefined;
  getServerVersion(): object | undefined;
  getInstructions(): string | undefined;
  /** Throws where the client has a handler for requests of this method. */
  assertCanSetRequestHandler(method: string): void;
  close(): Promise<void>;
}

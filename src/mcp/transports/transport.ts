/**
 * What every wire transport of Holdfast is: how messages reach one server, and where its events go.
 *
 * A wire transport moves JSON-RPC messages and owns what carries them (a process, sockets). It knows no requests, no
 * eras, no limits of calls. Its owner gives it a {@link WireListener} at construction and calls, in this order,
 * `start` once, `send` any number of times, `close`. The owner calls `close` also after `onClosed`: only `close` ends
 * what a dead server left behind.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import type { HoldfastError } from '../../domain/errors.ts';
import type { TransportKind } from '../../domain/snapshot.ts';

/** Where the events of one transport go. Its methods do not throw. Nothing is called before `start`, or after `close` was called. */
export interface WireListener {
  /**
   * A message from the server, checked to be a JSON-RPC object and nothing more.
   *
   * `requestId` names the request of ours whose own stream carried it, where the transport tells (HTTP).
   */
  onMessage(message: JSONRPCMessage, requestId?: RequestId): void;
  /**
   * No response to this request will come: its stream was cut, its response was too large or not JSON.
   *
   * Called at most once for an id, and only after the `send` of that request resolved.
   */
  onRequestFailed(requestId: RequestId, error: HoldfastError): void;
  /** Worth telling and harmless: noise on stdout, an oversized line, a refused stream. Bounded by the transport. */
  onWarning(code: WireWarning, message: string): void;
  /**
   * A new exchange found nobody at the address of the server. What is on its way already may still be answered.
   *
   * Called before the `send` it happened to rejects.
   */
  onUnreachable?(error: HoldfastError): void;
  /** The transport ended without `close`, once; HTTP never does. `connection_lost`, with the stderr tail if there is one. */
  onClosed(error: HoldfastError): void;
}

/** The stable codes of {@link WireListener.onWarning}. */
export type WireWarning =
  | 'headers_helper'
  | 'stdout_noise'
  | 'oversized_line'
  | 'invalid_message'
  | 'stream_unavailable'
  | 'process_left'
  | 'transport_error';

/** What may be said with one message. Transports that share one channel ignore what they cannot use. */
export interface WireSendOptions {
  /** Extra HTTP headers of this message. The SDK's own (`authorization`, `mcp-*` of the body, …) cannot be replaced. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Aborting it ends the HTTP request and its stream at once. Nothing is reported for the request afterwards. */
  readonly requestSignal?: AbortSignal | undefined;
  /** The request's own stream ended, for whatever reason but an abort. */
  readonly onRequestStreamEnd?: (() => void) | undefined;
}

/** How a server process ended. */
export interface ExitInfo {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface WireTransport {
  readonly kind: TransportKind;
  /** Each request has its own HTTP exchange, which can be aborted alone. */
  readonly hasPerRequestStream: boolean;
  /** The server's process, for stdio, once started. */
  readonly pid: number | undefined;
  /** How much of what was sent waits for the server to read it, for stdio: characters and bytes. */
  readonly unsent?: number;
  /** The legacy HTTP session, once the server named one. */
  readonly sessionId: string | undefined;
  /** @throws HoldfastError `server_unavailable` when there is nothing to talk to. */
  start(): Promise<void>;
  /**
   * Sends one message; resolves when the transport has it (stdio) or the server answered with headers (HTTP).
   *
   * @throws HoldfastError `connection_lost` with outcome `not-sent` after the end; over HTTP also what the SDK throws for
   * a refused request (`SdkHttpError`, `UnauthorizedError`, …), or `connection_lost`, `protocol_error`, `limit_exceeded`.
   */
  send(message: JSONRPCMessage, options?: WireSendOptions): Promise<void>;
  /** The negotiated protocol version, for the header of later HTTP requests. */
  setProtocolVersion(version: string): void;
  /** The last lines the server wrote to stderr: at most 50 and 8 KiB. Empty for other transports. */
  stderrTail(): string;
  /** How the process ended, once it has. */
  exitInfo(): ExitInfo | undefined;
  /** Ends everything the transport owns and resolves when nothing is left. Idempotent; never rejects. */
  close(): Promise<void>;
}

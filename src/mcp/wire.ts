/** Reading what peers send: the only casts from unknown wire values, and the few constants of the protocol used here. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isRecord } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';

/** JSON-RPC error codes Holdfast answers with or looks for. */
export const rpcCodes = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  serverBusy: -32000,
  unsupportedProtocolVersion: -32022,
} as const;

/** The revision of the modern era Holdfast speaks. */
export const modernRevision = '2026-07-28';

/** A JSON-RPC error as a server sent it. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Takes a value that came from JSON as an object with keys; undefined for anything else. */
export function parseObject(value: unknown): JsonObject | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what peers send is JSON, and in memory taken for it
  return isRecord(value) ? (value as JsonObject) : undefined;
}

/** Takes a message a transport delivered, or one built here, as a frame of the SDK. Its content is not checked. */
export function parseFrame(value: object): JSONRPCMessage {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a peer can send anything; who reads it checks it
  return value as JSONRPCMessage;
}

/** Tells whether a response says no. Some servers write `"error": null` beside a result. */
export function isRefused({ error, result }: Readonly<Record<string, unknown>>): boolean {
  return error !== undefined && (error !== null || result === undefined);
}

/** Tells whether a message takes back a request. */
export function isCancellation(message: JSONRPCMessage): boolean {
  return 'method' in message && message.method === 'notifications/cancelled';
}

/** Reads the `error` member of a response, whatever a server put there. */
export function parseRpcError(value: unknown): RpcError {
  if (!isRecord(value))
    return {
      code: rpcCodes.serverBusy,
      message: `an error that is no object (${value === null ? 'null' : typeof value})`,
    };
  const { code, message } = value;
  return {
    code: typeof code === 'number' ? code : rpcCodes.serverBusy,
    message: typeof message === 'string' ? clip(message, textLimits.errorMessage) : '',
    ...(value['data'] === undefined ? {} : { data: value['data'] }),
  };
}

/** The longest texts of a server that are kept, in characters: what is longer is cut. */
export const textLimits = { label: 1_024, errorMessage: 8_192, prose: 65_536 } as const;

/** Cuts text of a peer to a length that is fit for a message. */
export function clip(text: string, limit = 300): string {
  if (text.length <= limit) return text;
  const end = /[\uD800-\uDBFF]/.test(text.charAt(limit - 1)) ? limit - 1 : limit;
  return `${text.slice(0, end)}…`;
}

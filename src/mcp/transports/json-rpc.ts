/** The cheap check every transport makes of what it received: JSON, and shaped like JSON-RPC 2.0. Nothing deeper. */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { HoldfastError, messageOf } from '../../domain/errors.ts';
import { isRecord } from '../../domain/json.ts';

/**
 * Tells whether a parsed JSON value is a JSON-RPC message, or meant as one.
 *
 * Looks at the envelope only; whoever reads `params`, `result` or `error` checks those. What answers a request counts
 * whatever its answer is: only its reader can fail that request at once.
 */
export function isWireMessage(value: unknown): value is JSONRPCMessage {
  if (!isRecord(value)) return false;
  const isMarked = value['jsonrpc'] === '2.0';
  if ('method' in value) return isMarked && typeof value['method'] === 'string';
  const { id } = value;
  if (typeof id === 'number' || typeof id === 'string') return isMarked || 'result' in value || 'error' in value;
  return isMarked && id === null && isRecord(value['error']);
}

/** The messages in a parsed JSON value: itself, or those of a batch. */
export function messagesIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** Parses JSON text without throwing; `undefined` for what is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error of a message that cannot be written as JSON: nested too deep, or not data at all. */
export function unsendable(message: JSONRPCMessage, cause: unknown): HoldfastError {
  const isCall = 'method' in message && message.method === 'tools/call';
  return new HoldfastError(
    isCall ? 'invalid_arguments' : 'invalid_argument',
    `Expected a message that can be written as JSON, got "${messageOf(cause)}". Pass plain data.`,
    {
      outcome: 'not-sent',
      cause,
    },
  );
}

/** Why a message was not sent: it cannot be written as JSON, or what its transport says. */
export function whyUnsent(message: JSONRPCMessage, error: unknown): unknown {
  if (error instanceof HoldfastError) return error;
  try {
    JSON.stringify(message);
    return error;
  } catch (cause) {
    return unsendable(message, cause);
  }
}

/** The id of a message that expects a response: a request with an id. */
export function requestIdOf(message: JSONRPCMessage): RequestId | undefined {
  return 'method' in message && 'id' in message ? message.id : undefined;
}

/**
 * Finds the id a response answers in the first and the last characters of its text, when the whole is too long to parse.
 *
 * Answers `undefined` for requests and when the id is in neither piece.
 */
export function peekAnsweredId(head: string, tail: string): RequestId | undefined {
  const seen = scanTopLevel(head);
  if (seen.hasMethod) return undefined;
  if (seen.id !== undefined) return seen.id;
  const match = /"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  return match?.[1] === undefined ? undefined : parseRequestId(match[1]);
}

function scanTopLevel(text: string): { id?: RequestId; hasMethod: boolean } {
  const tokens = /"((?:[^"\\]|\\.)*)"|[{}[\]]/g;
  let depth = 0;
  for (let token = tokens.exec(text); token !== null; token = tokens.exec(text)) {
    const mark = token[0];
    if (mark === '{' || mark === '[') depth += 1;
    else if (mark === '}' || mark === ']') depth -= 1;
    else if (depth === 1) {
      const rest = /^\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+(?=\s*[,}]))?/.exec(text.slice(tokens.lastIndex));
      if (rest === null) continue;
      if (token[1] === 'method') return { hasMethod: true };
      if (token[1] === 'id' && rest[1] !== undefined) {
        const id = parseRequestId(rest[1]);
        return { hasMethod: /"method"\s*:/.test(text), ...(id === undefined ? {} : { id }) };
      }
      tokens.lastIndex += rest[0].length;
    }
  }
  return { hasMethod: false };
}

function parseRequestId(text: string): RequestId | undefined {
  const value = parseJson(text);
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

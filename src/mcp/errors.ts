/** The one place where errors of the wire (SDK, sockets, JSON-RPC) become `HoldfastError`s. */
import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SseError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { HoldfastError, messageOf } from '../domain/errors.ts';
import type { CallErrorOutcome, ErrorCode, ErrorDetails } from '../domain/errors.ts';
import { wasNeverSent } from './transports/nobody-there.ts';
import { refusalOf } from './transports/refusal.ts';
import type { Refusal } from './transports/refusal.ts';
import { clip } from './wire.ts';
import { WireError, say } from './wire-error.ts';
import type { WireContext } from './wire-error.ts';
import type { RpcError } from './wire.ts';

/** HTTP answers after which the same request may succeed a moment later (SPEC CN-2). */
export const retryableStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** Makes the error Holdfast reports of whatever the SDK, a socket or a server threw. */
export function toWireError(error: unknown, context: WireContext): WireError {
  if (error instanceof WireError) return error.stderr === undefined ? rewritten(error, error.message, context) : error;
  // Transports do not know the name of their server.
  if (error instanceof HoldfastError) return rewritten(error, `Server "${context.server}": ${error.message}`, context);
  const status = httpStatusOf(error);
  if (status !== undefined) return fromStatus(status, error, context);
  if (error instanceof UnauthorizedError) return fromStatus(401, error, context);
  if (error instanceof ProtocolError)
    return rpcError({ code: error.code, message: error.message, data: error.data }, context);
  const details = detailsOf(error, context);
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) {
    return new WireError(
      'connection_lost',
      say(context, 'the end of the connection', 'Look at the log of the server'),
      details,
    );
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.NotConnected)
    return new WireError('connection_lost', say(context, 'none, for nothing is connected'), {
      ...details,
      outcome: 'not-sent',
    });
  if (isNetworkError(error)) {
    const what = `a network error (${clip(reasonOf(error))})`;
    return new WireError(
      'server_unavailable',
      say(context, what, 'Check that the server runs and that the url is right'),
      details,
    );
  }
  const what = `something else (${clip(messageOf(error))})`;
  return new WireError('protocol_error', say(context, what, 'Check that this is an MCP server'), details);
}

/** Makes the error of a request its server answered with a JSON-RPC error. */
export function rpcError(rpc: RpcError, context: WireContext): WireError {
  const what = `error ${rpc.code}${rpc.message === '' ? '' : ` (${clip(rpc.message)})`}`;
  return new WireError('protocol_error', say(context, what), { ...detailsOf(undefined, context), rpc });
}

/** The HTTP status behind an error, through its causes. */
export function httpStatusOf(error: unknown): number | undefined {
  for (const each of causesOf(error)) {
    if (each instanceof WireError && each.status !== undefined) return each.status;
    if (each instanceof SdkHttpError) return each.status;
    if (each instanceof SseError && each.code !== undefined && each.code >= 100) return each.code;
  }
  return undefined;
}

/**
 * The same error as that of a request that was on its way: what is known of it (RT-10).
 *
 * A server that answers 5xx or 408 had the request and may have done it; so may one whose socket broke. One that answers 401,
 * 403 or 429 did not take it, and one that was never reached did not hear of it.
 */
export function ofSentRequest(error: WireError, method: string): WireError {
  if (error.code !== 'server_unavailable' || error.outcome !== undefined) return error;
  const { status } = error;
  const mayHaveRun = status === undefined ? !causesOf(error).some(wasNeverSent) : status === 408 || status >= 500;
  if (!mayHaveRun) return recoded(error, error.code, { outcome: 'not-sent' });
  const message =
    method === 'tools/call' ? `${error.message} The call may have run: look before you try again.` : error.message;
  return recoded(error, error.code, { outcome: 'unknown', message });
}

/** What the server said besides the status when it refused a request, through the causes of the error. */
export function refusalBehind(error: unknown): Refusal | undefined {
  for (const each of causesOf(error)) {
    const refusal = refusalOf(each);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function fromStatus(status: number, error: unknown, context: WireContext): WireError {
  const details = { ...detailsOf(error, context), status };
  if (status === 401) {
    return new WireError(
      'auth_required',
      say(context, 'HTTP 401', `Log in to "${context.server}" or configure its credential`),
      details,
    );
  }
  if (status === 403) {
    const hint = 'The server refuses this credential; use one that may do this';
    return new WireError('server_unavailable', say(context, 'HTTP 403', hint), { ...details, retryable: false });
  }
  if (status === 404 && context.hasSession === true) {
    return new WireError(
      'session_lost',
      say(context, 'HTTP 404: the server has dropped the session', 'Connect again'),
      details,
    );
  }
  if (retryableStatuses.has(status) || status >= 500) {
    return new WireError('server_unavailable', say(context, `HTTP ${status}`, 'Try again later'), details);
  }
  if (status >= 300 && status < 400) {
    const got = `HTTP ${status}, a redirect${placeOf(refusalBehind(error)?.location)}`;
    const hint =
      'Redirects are followed within the origin of the url, a few times; configure where it leads if you trust it';
    return new WireError('protocol_error', say(context, got, hint), details);
  }
  return new WireError(
    'protocol_error',
    say(context, `HTTP ${status}`, 'Check that the url is the MCP endpoint of the server'),
    details,
  );
}

/** Where a redirect leads: its origin, for the rest of a url may be a secret. */
function placeOf(location: string | undefined): string {
  const origin = location !== undefined && URL.canParse(location) ? new URL(location).origin : 'null';
  return origin === 'null' ? '' : ` to ${clip(origin)}`;
}

function detailsOf(cause: unknown, context: WireContext): ErrorDetails {
  const retryAfterMs = refusalBehind(cause)?.retryAfterMs;
  return {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(cause === undefined ? {} : { cause }),
    ...(context.stderr === undefined || context.stderr === '' ? {} : { stderr: context.stderr }),
  };
}

function rewritten(error: HoldfastError, message: string, context: WireContext): WireError {
  return recoded(error, error.code, { message, stderr: error.stderr ?? context.stderr });
}

/** The same error under another code: what it means depends on when it came. */
export function recoded(error: HoldfastError, code: ErrorCode, changes: Changes = {}): WireError {
  const retryable = changes.retryable ?? (code === error.code ? error.retryable : undefined);
  const stderr = changes.stderr ?? error.stderr;
  const outcome = changes.outcome ?? error.outcome;
  return new WireError(code, changes.message ?? error.message, {
    ...(retryable === undefined ? {} : { retryable }),
    cause: error,
    status: httpStatusOf(error),
    ...(error instanceof WireError ? { rpc: error.rpc } : {}),
    ...(stderr === undefined || stderr === '' ? {} : { stderr }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(error.issues === undefined ? {} : { issues: error.issues }),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    ...(error.data === undefined ? {} : { data: error.data }),
  });
}

/** What {@link recoded} replaces; the rest stays. */
interface Changes {
  readonly message?: string;
  readonly stderr?: string | undefined;
  readonly retryable?: boolean;
  readonly outcome?: CallErrorOutcome;
}

/** Sockets and DNS put a string `code` somewhere in the chain of causes; `fetch` throws a TypeError over them. */
function isNetworkError(error: unknown): boolean {
  for (const each of causesOf(error)) {
    if (each instanceof SdkError) continue;
    if ('code' in each && typeof each.code === 'string') return true;
    if (each instanceof TypeError && each.cause !== undefined) return true;
  }
  return false;
}

function reasonOf(error: unknown): string {
  const deepest = causesOf(error).at(-1);
  if (deepest === undefined) return messageOf(error);
  return 'code' in deepest && typeof deepest.code === 'string' ? deepest.code : deepest.message;
}

function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let each = error; each instanceof Error && causes.length < 8; each = each.cause) causes.push(each);
  return causes;
}

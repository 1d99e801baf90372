/** Which errors of a socket say that nothing was sent, and which that nobody is there to send to. */
import { isRecord } from '../../domain/json.ts';

/** The `code` of the error of a tunnel that was not made. */
export const tunnelBroken = 'HOLDFAST_TUNNEL_BROKEN';

/** Nobody answers at the address: there is no server any more, or none yet. */
const nobodyCodes: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_TLS',
  tunnelBroken,
]);

/** Node's codes for a certificate that is not taken. */
const certificateCode = /^(?:CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS_CERT)_/;

/** Nothing was sent, for a reason on this side. */
const ownCodes: ReadonlySet<unknown> = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

/** Tells of the error of a socket whether nothing had been sent when it came. */
export function wasNeverSent(cause: unknown): boolean {
  const code = socketCode(cause);
  return nobodyCodes.has(code) || ownCodes.has(code) || (typeof code === 'string' && certificateCode.test(code));
}

/** Tells of the error of a socket whether it says that nobody is there. */
export function findsNobody(cause: unknown): boolean {
  return nobodyCodes.has(socketCode(cause));
}

/** The code of the error of a socket; a failed connect to a name with several addresses is an `AggregateError`. */
export function socketCode(error: unknown): unknown {
  if (!isRecord(error)) return undefined;
  if (error['code'] !== undefined) return error['code'];
  const all: unknown = error['errors'];
  const inner: unknown = Array.isArray(all) ? all[0] : error['cause'];
  return isRecord(inner) ? inner['code'] : undefined;
}

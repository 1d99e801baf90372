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

interface CertificateProblem {
  /** As it reads after "got one that". */
  readonly problem: string;
  readonly remedy: string;
}

const trust =
  'Name the file with the certificate of its authority as "caFile" of the server, or as NODE_EXTRA_CA_CERTS before the start.';
const selfSigned: CertificateProblem = { problem: 'is self-signed', remedy: trust };
const unknownAuthority: CertificateProblem = { problem: 'is signed by an unknown authority', remedy: trust };
const untrusted: CertificateProblem = { problem: 'is not trusted', remedy: trust };

const certificateProblems: ReadonlyMap<unknown, CertificateProblem> = new Map([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', selfSigned],
  ['SELF_SIGNED_CERT_IN_CHAIN', { problem: 'is signed by an authority that signed itself', remedy: trust }],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', unknownAuthority],
  ['UNABLE_TO_GET_ISSUER_CERT', unknownAuthority],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', unknownAuthority],
  ['CERT_UNTRUSTED', untrusted],
  ['CERT_REJECTED', untrusted],
  ['CERT_REVOKED', { problem: 'was revoked', remedy: 'Have the server get a new one.' }],
  ['CERT_HAS_EXPIRED', { problem: 'has expired', remedy: 'Have the server renew it.' }],
  ['CERT_NOT_YET_VALID', { problem: 'is not valid yet', remedy: 'Look at the clocks of both machines.' }],
  ['ERR_TLS_CERT_ALTNAME_INVALID', { problem: 'is for another host', remedy: 'Correct the host of the url.' }],
]);

/** Nothing was sent, for a reason on this side. */
const ownCodes: ReadonlySet<unknown> = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

/** Tells of the error of a socket whether nothing had been sent when it came. */
export function wasNeverSent(cause: unknown): boolean {
  const code = codeOf(cause);
  return nobodyCodes.has(code) || certificateProblems.has(code) || ownCodes.has(code);
}

/** Tells of the error of a socket whether it says that nobody is there. */
export function findsNobody(cause: unknown): boolean {
  return nobodyCodes.has(codeOf(cause));
}

/** What is wrong with the certificate of a server; undefined for any other error. */
export function certificateProblem(cause: unknown): CertificateProblem | undefined {
  return certificateProblems.get(codeOf(cause));
}

/** The code of an error; a failed connect to a name with several addresses is an `AggregateError`. */
function codeOf(error: unknown): unknown {
  if (!isRecord(error)) return undefined;
  if (error['code'] !== undefined) return error['code'];
  const all: unknown = error['errors'];
  const inner: unknown = Array.isArray(all) ? all[0] : error['cause'];
  return isRecord(inner) ? inner['code'] : undefined;
}

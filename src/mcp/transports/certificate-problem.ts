/** What is wrong with a certificate, and how it is mended (SPEC RT-7, CN-7). */
import { socketCode } from './nobody-there.ts';

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

/** What is wrong with the certificate of a server; undefined for any other error. */
export function certificateProblem(cause: unknown): CertificateProblem | undefined {
  return certificateProblems.get(socketCode(cause));
}

/** The key tokens are bound to (DPoP): made once for an authorization server, and kept with what it gave. */
import { DpopSession, generateDpopKeyPair } from '@modelcontextprotocol/client';
import type { DpopKeyPair } from '@modelcontextprotocol/client';
import type { IssuerCredentials } from './credentials.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256' } as const;

/** A session with the kept key, or with a new one. */
export async function dpopSession(
  kept: IssuerCredentials['dpopKey'],
): Promise<{ readonly session: DpopSession; readonly key: NonNullable<IssuerCredentials['dpopKey']> }> {
  const pair = (kept === undefined ? undefined : await importPair(kept)) ?? (await newPair());
  const key = { ...(await crypto.subtle.exportKey('jwk', pair.privateKey)) };
  return { session: await DpopSession.create({ keyPair: pair }), key };
}

/** Extractable, so that a refresh token bound to it still works in the next process. */
function newPair(): Promise<DpopKeyPair> {
  return generateDpopKeyPair({ alg: 'ES256', extractable: true });
}

async function importPair(jwk: Readonly<Record<string, unknown>>): Promise<DpopKeyPair | undefined> {
  const { kty, crv, x, y } = jwk;
  if (kty !== 'EC' || crv !== 'P-256' || typeof x !== 'string' || typeof y !== 'string') return undefined;
  try {
    const publicJwk = { kty, crv, x, y };
    return {
      privateKey: await crypto.subtle.importKey('jwk', { ...jwk }, algorithm, true, ['sign']),
      publicKey: await crypto.subtle.importKey('jwk', publicJwk, algorithm, true, ['verify']),
      publicJwk,
      thumbprint: await thumbprintOf(publicJwk),
      alg: 'ES256',
    };
  } catch {
    return undefined;
  }
}

/** RFC 7638. */
async function thumbprintOf({ crv, kty, x, y }: Readonly<Record<'crv' | 'kty' | 'x' | 'y', string>>): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify({ crv, kty, x, y })));
  return Buffer.from(digest).toString('base64url');
}

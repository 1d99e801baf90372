/** Certificate authorities that are trusted beside the usual ones (SPEC CN-7). */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createSecureContext, rootCertificates } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { HoldfastError, messageOf } from '../../domain/errors.ts';

/** Whom the connections to one server trust. */
export interface Authorities {
  /** Equal for equal certificates. */
  readonly key: string;
  readonly context: SecureContext;
}

/** The largest file of certificates that is read. */
const maxBytes = 4 * 1_024 * 1_024;

/**
 * Reads a file of certificates.
 *
 * @throws HoldfastError `server_misconfigured` for a file that cannot be read or holds no certificate.
 */
export async function readAuthorities(server: string, file: string): Promise<Authorities> {
  try {
    const text = await readText(file);
    if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new Error('no certificate in PEM form');
    const ca = [...rootCertificates, ...extraAuthorities(), text];
    return { key: createHash('sha256').update(text).digest('base64'), context: createSecureContext({ ca }) };
  } catch (error) {
    throw new HoldfastError(
      'server_misconfigured',
      `Server "${server}": expected "caFile" to be a file of certificates in PEM form, got "${file}" (${messageOf(error)}). Correct it.`,
      { cause: error },
    );
  }
}

async function readText(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > maxBytes) throw new Error(`it has ${String(size)} bytes, more than ${String(maxBytes)}`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** Node adds these by itself only where nothing else is given. */
function extraAuthorities(): readonly string[] {
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  if (file === undefined || file === '') return [];
  try {
    return [readFileSync(file, 'utf8')];
  } catch {
    // Node has warned of it at its start.
    return [];
  }
}

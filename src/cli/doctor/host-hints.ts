/** What there is at the address of a url: looked up and knocked at, and nothing is sent. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { isObject } from '../values.ts';

/** How long one look may take. */
const timeoutMs = 2_000;

const proxies = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy'];

/** What the OpenSSL of Node says of an answer that is no TLS. */
const noTls: ReadonlySet<unknown> = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

/**
 * What helps with a server that could not be reached: a name nobody knows, a url of the wrong scheme. Behind a proxy nothing
 * is known: it is the proxy that looks names up.
 */
export async function hostHints(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  if (!URL.canParse(address) || proxies.some((name) => (env[name] ?? '') !== '')) return [];
  const url = new URL(address);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!(await isKnown(host)))
    return [`Nobody knows the name "${host}": check how it is spelled, the network, and whether it needs a VPN.`];
  const isSecure = url.protocol === 'https:';
  const answer = await shakeHands(host, Number(url.port) || (isSecure ? 443 : 80));
  if (isSecure && answer === 'plain') return ['There is no TLS at this port: have "url" begin with "http://".'];
  if (!isSecure && answer === 'tls') return ['There is TLS at this port: have "url" begin with "https://".'];
  return [];
}

async function isKnown(host: string): Promise<boolean> {
  try {
    await lookup(host);
    return true;
  } catch {
    return false;
  }
}

/** Begins a TLS handshake. Whose certificate it is does not matter: nothing is sent. */
async function shakeHands(host: string, port: number): Promise<'tls' | 'plain' | undefined> {
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port,
      rejectUnauthorized: false,
      timeout: timeoutMs,
      ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    const end = (answer: 'tls' | 'plain' | undefined): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('secureConnect', () => end('tls'));
    socket.once('timeout', () => end(undefined));
    socket.once('error', (error: unknown) => end(isObject(error) && noTls.has(error['code']) ? 'plain' : undefined));
  });
}

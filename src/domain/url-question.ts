/** Which urls a server may ask a person to open, and how their host is shown (SPEC EL-5). */
import { decodePunycode } from './punycode.ts';

export type UrlCheck =
  | {
      readonly ok: true;
      /** Exactly as the server sent it. */
      readonly url: string;
      /** In punycode, with the port if it is not the scheme's own. */
      readonly host: string;
      /** The host as people write it, where that differs. */
      readonly hostUnicode?: string;
    }
  | { readonly ok: false; readonly reason: string };

const maxUrlLength = 8_192;

/**
 * Checks the url of a question. Nothing is opened or looked up.
 *
 * Allowed: https to any host, http to this machine (`localhost`, 127.0.0.0/8, `[::1]`). Refused: user info, characters
 * that hide or are read in two ways (controls, spaces, backslashes, text direction marks), and more than 8,192 characters.
 */
export function checkUrl(url: unknown): UrlCheck {
  if (typeof url !== 'string') return refuse(`Expected a url as text, got ${url === null ? 'null' : typeof url}.`);
  if (url.length > maxUrlLength)
    return refuse(`Expected a url of at most ${String(maxUrlLength)} characters, got ${String(url.length)}.`);
  if (/[\p{Cc}\p{Zs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}\\]/u.test(url)) {
    return refuse(
      'Expected a url without spaces, control characters, text direction marks and backslashes, got one with some.',
    );
  }
  const authority = /^(https?):\/\/([^/?#]+)/i.exec(url)?.[2];
  const parsed = parse(url);
  if (authority === undefined || parsed === undefined)
    return refuse('Expected an https url such as "https://example.com/", got something else.');
  if (authority.includes('@')) return refuse('Expected a url without user name and password, got one with them.');
  if (parsed.protocol !== 'https:' && !isLoopback(parsed.hostname)) {
    return refuse(`Expected an https url, got http to "${parsed.host}". Only this machine may be reached over http.`);
  }
  const hostUnicode = toUnicode(parsed);
  return { ok: true, url, host: parsed.host, ...(hostUnicode === undefined ? {} : { hostUnicode }) };
}

function refuse(reason: string): UrlCheck {
  return { ok: false, reason };
}

function parse(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** The readable host, if there is one and it leads back to exactly the same host. */
function toUnicode(url: URL): string | undefined {
  const labels = url.hostname
    .split('.')
    .map((label) => (label.startsWith('xn--') ? (decodePunycode(label.slice(4)) ?? label) : label));
  const hostname = labels.join('.');
  if (hostname === url.hostname) return undefined;
  const again = parse(`https://${hostname}/`);
  if (again?.hostname !== url.hostname) return undefined;
  return url.port === '' ? hostname : `${hostname}:${url.port}`;
}

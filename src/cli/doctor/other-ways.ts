/** Other ways to reach a server that could not be reached as it is configured: tried, so that what is said is known. */
import type { HttpServer, ServerConfig } from '../../index.ts';

/** One way, and what to change when it works. */
export interface OtherWay {
  readonly config: ServerConfig;
  readonly hint: string;
}

/** How long one of them may take. */
export const otherWayTimeoutMs = 5_000;

/**
 * The ways worth a try, the closest to the configuration first: another transport where one is set, then the paths
 * servers usually have. Always at the same origin: credentials go nowhere else.
 */
export function otherWays(config: ServerConfig): readonly OtherWay[] {
  const ways: OtherWay[] = [];
  if (!('url' in config)) return ways;
  const { transport } = config;
  if (transport === 'http' || transport === 'sse')
    ways.push({
      config: { ...config, transport: transport === 'http' ? 'sse' : 'http' },
      hint: `It answers over the transport "${transport === 'http' ? 'sse' : 'http'}": set "transport" to that, or leave it out.`,
    });
  return [...ways, ...otherUrls(config)];
}

function otherUrls(config: HttpServer & ServerConfig): readonly OtherWay[] {
  if (!URL.canParse(config.url)) return [];
  const url = new URL(config.url);
  const at = (change: (url: URL) => void, hint: string): OtherWay[] => {
    const other = new URL(url);
    change(other);
    return other.href === url.href ? [] : [{ config: { ...config, transport: 'auto', url: other.href }, hint }];
  };
  const base = url.pathname.replace(/\/(?:mcp|sse)?\/?$/, '');
  return [
    ...['/mcp', '/sse'].flatMap((path) =>
      at(
        (other) => {
          other.pathname = `${base}${path}`;
        },
        `It answers at "${path}"${base === '' ? '' : ' after the rest of the path'}: have "url" end in that.`,
      ),
    ),
  ];
}

/** Headers that are got while a server runs are as secret as those it is configured with (SPEC SE-1). */
import type { ServerConfig } from '../domain/config.ts';
import type { Redactor } from '../domain/redact.ts';
import { secretsIn } from './known-values.ts';

/**
 * The configuration as its link gets it: whatever its helper gives is made known as secret before it is used. `onChanged`
 * hears of headers that are others than those before: somebody else may be let in with them.
 */
export function withToldHeaders(config: ServerConfig, redactor: Redactor, onChanged: () => void): ServerConfig {
  if (!('url' in config) || config.renewHeaders === undefined) return config;
  const { url, renewHeaders } = config;
  let sent = config.headers ?? {};
  return {
    ...config,
    renewHeaders: async () => {
      const headers = await renewHeaders();
      for (const secret of secretsIn({ url, headers })) redactor.add(secret);
      const before = sent;
      if (Object.entries(headers).some(([name, value]) => before[name] !== value)) onChanged();
      sent = { ...sent, ...headers };
      return headers;
    },
  };
}

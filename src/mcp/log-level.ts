/** Asking servers for log messages (SPEC CN-5). */
import type { LogLevel } from '../domain/config.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Channel } from './channel.ts';
import { say } from './wire-error.ts';
import type { Warn } from './warnings.ts';

/** What a modern server is asked for: unasked it logs nothing. */
export const modernLogLevel: LogLevel = 'info';

export interface LogLevelOptions {
  readonly server: string;
  readonly channel: Channel;
  readonly capabilities: JsonObject;
  readonly level: LogLevel | undefined;
  readonly warn: Warn;
}

/** Tells a legacy server, where it logs and a level is set. Nothing waits for it; a refusal is a warning. */
export function askForLogs({ server, channel, capabilities, level, warn }: LogLevelOptions): void {
  if (level === undefined || capabilities['logging'] === undefined) return;
  const request = { method: 'logging/setLevel', params: { level } };
  channel.request(request, {
    onResult: () => undefined,
    onWireError: ({ rpc }) => {
      if (rpc !== undefined)
        warn('log_level_refused', say({ server, expected: `to log at "${level}"` }, `the error "${rpc.message}"`));
    },
  });
}

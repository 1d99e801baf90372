/** Requests of the link itself (probe, listings) as promises over the channel. */
import type { WireRequest } from '../domain/link.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Channel } from './channel.ts';
import { WireError } from './wire-error.ts';

/**
 * Sends a request and resolves with its raw result.
 *
 * @throws WireError what the channel says of the request; `aborted` when `signal` aborts, which the server is told.
 */
export function ask(channel: Channel, request: WireRequest, signal: AbortSignal): Promise<JsonObject> {
  if (signal.aborted) return Promise.reject(abortedError(request.method));
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      channel.cancel(key);
      reject(abortedError(request.method));
    };
    const key = channel.request(request, {
      onResult: (result) => {
        signal.removeEventListener('abort', onAbort);
        resolve(result);
      },
      onWireError: (error) => {
        signal.removeEventListener('abort', onAbort);
        reject(error);
      },
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

function abortedError(method: string): WireError {
  return new WireError('aborted', `Expected to wait for the result of "${method}", but it was aborted.`);
}

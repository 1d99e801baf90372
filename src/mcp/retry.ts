/** Repeating what is safe to repeat: the handshake and listings over HTTP (SPEC CN-2). */
import { setTimeout as sleep } from 'node:timers/promises';
import { httpStatusOf, refusalBehind, retryableStatuses } from './errors.ts';
import { HoldfastError } from '../domain/errors.ts';
import type { TransportKind } from '../domain/snapshot.ts';

/** How long the second and the third attempt wait, unless the server says otherwise. */
export const retryDelaysMs = [250, 1_000] as const;

/** A listing of a live link does not wait longer than this for its server. */
const longestWaitMs = 30_000;

/** Whether a transport is of the kind whose requests can be refused for a moment. */
export function isHttp(kind: TransportKind): boolean {
  return kind === 'http' || kind === 'sse';
}

export interface RetryOptions {
  /** Aborting it ends the waiting; the last error is thrown then. */
  readonly signal: AbortSignal;
  /** Over one channel (stdio, in memory) nothing is repeated. */
  readonly enabled: boolean;
  /** How long may still be waited. Default 30,000. */
  readonly waitMs?: () => number;
}

/** Runs an attempt up to three times. A server that asks for more time than there is left is not asked again. */
export async function withRetries<TResult>(attempt: () => Promise<TResult>, options: RetryOptions): Promise<TResult> {
  for (const delayMs of retryDelaysMs) {
    try {
      return await attempt();
    } catch (error) {
      if (!options.enabled || options.signal.aborted || !mayRetry(error)) throw error;
      const wait = refusalBehind(error)?.retryAfterMs ?? delayMs;
      if (wait >= (options.waitMs?.() ?? longestWaitMs)) throw error;
      await pause(wait, options.signal, error);
    }
  }
  return attempt();
}

function mayRetry(error: unknown): boolean {
  const status = httpStatusOf(error);
  if (status !== undefined) return retryableStatuses.has(status);
  if (!(error instanceof HoldfastError)) return false;
  return error.code === 'server_unavailable' || error.code === 'connection_lost' ? error.retryable : false;
}

async function pause(ms: number, signal: AbortSignal, error: unknown): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch {
    throw error;
  }
}

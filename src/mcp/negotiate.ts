/** Finding out which era a server speaks (SPEC ER-1). */
import { isSpecType } from '@modelcontextprotocol/client';
import type { DiscoverResult } from '@modelcontextprotocol/client';
import { isTooDeep } from '../domain/depth.ts';
import { isRecord } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ClientOffer, EraVerdict, LinkHandlers } from '../domain/link.ts';
import { ask } from './ask.ts';
import { Channel } from './channel.ts';
import { envelopeFor } from './client-identity.ts';
import { Deadline, untilAborted } from './deadline.ts';
import { httpStatusOf, retryableStatuses } from './errors.ts';
import { WireError, say } from './wire-error.ts';
import type { WireListener, WireTransport } from './transports/transport.ts';
import { clip, modernRevision, parseObject, rpcCodes } from './wire.ts';

/** The answer of a negotiation, in the shape the SDK client takes as `prior`. */
export type Negotiated = { readonly kind: 'legacy' } | { readonly kind: 'modern'; readonly discover: DiscoverResult };

export interface ProbeOptions {
  readonly server: string;
  readonly offer: ClientOffer;
  readonly signal: AbortSignal;
  /** How long a server may stay silent before it counts as legacy. */
  readonly silenceMs?: number;
}

/** How long a probe over one channel waits for an answer. */
export const probeLimitMs = 5_000;

/** How long a legacy verdict is believed: servers get updated. A modern one fails at once when it is wrong. */
export const legacyHorizonMs = 24 * 60 * 60 * 1_000;

const legacy: Negotiated = { kind: 'legacy' };

/**
 * Reads a remembered verdict; undefined when there is none, or none that still counts.
 *
 * A modern server says how long what it said of itself may be kept. One that says "not at all", which is the default of the
 * SDK, is believed all the same: its era does not change, and it would cost every start a question (SPEC ER-1, RE-2).
 */
export function negotiatedFrom(verdict: EraVerdict | undefined, now: number): Negotiated | undefined {
  if (verdict === undefined) return undefined;
  if (verdict.era === 'modern') {
    const { ttlMs } = verdict.discover;
    const isOld = typeof ttlMs === 'number' && ttlMs > 0 && now - verdict.at > ttlMs;
    return isOld ? undefined : modernFrom(verdict.discover);
  }
  return now - verdict.at <= legacyHorizonMs ? legacy : undefined;
}

/** Makes the verdict to remember. */
export function verdictOf(negotiated: Negotiated, now: number): EraVerdict {
  if (negotiated.kind === 'legacy') return { era: 'legacy', at: now };
  return { era: 'modern', at: now, discover: parseObject(negotiated.discover) ?? {} };
}

/**
 * Asks a server over the channel it is going to be used on.
 *
 * Anything a legacy server may say to a method it does not know makes it legacy.
 *
 * @throws HoldfastError what says nothing of the era: no network, 401, 403, 408, 429, 5xx, an abort; `unsupported` for a
 * server that only speaks modern revisions Holdfast does not know.
 */
export async function probe(channel: Channel, options: ProbeOptions): Promise<Negotiated> {
  const limit = new Deadline({ signal: options.signal, timeoutMs: options.silenceMs ?? Number.MAX_SAFE_INTEGER });
  try {
    const params = parseObject({ _meta: envelopeFor(modernRevision, options.offer) }) ?? {};
    const discover = (): Promise<JsonObject> => ask(channel, { method: 'server/discover', params }, limit.signal);
    // One that refuses the version and lists it as supported is taken at its second word.
    const found = await discover().catch((error: unknown) => {
      if (supportedBy(error)?.includes(modernRevision) === true) return discover();
      throw error;
    });
    const later = laterOnly(found['supportedVersions']);
    if (later !== undefined) throw onlyLater(later, options.server);
    return modernFrom(found) ?? legacy;
  } catch (error) {
    if (limit.timedOut || saysLegacy(error, options.server)) return legacy;
    throw error;
  } finally {
    limit.end();
  }
}

/** A process that was started only to be asked for its era. */
export interface Sibling {
  /** Rejects only when the signal aborts: exit, silence, noise and everything else mean legacy. */
  readonly verdict: Promise<Negotiated>;
  /** Resolves when the process and all it started are gone. Never rejects. */
  readonly gone: Promise<void>;
}

/** Asks a stdio server in a process of its own: there are servers that exit on what they do not know. */
export function probeSibling(transport: (listener: WireListener) => WireTransport, options: ProbeOptions): Sibling {
  const channel = new Channel({
    server: options.server,
    offer: { sampling: false, roots: false },
    handlers: deafHandlers,
    transport,
    onEnd: ignore,
  });
  const verdict = askSibling(channel, options);
  const close = (): Promise<void> => channel.close();
  return { verdict, gone: verdict.then(close, close) };
}

async function askSibling(channel: Channel, options: ProbeOptions): Promise<Negotiated> {
  try {
    await untilAborted(channel.start(), options.signal);
    return await probe(channel, { ...options, silenceMs: probeLimitMs });
  } catch (error) {
    if (options.signal.aborted) throw error;
    return legacy;
  }
}

function modernFrom(discover: unknown): Negotiated | undefined {
  if (isTooDeep(discover)) return undefined;
  if (!isSpecType.DiscoverResult(discover) || !discover.supportedVersions.includes(modernRevision)) return undefined;
  return { kind: 'modern', discover };
}

/** Tells whether an error of the probe is what a legacy server says. */
function saysLegacy(error: unknown, server: string): boolean {
  if (!(error instanceof WireError)) return false;
  if (error.rpc !== undefined) {
    const later = laterOnly(supportedBy(error));
    if (later !== undefined) throw onlyLater(later, server);
    return true;
  }
  const status = httpStatusOf(error);
  if (status === undefined) return error.code === 'protocol_error';
  return status !== 401 && status !== 403 && status < 500 && !retryableStatuses.has(status);
}

/** The revisions a server lists that refuses the one it was asked in. */
function supportedBy(error: unknown): readonly unknown[] | undefined {
  const rpc = error instanceof WireError ? error.rpc : undefined;
  if (rpc?.code !== rpcCodes.unsupportedProtocolVersion || !isRecord(rpc.data)) return undefined;
  const supported = rpc.data['supported'];
  return Array.isArray(supported) ? supported : undefined;
}

/** The revisions a server lists, where each of them is later than ours. */
function laterOnly(supported: unknown): readonly unknown[] | undefined {
  if (!Array.isArray(supported) || supported.length === 0) return undefined;
  return supported.every(isLaterRevision) ? supported : undefined;
}

function onlyLater(supported: readonly unknown[], server: string): WireError {
  const got = `a server of ${clip(supported.join(', '))}`;
  return new WireError(
    'unsupported',
    say({ server, expected: `protocol ${modernRevision} or older` }, got, 'Update Holdfast'),
  );
}

/** Revisions are dates, so they compare as text. */
function isLaterRevision(version: unknown): boolean {
  return typeof version === 'string' && version > modernRevision;
}

/** A probe asks one thing and listens to nothing else. */
const deafHandlers: LinkHandlers = {
  onQuestion: ignore,
  onQuestionWithdrawn: ignore,
  onListChanged: ignore,
  onResourceUpdated: ignore,
  onLog: ignore,
  onWarning: ignore,
  onElicitationComplete: ignore,
  onVerdict: ignore,
  onClosed: ignore,
};

function ignore(): void {
  // Nothing of a probe is told.
}

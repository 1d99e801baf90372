/**
 * Opens links: transport, negotiation, handshake and first listing, within one limit of time.
 *
 * Whatever is begun here is either handed over in the link or gone when the promise rejects, processes included.
 */
import type { ProtocolMode } from '../domain/config.ts';
import { HoldfastError, toFailure } from '../domain/errors.ts';
import type { Failure } from '../domain/errors.ts';
import type { Inventory, LinkHandlers, OpenLink, OpenLinkOptions } from '../domain/link.ts';
import { Channel } from './channel.ts';
import { createClient, envelopeFor } from './client-identity.ts';
import { Deadline, longestTimerMs, untilAborted } from './deadline.ts';
import { httpStatusOf, recoded, refusalBehind, toWireError } from './errors.ts';
import { WireError, say } from './wire-error.ts';
import { guardHandlers } from './guarded-handlers.ts';
import { hasCredential } from './http-access.ts';
import { LiveLink } from './link.ts';
import { askForLogs, modernLogLevel } from './log-level.ts';
import { negotiatedFrom, probe, probeLimitMs, probeSibling, verdictOf } from './negotiate.ts';
import type { Negotiated, ProbeOptions } from './negotiate.ts';
import { isHttp, withRetries } from './retry.ts';
import type { WireListener, WireTransport } from './transports/transport.ts';
import { routesOf } from './wire-routes.ts';
import type { WireRoute, WireRoutes } from './wire-route.ts';
import { modernRevision } from './wire.ts';

/**
 * Opens a link to one server.
 *
 * @throws HoldfastError `auth_required`, `server_unavailable`, `server_misconfigured`, `protocol_error`, `unsupported`,
 * `timeout` after `timeoutMs`, `aborted` when `signal` aborts. Each carries the stderr tail, if there is one.
 */
export const openLink: OpenLink = (options) => startWithin(options);

/**
 * Opens one more link to a modern HTTP server that another one has listed: nothing is sent before its first request, and it
 * hears of no list changes.
 */
export function openBeside(options: OpenLinkOptions, listed: Inventory): Promise<LiveLink> {
  return startWithin(options, listed);
}

/** What is loaded with the first link of its kind takes nothing of the time the server has. */
async function startWithin(options: OpenLinkOptions, listed?: Inventory): Promise<LiveLink> {
  let isGivenUp = (): boolean => options.signal.aborted;
  const [routes] = await Promise.all([routesOf(options, () => isGivenUp()), import('./link-parts.ts')]);
  const deadline = new Deadline(options);
  isGivenUp = () => deadline.signal.aborted;
  const start = new LinkStart(options, deadline, routes, listed);
  try {
    return await handOver(await start.run(), deadline.signal);
  } catch (error) {
    throw start.errorOf(error);
  } finally {
    deadline.end();
  }
}

async function handOver(link: LiveLink, signal: AbortSignal): Promise<LiveLink> {
  try {
    if (signal.aborted) throw new WireError('aborted', 'Expected to hand the link over, but it was aborted.');
    link.goLive();
    return link;
  } catch (error) {
    await link.close();
    throw error;
  }
}

/** Statuses with which a server of the older HTTP transport answers a POST to its event stream. */
const olderTransportStatuses: ReadonlySet<number> = new Set([400, 404, 405, 406, 415]);

class LinkStart {
  readonly #options: OpenLinkOptions;
  readonly #deadline: Deadline;
  readonly #protocol: ProtocolMode;
  readonly #routes: WireRoutes;
  readonly #listed: Inventory | undefined;
  #stderr = '';

  constructor(options: OpenLinkOptions, deadline: Deadline, routes: WireRoutes, listed: Inventory | undefined) {
    this.#options = options;
    this.#deadline = deadline;
    this.#protocol = options.config.protocol ?? 'auto';
    this.#routes = routes;
    this.#listed = listed;
  }

  async run(): Promise<LiveLink> {
    if (this.#deadline.signal.aborted) throw new WireError('aborted', 'Expected to start, but it was aborted.');
    const remembered = this.#remembered();
    if (remembered === undefined) return this.#overRoutes();
    try {
      return await this.#overRoutes(remembered);
    } catch (error) {
      // The server may have been replaced by one of the other era. Ask it, once.
      if (!this.#mayBeWrongEra(error)) throw error;
      return this.#overRoutes();
    }
  }

  /** The error to report of anything that was thrown on the way. */
  errorOf(error: unknown): HoldfastError {
    const context = { server: this.#options.server, expected: 'the server to start', stderr: this.#stderr };
    const wire = toWireError(this.#deadline.errorFor(this.#options.server) ?? error, context);
    if (wire.code === 'auth_required' && !this.#canLogIn(wire))
      return recoded(wire, 'server_unavailable', { retryable: false });
    // While nothing has been sent, a lost connection is a server that is not there.
    return wire.code === 'connection_lost' || wire.code === 'session_lost' ? recoded(wire, 'server_unavailable') : wire;
  }

  /** A 401 without a challenge, of a server that was given no credential, cannot be helped by logging in (SPEC CN-3). */
  #canLogIn(error: WireError): boolean {
    const { config } = this.#options;
    return !('url' in config) || hasCredential(config) || refusalBehind(error)?.challenge !== undefined;
  }

  #remembered(): Negotiated | undefined {
    if (this.#protocol === 'legacy') return { kind: 'legacy' };
    const negotiated = negotiatedFrom(this.#options.verdict, Date.now());
    return this.#protocol === 'auto' || negotiated?.kind === 'modern' ? negotiated : undefined;
  }

  #mayBeWrongEra(error: unknown): boolean {
    if (this.#deadline.signal.aborted || this.#protocol === 'legacy' || !this.#routes[0].repeatable) return false;
    return error instanceof HoldfastError && (error.code === 'protocol_error' || error.code === 'connection_lost');
  }

  /** Streamable HTTP, then the older transport where both are allowed; else the one way there is. */
  async #overRoutes(known?: Negotiated): Promise<LiveLink> {
    const [route, older] = this.#routes;
    try {
      return await this.#overRoute(route, known);
    } catch (error) {
      const status = httpStatusOf(error);
      const mayBeOlder = older !== undefined && known?.kind !== 'modern' && this.#protocol !== modernRevision;
      if (!mayBeOlder || status === undefined || !olderTransportStatuses.has(status)) throw error;
      return this.#overOlderRoute(older, error);
    }
  }

  async #overOlderRoute(route: WireRoute, firstError: unknown): Promise<LiveLink> {
    try {
      return await this.#overRoute(route, { kind: 'legacy' });
    } catch (error) {
      // It was a guess: what the server said to the first transport says more, unless this one is only locked.
      throw error instanceof HoldfastError && error.code === 'auth_required' ? error : firstError;
    }
  }

  #overRoute(route: WireRoute, known: Negotiated | undefined): Promise<LiveLink> {
    if (route.sibling !== undefined && known === undefined && this.#protocol === 'auto')
      return this.#besideSibling(route, route.sibling);
    // With a remembered modern verdict nothing is sent before the listing, which repeats its own requests.
    const enabled = isHttp(route.kind) && known?.kind !== 'modern';
    return withRetries(() => this.#attempt(route, known ?? this.#askInPlace), {
      signal: this.#deadline.signal,
      enabled,
      waitMs: () => this.#deadline.remainingMs,
    });
  }

  /**
   * Starts the server and, at the same time, the process that is asked for its era: the one boots while the other answers.
   * A server that cannot run twice fails then, and is started again alone.
   */
  async #besideSibling(route: WireRoute, open: WireRoute['open']): Promise<LiveLink> {
    const over = new AbortController();
    const sibling = probeSibling(open, this.#probeOptions(AbortSignal.any([over.signal, this.#deadline.signal])));
    let known: Negotiated | undefined;
    const learn = async (): Promise<Negotiated> => {
      known = await sibling.verdict;
      return known;
    };
    try {
      return await this.#attempt(route, learn);
    } catch (error) {
      over.abort();
      const mayHaveClashed = error instanceof HoldfastError && error.code === 'connection_lost';
      if (known === undefined || !mayHaveClashed || this.#deadline.signal.aborted) throw error;
      await sibling.gone;
      return await this.#attempt(route, () => sibling.verdict);
    } finally {
      await sibling.gone;
    }
  }

  /** One try: everything it begins is gone when it fails. */
  async #attempt(route: WireRoute, era: Negotiated | LearnEra): Promise<LiveLink> {
    const { server, offer, handlers: owner } = this.#options;
    const gate = guardHandlers(owner);
    const ended = new AbortController();
    let live = false;
    const onEnd = (failure: Failure, closedHere: boolean): void => {
      ended.abort();
      if (live && !closedHere) gate.handlers.onClosed(failure);
      gate.hush();
    };
    const onGone = gate.shut.bind(gate);
    const onUnreachable = (error: HoldfastError): void => {
      if (!live) return;
      live = false;
      gate.handlers.onUnreachable?.(toFailure(toWireError(error, { server, expected: 'a server' })));
    };
    const transport = (listener: WireListener): WireTransport => route.open({ ...listener, onUnreachable });
    const channel = new Channel({ server, offer, handlers: gate.handlers, transport, onEnd, onGone });
    try {
      const onLive = (): void => {
        live = true;
      };
      return await untilAborted(
        this.#converse({ channel, handlers: gate.handlers, ended: ended.signal, onLive, era }),
        this.#deadline.signal,
      );
    } catch (error) {
      gate.hush();
      const said = error instanceof HoldfastError ? error : (channel.fault ?? error);
      await channel.close();
      this.#stderr = channel.wire.stderrTail();
      throw toWireError(said, { server, expected: 'an answer to the handshake' });
    }
  }

  async #converse({ channel, handlers, ended, onLive, era }: Conversation): Promise<LiveLink> {
    const { server, offer } = this.#options;
    const { signal } = this.#deadline;
    const warn = handlers.onWarning.bind(handlers);
    await channel.start();
    const negotiated = typeof era === 'function' ? await era(channel) : era;
    const client = createClient(offer, negotiated.kind);
    await client.connect(channel, { prior: negotiated, signal, timeout: longestTimerMs });
    const isModern = negotiated.kind === 'modern';
    const { logLevel } = this.#options.config;
    if (isModern) {
      const version = client.getNegotiatedProtocolVersion() ?? modernRevision;
      channel.setEnvelope(envelopeFor(version, offer, logLevel ?? modernLogLevel));
    }
    const parts = await import('./link-parts.ts');
    const link = new LiveLink({ server, channel, client, warn, parts, ended, onLive });
    if (this.#listed !== undefined) {
      link.learn(this.#listed);
      return link;
    }
    if (!isModern) askForLogs({ server, channel, capabilities: link.info.capabilities, level: logLevel, warn });
    link.startListening();
    const isUnheard = isModern && typeof era !== 'function';
    const failure = await link.prepare(signal, () => this.#deadline.remainingMs);
    if (failure !== undefined && endsStart(failure, isUnheard)) throw failure;
    if (isUnheard && link.info.capabilities['tools'] === undefined) await this.#confirmModern(channel);
    if (typeof era === 'function') handlers.onVerdict(verdictOf(negotiated, Date.now()));
    return link;
  }

  /** Asks a server that has nothing to list whether it still is what it was. */
  async #confirmModern(channel: Channel): Promise<void> {
    const found = await probe(channel, this.#probeOptions(this.#deadline.signal));
    if (found.kind === 'modern') return;
    const { server } = this.#options;
    throw new WireError('protocol_error', say({ server, expected: `protocol ${modernRevision}` }, 'an older one'));
  }

  readonly #askInPlace = async (channel: Channel): Promise<Negotiated> => {
    const negotiated = await this.#eraOf(channel);
    if (negotiated.kind === 'modern' || this.#protocol === 'auto') return negotiated;
    const { server } = this.#options;
    const expected = `a server that speaks protocol ${modernRevision}`;
    throw new WireError(
      'unsupported',
      say({ server, expected }, 'one that does not', 'Set "protocol" to "auto" or "legacy"'),
    );
  };

  #eraOf(channel: Channel): Promise<Negotiated> {
    // The older HTTP transport is older than the modern era.
    if (channel.wire.kind === 'sse') return Promise.resolve({ kind: 'legacy' });
    const options = this.#probeOptions(this.#deadline.signal);
    return probe(channel, channel.hasPerRequestStream ? options : { ...options, silenceMs: probeLimitMs });
  }

  #probeOptions(signal: AbortSignal): ProbeOptions {
    return { server: this.#options.server, offer: this.#options.offer, signal };
  }
}

type LearnEra = (channel: Channel) => Promise<Negotiated>;

interface Conversation {
  readonly channel: Channel;
  readonly handlers: LinkHandlers;
  readonly ended: AbortSignal;
  readonly onLive: () => void;
  /** The era, or how to learn it. */
  readonly era: Negotiated | LearnEra;
}

/** With these there is no link; with any other failure of the first listing the link is degraded (SPEC CN-4). */
const fatalListingCodes: ReadonlySet<string> = new Set(['auth_required', 'connection_lost', 'session_lost', 'aborted']);

/** With a remembered modern verdict the listing is the first thing a server hears: it stands for the handshake. */
function endsStart(failure: WireError, isUnheard: boolean): boolean {
  return isUnheard ? failure.code !== 'limit_exceeded' : fatalListingCodes.has(failure.code);
}

/** The link: what a connection holds once a server is there (see the port in `src/domain/link.ts`). */
import type { Client } from '@modelcontextprotocol/client';
import { toFailure } from '../domain/errors.ts';
import { isRecord, toJson } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type {
  DroppedTool,
  Inventory,
  Link,
  LinkInfo,
  QuestionReply,
  RequestKey,
  RequestSink,
  WireRequest,
} from '../domain/link.ts';
import type { ServerInfo } from '../domain/snapshot.ts';
import type { Progress } from '../domain/tool.ts';
import { toWireError } from './errors.ts';
import { WireError, say } from './wire-error.ts';
import { ask } from './ask.ts';
import type { Channel } from './channel.ts';
import { LastWords } from './last-words.ts';
import { listTools } from './listing.ts';
import type * as linkParts from './link-parts.ts';
import type { MirroredCalls, OtherRequests } from './link-parts.ts';
import type { ChannelStats } from './request-table.ts';
import { isHttp, withRetries } from './retry.ts';
import type { Warn } from './warnings.ts';
import { clip, parseObject, textLimits } from './wire.ts';

/** Methods a modern server does not know: notifications that only mean something to a session. */
const legacyNotifications: ReadonlySet<string> = new Set([
  'notifications/roots/list_changed',
  'notifications/initialized',
]);

export interface LiveLinkOptions {
  readonly server: string;
  readonly channel: Channel;
  readonly client: Client;
  readonly warn: Warn;
  /** What is loaded with the first link. */
  readonly parts: typeof linkParts;
  /** Aborted once the conversation is over. */
  readonly ended: AbortSignal;
  /** The owner is told of the end from now on. */
  readonly onLive: () => void;
}

/** A {@link Link} over a channel whose handshake is done. Made by `openLink`, which fills in the first inventory. */
export class LiveLink implements Link {
  readonly info: LinkInfo;
  readonly #options: LiveLinkOptions;
  readonly #channel: Channel;
  /** For modern HTTP servers only. */
  readonly #mirrored: MirroredCalls | undefined;
  readonly #others: OtherRequests;
  readonly #lastWords = new LastWords();
  #inventory: Inventory = { tools: [] };

  constructor(options: LiveLinkOptions) {
    this.#options = options;
    this.#channel = options.channel;
    this.info = infoOf(options);
    const { server, channel, warn, client, parts } = options;
    this.#others = new parts.OtherRequests({ server, channel, client, warn, ended: options.ended, info: this.info });
    if (this.info.era !== 'modern' || !channel.hasPerRequestStream) return;
    this.#mirrored = new parts.MirroredCalls({ server, channel, warn, refresh: () => this.list() });
  }

  get inventory(): Inventory {
    return this.#inventory;
  }

  get subscribed(): ReadonlySet<string> {
    return this.#others.subscribed;
  }

  /** Nothing waits for a result of it, and no resource is listened to over it. */
  get isIdle(): boolean {
    return this.#channel.isIdle && this.subscribed.size === 0;
  }

  /** What came that nobody waited for: results of cancelled requests, results for unknown ids, late progress. */
  get stats(): ChannelStats {
    return this.#channel.stats;
  }

  /**
   * Hands the link over: the last thing `openLink` does.
   *
   * @throws HoldfastError `connection_lost` if the conversation ended before.
   */
  goLive(): void {
    if (this.#channel.end !== undefined) throw this.#channel.end;
    this.#options.onLive();
    this.#channel.releaseListChanges();
  }

  /** Hears the list changes of a modern server until the conversation is over. */
  startListening(): void {
    this.#others.startListening();
  }

  /**
   * Makes the first listing and answers why it failed, if it did. Called once, by `openLink`.
   *
   * `waitMs` says how long its server may still be waited for.
   */
  async prepare(signal: AbortSignal, waitMs: () => number): Promise<WireError | undefined> {
    this.#channel.forgetListChanges();
    try {
      this.#inventory = await this.#listTools(signal, waitMs);
      return undefined;
    } catch (error) {
      const failure = this.#errorOf(error);
      this.#inventory = { tools: [], failure: toFailure(failure) };
      return failure;
    }
  }

  /** Takes over a listing that was made elsewhere. */
  learn(inventory: Inventory): void {
    this.#inventory = inventory;
    this.#mirrored?.learn(inventory.tools);
  }

  async list(signal?: AbortSignal): Promise<Inventory> {
    try {
      return await this.#listTools(signal);
    } catch (error) {
      return { tools: [], failure: toFailure(this.#errorOf(error)) };
    }
  }

  send(request: WireRequest, sink: RequestSink): RequestKey {
    if (request.method !== 'tools/call')
      return this.#others.send(request, this.#lastWords.includes(request.method) ? this.#lastWords.note(sink) : sink);
    return this.#mirrored === undefined ? this.#channel.request(request, sink) : this.#mirrored.send(request, sink);
  }

  cancel(key: RequestKey): void {
    if (this.#others.cancel(key)) return;
    if (this.#mirrored === undefined) this.#channel.cancel(key);
    else this.#mirrored.cancel(key);
  }

  followProgress(key: RequestKey, onProgress: (progress: Progress) => void): () => void {
    return this.#channel.followProgress(key, onProgress);
  }

  answer(id: string | number, reply: QuestionReply): void {
    this.#channel.answer(id, reply);
  }

  notify(method: string, params?: JsonObject): void {
    if (this.info.era === 'modern' && legacyNotifications.has(method)) return;
    this.#channel.notify(method, params);
  }

  stderrTail(): string {
    return this.#channel.wire.stderrTail();
  }

  close(): Promise<void> {
    // At once where it can be: what is open ends in the same turn (EL-3).
    const heard = this.#lastWords.heard();
    return heard === undefined ? this.#channel.close() : heard.then(() => this.#channel.close());
  }

  async #listTools(signal: AbortSignal | undefined, waitMs?: () => number): Promise<Inventory> {
    if (!isRecord(this.info.capabilities['tools'])) return { tools: [] };
    const { ended, server, warn } = this.#options;
    const until = signal === undefined ? ended : AbortSignal.any([signal, ended]);
    const options = {
      signal: until,
      enabled: isHttp(this.info.transport),
      ...(waitMs === undefined ? {} : { waitMs }),
    };
    const page = async (request: WireRequest): Promise<JsonObject> => {
      const result = await withRetries(() => ask(this.#channel, request, until), options);
      if (this.info.era === 'modern') this.#checkModern(request.method, result);
      return result;
    };
    const dropped: DroppedTool[] = [];
    const drop = (tool: DroppedTool): void => void dropped.push(tool);
    const listed = await listTools(page, server, warn, drop);
    const tools = this.#mirrored?.learn(listed, drop) ?? listed;
    return dropped.length === 0 ? { tools } : { tools, dropped };
  }

  /** A legacy server that is taken for a modern one may answer, but never names the type of its result. */
  #checkModern(method: string, result: JsonObject): void {
    if (typeof result['resultType'] === 'string') return;
    const expected = `a result of "${method}" with its type, as protocol ${this.info.protocolVersion} demands`;
    throw new WireError('protocol_error', say({ server: this.#options.server, expected }, 'one without'));
  }

  #errorOf(error: unknown): WireError {
    return toWireError(error, { server: this.#options.server, expected: 'a whole answer to "tools/list"' });
  }
}

function infoOf({ channel, client }: LiveLinkOptions): LinkInfo {
  const instructions = client.getInstructions();
  const serverInfo = client.getServerVersion();
  const { pid } = channel.wire;
  return {
    transport: channel.wire.kind,
    era: client.getProtocolEra() ?? 'legacy',
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    capabilities: parseObject(client.getServerCapabilities()) ?? {},
    ...(serverInfo === undefined ? {} : { serverInfo: serverInfoOf(serverInfo) }),
    ...(instructions === undefined ? {} : { instructions: clip(instructions, textLimits.prose) }),
    ...(pid === undefined ? {} : { pid }),
  };
}

/** What a server says of itself, bounded: it is in every snapshot. What is no text is left out when it is large. */
function serverInfoOf({
  name,
  version,
  ...rest
}: {
  readonly name: string;
  readonly version: string;
  readonly [key: string]: unknown;
}): ServerInfo {
  const more = Object.entries(rest).flatMap(([key, value]): [string, unknown][] => {
    if (value === undefined || key.length > textLimits.label) return [];
    if (typeof value === 'string') return [[key, clip(value, textLimits.label)]];
    return JSON.stringify(toJson(value)).length > textLimits.errorMessage ? [] : [[key, value]];
  });
  return {
    name: clip(name, textLimits.label),
    version: clip(version, textLimits.label),
    ...Object.fromEntries(more.slice(0, maxInfoEntries)),
  };
}

/** How many members of what a server says of itself are kept, beside name and version. */
const maxInfoEntries = 16;

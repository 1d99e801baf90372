/**
 * Calls to modern HTTP servers, whose declared arguments travel as headers too.
 *
 * Owns the declarations of the last listing, and the calls that are sent again. A server that knows a newer schema refuses
 * a call before its tool runs (error -32020): the tools are listed anew and the call is sent once more (H6 holds).
 * M1 the owner of a call knows it by its first key, and hears of it once.
 */
import type { DroppedTool, RequestKey, RequestSink, WireRequest } from '../domain/link.ts';
import type { ListedTool } from '../domain/tool.ts';
import type { Channel } from './channel.ts';
import { paramHeadersOf, scanParamHeaders } from './param-headers.ts';
import type { ParamHeader } from './param-headers.ts';
import type { Warn } from './warnings.ts';
import { clip, textLimits } from './wire.ts';

/** What a server answers when headers and body of a request do not go together. */
const headerMismatch = -32_020;

export interface MirroredCallsOptions {
  readonly server: string;
  readonly channel: Channel;
  readonly warn: Warn;
  /** Lists the tools anew, which calls {@link MirroredCalls.learn}. Never rejects. */
  readonly refresh: () => Promise<unknown>;
}

export class MirroredCalls {
  readonly #options: MirroredCallsOptions;
  #declared: ReadonlyMap<string, readonly ParamHeader[]> = new Map();
  /** First key → key of the second attempt, once it is sent. */
  readonly #again = new Map<RequestKey, RequestKey | undefined>();

  constructor(options: MirroredCallsOptions) {
    this.#options = options;
  }

  /** Takes in a listing. Leaves out tools whose declarations are invalid, as the protocol demands of HTTP clients. */
  learn(listed: readonly ListedTool[], onDropped?: (dropped: DroppedTool) => void): readonly ListedTool[] {
    const { server, warn } = this.#options;
    const declared = new Map<string, readonly ParamHeader[]>();
    const tools = listed.filter((tool) => {
      const scan = scanParamHeaders(tool.inputSchema);
      if (!scan.ok) {
        const what = `tool "${clip(tool.name, 80)}" cannot be used: ${scan.reason} The tool is not offered.`;
        warn('tool_dropped', `Server "${server}": ${what}`);
        onDropped?.({ tool: clip(tool.name, textLimits.label), reason: scan.reason });
        return false;
      }
      if (scan.headers.length > 0) declared.set(tool.name, scan.headers);
      return true;
    });
    this.#declared = declared;
    return tools;
  }

  send(request: WireRequest, sink: RequestSink): RequestKey {
    const { channel } = this.#options;
    const key: RequestKey = channel.request(
      request,
      {
        ...progressOf(sink),
        onResult: (result) => {
          sink.onResult(result);
        },
        onFailure: (failed) => {
          if (failed.rpc?.code === headerMismatch) void this.#sendAgain(key, request, sink, failed);
          else sink.onFailure(failed);
        },
      },
      this.#headersOf(request),
    );
    return key;
  }

  /** Cancels the second attempt of a call, or the call itself. */
  cancel(key: RequestKey): void {
    const { channel } = this.#options;
    channel.cancel(this.#again.get(key) ?? key);
    this.#again.delete(key);
  }

  async #sendAgain(
    key: RequestKey,
    request: WireRequest,
    sink: RequestSink,
    refused: Parameters<RequestSink['onFailure']>[0],
  ): Promise<void> {
    const { channel, refresh, warn } = this.#options;
    this.#again.set(key, undefined);
    await refresh();
    // Cancelled meanwhile.
    if (!this.#again.has(key)) return;
    const settle = (tell: () => void): void => {
      this.#again.delete(key);
      tell();
    };
    if (channel.end !== undefined) {
      settle(() => {
        try {
          sink.onFailure(refused);
        } catch {
          warn('internal', 'Expected the sink of a request to return, but it threw.');
        }
      });
      return;
    }
    const second = channel.request(
      request,
      {
        ...progressOf(sink),
        onResult: (result) => {
          settle(() => {
            sink.onResult(result);
          });
        },
        onFailure: (failed) => {
          settle(() => {
            sink.onFailure(failed);
          });
        },
      },
      this.#headersOf(request),
    );
    this.#again.set(key, second);
  }

  #headersOf(request: WireRequest): Record<string, string> | undefined {
    const name = request.params?.['name'];
    const headers = typeof name === 'string' ? this.#declared.get(name) : undefined;
    return headers === undefined ? undefined : paramHeadersOf(headers, request.params?.['arguments']);
  }
}

function progressOf(sink: RequestSink): Pick<RequestSink, 'onProgress'> {
  return sink.onProgress === undefined ? {} : { onProgress: sink.onProgress.bind(sink) };
}

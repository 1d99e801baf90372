/** What an HTTP server was told to do wrong, and how often still. */
import type { ServerResponse } from 'node:http';

/** Which requests are refused, and how. */
export interface StatusOptions {
  /** How many matching requests get it. Default 1. */
  readonly times?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Only requests of this HTTP method. Default `POST`. */
  readonly method?: string;
  /** Only requests of this JSON-RPC method. Default: any. */
  readonly rpcMethod?: string;
}

/** Which event streams are cut, and how. */
export interface CutOptions {
  /** How many matching streams are cut. Default 1. */
  readonly times?: number;
  /** Default `tools/call`. */
  readonly rpcMethod?: string;
  /** `end` closes the stream in good order, `break` destroys the socket. Default `end`. */
  readonly how?: 'end' | 'break';
}

interface Planned<TOptions> {
  readonly options: TOptions;
  left: number;
}

/** Plans of faults, used up one matching request at a time, oldest first. */
export class HttpFaults {
  readonly #statuses: Planned<StatusOptions & { readonly code: number }>[] = [];
  readonly #cuts: Planned<CutOptions>[] = [];

  planStatus(code: number, options: StatusOptions): void {
    this.#statuses.push({ options: { ...options, code }, left: options.times ?? 1 });
  }

  planCut(options: CutOptions): void {
    this.#cuts.push({ options, left: options.times ?? 1 });
  }

  /** Answers the request with a planned status; `false` if none is planned for it. */
  refuse(httpMethod: string, rpcMethods: readonly string[], response: ServerResponse): boolean {
    const planned = this.#statuses.find(
      ({ left, options }) =>
        left > 0 &&
        (options.method ?? 'POST') === httpMethod &&
        (options.rpcMethod === undefined || rpcMethods.includes(options.rpcMethod)),
    );
    if (planned === undefined) return false;
    planned.left -= 1;
    const { code, headers, body } = planned.options;
    response.writeHead(code, { 'content-type': 'text/plain', ...headers }).end(body ?? `Status ${code}, as scripted.`);
    return true;
  }

  /** How to cut the answer to this request, if that is planned. */
  takeCut(rpcMethods: readonly string[]): 'end' | 'break' | undefined {
    const planned = this.#cuts.find(
      ({ left, options }) => left > 0 && rpcMethods.includes(options.rpcMethod ?? 'tools/call'),
    );
    if (planned === undefined) return undefined;
    planned.left -= 1;
    return planned.options.how ?? 'end';
  }
}

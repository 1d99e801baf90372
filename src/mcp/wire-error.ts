/** The error of the wire, and the sentence it is. Knows nothing of the SDK: `errors.ts` makes these of what that throws. */
import { HoldfastError } from '../domain/errors.ts';
import type { ErrorCode, ErrorDetails } from '../domain/errors.ts';
import type { RpcError } from './wire.ts';

/** What was going on when an error of the wire appeared. */
export interface WireContext {
  /** The raw name of the server. */
  readonly server: string;
  /** What was awaited, as it reads after "expected": `an answer to "tools/list"`. */
  readonly expected: string;
  readonly stderr?: string;
  /** The request went out with a legacy HTTP session, so a 404 means the session is gone. */
  readonly hasSession?: boolean;
}

/** The JSON-RPC or HTTP side of an error, for those who decide about retries and fallbacks. Never leaves `src/mcp`. */
export class WireError extends HoldfastError {
  override readonly name: string = 'WireError';
  readonly status: number | undefined;
  readonly rpc: RpcError | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    details: ErrorDetails & { readonly status?: number | undefined; readonly rpc?: RpcError | undefined } = {},
  ) {
    super(code, message, details);
    this.status = details.status;
    this.rpc = details.rpc;
  }
}

/** Builds the sentence every wire error is: `Server "x": expected …, got …. Hint.` */
export function say(
  context: { readonly server: string; readonly expected: string },
  got: string,
  hint?: string,
): string {
  return `Server "${context.server}": expected ${context.expected}, got ${got}.${hint === undefined ? '' : ` ${hint}.`}`;
}

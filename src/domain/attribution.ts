/** Which call a server's question belongs to, as far as that can be known (SPEC EL-11). */

/** A question, as far as its origin shows. */
export interface QuestionOrigin {
  /** The request of ours whose stream carried the question, where the transport tells. */
  readonly request?: string;
}

/** A call on the wire of the connection that asks. */
export interface CallInFlight {
  readonly call: string;
  /** The request the call is at present. */
  readonly request?: string;
  readonly generation: number;
  readonly step: string;
}

export type AttributedTo =
  | { readonly attribution: 'call'; readonly call: CallInFlight }
  | { readonly attribution: 'ambiguous'; readonly candidates: readonly CallInFlight[] }
  | { readonly attribution: 'server' };

/**
 * Attributes a question to a call.
 *
 * A question on the stream of a request belongs to that request's call, and to no other when that call is gone or was no
 * call. Without a stream it belongs to the only call in flight; with several it may be any of them; with none it is
 * the server's own.
 */
export function attribute(question: QuestionOrigin, inFlight: readonly CallInFlight[]): AttributedTo {
  const { request } = question;
  const candidates = distinct(request === undefined ? inFlight : inFlight.filter((each) => each.request === request));
  const [only] = candidates;
  if (only === undefined) return { attribution: 'server' };
  return candidates.length === 1 ? { attribution: 'call', call: only } : { attribution: 'ambiguous', candidates };
}

/** A call that is on the wire twice is one candidate. */
function distinct(calls: readonly CallInFlight[]): readonly CallInFlight[] {
  return [...new Map(calls.toReversed().map((each) => [each.call, each])).values()].toReversed();
}

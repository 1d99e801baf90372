/** Questions to the person, their answers, and what became of each (SPEC EL, "Shapes"). */
import type { Issue } from './errors.ts';
import type { JsonObject } from './json.ts';

/** What kind of answer a question wants. */
export type ElicitationKind = 'form' | 'url' | 'approval' | 'sampling';

/**
 * How sure Holdfast is which call asked (SPEC EL-11).
 *
 * `call`: this one. `ambiguous`: one of `candidates`. `server`: no call was in flight.
 */
export type Attribution = 'call' | 'ambiguous' | 'server';

/** One open question, as a host shows it. */
export interface PendingElicitation {
  /** `elc_` and 22 or more characters of base64url; give it to `thread.respond`. */
  readonly token: string;
  readonly kind: ElicitationKind;
  /** Raw name of the server that asks. */
  readonly server: string;
  readonly message: string;
  /** Forms: the flat JSON schema the answer's `content` must fit. */
  readonly requestedSchema?: JsonObject;
  /** The exact url. Holdfast never opens it. */
  readonly url?: string;
  /** Host of `url` in punycode, with its port. */
  readonly host?: string;
  /** The host in Unicode, where it differs. */
  readonly hostUnicode?: string;
  /**
   * Sampling: the parameters of `sampling/createMessage`. Approval: `server`, `tool`, `arguments`; `remember`, the values
   * the answer's `content.remember` may usefully have; `changed`, what is not as the person last approved it (SPEC PO-3).
   */
  readonly params?: JsonObject;
  readonly attribution: Attribution;
  readonly step?: string;
  readonly call?: string;
  /** The caller's own id of the call (`callId`, or the id of the `callTool` line). */
  readonly request?: string | number;
  /** Ids of the calls it may belong to, when ambiguous. */
  readonly candidates?: readonly string[];
  readonly generation: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly openedAt: string;
  readonly expiresAt?: string;
  readonly _meta?: JsonObject;
}

/** What a person says to a question. */
export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: JsonObject; readonly _meta?: JsonObject }
  | { readonly action: 'decline'; readonly _meta?: JsonObject }
  | { readonly action: 'cancel'; readonly _meta?: JsonObject };

/** How an elicitation ended; exactly one of these, once (H5). */
export type ElicitationOutcome = 'accepted' | 'declined' | 'cancelled' | 'expired' | 'lost';

/** What `thread.respond` says. It never throws for what a person may do (SPEC EL-3). */
export type RespondOutcome =
  | { readonly status: 'delivered' }
  | { readonly status: 'invalid'; readonly issues: readonly Issue[] }
  | { readonly status: 'settled'; readonly outcome: 'accepted' | 'declined' | 'cancelled'; readonly at: string }
  | { readonly status: 'expired' | 'lost'; readonly reason: string }
  | { readonly status: 'unknown' };

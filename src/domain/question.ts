/** A question before it is shown: the public record, and whom to tell the answer. */
import type { ElicitationAnswer, ElicitationOutcome, PendingElicitation } from './elicitation.ts';
import type { ApprovedTool } from './approval-memory.ts';
import type { Json, JsonObject } from './json.ts';

/**
 * Who asked, and so who hears the answer.
 *
 * `request`: a legacy server's own request. `round`: one entry of a modern `input_required` result. `task`: one entry of a
 * modern task. `authorization`: a call that was refused with -32042. `approval`: the gate before a call; `tool` is what is
 * approved, and `remembers` tells whether an answer may hold for later calls.
 */
export type Asker =
  | { readonly kind: 'request'; readonly connection: string; readonly id: string | number; readonly method: string }
  | { readonly kind: 'round'; readonly key: string }
  | { readonly kind: 'task'; readonly key: string }
  | { readonly kind: 'authorization' }
  | { readonly kind: 'approval'; readonly tool?: ApprovedTool; readonly remembers?: boolean };

/** A question, with whom to tell its answer. */
export interface Question {
  readonly elicitation: PendingElicitation;
  readonly asker: Asker;
}

/** How a question ended, as its asker hears it. */
export interface Settlement {
  readonly token: string;
  readonly outcome: ElicitationOutcome;
  readonly answer?: ElicitationAnswer;
  readonly reason?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The `ElicitResult`, or for sampling the `CreateMessageResult`, that a server gets for a settlement. */
export function replyOf(kind: PendingElicitation['kind'], settlement: Settlement): JsonObject {
  const { answer, outcome } = settlement;
  const meta: { _meta?: Json } = answer?._meta === undefined ? {} : { _meta: answer._meta };
  if (outcome === 'accepted' && answer?.action === 'accept') {
    if (kind === 'sampling') return { ...answer.content, ...meta };
    return { action: 'accept', ...(answer.content === undefined ? {} : { content: answer.content }), ...meta };
  }
  return { action: outcome === 'declined' ? 'decline' : 'cancel', ...meta };
}

/** The time of an ISO 8601 text in milliseconds since the epoch. */
export function timeOf(iso: string): number {
  return Date.parse(iso);
}

/** ISO 8601 UTC with milliseconds. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

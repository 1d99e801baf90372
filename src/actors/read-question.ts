/** Reads what a server asks into what a person is shown, or says why it cannot be (SPEC EL-4, EL-5, EL-10). */
import { isTooDeep, maxDepth } from '../domain/depth.ts';
import type { PendingElicitation } from '../domain/elicitation.ts';
import type { Failure } from '../domain/errors.ts';
import { checkFormSchema } from '../domain/form-schema.ts';
import { isJsonObject } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import { checkUrl } from '../domain/url-question.ts';
import { clip } from '../mcp/wire.ts';

/** The parts of a question that come from its server. */
export type AskedPart = Pick<
  PendingElicitation,
  'kind' | 'message' | 'requestedSchema' | 'url' | 'host' | 'hostUnicode' | 'params' | '_meta'
>;

/** Most entries of one request for input: its server decides how many it asks, and no person answers more. */
export const maxQuestionsAtOnce = 1_024;

/** Open questions a legacy call keeps as children; further ones its connection keeps, whose fleet is made for many. */
export const maxChildQuestions = 256;

/** A server asks more at once than can be put for one call. */
export function tooManyQuestions(server: string, name: string, count: number): Failure {
  const message = `Expected server "${server}" to ask at most ${String(maxQuestionsAtOnce)} questions at once during "${name}", got ${String(count)}. This is a fault of the server.`;
  return { code: 'limit_exceeded', message, retryable: false, outcome: 'failed' };
}

/** One entry of a modern request for input; of what has another shape nothing is read. */
export function readEntry(entry: unknown): { readonly method: string; readonly params: JsonObject } {
  if (!isJsonObject(entry)) return { method: '', params: {} };
  const { method, params } = entry;
  return { method: typeof method === 'string' ? method : '', params: isJsonObject(params) ? params : {} };
}

/** A server asks for a model nobody offered it (ER-4). */
export function unofferedSampling(server: string, name: string): Failure {
  const message = `Server "${server}" asked for sampling during "${name}", which was not offered to it. Set "sampling" to offer it.`;
  return { code: 'not_approved', message, retryable: false, outcome: 'failed' };
}

/** Longest message that is shown, in characters. */
const maxMessageLength = 64 * 1024;

/** Reads the parameters of `elicitation/create` or `sampling/createMessage`; a text says why they cannot be put. */
export function readQuestion(server: string, method: string, params: JsonObject): AskedPart | string {
  if (isTooDeep(params)) return `expected a question of at most ${String(maxDepth)} levels, got a deeper one.`;
  switch (method) {
    case 'elicitation/create':
      return params['mode'] === 'url' ? readUrl(params) : readForm(params);
    case 'sampling/createMessage':
      return { kind: 'sampling', message: `Server "${server}" asks to run a model.`, params, ...metaOf(params) };
    default:
      return `expected elicitation/create, sampling/createMessage or roots/list, got "${method}".`;
  }
}

function readForm(params: JsonObject): AskedPart | string {
  const { mode, message, requestedSchema } = params;
  if (mode !== undefined && mode !== 'form') return `expected the mode "form" or "url", got ${JSON.stringify(mode)}.`;
  if (!isJsonObject(requestedSchema)) return 'expected a requestedSchema, an object with flat properties.';
  const [issue] = checkFormSchema(requestedSchema);
  if (issue !== undefined) return `its requestedSchema cannot be shown as a form: ${issue.path} ${issue.message}`;
  return { kind: 'form', message: textOf(message), requestedSchema, ...metaOf(params) };
}

function readUrl(params: JsonObject): AskedPart | string {
  const checked = checkUrl(params['url']);
  if (!checked.ok) return checked.reason;
  const { url, host, hostUnicode } = checked;
  return {
    kind: 'url',
    message: textOf(params['message']),
    url,
    host,
    ...(hostUnicode === undefined ? {} : { hostUnicode }),
    ...metaOf(params),
  };
}

function textOf(message: unknown): string {
  return typeof message === 'string' ? clip(message, maxMessageLength) : '';
}

/** `_meta` of the question, without the token that belongs to the protocol (EL-10). */
function metaOf(params: JsonObject): { readonly _meta?: JsonObject } {
  const meta = params['_meta'];
  if (!isJsonObject(meta)) return {};
  const { progressToken: _, ...rest } = meta;
  return Object.keys(rest).length === 0 ? {} : { _meta: rest };
}

/**
 * The requests a legacy server has open with this client.
 *
 * Owns which ids are open. Receives inbound requests and cancellations; tells {@link LinkHandlers.onQuestion} of the good
 * ones and answers the bad ones itself.
 * Q1 an id is open from the question to its answer or withdrawal, and is told once.
 * Q2 nothing is told of a method that was not offered: `accepts` is false and the SDK says "method not found".
 */
import type { ClientOffer, LinkHandlers, QuestionReply, RequestKey, ServerQuestion } from '../domain/link.ts';
import type { JsonObject } from '../domain/json.ts';
import { parseObject, rpcCodes } from './wire.ts';

/**
 * How many questions one server may have open on a connection, and as many again for each request it has to answer.
 *
 * Nobody answers more, and every one costs the whole process (SPEC SE-2).
 */
export const maxOpenQuestions = 1_024;

export interface QuestionBookOptions {
  readonly offer: ClientOffer;
  readonly handlers: Pick<LinkHandlers, 'onQuestion' | 'onQuestionWithdrawn' | 'onWarning'>;
  /** How many requests the server has to answer now. */
  readonly inFlight: () => number;
  /** Writes the response of a question. */
  readonly respond: (id: string | number, reply: QuestionReply) => void;
}

export class QuestionBook {
  readonly #options: QuestionBookOptions;
  readonly #open = new Set<string | number>();
  #hasWarned = false;

  constructor(options: QuestionBookOptions) {
    this.#options = options;
  }

  /** Tells whether a request of this method is a question here. */
  accepts(method: string): method is ServerQuestion['method'] {
    switch (method) {
      case 'elicitation/create':
        return true;
      case 'sampling/createMessage':
        return this.#options.offer.sampling;
      case 'roots/list':
        return this.#options.offer.roots;
      default:
        return false;
    }
  }

  /** Takes a question in, or refuses it with a JSON-RPC error. */
  ask(id: string | number, method: ServerQuestion['method'], params: unknown, request?: RequestKey): void {
    if (this.#open.has(id)) {
      this.#refuse(
        id,
        rpcCodes.invalidRequest,
        `Expected a new request id, got ${JSON.stringify(id)}, whose request is still open.`,
      );
      return;
    }
    const limit = maxOpenQuestions * (1 + this.#options.inFlight());
    if (this.#open.size >= limit) {
      this.#refuse(
        id,
        rpcCodes.serverBusy,
        `Expected at most ${String(limit)} open requests, got one more. Wait for answers.`,
      );
      this.#warn(limit);
      return;
    }
    const fault = faultOf(method, params);
    if (fault !== undefined) {
      this.#refuse(id, rpcCodes.invalidParams, fault);
      return;
    }
    this.#open.add(id);
    const question = { id, method, params: parseObject(params) ?? {}, ...(request === undefined ? {} : { request }) };
    this.#options.handlers.onQuestion(question, (reply) => {
      this.answer(id, reply);
    });
  }

  /** Answers an open question; anything else is ignored. */
  answer(id: string | number, reply: QuestionReply): void {
    if (this.#open.delete(id)) this.#options.respond(id, reply);
  }

  /** Takes a question back for its server. Returns false when it is none of ours. */
  withdraw(id: unknown, reason: unknown): boolean {
    if (typeof id !== 'string' && typeof id !== 'number') return false;
    if (!this.#open.delete(id)) return false;
    if (typeof reason === 'string') this.#options.handlers.onQuestionWithdrawn(id, reason);
    else this.#options.handlers.onQuestionWithdrawn(id);
    return true;
  }

  /** Forgets every question: the connection is gone, nobody can be answered. */
  clear(): void {
    this.#open.clear();
  }

  #warn(limit: number): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const message = `Expected at most ${String(limit)} open questions of one server, got more. Those above are refused.`;
    this.#options.handlers.onWarning('questions_refused', message);
  }

  #refuse(id: string | number, code: number, message: string): void {
    this.#options.respond(id, { error: { code, message } });
  }
}

/** Says what is wrong with the params of a question; undefined when a person could be asked. */
function faultOf(method: ServerQuestion['method'], raw: unknown): string | undefined {
  const params = parseObject(raw);
  if (params === undefined) {
    return method === 'roots/list' && raw === undefined ? undefined : 'Expected params to be an object.';
  }
  switch (method) {
    case 'elicitation/create':
      return elicitationFault(params);
    case 'sampling/createMessage':
      return Array.isArray(params['messages']) ? undefined : 'Expected "messages" to be an array.';
    case 'roots/list':
      return undefined;
  }
}

function elicitationFault(params: JsonObject): string | undefined {
  if (typeof params['message'] !== 'string') return 'Expected "message" to be a string.';
  const mode = params['mode'] ?? 'form';
  if (mode === 'form') {
    return parseObject(params['requestedSchema']) === undefined
      ? 'Expected "requestedSchema" to be an object.'
      : undefined;
  }
  if (mode !== 'url') return 'Expected "mode" to be "form" or "url".';
  if (typeof params['url'] !== 'string') return 'Expected "url" to be a string.';
  return typeof params['elicitationId'] === 'string' ? undefined : 'Expected "elicitationId" to be a string.';
}

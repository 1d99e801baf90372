/** Reads the entries of a modern request for input: what a person is asked, what is answered here (SPEC ER-2, ER-3). */
import type { Failure } from '../domain/errors.ts';
import { isJsonObject, shown } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Asker, Question } from '../domain/question.ts';
import { maxQuestionsAtOnce, readEntry, tooManyQuestions, unofferedSampling } from './read-question.ts';

/** What entries become. */
export type ReadRequests =
  | {
      readonly kind: 'read';
      readonly questions: readonly Question[];
      /** Answers that need no person. */
      readonly responses: Readonly<Record<string, JsonObject>>;
    }
  | { readonly kind: 'failed'; readonly failure: Failure };

export interface RequestReader {
  readonly server: string;
  /** The name the model used. */
  readonly name: string;
  readonly offersSampling: boolean;
  /** The `ListRootsResult`. */
  readonly roots: JsonObject;
  asker(key: string): Asker;
  /** The question as it is put, or why it cannot be. */
  question(method: string, params: JsonObject, asker: Asker): Question | string;
  /** Says that a question was declined without being shown. */
  refuse(reason: string): void;
}

/** What a server may ask in an entry. */
const methods: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list']);

type Entries = readonly (readonly [string, unknown])[];

/** Reads a result that asks for input; one that asks nothing and gives no state to come back with is a failure. */
export function readRound(
  { inputRequests = null, requestState }: JsonObject,
  { server, name }: Pick<RequestReader, 'server' | 'name'>,
  read: (entries: Entries) => ReadRequests,
): ReadRequests {
  if (inputRequests !== null && !isJsonObject(inputRequests))
    return noRequest(server, name, '"inputRequests" to be an object', shown(inputRequests));
  const entries = Object.entries(inputRequests ?? {});
  if (entries.length > 0 || typeof requestState === 'string') return read(entries);
  return noRequest(server, name, 'entries in "inputRequests" or a "requestState"', 'neither');
}

/** Makes each entry a question, or answers it; a whole that cannot be answered is a failure. */
export function readRequests(entries: Entries, reader: RequestReader): ReadRequests {
  const { server, name } = reader;
  if (entries.length > maxQuestionsAtOnce)
    return { kind: 'failed', failure: tooManyQuestions(server, name, entries.length) };
  const odd = entries.find(([, entry]) => !methods.has(readEntry(entry).method));
  if (odd !== undefined) {
    const [key, entry] = odd;
    const got = isJsonObject(entry) ? `the method ${shown(entry['method'])}` : shown(entry);
    const wanted = `"${key.slice(0, 80)}" to be elicitation/create, sampling/createMessage or roots/list`;
    return noRequest(server, name, wanted, got);
  }
  const questions: Question[] = [];
  const responses: [string, JsonObject][] = [];
  for (const [key, entry] of entries) {
    const { method, params } = readEntry(entry);
    if (method === 'sampling/createMessage' && !reader.offersSampling) {
      const failure = unofferedSampling(server, name);
      reader.refuse(failure.message);
      return { kind: 'failed', failure };
    }
    if (method === 'roots/list') {
      responses.push([key, reader.roots]);
      continue;
    }
    const asked = reader.question(method, params, reader.asker(key));
    if (typeof asked !== 'string') questions.push(asked);
    else {
      reader.refuse(asked);
      responses.push([key, { action: 'decline' }]);
    }
  }
  return { kind: 'read', questions, responses: Object.fromEntries(responses) };
}

/** A request for input that is none, which is not answered: its server would only ask again. */
function noRequest(server: string, name: string, wanted: string, got: string): ReadRequests {
  const message = `Server "${server}" asked for input during "${name}": expected ${wanted}, got ${got}. This is a fault of the server.`;
  return { kind: 'failed', failure: { code: 'protocol_error', message, retryable: false, outcome: 'failed' } };
}

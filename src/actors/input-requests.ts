/** Reads the entries of a modern request for input: what a person is asked, what is answered here (SPEC ER-2, ER-3). */
import type { Failure } from '../domain/errors.ts';
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

/** Makes each entry a question, or answers it; a whole that cannot be answered is a failure. */
export function readRequests(entries: readonly (readonly [string, unknown])[], reader: RequestReader): ReadRequests {
  const { server, name } = reader;
  if (entries.length > maxQuestionsAtOnce)
    return { kind: 'failed', failure: tooManyQuestions(server, name, entries.length) };
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

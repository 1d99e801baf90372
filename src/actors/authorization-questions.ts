/** What a call asks of a person when its server wants a sign-in first: the urls a refusal with -32042 lists (SPEC EL-5). */
import type { Failure } from '../domain/errors.ts';
import { isJsonObject } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Question } from '../domain/question.ts';
import type { CallRecord } from './call-record.ts';
import { maxQuestionsAtOnce, tooManyQuestions } from './read-question.ts';
import { nothingToOpen, refusedSignIn } from './url-questions.ts';

export interface AuthorizationPorts {
  /** Reads one entry into a question; a text says why it cannot be put. */
  question(params: JsonObject): Question | string;
  /** Says that a question was not put. */
  refuse(reason: string): void;
  /** Remembers under which id its server will finish a question. */
  note(entry: JsonObject, token: string): void;
}

/** Reads the refusal of a call into its questions, or into the reason why nobody can be asked. */
export function authorizationQuestions(
  { input: { server, name } }: CallRecord,
  data: unknown,
  ports: AuthorizationPorts,
): readonly Question[] | Failure {
  const listed: readonly unknown[] =
    isJsonObject(data) && Array.isArray(data['elicitations']) ? data['elicitations'] : [];
  if (listed.length === 0 || !listed.every(isJsonObject)) return nothingToOpen(server, name);
  if (listed.length > maxQuestionsAtOnce) return tooManyQuestions(server, name, listed.length);
  const questions: Question[] = [];
  for (const entry of listed) {
    const question = ports.question({ ...entry, mode: 'url' });
    if (typeof question === 'string') {
      ports.refuse(question);
      return refusedSignIn(server, name, question);
    }
    questions.push(question);
  }
  for (const [index, { elicitation }] of questions.entries()) {
    const entry = listed[index];
    if (entry !== undefined) ports.note(entry, elicitation.token);
  }
  return questions;
}

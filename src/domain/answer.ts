/** Does an answer fit its question (SPEC EL-4, EL-5)? */
import type { ElicitationAnswer, PendingElicitation } from './elicitation.ts';
import type { Issue } from './errors.ts';
import { checkFormAnswer } from './form-schema.ts';
import { isJsonObject, isRecord, shown } from './json.ts';

export type AnswerCheck =
  { readonly ok: true; readonly answer: ElicitationAnswer } | { readonly ok: false; readonly issues: readonly Issue[] };

/** Checks an answer of any shape; an accepted form comes back with its defaults filled in. Never throws. */
export function checkAnswer(question: PendingElicitation, answer: unknown): AnswerCheck {
  try {
    const fault = jsonFault(answer);
    return fault === undefined ? checkJsonAnswer(question, answer) : { ok: false, issues: [fault] };
  } catch {
    return refuse('', 'Expected plain data, got an object that cannot be read. Give a copy of what it stands for.');
  }
}

function checkJsonAnswer(question: PendingElicitation, answer: unknown): AnswerCheck {
  if (!isRecord(answer)) {
    return refuse('', `Expected an answer { action: "accept" | "decline" | "cancel" }, got ${shown(answer)}.`);
  }
  const { action, content, _meta } = answer;
  if (_meta !== undefined && !isJsonObject(_meta)) return refuse('/_meta', `Expected an object, got ${shown(_meta)}.`);
  const meta = _meta === undefined ? {} : { _meta };
  if (content !== undefined && !isJsonObject(content)) {
    return refuse('/content', `Expected an object, got ${shown(content)}.`);
  }
  switch (action) {
    case 'accept':
      return checkAccept(question, { action, ...(content === undefined ? {} : { content }), ...meta });
    case 'decline':
    case 'cancel':
      return { ok: true, answer: { action, ...meta } };
    default:
      return refuse('/action', `Expected "accept", "decline" or "cancel", got ${shown(action)}.`);
  }
}

type Accept = Extract<ElicitationAnswer, { action: 'accept' }>;

function checkAccept(question: PendingElicitation, answer: Accept): AnswerCheck {
  switch (question.kind) {
    case 'url':
      if (answer.content === undefined) return { ok: true, answer };
      return refuse('/content', 'Expected no content: what is done at the url never passes through here.');
    case 'form':
      return checkForm(question, answer);
    case 'sampling':
      if (answer.content !== undefined) return { ok: true, answer };
      return refuse('/content', 'Expected content: the CreateMessageResult of the model that was run.');
    case 'approval':
      return checkApproval(answer);
  }
}

function checkForm(question: PendingElicitation, answer: Accept): AnswerCheck {
  const checked = checkFormAnswer(question.requestedSchema, answer.content);
  if (checked.ok) return { ok: true, answer: { ...answer, content: checked.content } };
  return { ok: false, issues: checked.issues.map((issue) => ({ ...issue, path: `/content${issue.path}` })) };
}

function checkApproval(answer: Accept): AnswerCheck {
  const remember = answer.content?.['remember'];
  if (remember === undefined || remember === 'once' || remember === 'session' || remember === 'always') {
    return { ok: true, answer };
  }
  return refuse('/content/remember', `Expected "once", "session" or "always", got ${shown(remember)}.`);
}

function refuse(path: string, message: string): AnswerCheck {
  return { ok: false, issues: [{ path, message }] };
}

/** Deeper answers are refused: nothing on the way to a server need follow them. */
const maxDepth = 256;

/** Where a value is no JSON: what could not be written to a server must not count as delivered. */
function jsonFault(value: unknown, path = '', depth = 0): Issue | undefined {
  if (depth > maxDepth) return { path, message: `Expected at most ${String(maxDepth)} levels, got more.` };
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : notJson(path, String(value));
    case 'object':
      return value === null ? undefined : faultInside(value, path, depth);
    case 'bigint':
    case 'function':
    case 'symbol':
      return notJson(path, `a ${typeof value}`);
  }
}

function faultInside(value: object, path: string, depth: number): Issue | undefined {
  if (!Array.isArray(value) && !isPlain(value)) return notJson(path, 'an object of a class');
  for (const [key, item] of Object.entries(value)) {
    const fault = jsonFault(item, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** An object without a class, of this realm or another. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return typeof prototype !== 'object' || prototype === null || Object.getPrototypeOf(prototype) === null;
}

function notJson(path: string, got: string): Issue {
  return { path, message: `Expected a value that JSON can carry, got ${got}.` };
}

/** Does an answer fit its question (SPEC EL-4, EL-5)? */
import type { ElicitationAnswer, PendingElicitation } from './elicitation.ts';
import type { Issue } from './errors.ts';
import { checkFormAnswer } from './form-schema.ts';
import { isJsonObject, isRecord, shown } from './json.ts';

export type AnswerCheck =
  { readonly ok: true; readonly answer: ElicitationAnswer } | { readonly ok: false; readonly issues: readonly Issue[] };

/** Checks an answer of any shape; an accepted form comes back with its defaults filled in. */
export function checkAnswer(question: PendingElicitation, answer: unknown): AnswerCheck {
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

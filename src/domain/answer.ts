/** Does an answer fit its question (SPEC EL-4, EL-5)? */
import type { ElicitationAnswer, PendingElicitation } from './elicitation.ts';
import type { Issue } from './errors.ts';
import { checkFormAnswer } from './form-schema.ts';
import { isRecord } from './json.ts';

export type AnswerCheck =
  { readonly ok: true; readonly answer: ElicitationAnswer } | { readonly ok: false; readonly issues: readonly Issue[] };

/** Checks an answer of any shape; an accepted form comes back with its defaults filled in. */
export function checkAnswer(question: PendingElicitation, answer: unknown): AnswerCheck {
  if (!isRecord(answer))
    return refuse(
      '',
      `Expected an answer { action: "accept" | "decline" | "cancel" }, got ${JSON.stringify(answer) ?? 'undefined'}.`,
    );
  const { action, content } = answer;
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel') {
    return refuse('/action', `Expected "accept", "decline" or "cancel", got ${JSON.stringify(action) ?? 'nothing'}.`);
  }
  if (content !== undefined && !isRecord(content))
    return refuse('/content', `Expected an object, got ${JSON.stringify(content)}.`);
  if (answer['_meta'] !== undefined && !isRecord(answer['_meta'])) return refuse('/_meta', 'Expected an object.');
  if (action !== 'accept') return { ok: true, answer: answer as unknown as ElicitationAnswer };
  switch (question.kind) {
    case 'url':
      if (content !== undefined)
        return refuse(
          '/content',
          'Expected no content: a url question is accepted or declined, its answer never passes through here.',
        );
      return { ok: true, answer: answer as unknown as ElicitationAnswer };
    case 'form':
      return checkForm(question, answer as unknown as Extract<ElicitationAnswer, { action: 'accept' }>);
    case 'sampling':
      if (content === undefined)
        return refuse('/content', 'Expected content: the CreateMessageResult of the model that was run.');
      return { ok: true, answer: answer as unknown as ElicitationAnswer };
    case 'approval':
      return checkApproval(content, answer as unknown as ElicitationAnswer);
  }
}

function checkForm(
  question: PendingElicitation,
  answer: Extract<ElicitationAnswer, { action: 'accept' }>,
): AnswerCheck {
  const checked = checkFormAnswer(question.requestedSchema, answer.content);
  if (!checked.ok)
    return { ok: false, issues: checked.issues.map((issue) => ({ ...issue, path: `/content${issue.path}` })) };
  return { ok: true, answer: { ...answer, content: checked.content } };
}

function checkApproval(content: Record<string, unknown> | undefined, answer: ElicitationAnswer): AnswerCheck {
  const remember = content?.['remember'];
  if (remember !== undefined && remember !== 'once' && remember !== 'session' && remember !== 'always') {
    return refuse('/content/remember', `Expected "once", "session" or "always", got ${JSON.stringify(remember)}.`);
  }
  return { ok: true, answer };
}

function refuse(path: string, message: string): AnswerCheck {
  return { ok: false, issues: [{ path, message }] };
}

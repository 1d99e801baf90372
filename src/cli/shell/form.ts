/** A question in the terminal: a form, a link, an approval. Nothing is opened and nothing is sent from here. */
import { confirm, isCancel, log, multiselect, note, select, text } from '@clack/prompts';
import type { ElicitationAnswer, Issue, Json, JsonObject, PendingElicitation } from '../../index.ts';
import { oneLine, plain, type Terminal } from '../terminal.ts';
import { approvalChoices, approvalLines } from './approval.ts';
import { type Field, fieldsOf, hintOf, numberProblem, textProblem } from './fields.ts';

/** What the person decided. `later` leaves the question open; `interrupted` is Ctrl-C. */
export type FormResult =
  | { readonly kind: 'answer'; readonly answer: ElicitationAnswer }
  | { readonly kind: 'later' }
  | { readonly kind: 'interrupted' | 'escaped' };

/** How a question is put. */
export interface FormOptions {
  readonly terminal: Terminal;
  /** Takes the form away: the question was settled elsewhere. */
  readonly signal: AbortSignal;
  /** Whether the question may be left open. */
  readonly canDefer: boolean;
  /** What was wrong with the answer before, and that answer. */
  readonly before?: { readonly issues: readonly Issue[]; readonly content: JsonObject };
}

type Shared = { input: Terminal['input']; output: Terminal['output']; signal: AbortSignal };
type Option = { readonly value: string; readonly label: string; readonly hint?: string };

const later = { value: 'later', label: 'Decide later', hint: 'the question stays open' } as const;
const decline = { value: 'decline', label: 'Decline' } as const;
const cancel = { value: 'cancel', label: 'Cancel', hint: 'neither yes nor no' } as const;

/** Puts a question and resolves with what the person decided. */
export async function askPerson(elicitation: PendingElicitation, options: FormOptions): Promise<FormResult> {
  const { input } = options.terminal;
  const last = { isEscape: false };
  // The prompts tell Escape and Ctrl-C as one.
  const listen = (_: unknown, key: { readonly name?: string } | undefined) => {
    last.isEscape = key?.name === 'escape';
  };
  input.on('keypress', listen);
  try {
    const result = await putQuestion(elicitation, options);
    return result.kind === 'interrupted' && last.isEscape ? { kind: 'escaped' } : result;
  } finally {
    input.off('keypress', listen);
  }
}

async function putQuestion(elicitation: PendingElicitation, options: FormOptions): Promise<FormResult> {
  const shared = { input: options.terminal.input, output: options.terminal.output, signal: options.signal };
  const put = async (choices: readonly Option[], accept: (choice: string) => ElicitationAnswer) =>
    choose(shared, [...choices, ...(options.canDefer ? [later] : [])], accept);
  note(bodyOf(elicitation), `${oneLine(elicitation.server, 60)} asks`, { output: shared.output });
  switch (elicitation.kind) {
    case 'form':
      return askForm(elicitation, { before: options.before, shared, put });
    case 'url':
      return put([{ value: 'accept', label: 'I opened it: go on' }, decline, cancel], () => ({ action: 'accept' }));
    case 'approval':
      return put([...approvalChoices(elicitation.params), decline], (remember) => ({
        action: 'accept',
        content: { remember },
      }));
    case 'sampling':
      return put([decline], () => ({ action: 'decline' }));
  }
}

function bodyOf(elicitation: PendingElicitation): string {
  const lines = [plain(elicitation.message)];
  if (elicitation.url !== undefined)
    lines.push('', `url   ${plain(elicitation.url)}`, `host  ${plain(elicitation.host ?? '')}`);
  if (elicitation.hostUnicode !== undefined) lines.push(`      shown elsewhere as ${plain(elicitation.hostUnicode)}`);
  if (elicitation.url !== undefined) lines.push('', 'Open it yourself, if you trust the host.');
  if (elicitation.params !== undefined)
    lines.push(
      ...(elicitation.kind === 'approval'
        ? approvalLines(elicitation.params)
        : ['', plain(JSON.stringify(elicitation.params, null, 2))]),
    );
  return lines.join('\n');
}

async function choose(
  shared: Shared,
  options: Option[],
  accept: (choice: string) => ElicitationAnswer,
): Promise<FormResult> {
  const choice = await select({ message: 'What do you answer?', options, ...shared });
  if (isCancel(choice)) return { kind: 'interrupted' };
  if (choice === 'later') return { kind: 'later' };
  if (choice === 'decline' || choice === 'cancel') return { kind: 'answer', answer: { action: choice } };
  return { kind: 'answer', answer: accept(choice) };
}

interface FormParts {
  readonly before: FormOptions['before'];
  readonly shared: Shared;
  readonly put: (choices: readonly Option[], accept: (choice: string) => ElicitationAnswer) => Promise<FormResult>;
}

async function askForm(elicitation: PendingElicitation, { before, shared, put }: FormParts): Promise<FormResult> {
  const fields = fieldsOf(elicitation.requestedSchema);
  if (before === undefined) {
    const first = await put([{ value: 'fill', label: 'Answer' }, decline, cancel], () => ({ action: 'accept' }));
    if (first.kind !== 'answer' || first.answer.action !== 'accept') return first;
  } else {
    const said = before.issues.map((issue) => {
      const field = fields.find((candidate) => isAbout(issue, candidate));
      return `${field === undefined ? '' : `${oneLine(field.label, 80)}: `}${plain(issue.message)}`;
    });
    log.error(said.join('\n'), { output: shared.output });
  }
  const wrong =
    before === undefined ? fields : fields.filter((field) => before.issues.some((issue) => isAbout(issue, field)));
  const content: Record<string, Json | undefined> = { ...before?.content };
  // What no field explains can only be mended by looking at all of them.
  for (const field of wrong.length === 0 ? fields : wrong) {
    const value = await askField(field, before?.content[field.name], shared);
    if (value.kind === 'interrupted') return value;
    content[field.name] = value.kind === 'value' ? value.value : undefined;
  }
  const given = Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined));
  return { kind: 'answer', answer: { action: 'accept', content: given } };
}

/** Issues of an answer point into it: `/content/NAME`. */
function isAbout(issue: Issue, field: Field): boolean {
  const name = field.name.replaceAll('~', '~0').replaceAll('/', '~1');
  return issue.path === `/content/${name}` || issue.path.startsWith(`/content/${name}/`);
}

type FieldResult =
  { readonly kind: 'value'; readonly value: Json } | { readonly kind: 'leftOut' } | { readonly kind: 'interrupted' };

const skip = '\u0000skip';
const leftOut = { kind: 'leftOut' } as const;
const interrupted = { kind: 'interrupted' } as const;

async function askField(field: Field, given: Json | undefined, shared: Shared): Promise<FieldResult> {
  const message = `${oneLine(field.label, 80)}${field.isRequired ? '' : ' (optional)'}${field.description === undefined ? '' : `: ${oneLine(field.description, 120)}`}`;
  switch (field.kind) {
    case 'text':
      return askText(field, message, given, shared);
    case 'number': {
      const initial = typeof given === 'number' ? given : field.initial;
      const value = await text({
        message,
        ...shared,
        ...(initial === undefined ? {} : { initialValue: String(initial) }),
        validate: (entered) => numberProblem(entered ?? '', field),
      });
      if (isCancel(value)) return interrupted;
      return value.trim() === '' ? leftOut : { kind: 'value', value: Number(value) };
    }
    case 'boolean': {
      const initial = typeof given === 'boolean' ? given : field.initial;
      if (field.isRequired || initial !== undefined) {
        const value = await confirm({ message, ...shared, initialValue: initial ?? false });
        return isCancel(value) ? interrupted : { kind: 'value', value };
      }
      const value = await select({
        message,
        ...shared,
        options: [
          { value: skip, label: 'Leave it out' },
          { value: 'yes', label: 'Yes' },
          { value: 'no', label: 'No' },
        ],
      });
      if (isCancel(value)) return interrupted;
      return value === skip ? leftOut : { kind: 'value', value: value === 'yes' };
    }
    case 'choice': {
      const initial = typeof given === 'string' ? given : field.initial;
      const options = [
        ...(field.isRequired ? [] : [{ value: skip, label: 'Leave it out' }]),
        ...field.choices.map(safeChoice),
      ];
      const value = await select({
        message,
        ...shared,
        options,
        ...(initial === undefined ? {} : { initialValue: initial }),
      });
      if (isCancel(value)) return interrupted;
      return value === skip ? leftOut : { kind: 'value', value };
    }
    case 'choices': {
      const initial = Array.isArray(given) ? given.filter((item) => typeof item === 'string') : field.initial;
      const value = await multiselect({
        message,
        ...shared,
        options: field.choices.map(safeChoice),
        required: field.isRequired,
        ...(initial === undefined ? {} : { initialValues: [...initial] }),
      });
      if (isCancel(value)) return interrupted;
      return value.length === 0 && !field.isRequired ? leftOut : { kind: 'value', value };
    }
  }
}

async function askText(
  field: Extract<Field, { kind: 'text' }>,
  message: string,
  given: Json | undefined,
  shared: Shared,
): Promise<FieldResult> {
  const initial = typeof given === 'string' ? given : field.initial;
  const hint = hintOf(field);
  const value = await text({
    message,
    ...shared,
    ...(hint === undefined ? {} : { placeholder: hint }),
    ...(initial === undefined ? {} : { initialValue: initial }),
    validate: (entered) => textProblem(entered ?? '', field),
  });
  if (isCancel(value)) return interrupted;
  return value === '' && !field.isRequired ? leftOut : { kind: 'value', value };
}

function safeChoice({ value, label }: { readonly value: string; readonly label: string }): {
  value: string;
  label: string;
} {
  return { value, label: oneLine(label, 80) };
}

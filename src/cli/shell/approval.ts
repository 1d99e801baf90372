/** What a person is shown before a call, and what they may answer. */
import type { Json, JsonObject } from '../../index.ts';
import { plain } from '../terminal.ts';

/** One answer to an approval: how long it holds. */
export interface ApprovalChoice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

const choices: readonly ApprovalChoice[] = [
  { value: 'once', label: 'Approve this call' },
  { value: 'session', label: 'Approve this tool in this thread', hint: 'until the tool changes' },
  { value: 'always', label: 'Approve this tool always', hint: 'until the tool changes' },
];

/** The answers that have an effect: where every call is to be asked for, only the first. */
export function approvalChoices(params: JsonObject | undefined): readonly ApprovalChoice[] {
  const remember = params?.['remember'];
  const offered: readonly unknown[] = Array.isArray(remember) ? remember : ['once'];
  return choices.filter(({ value }) => offered.includes(value));
}

/** The arguments of the call, and what is not as it was approved before. */
export function approvalLines(params: JsonObject): readonly string[] {
  const changed: readonly unknown[] = Array.isArray(params['changed']) ? params['changed'] : [];
  return ['', `arguments ${shown(params['arguments'])}`, ...changed.filter(isChange).flatMap(changeLines)];
}

function changeLines({ field, before, after }: JsonObject): readonly string[] {
  const name = typeof field === 'string' ? plain(field) : 'it';
  return ['', `${name} was ${shown(before)}`, `${name} is  ${shown(after)}`];
}

/** JSON: what a server wrote is shown with its line breaks spelled out, so that it cannot pass for more than it is. */
function shown(value: Json | undefined): string {
  return plain(JSON.stringify(value ?? null, null, 2));
}

function isChange(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && 'field' in value;
}

/** What zod finds wrong with a field, in plain words: what was expected, what came, what to do. No text of the file is quoted. */
import type { z } from 'zod';
import type { Issue } from '../domain/errors.ts';

/** An issue as a sentence's part: the field, as the file has it, and what is wrong with it. */
export function describeIssue({ path, message }: Issue): string {
  const field = path.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  return field === '' ? message : `"${field}": ${message}`;
}

/** The kinds of values, as a person names them. */
const kinds: ReadonlyMap<string, string> = new Map([
  ['int', 'a whole number'],
  ['number', 'a number'],
  ['string', 'text'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'an object'],
  ['record', 'an object'],
]);

/** Says one issue, for `error` of `safeParse`. What a schema says of itself wins. */
export function issueInWords(issue: z.core.$ZodRawIssue): string {
  const { input } = issue;
  switch (issue.code) {
    case 'invalid_type': {
      const todo = remedyFor(issue.expected, input);
      return `expected ${kinds.get(issue.expected) ?? issue.expected}, got ${kindOf(input)}${todo === '' ? '' : ` (${todo})`}`;
    }
    case 'invalid_value':
      return `expected one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}, got ${typeof input === 'string' ? 'other text' : kindOf(input)} (use one of these)`;
    case 'too_small':
      return outOfRange(`at least ${String(issue.minimum)}`, input);
    case 'too_big':
      return outOfRange(`at most ${String(issue.maximum)}`, input);
    case 'custom':
    case 'invalid_element':
    case 'invalid_format':
    case 'invalid_key':
    case 'invalid_union':
    case 'not_multiple_of':
    case 'unrecognized_keys':
      return `expected another value, got ${kindOf(input)} (mend it, or leave it out)`;
  }
}

function outOfRange(wanted: string, input: unknown): string {
  return `expected ${wanted}, got ${typeof input === 'number' ? String(input) : 'less or more than that'} (use a number in the range)`;
}

/** What to do about a value of the wrong kind. */
function remedyFor(expected: string, input: unknown): string {
  if (input === null) return 'leave it out instead';
  switch (expected) {
    case 'string':
      return typeof input === 'number' || typeof input === 'boolean' ? 'put it in quotes' : 'write it in quotes';
    case 'boolean':
      return 'write true or false, without quotes';
    case 'number':
    case 'int':
      if (typeof input !== 'string') return 'write a whole number';
      return /^\s*[+-]?\d+\s*$/.test(input)
        ? 'write it without quotes'
        : 'write a whole number, without quotes or a unit';
    case 'array':
      return 'put it in brackets: [ ]';
    case 'object':
    case 'record':
      return 'write names and values in braces: { }';
    default:
      return '';
  }
}

/** What came, without its text: that may be a secret. */
function kindOf(input: unknown): string {
  if (input === undefined) return 'nothing';
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'a list';
  if (typeof input === 'number' || typeof input === 'boolean') return String(input);
  return typeof input === 'string' ? 'text' : 'an object';
}

/** What zod finds wrong with a request, in the words of Holdfast: what was expected, and what came. */
import type { z } from 'zod';
import { nameOf, wordOrNameOf } from '../values.ts';

/** The kinds of values, as a person names them. */
const kinds: ReadonlyMap<string, string> = new Map([
  ['int', 'a whole number'],
  ['number', 'a number'],
  ['string', 'a string'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'an object'],
  ['record', 'an object'],
]);

/** Says one issue; for what has no words here, that the value does not fit. */
export function issueInWords(issue: z.core.$ZodRawIssue): string {
  const { input } = issue;
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${kinds.get(issue.expected) ?? issue.expected}, got ${nameOf(input)}`;
    case 'invalid_value':
      return `expected ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}, got ${wordOrNameOf(input)}`;
    case 'too_small':
      return issue.origin === 'array' || issue.origin === 'string'
        ? `expected at least ${issue.minimum}, got fewer`
        : `expected at least ${issue.minimum}, got ${nameOf(input)}`;
    case 'too_big':
      return `expected at most ${issue.maximum}, got ${nameOf(input)}`;
    case 'custom':
    case 'invalid_element':
    case 'invalid_format':
    case 'invalid_key':
    case 'invalid_union':
    case 'not_multiple_of':
    case 'unrecognized_keys':
      return `expected another value, got ${nameOf(input)}`;
  }
}

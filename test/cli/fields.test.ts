import { expect, test } from 'vitest';
import { fieldsOf, textProblem } from '../../src/cli/shell/fields.ts';

test.each([
  [{ format: 'email' }, 'ada', 'ada@example.org', /^Enter an e-mail address/],
  [{ format: 'uri' }, 'example', 'https://example.org', /^Enter a full address/],
  [{ format: 'date' }, '31.1.2026', '2026-01-31', /^Enter a date/],
  [{ format: 'date-time' }, '2026-01-31', '2026-01-31T09:30:00Z', /^Enter a time/],
  [{ minLength: 2 }, 'ä', 'ää', /^Enter at least 2 characters\.$/],
  [{ maxLength: 1 }, 'ab', '𝄞', /^Enter at most 1 characters\.$/],
])('CL-1 EL-4 tells a person at once what a text with %o wants', (schema, wrong, right, said) => {
  const [field] = fieldsOf({ type: 'object', properties: { it: { type: 'string', ...schema } } });
  if (field?.kind !== 'text') throw new TypeError('Expected a field for text.');
  expect(textProblem(wrong, field)).toMatch(said);
  expect(textProblem(right, field)).toBeUndefined();
  expect(textProblem('', field)).toBeUndefined();
});

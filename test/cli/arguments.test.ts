import { expect, test } from 'vitest';
import { parseArguments, parseWords, splitWords } from '../../src/cli/arguments.ts';
import { fieldsOf, numberProblem } from '../../src/cli/shell/fields.ts';
import { createTerminal, oneLine, plain } from '../../src/cli/terminal.ts';
import { PassThrough } from 'node:stream';

const tool = { inputSchema: { type: 'object', properties: { text: { type: 'string' }, count: { type: 'number' } } } };

test('CL-1 cuts words as a shell does', () => {
  expect(splitWords(`a "b c" 'd "e' f\\ g ""`)).toEqual(['a', 'b c', 'd "e', 'f g', '']);
  expect(() => splitWords('a "b')).toThrow(/to be closed/);
});

test('CL-1 reads arguments as JSON or as key=value, by the types of the tool', () => {
  expect(parseArguments('', tool)).toEqual({});
  expect(parseArguments('{"a": [1]}', tool)).toEqual({ a: [1] });
  expect(parseArguments('text=12 count=12 other=true more=hello="x y"', tool)).toEqual({
    text: '12',
    count: 12,
    other: true,
    more: 'hello=x y',
  });
  expect(parseWords(['text=a b', 'count=2'], tool)).toEqual({ text: 'a b', count: 2 });
  expect(parseWords(['{"count":1}'], tool)).toEqual({ count: 1 });
});

test.each(['{', '[1]', 'hello', '=x'])('CL-1 refuses %s as arguments with a way out', (text) => {
  expect(() => parseArguments(text, tool)).toThrow(/Expected/);
});

test('CL-1 reads every kind of field of a form', () => {
  const fields = fieldsOf({
    type: 'object',
    required: ['name', 'tags'],
    properties: {
      name: { type: 'string', title: 'Your name' },
      mail: { type: 'string', format: 'email', default: 'a@b.example' },
      age: { type: 'integer', minimum: 1, maximum: 9 },
      ok: { type: 'boolean', default: true },
      plain: { type: 'string', enum: ['a', 'b'], default: 'b' },
      named: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
      titled: { type: 'string', oneOf: [{ const: 'x', title: 'X' }] },
      tags: { type: 'array', items: { anyOf: [{ const: 't', title: 'T' }] }, default: ['t'] },
    },
  });
  expect(fields).toEqual([
    { name: 'name', label: 'Your name', isRequired: true, kind: 'text' },
    { name: 'mail', label: 'mail', isRequired: false, kind: 'text', format: 'email', initial: 'a@b.example' },
    { name: 'age', label: 'age', isRequired: false, kind: 'number', isInteger: true, minimum: 1, maximum: 9 },
    { name: 'ok', label: 'ok', isRequired: false, kind: 'boolean', initial: true },
    {
      name: 'plain',
      label: 'plain',
      isRequired: false,
      kind: 'choice',
      choices: [
        { value: 'a', label: 'a' },
        { value: 'b', label: 'b' },
      ],
      initial: 'b',
    },
    {
      name: 'named',
      label: 'named',
      isRequired: false,
      kind: 'choice',
      choices: [
        { value: 'a', label: 'A' },
        { value: 'b', label: 'B' },
      ],
    },
    { name: 'titled', label: 'titled', isRequired: false, kind: 'choice', choices: [{ value: 'x', label: 'X' }] },
    {
      name: 'tags',
      label: 'tags',
      isRequired: true,
      kind: 'choices',
      choices: [{ value: 't', label: 'T' }],
      initial: ['t'],
    },
  ]);
  expect(fieldsOf(undefined)).toEqual([]);
});

test.each([
  ['', undefined],
  ['x', 'Enter a number.'],
  ['1.5', 'Enter a whole number.'],
  ['0', 'Enter at least 1.'],
  ['10', 'Enter at most 9.'],
  ['5', undefined],
])('CL-1 checks "%s" as a whole number from 1 to 9', (text, problem) => {
  expect(
    numberProblem(text, {
      name: 'n',
      label: 'n',
      isRequired: false,
      kind: 'number',
      isInteger: true,
      minimum: 1,
      maximum: 9,
    }),
  ).toBe(problem);
});

test('CL-1 shows no control sequence of a server', () => {
  expect(plain('a\u001B[31mb\u0001c\u007Fd\u202Ee\r\nf\tg\rh')).toBe('ab\uFFFDc\uFFFDd\uFFFDe\nf\tg\uFFFDh');
  expect(oneLine(' a\n\n b '.repeat(100), 10)).toBe('a b a b a…');
});

test.each([
  [{}, true],
  [{ NO_COLOR: '1' }, false],
  [{ TERM: 'dumb' }, false],
])('CL-1 has colours only in a terminal that wants them: %o', (env, hasColours) => {
  const output = Object.assign(new PassThrough(), { isTTY: true });
  const input = new PassThrough();
  expect(createTerminal({ input, output, errors: output, env }).paint('red', 'x')).toBe(
    hasColours ? '\u001B[31mx\u001B[39m' : 'x',
  );
  expect(createTerminal({ input, output: new PassThrough(), errors: output, env }).paint('red', 'x')).toBe('x');
});

import { expect, test } from 'vitest';
import { z } from 'zod';
import { messageOf, toFailure } from '../../src/domain/errors.ts';

const throwing = {
  toString() {
    throw new Error('no text');
  },
};

test.each([
  ['no prototype', Object.create(null)],
  ['a toString that throws', throwing],
  [
    'a toString that gives no primitive',
    {
      toString: () => ({}),
      valueOf: () => ({}),
    },
  ],
  ['a message that has no text', Object.assign(new Error('x'), { message: Object.create(null) as string })],
  [
    'a message that throws',
    Object.defineProperty(new Error('x'), 'message', {
      get() {
        throw new Error('no message');
      },
    }),
  ],
  [
    'traps that throw',
    new Proxy(
      {},
      {
        getPrototypeOf() {
          throw new Error('no prototype');
        },
      },
    ),
  ],
] as readonly (readonly [string, unknown])[])('RT-12 a thrown value with %s has a message', (_title, thrown) => {
  expect(messageOf(thrown)).toBe('a value without text');
  expect(toFailure(thrown)).toEqual({ code: 'internal', message: 'a value without text', retryable: false });
});

test.each([
  [undefined, 'undefined'],
  [Symbol('s'), 'Symbol(s)'],
  ['text', 'text'],
  [new Error('said'), 'said'],
  [Object.assign(new Error('x'), { message: 5 }), '5'],
])('RT-12 the message of %s is its text', (thrown, text) => {
  expect(messageOf(thrown)).toBe(text);
});

test('what a schema found is said in words, wherever it stands in a message', () => {
  const schema = z.object({ issuer: z.string(), scopes: z.array(z.string()) });
  const { error } = schema.safeParse({ scopes: [5] });
  const said = '"issuer": expected string, got nothing; "scopes.0": expected string, got number';
  expect(messageOf(error)).toBe(said);
  expect(messageOf(new Error(`Invalid result for initialize: ${String(error)}`))).toBe(
    `Invalid result for initialize: ${said}`,
  );
});

test.each(['[\n  {', '[\n  {}\n]', 'a list: [\n  {"path": "x", "message": "y"}\n]', 'plain [1]'])(
  'any other message is given as it is: %j',
  (message) => {
    expect(messageOf(new Error(message))).toBe(message);
  },
);

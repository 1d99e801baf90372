import { expect, test } from 'vitest';
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

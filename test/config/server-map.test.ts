import { expect, test } from 'vitest';
import { parseServerMap } from '../../src/config/index.ts';
import { HoldfastError } from '../../src/domain/errors.ts';

test('CA-3 takes servers of a request as they are: no placeholder is looked for', () => {
  expect(parseServerMap({ a: { command: '${X}', env: { B: '${Y:-z}' } } })).toEqual({
    a: { command: '${X}', env: { B: '${Y:-z}' } },
  });
});

test('CL-2 refuses a map with a bad entry whole, with every issue', () => {
  let error: unknown;
  try {
    parseServerMap({ good: { command: 'x' }, 'a/b': { command: '', args: [1] }, none: {} });
  } catch (reason) {
    error = reason;
  }
  expect(error).toBeInstanceOf(HoldfastError);
  expect(error).toMatchObject({ code: 'config_invalid', retryable: false });
  expect(error instanceof HoldfastError ? error.issues?.map((issue) => issue.path) : []).toEqual([
    '/a~1b/command',
    '/a~1b/args/0',
    '/none',
  ]);
});

test.each([[undefined], [null], ['x'], [[]]])('CL-2 refuses %o as a map of servers', (value) => {
  expect(() => parseServerMap(value)).toThrow(/expected an object of server name to configuration/);
});

test('CL-2 tells of fields nobody knows', () => {
  const codes: string[] = [];
  parseServerMap(
    { a: { command: 'x', requried: true } },
    { onWarning: (warning) => codes.push(`${warning.server} ${warning.code}`) },
  );
  expect(codes).toEqual(['a unknown_field']);
});

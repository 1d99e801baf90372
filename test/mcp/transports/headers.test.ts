import { expect, test } from 'vitest';
import { resolveHeaders } from '../../../src/mcp/transports/headers.ts';

test('CN-7 takes headers as given, from variables, and a bearer token', () => {
  const env = { TEAM: ' blue ', TOKEN: 'abc' };
  const config = {
    headers: { 'X-One': '1', 'X-Team': 'red' },
    headersFrom: { 'x-team': 'TEAM' },
    bearerTokenVariable: 'TOKEN',
  };
  expect(resolveHeaders(config, env)).toEqual({ 'x-one': '1', 'x-team': 'blue', authorization: 'Bearer abc' });
  expect(resolveHeaders({}, env)).toEqual({});
});

test.each([
  [
    { headersFrom: { 'x-key': 'KEY' } },
    'Expected the environment variable "KEY" for header "x-key", but it is not set. Set it.',
  ],
  [
    { bearerTokenVariable: 'EMPTY' },
    'Expected the environment variable "EMPTY" for the bearer token, but it is empty. Set it.',
  ],
])('CN-7 names the variable that is missing', (config, message) => {
  expect(() => resolveHeaders(config, { EMPTY: '' })).toThrow(
    expect.objectContaining({ code: 'server_misconfigured', message }) as Error,
  );
});

test('SE-2 does not quote the value of a header HTTP does not allow', () => {
  const attempt = (): unknown => resolveHeaders({ headersFrom: { 'x-key': 'KEY' } }, { KEY: 'sec\nret' });
  expect(attempt).toThrow(expect.objectContaining({ code: 'server_misconfigured' }) as Error);
  expect(attempt).not.toThrow(/sec/);
});

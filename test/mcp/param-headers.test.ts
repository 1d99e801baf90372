import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { paramHeadersOf, scanParamHeaders } from '../../src/mcp/param-headers.ts';

function headersFor(inputSchema: JsonObject, args: unknown): Record<string, string> {
  const scan = scanParamHeaders(inputSchema);
  if (!scan.ok) throw new Error(scan.reason);
  return paramHeadersOf(scan.headers, args);
}

const schema = {
  type: 'object',
  properties: {
    text: { type: 'string', 'x-mcp-header': 'Text' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    flag: { type: 'boolean', 'x-mcp-header': 'Flag' },
    outer: { type: 'object', properties: { inner: { type: 'string', 'x-mcp-header': 'Inner' } } },
    plain: { type: 'string' },
  },
} as const satisfies JsonObject;

test('RT-8 mirrors strings, integers and booleans at any depth of properties', () => {
  const args = { text: 'a b', count: -3, flag: false, outer: { inner: 'x' }, plain: 'no' };

  expect(headersFor(schema, args)).toEqual({
    'Mcp-Param-Text': 'a b',
    'Mcp-Param-Count': '-3',
    'Mcp-Param-Flag': 'false',
    'Mcp-Param-Inner': 'x',
  });
});

test.each([
  undefined,
  null,
  'text',
  [],
  {},
  { text: null, count: 2 ** 60, flag: {}, outer: 'x' },
  { count: Number.NaN },
])('RT-8 leaves out what is absent or cannot be a header value: %j', (args) => {
  expect(headersFor(schema, args)).toEqual({});
});

test.each(['', ' x', 'x ', 'grün', 'a\nb', 'a\r\nEvil: 1', '\u0000', '=?base64?eA==?=', '👋'])(
  'SE-2 encodes a value that is no plain header value: %j',
  (text) => {
    const value = headersFor(schema, { text })['Mcp-Param-Text'] ?? '';
    const encoded = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/.exec(value)?.[1];

    expect(Buffer.from(encoded ?? 'none', 'base64').toString('utf8')).toBe(text);
  },
);

test('SE-3 values inherited from Object are no arguments', () => {
  const inherited = { properties: { constructor: { type: 'string', 'x-mcp-header': 'C' } } };

  expect(headersFor(inherited, {})).toEqual({});
});

test.each([
  ['the root', { type: 'string', 'x-mcp-header': 'A' }],
  ['items', { properties: { a: { items: { type: 'string', 'x-mcp-header': 'A' } } } }],
  ['a branch', { anyOf: [{ properties: { a: { type: 'string', 'x-mcp-header': 'A' } } }] }],
  ['a definition', { $defs: { a: { type: 'string', 'x-mcp-header': 'A' } } }],
  ['additional properties', { additionalProperties: { type: 'string', 'x-mcp-header': 'A' } }],
  ['a number', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }],
  ['no type', { properties: { a: { 'x-mcp-header': 'A' } } }],
  ['an empty name', { properties: { a: { type: 'string', 'x-mcp-header': '' } } }],
  ['a name that is no token', { properties: { a: { type: 'string', 'x-mcp-header': 'A B' } } }],
  ['a name that is no text', { properties: { a: { type: 'string', 'x-mcp-header': 1 } } }],
  [
    'a name twice',
    { properties: { a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' } } },
  ],
])('NM-3 refuses a declaration at %s', (_, inputSchema: JsonObject) => {
  expect(scanParamHeaders(inputSchema).ok).toBe(false);
});

import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { ListedTool } from '../../src/domain/tool.ts';
import { fingerprint } from '../../src/mcp/fingerprint.ts';

const tool = {
  name: 'search',
  description: 'Finds pages',
  inputSchema: { type: 'object', properties: { q: { type: 'string' }, n: { type: 'integer' } } },
  outputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
} as const satisfies ListedTool;

function withSchema(inputSchema: unknown): ListedTool {
  return { ...tool, inputSchema: inputSchema as JsonObject };
}

test('NM-5 is the SHA-256 of the definition with its keys in order', () => {
  const text =
    '{"annotations":{"readOnlyHint":true},"description":"Finds pages","inputSchema":{"properties":{"n":{"type":"integer"},"q":{"type":"string"}},"type":"object"},"name":"search","outputSchema":{"type":"object"}}';
  expect(fingerprint(tool)).toBe(createHash('sha256').update(text).digest('hex'));
});

test('NM-5 changes with name, description, each schema and each annotation', () => {
  const variants: readonly ListedTool[] = [
    tool,
    { ...tool, name: 'find' },
    { ...tool, description: 'Finds pages.' },
    { ...tool, inputSchema: { type: 'object', properties: { q: { type: 'string' } } } },
    { ...tool, outputSchema: { type: 'object', title: 'x' } },
    { ...tool, annotations: { readOnlyHint: false } },
    { ...tool, annotations: {} },
    { name: tool.name, inputSchema: tool.inputSchema },
  ];
  expect(new Set(variants.map(fingerprint)).size).toBe(variants.length);
});

test('NM-5 does not change with what is no part of the definition', () => {
  expect(fingerprint({ ...tool, title: 'Search', _meta: { a: 1 } })).toBe(fingerprint(tool));
});

test('NM-5 the order of array items counts, the order of keys does not', () => {
  expect(fingerprint(withSchema({ enum: [1, 2] }))).not.toBe(fingerprint(withSchema({ enum: [2, 1] })));
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (schema) => {
      const turned = Object.fromEntries(Object.entries(schema).toReversed());
      expect(fingerprint(withSchema(turned))).toBe(fingerprint(withSchema(schema)));
      expect(fingerprint(withSchema(JSON.parse(JSON.stringify(schema))))).toBe(fingerprint(withSchema(schema)));
    }),
  );
});

test('NM-5 is remembered for the object', () => {
  let reads = 0;
  const counted: ListedTool = {
    ...tool,
    get inputSchema() {
      reads += 1;
      return tool.inputSchema;
    },
  };
  expect(fingerprint(counted)).toBe(fingerprint(counted));
  expect(reads).toBe(1);
});

test('NM-5 a definition of any depth ends', () => {
  let schema: JsonObject = {};
  for (let level = 0; level < 50_000; level += 1) schema = { a: schema };
  expect(fingerprint({ name: 'deep', inputSchema: schema })).toMatch(/^[0-9a-f]{64}$/);
});

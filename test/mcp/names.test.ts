import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RawTool } from '../../src/mcp/names.ts';
import { nameTools } from '../../src/mcp/names.ts';

function namesOf(
  pairs: readonly (readonly [server: string, tool: string])[],
  maxLength = 64,
): readonly (string | undefined)[] {
  return nameTools(
    pairs.map(([server, tool]) => ({ server, tool })),
    { maxLength },
  ).names;
}

function hashOf(server: string, tool: string): string {
  return createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, 12);
}

test('NM-1 names a tool by its server and its own name, hyphens kept', () => {
  expect(
    namesOf([
      ['docs', 'search'],
      ['my-server', 'get-page'],
      ['a.b/c', 'x y'],
      ['Ü', ''],
      ['', 'x😀'],
    ]),
  ).toEqual(['mcp__docs__search', 'mcp__my-server__get-page', 'mcp__a_b_c__x_y', 'mcp______', 'mcp_____x_']);
});

test('NM-1 tools that would share a name all get a hash of their raw names', () => {
  expect(
    namesOf([
      ['a', 'b_c'],
      ['a', 'b.c'],
      ['a', 'other'],
    ]),
  ).toEqual([`mcp__a__b_c_${hashOf('a', 'b_c')}`, `mcp__a__b_c_${hashOf('a', 'b.c')}`, 'mcp__a__other']);
  const [first, second] = namesOf([
    ['a__b', 'c'],
    ['a', 'b__c'],
  ]);
  expect(first).toBe(`mcp__a__b__c_${hashOf('a__b', 'c')}`);
  expect(second).toBe(`mcp__a__b__c_${hashOf('a', 'b__c')}`);
});

test('NM-1 a long name is cut to exactly the limit', () => {
  const long = 'x'.repeat(100);
  const names = namesOf([
    ['server', `${long}1`],
    ['server', `${long}2`],
    ['server', 'x'.repeat(64 - 'mcp__server__'.length)],
  ]);
  expect(names.map((name) => name?.length)).toEqual([64, 64, 64]);
  expect(new Set(names).size).toBe(3);
  expect(names[0]).toBe(`mcp__server__${'x'.repeat(38)}_${hashOf('server', `${long}1`)}`);
  expect(namesOf([['server', long]], 128)).toEqual([`mcp__server__${long}`]);
  expect(namesOf([['server', long]], 16)).toEqual([`mcp_${hashOf('server', long)}`]);
});

test('NM-1 a raw name that equals the hashed name of another keeps it, and the other is hashed again', () => {
  const taken = `b_c_${hashOf('a', 'b.c')}`;
  const names = namesOf([
    ['a', 'b_c'],
    ['a', 'b.c'],
    ['a', taken],
  ]);
  expect(names[2]).toBe(`mcp__a__${taken}`);
  expect(new Set(names).size).toBe(3);
  expect(names[1]).toMatch(/^mcp__a__b_c_[0-9a-f]{12}$/);
});

test('NM-1 of the same raw names given twice the first counts', () => {
  const { names, lookup } = nameTools([
    { server: 'a', tool: 'b' },
    { server: 'a', tool: 'b' },
  ]);
  expect(names).toEqual(['mcp__a__b', undefined]);
  expect([...lookup]).toEqual([['mcp__a__b', { server: 'a', tool: 'b' }]]);
});

test('NM-1 raw names with NUL or unpaired surrogates are kept apart', () => {
  const names = namesOf([
    ['a\0b', 'c'],
    ['a', 'b\0c'],
    ['x', '\ud800'],
    ['x', '\ud801'],
  ]);
  expect(new Set(names).size).toBe(4);
  expect(names).not.toContain(undefined);
});

test.each([15, 129, 20.5, Number.NaN])('NM-1 refuses a limit of %d', (maxLength) => {
  expect(() => nameTools([], { maxLength })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
});

const rawName = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 90 }),
  fc.constantFrom('a', 'a_b', 'a-b', 'a.b', 'a__b', 'b', ''),
  fc.string({ unit: fc.constantFrom('_', 'a', '.') }),
);
const rawTool: fc.Arbitrary<RawTool> = fc.record({ server: rawName, tool: rawName });

test('NM-1 names fit the alphabet and the limit, are unique, and lead back to the raw names', () => {
  fc.assert(
    fc.property(fc.array(rawTool, { maxLength: 40 }), fc.integer({ min: 16, max: 128 }), (tools, maxLength) => {
      const { names, lookup } = nameTools(tools, { maxLength });
      const given = names.filter((name) => name !== undefined);
      expect(names.length).toBe(tools.length);
      expect(new Set(given).size).toBe(given.length);
      expect(new Set(tools.map((tool) => JSON.stringify([tool.server, tool.tool]))).size).toBe(given.length);
      expect(lookup.size).toBe(given.length);
      for (const [index, name] of names.entries()) {
        if (name === undefined) continue;
        expect(name).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(name.length).toBeLessThanOrEqual(maxLength);
        expect(lookup.get(name)).toEqual(tools[index]);
      }
    }),
    { numRuns: 500 },
  );
});

test('NM-1 names are the same in any order', () => {
  const shuffled = fc
    .uniqueArray(rawTool, { maxLength: 30, selector: (tool) => JSON.stringify([tool.server, tool.tool]) })
    .chain((tools) => fc.tuple(fc.constant(tools), fc.shuffledSubarray(tools, { minLength: tools.length })));
  fc.assert(
    fc.property(shuffled, ([tools, again]) => {
      expect(Object.fromEntries(nameTools(again).lookup)).toEqual(Object.fromEntries(nameTools(tools).lookup));
    }),
  );
});

test('NM-1 a tool with a name of its own renames no other', () => {
  fc.assert(
    fc.property(fc.array(rawTool, { maxLength: 30 }), (tools) => {
      const names = nameTools(tools).names;
      const more = nameTools([{ server: 'unrelated-zzz', tool: 'unrelated-zzz' }, ...tools]).names;
      expect(more.slice(1)).toEqual(names);
    }),
  );
});

test('NM-1 names 2,048 tools that all collide', () => {
  const tools = Array.from({ length: 2_048 }, (_, index) => ({
    server: 's',
    tool: `tool${String.fromCodePoint(0x4e00 + index)}`,
  }));
  const { names, lookup } = nameTools(tools);
  expect(new Set(names).size).toBe(2_048);
  expect(lookup.size).toBe(2_048);
});

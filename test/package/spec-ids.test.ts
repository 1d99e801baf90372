/** Every requirement that is finished has a test that says so in its title. Titles name each id, never a range. */
import { describe, expect, test } from 'vitest';
import { listFiles, readSource } from './source-files.ts';

const numbered = (prefix: string, last: number): readonly string[] =>
  Array.from({ length: last }, (_, index) => `${prefix}${index + 1}`);

/** The ids this version delivers, as the specification numbers them. */
const finished = [
  ...numbered('EL-', 12),
  ...numbered('RT-', 12),
  ...numbered('CN-', 7),
  ...numbered('ER-', 6),
  ...numbered('CA-', 8),
  ...numbered('NM-', 6),
  ...numbered('PO-', 4),
  ...numbered('WS-', 2),
  ...numbered('RE-', 3),
  ...numbered('AU-', 3),
  ...numbered('TK-', 3),
  'IN-1',
  'IN-3',
  'CL-2',
  'SE-2',
  ...numbered('H', 10),
];

// What opens a title: a test that is not left out, or the second pair of brackets of `test.each(…)(…)`.
const titles = /(?:\b(?:test|it|describe)(?:\.(?!skip|todo)\w+)*\(|\)\()\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g;
const ids = /(?<![\w-])(?:[A-Z]{2}-\d+|H\d+)(?![\w-])/g;

/** The ids cited in the titles of a test file. */
function readCitedIds(source: string): readonly string[] {
  return [...source.matchAll(titles)].flatMap((match) => (match[2] ?? '').match(ids) ?? []);
}

describe('the finished requirements', () => {
  test('each is cited in the title of a test', () => {
    const files = listFiles('test').filter((file) => file.endsWith('.test.ts') && !file.startsWith('test/package/'));
    const cited = new Set(files.flatMap((file) => readCitedIds(readSource(file))));
    expect(finished.filter((id) => !cited.has(id))).toEqual([]);
  });

  test('a title cites the ids it names, and text elsewhere cites none', () => {
    const source = `
      // EL-9 is not proved here
      describe("RT-1, RT-12 the thread", () => {
        test('EL-4 H10 it\\'s so', () => { expect('RT-2').toBe(1); });
        test.each([['a', f(1)]])('CN-1 %s', () => {});
        test.skip('EL-7 is left out', () => {});
        test(\`ER-1 \${name}\`, () => {});
        test('not XEL-1, EL-33x or aH1', () => {});
      });`;
    expect(readCitedIds(source)).toEqual(['RT-1', 'RT-12', 'EL-4', 'H10', 'CN-1', 'ER-1']);
  });
});

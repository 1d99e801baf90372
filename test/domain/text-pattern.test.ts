import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchesPattern } from '../../src/domain/text-pattern.ts';

describe('EL-4 patterns', () => {
  test.each([
    ['^[a-z0-9]+(?:-[a-z0-9]+)*$', 'a-slug-1', true],
    ['^[a-z0-9]+(?:-[a-z0-9]+)*$', 'a--slug', false],
    ['^(?=.*[A-Z])(?=.*\\d)[^\\s]{8,}$', 'Passw0rds', true],
    ['^(?=.*[A-Z])(?=.*\\d)[^\\s]{8,}$', 'passw0rds', false],
    ['^(?!admin$).+$', 'admin', false],
    ['^(?!admin$).+$', 'admins', true],
    ['^\\p{L}+$', 'Zoë', true],
    ['^.$', '😀', true],
    ['^\\u{1F600}$', '😀', true],
    ['^\\ud83d\\ude00$', '😀', true],
    ['^[\\w-.]+$', 'a-b.c', true],
    ['\\bcat\\b', 'a cat sat', true],
    ['\\bcat\\b', 'concatenate', false],
    ['^(?<year>\\d{4})-\\d{2}$', '2026-07', true],
    ['^[\\]]$', ']', true],
    ['^a{2,3}$', 'aaaa', false],
    ['^a{,3}$', 'a{,3}', true],
    ['^.$', '\n', false],
    ['', 'anything', true],
    ['b|', 'a', true],
  ])('EL-4 %s on %s is %s', (pattern, text, expected) => {
    expect(matchesPattern(pattern, text)).toBe(expected);
  });

  test.each([
    ['(a)\\1', 'aa'],
    ['(?<=a)b', 'ab'],
    ['(', '('],
    ['a{5000}', 'a'],
    ['(a{99}){99}', 'a'],
    ['((((){999}){999}){999}){999}', 'a'],
    ['((?=(?=a{999}){999}){999}){999}', 'a'],
    ['a{0,99999999999999999999}', 'a'],
    ['a'.repeat(513), 'a'],
    ['a', 'a'.repeat(10_001)],
  ])('EL-4 %s is not evaluated', (pattern, text) => {
    expect(matchesPattern(pattern, text)).toBeUndefined();
  });

  test('EL-4 a pattern that makes a backtracking engine hang ends within its budget', () => {
    const text = `${'a'.repeat(5_000)}!`;
    expect(matchesPattern('^(a+)+$', text)).toBe(false);
    expect(matchesPattern('^(a|a)*$', text)).toBe(false);
    expect(matchesPattern('^a*a*a*a*a*a*$', text)).toBe(false);
    expect(matchesPattern('(?=(a+)+b)(?=a*a*c)', text)).toBeUndefined();
  });

  test('EL-4 agrees with the built-in engine on random patterns', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '\\w', '^', '$', '\\b', '\\B', '-', '\\.', '😀');
    const { pattern } = fc.letrec<{ pattern: string; item: string }>((tie) => ({
      item: fc.oneof(
        { depthSize: 'small' },
        atom,
        tie('pattern').map((inner) => `(${inner})`),
        tie('pattern').map((inner) => `(?:${inner})*`),
        tie('pattern').map((inner) => `(?:${inner}){1,2}`),
        tie('pattern').map((inner) => `(?:${inner})?`),
        tie('pattern').map((inner) => `(?=${inner})`),
        tie('pattern').map((inner) => `(?!${inner})`),
      ),
      pattern: fc
        .array(
          fc.array(tie('item'), { maxLength: 3 }).map((items) => items.join('')),
          { minLength: 1, maxLength: 2 },
        )
        .map((parts) => parts.join('|')),
    }));
    // No pairs of surrogates: the built-in engine also looks for matches between the two halves of one.
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '1', '-', '.', ' ', 'é', '\n'), maxLength: 6 });
    fc.assert(
      fc.property(pattern, text, (source, input) => {
        const mine = matchesPattern(source, input);
        fc.pre(mine !== undefined);
        expect(mine).toBe(new RegExp(source, 'u').test(input));
      }),
      { numRuns: 2_000 },
    );
  });
});

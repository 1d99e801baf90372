import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TextFormat } from '../../src/domain/text-format.ts';
import { hasFormat } from '../../src/domain/text-format.ts';

test.each<[TextFormat, readonly string[], readonly string[]]>([
  [
    'email',
    [
      'a@example.com',
      'first.last+tag@sub.example.co',
      'a@localhost',
      '"a b"@example.com',
      'a@[127.0.0.1]',
      'ü@bücher.example',
    ],
    [
      '',
      'a',
      '@example.com',
      'a@',
      'a b@example.com',
      'a@b@c',
      'a..b@example.com',
      '.a@example.com',
      'a@-b.com',
      'a@b..c',
      `${'a'.repeat(65)}@b.com`,
    ],
  ],
  [
    'uri',
    [
      'https://example.com',
      'https://example.com/a?b=c#d',
      'mailto:a@b.c',
      'urn:isbn:0451450523',
      'file:///etc/hosts',
      'http://[::1]:80/',
    ],
    [
      '',
      'example.com',
      '/relative',
      'https://',
      'https://a b',
      'https://ex\nample.com',
      '1https://a',
      'https://a/%zz',
      'https://ü.example',
    ],
  ],
  [
    'date',
    ['2024-02-29', '2000-02-29', '2026-12-31'],
    ['', '2023-02-29', '1900-02-29', '2026-13-01', '2026-00-10', '2026-04-31', '26-01-01', '2026-1-1', ' 2026-01-01'],
  ],
  [
    'date-time',
    [
      '2026-07-28T12:00:00Z',
      '2026-07-28t12:00:00.123z',
      '2026-07-28T23:59:59+05:30',
      '1990-12-31T23:59:60Z',
      '1990-12-31T15:59:60-08:00',
    ],
    [
      '2026-07-28',
      '2026-07-28T12:00:00',
      '2026-07-28 12:00:00Z',
      '2026-07-28T24:00:00Z',
      '2026-07-28T12:60:00Z',
      '2026-07-28T12:00:60Z',
      '2026-02-30T12:00:00Z',
      '2026-07-28T12:00:00+24:00',
    ],
  ],
])('EL-4 tells a text of format %s from others', (format, good, bad) => {
  for (const text of good) expect([text, hasFormat(format, text)]).toEqual([text, true]);
  for (const text of bad) expect([text, hasFormat(format, text)]).toEqual([text, false]);
});

test('EL-4 takes every date and time JavaScript writes', () => {
  const date = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(date, (value) => {
      expect(hasFormat('date-time', value.toISOString())).toBe(true);
      expect(hasFormat('date', value.toISOString().slice(0, 10))).toBe(true);
    }),
  );
});

test('EL-4 takes every address and URI a generator writes', () => {
  fc.assert(
    fc.property(fc.emailAddress(), fc.webUrl({ withFragments: true, withQueryParameters: true }), (address, url) => {
      expect(hasFormat('email', address)).toBe(true);
      expect(hasFormat('uri', url)).toBe(true);
    }),
  );
});

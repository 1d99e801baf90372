import { domainToUnicode } from 'node:url';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodePunycode } from '../../src/domain/punycode.ts';
import { checkUrl } from '../../src/domain/url-question.ts';

test.each([
  ['https://example.com', 'example.com', undefined],
  ['https://example.com/a/b?c=d%20e#f', 'example.com', undefined],
  ['HTTPS://Example.COM/', 'example.com', undefined],
  ['https://example.com:8443/', 'example.com:8443', undefined],
  ['https://example.com:443/', 'example.com', undefined],
  ['https://bücher.example/', 'xn--bcher-kva.example', 'bücher.example'],
  ['https://xn--bcher-kva.example:8443/', 'xn--bcher-kva.example:8443', 'bücher.example:8443'],
  ['https://аpple.com/', 'xn--pple-43d.com', 'аpple.com'],
  ['https://例え.テスト/', 'xn--r8jz45g.xn--zckzah', '例え.テスト'],
  ['https://[2001:db8::1]:9/', '[2001:db8::1]:9', undefined],
  ['https://example.com/@user', 'example.com', undefined],
  ['http://localhost:3000/cb', 'localhost:3000', undefined],
  ['http://127.0.0.1/', '127.0.0.1', undefined],
  ['http://127.255.1.2:80/', '127.255.1.2', undefined],
  ['http://[::1]:8080/', '[::1]:8080', undefined],
])('EL-5 allows %s and shows its host', (url, host, hostUnicode) => {
  expect(checkUrl(url)).toEqual({ ok: true, url, host, ...(hostUnicode === undefined ? {} : { hostUnicode }) });
});

test.each([
  ['http://example.com/'],
  ['http://localhost.example.com/'],
  ['http://127.0.0.1.example.com/'],
  ['http://126.0.0.1/'],
  ['http://[::2]/'],
  ['http://192.168.1.1/'],
  ['ftp://example.com/'],
  ['file:///etc/passwd'],
  ['javascript:alert(1)'],
  ['data:text/html,x'],
  ['https:example.com'],
  ['https:/example.com'],
  ['https:///example.com'],
  ['//example.com'],
  ['example.com'],
  [''],
  ['https://'],
  ['https://user@example.com/'],
  ['https://user:password@example.com/'],
  ['https://@example.com/'],
  ['https://good.example\\@evil.example/'],
  ['https:\\\\evil.example/'],
  [' https://example.com/'],
  ['https://example.com/ '],
  ['https://exam\nple.com/'],
  ['https://example.com/\t'],
  ['https://example.com/\u0000'],
  ['https://example.com/\u0085'],
  ['https://example.com/\u202etxt.exe'],
  ['https://example.com/\u2066'],
  ['https://example.com/\ud800'],
  ['https://exa%mple.com/'],
  ['https://example.com:99999/'],
  [`https://example.com/${'a'.repeat(8_192)}`],
  [undefined],
  [null],
  [7],
  [{ href: 'https://example.com/' }],
])('EL-5 refuses %j', (url) => {
  const check = checkUrl(url);
  expect(check.ok).toBe(false);
  expect(check.ok ? '' : check.reason).toMatch(/^Expected .*, got .*\.$/);
});

test('EL-5 says what to do about http, without the path or query', () => {
  expect(checkUrl('http://example.com/?code=abcdefgh')).toEqual({
    ok: false,
    reason: 'Expected an https url, got http to "example.com". Only this machine may be reached over http.',
  });
});

test('EL-5 leaves a label that is not punycode as it is', () => {
  expect(decodePunycode('bcher-kva')).toBe('bücher');
  expect(decodePunycode('Bcher-KVA')).toBe('Bücher');
  expect(decodePunycode('99999999')).toBeUndefined();
  expect(decodePunycode('ü')).toBeUndefined();
  expect(decodePunycode('kv\u0131')).toBeUndefined();
  expect(decodePunycode('a'.repeat(64))).toBeUndefined();
});

test('EL-5 reads every internationalised host as the platform does', () => {
  const letters = fc.constantFrom(
    'a',
    'b',
    '1',
    'ü',
    'é',
    'я',
    'п',
    '中',
    '文',
    'あ',
    'ß',
    'ç',
    'ł',
    'ğ',
    'א',
    '😀',
    '𝒜',
    '-',
  );
  const label = fc.array(letters, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 3 }), (labels) => {
      const url = `https://${labels.join('.')}.example/`;
      fc.pre(URL.canParse(url));
      const check = checkUrl(url);
      const { hostname } = new URL(url);
      const readable = domainToUnicode(hostname);
      expect(check).toEqual({
        ok: true,
        url,
        host: hostname,
        ...(readable === hostname ? {} : { hostUnicode: readable }),
      });
    }),
    { numRuns: 1_000 },
  );
});

test('EL-5 an allowed url goes to the host that is shown, whatever the text', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.webUrl(),
        fc.string({ unit: 'binary' }).map((rest) => `https://${rest}`),
      ),
      (url) => {
        const check = checkUrl(url);
        if (!check.ok) return;
        const parsed = new URL(url);
        expect([check.url, check.host, parsed.username, parsed.password]).toEqual([url, parsed.host, '', '']);
      },
    ),
    { numRuns: 2_000 },
  );
});

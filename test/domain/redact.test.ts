import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ServerConfig } from '../../src/domain/config.ts';
import { createRedactor, secretsOf } from '../../src/domain/redact.ts';
import { isPlace } from '../../src/domain/secrets.ts';

describe('SE-1 redactor', () => {
  test('SE-1 replaces every occurrence of a secret and leaves the rest', () => {
    const redactor = createRedactor();
    redactor.add('hunter2-hunter2');
    expect(redactor.text('a hunter2-hunter2, b hunter2-hunter2')).toBe('a [redacted], b [redacted]');
    expect(redactor.text('hunter2')).toBe('hunter2');
  });

  test('SE-1 ignores secrets shorter than 8 characters', () => {
    const redactor = createRedactor();
    redactor.add('1234567');
    redactor.add('');
    expect(redactor.text('1234567')).toBe('1234567');
    redactor.add('12345678');
    expect(redactor.text('12345678')).toBe('[redacted]');
  });

  test('SE-1 takes special characters of patterns literally', () => {
    const redactor = createRedactor();
    redactor.add('a.*+?^${}()|[]\\/-z');
    redactor.add('........');
    expect(redactor.text('x a.*+?^${}()|[]\\/-z y abcdefgh ........')).toBe('x [redacted] y abcdefgh [redacted]');
  });

  test('SE-1 finds the percent-encoded and the JSON-escaped form', () => {
    const redactor = createRedactor();
    redactor.add('pa ss/w"ö\nrd');
    for (const form of [
      'pa ss/w"ö\nrd',
      'pa%20ss%2Fw%22%C3%B6%0Ard',
      'pa+ss%2Fw%22%C3%B6%0Ard',
      'pa%20ss%2fw%22%c3%b6%0ard',
      'pa ss/w\\"ö\\nrd',
    ]) {
      expect(redactor.text(`<${form}>`)).toBe('<[redacted]>');
    }
  });

  test('SE-1 takes a secret that is no well-formed text', () => {
    const redactor = createRedactor();
    redactor.add('\ud800-secret');
    expect(redactor.text('a \ud800-secret')).toBe('a [redacted]');
  });

  test('SE-1 a secret that begins with another is taken whole, and overlapping ones leave nothing', () => {
    const redactor = createRedactor();
    redactor.add('abcdefgh');
    redactor.add('abcdefghijkl');
    redactor.add('ghijklmnop');
    expect(redactor.text('abcdefghijkl')).toBe('[redacted]');
    expect(redactor.text('-abcdefghijklmnop-')).toBe('-[redacted]-');
    expect(redactor.text('abcdefghabcdefgh')).toBe('[redacted][redacted]');
  });

  test('SE-1 copies only what changed', () => {
    const redactor = createRedactor();
    redactor.add('top-secret');
    const clean = { a: [1, 'x', null], b: { c: true } };
    const value = { clean, list: ['top-secret', clean], 'key top-secret': 1 };
    const output = redactor.value(value);
    expect(output).toEqual({ clean, list: ['[redacted]', clean], 'key [redacted]': 1 });
    expect(output.clean).toBe(clean);
    expect(output.list[1]).toBe(clean);
    expect(value.list[0]).toBe('top-secret');
    expect(redactor.value(clean)).toBe(clean);
  });

  test('SE-1 returns everything as it is while no secret is known', () => {
    const redactor = createRedactor();
    const value = { a: 'abcdefgh' };
    expect(redactor.value(value)).toBe(value);
    expect(redactor.text('abcdefgh')).toBe('abcdefgh');
  });

  test('SE-1 cycles, shared parts and great depth end', () => {
    const redactor = createRedactor();
    redactor.add('top-secret');
    const cyclic: Record<string, unknown> = { text: 'top-secret' };
    cyclic['self'] = cyclic;
    expect(redactor.value(cyclic)).toEqual({ text: '[redacted]', self: '[circular]' });
    let shared: unknown = ['top-secret'];
    for (let level = 0; level < 60; level += 1) shared = [shared, shared];
    expect(redactor.value(shared)).not.toBe(shared);
    let deep: unknown = 'top-secret';
    for (let level = 0; level < 20_000; level += 1) deep = [deep];
    expect(redactor.value(deep)).not.toBe(deep);
  });

  test('SE-1 names of prototypes stay own keys', () => {
    const redactor = createRedactor();
    redactor.add('top-secret');
    const output = redactor.value<unknown>(JSON.parse('{"__proto__":"top-secret"}'));
    expect(JSON.stringify(output)).toBe('{"__proto__":"[redacted]"}');
  });

  test('SE-1 finds each of many secrets in a large text', () => {
    const redactor = createRedactor();
    const secrets = Array.from(
      { length: 1_000 },
      (_, index) => `secret-number-${String(index * 7_919)}-${String(index)}`,
    );
    for (const secret of secrets) redactor.add(secret);
    const text = 'lorem ipsum dolor sit amet '.repeat(40_000) + secrets.join(' ');
    expect(redactor.text(text)).toBe(
      'lorem ipsum dolor sit amet '.repeat(40_000) + secrets.map(() => '[redacted]').join(' '),
    );
  });

  test('SE-1 marks exactly the characters that secrets cover', () => {
    const unit = fc.constantFrom('a', 'b', 'é');
    const secret = fc.string({ unit, minLength: 8, maxLength: 10 });
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 6 }),
        fc.array(fc.oneof(secret, fc.string({ unit }), fc.nat(5))),
        (secrets, parts) => {
          const redactor = createRedactor();
          for (const each of secrets) redactor.add(each);
          const text = parts
            .map((part) => (typeof part === 'number' ? (secrets[part % secrets.length] ?? '') : part))
            .join('');
          const covered = text
            .split('')
            .map((_, at) =>
              secrets.some((each) =>
                text.split('').some((__, from) => from <= at && at < from + each.length && text.startsWith(each, from)),
              ),
            );
          const kept = text.split('').filter((_, at) => covered[at] === false);
          expect(redactor.text(text).replaceAll('[redacted]', '')).toBe(kept.join(''));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('SE-1 no secret is left in any value, and values without one are the same reference', () => {
    const secret = fc.string({
      unit: fc.constantFrom('a', 'b', '"', '\\', '$', '.', ' ', 'é', '%'),
      minLength: 8,
      maxLength: 12,
    });
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 5 }),
        fc.jsonValue(),
        fc.array(fc.nat(4)),
        (secrets, noise, order) => {
          const redactor = createRedactor();
          for (const each of secrets) redactor.add(each);
          const glued = order.map((index) => secrets[index % secrets.length] ?? '').join('');
          const value = { noise, glued: `x${glued}y`, nested: [{ [`k${glued}`]: glued }] };
          const output = JSON.stringify(redactor.value(value));
          const hidden = secrets.filter((each) => !'[redacted]'.includes(each) && glued.includes(each));
          for (const each of hidden) expect(output).not.toContain(JSON.stringify(each).slice(1, -1));
          const once = redactor.value(value);
          expect(redactor.value(once)).toEqual(once);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('SE-1 names', () => {
  test('SE-1 a name that is kept stays whole where it is an identifier, and nowhere else', () => {
    const redactor = createRedactor();
    redactor.keep('refunds-x');
    redactor.keep('/srv/payments-service/.mcp.json');
    redactor.add('refunds-x');
    redactor.add('payments');
    expect(
      redactor.value({
        'refunds-x': { id: 'mcp:refunds-x/shop', tool: 'mcp__refunds-x__buy', file: '/srv/payments-service/.mcp.json' },
        text: 'Server "refunds-x" in "/srv/payments-service/.mcp.json": refunds-x, or payments.',
        json: JSON.stringify({ text: '"refunds-x"' }),
        longer: 'mcp:refunds-xy and refunds-x-y',
        payments: '"payments"',
      }),
    ).toEqual({
      'refunds-x': { id: 'mcp:refunds-x/shop', tool: 'mcp__refunds-x__buy', file: '/srv/payments-service/.mcp.json' },
      text: 'Server "refunds-x" in "/srv/payments-service/.mcp.json": [redacted], or [redacted].',
      json: JSON.stringify({ text: '"refunds-x"' }),
      longer: 'mcp:[redacted]y and [redacted]-y',
      '[redacted]': '"[redacted]"',
    });
  });

  test('SE-1 a secret that holds a name is taken out with it', () => {
    const redactor = createRedactor();
    redactor.add('refunds-x-token');
    redactor.keep('refunds-x');
    expect(redactor.text('"refunds-x-token" of "refunds-x"')).toBe('"[redacted]" of "refunds-x"');
    redactor.add('x" of "y');
    expect(redactor.text('"refunds-x" of "y"')).toBe('"refunds-[redacted]"');
  });
});

describe('SE-1 user info of urls', () => {
  test.each([
    ['http://user:pass@a.example/', 'http://[redacted]@a.example/'],
    ['http://token@a.example', 'http://[redacted]@a.example'],
    ['x://:p@h', 'x://[redacted]@h'],
    ['see http://u:p@a, https://v:q@b/c', 'see http://[redacted]@a, https://[redacted]@b/c'],
    ['http://u:p@ss@a.example/x@y', 'http://[redacted]@a.example/x@y'],
    ['postgres://u:p/a?b#c@db.example/x', 'postgres://[redacted]@db.example/x'],
    ['http://u:p"q@a.example', 'http://[redacted]@a.example'],
    [String.raw`{"url":"http:\/\/u:p@a.example"}`, String.raw`{"url":"http:\/\/[redacted]@a.example"}`],
    ['to=http%3A%2F%2Fu%3Ap%40a.example%2Fx', 'to=http%3A%2F%2F[redacted]%40a.example%2Fx'],
    ['--proxy=http://u:p@a:80', '--proxy=http://[redacted]@a:80'],
  ])('SE-1 is taken out of %s', (text, shown) => {
    const redactor = createRedactor();
    expect(redactor.text(text)).toBe(shown);
    expect(redactor.text(shown)).toBe(shown);
    expect(redactor.value([{ [text]: text }])).toEqual([{ [shown]: shown }]);
  });

  test.each([
    'https://unpkg.example/@scope/pkg@1.2.3',
    'http://a.example:8080/users/me@b.example',
    'http://[::1]:8080/a@b',
    'https://a.example?mail=a@b.example',
    'mail me@a.example, or see http://a.example',
    '{"url":"http://a.example","mail":"me@b.example"}',
    'http://${USER}:${env:PASS}@a.example/',
    'https://{env:TOKEN}@a.example/',
    'git@a.example:x/y',
    'a%40b.example',
  ])('SE-1 is not seen in %s', (text) => {
    expect(createRedactor().text(text)).toBe(text);
  });

  test('SE-1 is looked for in a large text in one go', () => {
    for (const part of ['://', '://a:', 'a', '%3a%2f%2f', 'http://u:p', ':'])
      expect(createRedactor().text(`@%40${part.repeat(300_000)}`)).toHaveLength(4 + part.length * 300_000);
  });
});

describe('SE-1 secrets of a configuration', () => {
  test('SE-1 are none that are said to be none, and no places', () => {
    const env = { A: '/srv/known', B: '/srv/unknown', C: 'plain-text', D: '//host/known', E: String.raw`C:\known-x` };
    expect(secretsOf({ command: 'x', env, notSecret: ['plain-text'] }, (value) => isPlace(value, () => true))).toEqual([
      '//host/known',
    ]);
    expect(secretsOf({ command: 'x', env }, (value) => isPlace(value, (path) => path === '/srv/known'))).toHaveLength(
      4,
    );
  });

  test.each<[string, ServerConfig, readonly string[]]>([
    ['nothing in a plain one', { command: 'node', args: ['server.js', '--verbose', '--port', '8080-8090'] }, []],
    [
      'the argument after a flag',
      { command: 'x', args: ['--api-key', 'k-12345678', '--name', 'harmless-name'] },
      ['k-12345678'],
    ],
    [
      'an assigned flag',
      { command: 'x', args: ['--token=t-12345678', '--secret=', '--apiKey=k-12345678'] },
      ['t-12345678', 'k-12345678'],
    ],
    ['a single dash', { command: 'x', args: ['-password', 'p-12345678'] }, ['p-12345678']],
    ['no flag after a flag', { command: 'x', args: ['--no-key', '--verbose-output'] }, []],
    [
      'no word that only contains one',
      { command: 'x', args: ['--keyboard-layout', 'dvorak-programmer', '--tokenizer', 'sentencepiece'] },
      [],
    ],
    [
      'a variable given to a container',
      { command: 'docker', args: ['run', '-e', 'GITHUB_TOKEN=ghp_12345678', '-e', 'MODE=production'] },
      ['ghp_12345678'],
    ],
    [
      'a header argument',
      { command: 'npx', args: ['mcp-remote', 'https://a.example/', '--header', 'Authorization: Bearer b-12345678'] },
      ['Bearer b-12345678', 'b-12345678'],
    ],
    [
      'user info in an argument',
      { command: 'x', args: ['postgres://user:p%40ss-word@db.example/x'] },
      ['p%40ss-word', 'p@ss-word', 'dXNlcjpwQHNzLXdvcmQ='],
    ],
    [
      'an environment value',
      {
        command: 'x',
        env: {
          WHATEVER: 'w-12345678',
          PATH: '/usr/local/bin',
          node_env: 'production',
          LC_ALL: 'en_US.UTF-8',
          SHORT: 'short',
        },
      },
      ['w-12345678'],
    ],
    [
      'a header and its token',
      {
        url: 'https://a.example/mcp',
        headers: { Authorization: 'Bearer b-12345678', 'X-Api-Key': 'k-12345678', Accept: 'application/json' },
      },
      ['Bearer b-12345678', 'b-12345678', 'k-12345678'],
    ],
    ['query values', { url: 'https://a.example/mcp?api_key=k%2F1234567&mode=ro' }, ['k%2F1234567', 'k/1234567']],
    ['an unreadable url', { url: 'not a url' }, []],
  ])('SE-1 finds %s', (_what, config, secrets) => {
    expect(new Set(secretsOf(config))).toEqual(new Set(secrets));
  });
});

describe('a text that was cut', () => {
  const secret = 'hunter2-hunter3-hunter4/"ä';
  const known = () => {
    const redactor = createRedactor();
    redactor.add(secret);
    redactor.add('hunter2-other-secret');
    return redactor;
  };

  test('SE-1 R1 holds no beginning of a secret before the mark of the cut', () => {
    for (let length = 8; length <= secret.length; length += 1)
      expect(known().text(`(got ${secret.slice(0, length)}…) and ${secret.slice(0, length)}…`)).toBe(
        '(got [redacted]…) and [redacted]…',
      );
    expect(known().text(`x ${encodeURIComponent(secret).slice(0, 27)}…`)).toBe('x [redacted]…');
    expect(known().text('hunter2…')).toBe('hunter2…');
    expect(known().text('hunter2-hunter5…')).toBe('hunter2-hunter5…');
  });

  test('SE-1 R1 holds no end of a secret after the mark it begins with', () => {
    for (let length = 8; length <= secret.length; length += 1)
      expect(known().text(`…${secret.slice(-length)} then ${secret} x`)).toBe('…[redacted] then [redacted] x');
    expect(known().text(`…${secret.slice(4, 20)}…`)).toBe('…[redacted]…');
    expect(known().text(`…${secret.slice(-8)}`)).toBe('…[redacted]');
    expect(known().text('…hunter9-hunter9')).toBe('…hunter9-hunter9');
    expect(known().text('…')).toBe('…');
  });
});

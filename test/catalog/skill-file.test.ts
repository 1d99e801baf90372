/** What a SKILL.md says of itself: hostile files cost themselves, and no time. */
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/index.ts';
import { parseSkillFile, skillOf } from '../../src/catalog/skill-file.ts';
import { needsOf } from '../../src/catalog/skill-list.ts';

const parse = (text: string) => parseSkillFile(text, 'SKILL.md');

describe('a SKILL.md', () => {
  test.each([
    ['line feeds', '---\nname: a-1\ndescription: Does it.\nmetadata:\n  version: 1.5\n---\nBody.'],
    ['carriage returns', '---\r\nname: a-1\r\ndescription: Does it.\r\nmetadata:\r\n  version: 1.5\r\n---\r\nBody.'],
    ['a byte order mark', '\uFEFF---\nname: a-1\ndescription: Does it.\nmetadata: { version: 1.5 }\n---'],
    [
      'blanks after its lines',
      '---  \nname: a-1\ndescription: Does it.\nmetadata: { version: 1.5 }\n---\t\n---\nNot this.',
    ],
  ])('WS-2 is read with %s', (_, text) => {
    expect(parse(text)).toEqual({
      kind: 'skill',
      name: 'a-1',
      description: 'Does it.',
      frontmatter: { name: 'a-1', description: 'Does it.', metadata: { version: 1.5 } },
    });
  });

  test('WS-2 keeps dates and long numbers as its author wrote them, or as JSON has them', () => {
    const text = '---\nname: a\ndescription: Does it.\ndate: 2026-11-30\nbig: 12345678901234567890\nnone: ~\n---\n';
    expect(parse(text)).toMatchObject({
      frontmatter: { date: '2026-11-30', big: 12_345_678_901_234_567_000, none: null },
    });
  });

  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...'bcdefghi'
      .split('')
      .map((c, i) => `${c}: &${c} [${Array.from({ length: 9 }, () => `*${'abcdefgh'.charAt(i)}`).join(',')}]`),
  ];
  test.each([
    ['empty', ''],
    ['without frontmatter', '# Title\n'],
    ['with text before it', 'Hello\n---\nname: a\ndescription: b\n---\n'],
    ['never closed', '---\nname: a\ndescription: b\n'],
    ['with huge frontmatter', `---\nname: a\n# ${'x'.repeat(10_000_000)}\n---\n`],
    ['not YAML', '---\nname: [a\ndescription: }\n---\n'],
    ['a list', '---\n- name\n---\n'],
    ['a text', '---\nhello\n---\n'],
    ['a bomb of aliases', `---\n${bomb.join('\n')}\nname: a\ndescription: b\n---\n`],
    ['an alias to nowhere', '---\nname: *a\ndescription: b\n---\n'],
    ['an alias within itself', '---\nname: a\ndescription: b\nself: &s [*s]\n---\n'],
    ['deep', `---\nname: a\ndescription: b\nx: ${'['.repeat(30_000)}${']'.repeat(30_000)}\n---\n`],
    ['without a name', '---\ndescription: b\n---\n'],
    ['with a name that is a number', '---\nname: 7\ndescription: b\n---\n'],
    ['with a name in capitals', '---\nname: Refunds\ndescription: b\n---\n'],
    ['with a name of 65 characters', `---\nname: ${'a'.repeat(65)}\ndescription: b\n---\n`],
    ['with two hyphens', '---\nname: a--b\ndescription: b\n---\n'],
    ['with a name of steps up', '---\nname: ../a\ndescription: b\n---\n'],
    ['without a description', '---\nname: a\n---\n'],
    ['with an empty description', '---\nname: a\ndescription: " "\n---\n'],
    ['with a description of 1,025 characters', `---\nname: a\ndescription: ${'x'.repeat(1_025)}\n---\n`],
  ])('WS-2 that is %s is invalid, and says why', (_, text) => {
    expect(parse(text)).toEqual({ kind: 'invalid', problem: expect.stringMatching(/\S/) as unknown });
  });

  test('WS-2 JSON frontmatter that cannot be JSON, or is too large, is invalid', () => {
    const own: Record<string, unknown> = { name: 'a', description: 'b' };
    own['self'] = own;
    for (const value of [null, [], 7, own, { name: 'a', description: 'b', big: 'x'.repeat(300_000) }])
      expect(skillOf(value).kind).toBe('invalid');
  });

  test('WS-2 names the servers it needs by keys, and what has another form needs none', () => {
    const tool = (fields: JsonObject) => ({ type: 'mcp', value: 'docs', ...fields });
    const tools = [
      tool({}),
      tool({ command: 'docs-server' }),
      tool({ url: 'https://docs.example/mcp' }),
      tool({ value: '' }),
      { type: 'cli', value: 'git' },
      'docs',
    ];
    expect(needsOf({ dependencies: { tools } })).toEqual([
      { server: 'docs', key: 'mcp__docs' },
      { server: 'docs', key: 'mcp__stdio__docs-server', command: 'docs-server' },
      { server: 'docs', key: 'mcp__streamable_http__https://docs.example/mcp', url: 'https://docs.example/mcp' },
    ]);
    expect(needsOf({ dependencies: 'docs' })).toEqual([]);
    expect(needsOf({ dependencies: { tools: { docs: true } } })).toEqual([]);
  });
});

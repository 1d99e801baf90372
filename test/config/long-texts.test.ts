/** Long texts made to keep whoever looks for placeholders in them busy: each is read like any other. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importFiles, readConfig } from '../../src/config/index.ts';
import { bracesAnd } from '../../src/config/find-references.ts';
import {
  dollarSyntax,
  editorSyntax,
  hubSyntax,
  librechatSyntax,
  opencodeSyntax,
  resolveText,
} from '../../src/config/placeholders.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-long-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

const length = 2_000_000;

const texts: readonly (readonly [string, string])[] = [
  ['${', ''],
  ['${a', ''],
  ['{b}', '${a'],
  ['${{a}', ''],
  ['{{', ''],
  ['{{a ', ''],
  ['{', '$'],
  ['}', '${a'],
  ['$a', ''],
  [' ', 'a:'],
  [' ', '{{'],
];

test.each(texts)('CA-3 a text of 2 MB of %j is read', async (part, before) => {
  const text = before + part.repeat(Math.floor(length / part.length));
  const file = join(directory, 'holdfast.json');
  const servers = { good: { command: 'x' }, odd: { command: 'x', args: [text], env: { A: text } } };
  await writeFile(file, JSON.stringify({ mcpServers: servers }));
  const { servers: read, misconfigured } = await readConfig([file], { env: {} });
  expect([...Object.keys(read), ...Object.keys(misconfigured)].toSorted()).toEqual(['good', 'odd']);
  for (const syntax of [editorSyntax, hubSyntax, dollarSyntax, opencodeSyntax, librechatSyntax])
    expect(resolveText(text, syntax, { env: {} }).secrets).toEqual([]);
  expect((await importFiles([file], { env: {} })).unreadable).toEqual([]);
});

test('CA-3 a file of variables with a long line of blanks is read', async () => {
  await writeFile(join(directory, 'some.env'), `A=x${' '.repeat(1_000_000)}y\nB= b  # a comment\nC="c # c"\n`);
  const file = join(directory, 'mcp.json');
  await writeFile(file, JSON.stringify({ servers: { a: { command: 'x', envFile: join(directory, 'some.env') } } }));
  const { servers } = await readConfig([file]);
  expect(servers['a']).toMatchObject({ env: { B: 'b', C: 'c # c' } });
});

test.each([
  ['a ${b} ${c:-{d}} e', ['${b}', '${c:-{d}}']],
  ['${a${b}} ${c', ['${a${b}}']],
  ['${a ${b} } }', ['${a ${b} }']],
  ['} ${ {} } {', ['${ {} }']],
  ['${0{1{2{3{4{5{6}}}}}}}', ['${0{1{2{3{4{5{6}}}}}}}']],
  ['${0{1{2{3{4{5{6${7}}}}}}}}', ['${7}']],
  ['$a ${$b} $c', ['$a', '${$b}', '$c']],
  ['$$a${b', ['$a']],
])('CA-3 finds in %j what is a reference', (text, expected) => {
  expect([...bracesAnd(/\$[A-Za-z_]\w*/g)(text)].map(({ text: found }) => found)).toEqual(expected);
});

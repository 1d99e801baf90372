import { PassThrough } from 'node:stream';
import type { ToolInfo } from 'holdfast';
import { expect, test } from 'vitest';
import { formatTools } from '../../src/cli/format.ts';

function tool(name: string, description: string): ToolInfo {
  return {
    name,
    server: 'one',
    tool: name,
    description,
    origin: 'stdio',
    fingerprint: '',
    inputSchema: { type: 'object' },
  };
}

function show(columns: number, ...tools: readonly ToolInfo[]): readonly string[] {
  const output = Object.assign(new PassThrough(), { columns });
  return formatTools(tools, { output, paint: (_, text) => text }).split('\n');
}

test('CL-1 breaks descriptions at words within the width, and hangs them under each other', () => {
  expect(show(40, tool('echo', 'Returns the text it was given, as it was given.'), tool('add', ''))).toEqual([
    'one',
    '  echo  Returns the text it was given,',
    '        as it was given.',
    '  add',
  ]);
});

test('CL-1 gives a long name a line of its own', () => {
  const name = 'a_name_that_is_longer_than_its_column';
  const lines = show(80, tool('echo', 'Short.'), tool(name, 'Explained.'));
  expect(lines.slice(1).map((line) => line.trim().split(/\s+/))).toEqual([['echo', 'Short.'], [name], ['Explained.']]);
});

test('CL-1 keeps within the width even words that are longer', () => {
  for (const line of show(40, tool('echo', 'x'.repeat(100)))) expect(line.length).toBeLessThanOrEqual(40);
});

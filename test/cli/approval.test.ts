/** What the shell shows before a call, and offers as an answer. */
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { JsonObject, PendingElicitation } from 'holdfast';
import { expect, test } from 'vitest';
import { askPerson } from '../../src/cli/shell/form.ts';
import { createTerminal } from '../../src/cli/terminal.ts';

const down = '\u001B[B';
const enter = '\r';

/** Puts an approval, presses keys, and gives what was shown and decided. */
async function ask(params: JsonObject, keys: readonly string[]) {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 120, rows: 40 });
  let shown = '';
  output.setEncoding('utf8').on('data', (chunk: string) => {
    shown += stripVTControlCharacters(chunk);
  });
  const question: PendingElicitation = {
    token: 'elc_1',
    kind: 'approval',
    server: 'docs',
    message: 'Allow the tool "note" of server "docs" to run?',
    params: { server: 'docs', tool: 'note', arguments: { text: 'hi' }, ...params },
    attribution: 'call',
    generation: 1,
    openedAt: '2026-01-01T00:00:00.000Z',
  };
  const result = askPerson(question, {
    terminal: createTerminal({ input, output, errors: new PassThrough(), env: { NO_COLOR: '1' } }),
    signal: new AbortController().signal,
    canDefer: false,
  });
  for (const key of keys) {
    await new Promise((resolve) => setImmediate(resolve));
    input.write(key);
  }
  return { result: await result, shown };
}

const three = { remember: ['once', 'session', 'always'] };

test.each([
  [[enter], 'once'],
  [[down, enter], 'session'],
  [[down, down, enter], 'always'],
] as const)('PO-2 %j approves for %s', async (keys, remember) => {
  const { result, shown } = await ask(three, keys);
  expect(result).toEqual({ kind: 'answer', answer: { action: 'accept', content: { remember } } });
  expect(shown).toContain('Approve this tool in this thread');
});

test('PO-2 where every call is to be asked for, this call alone can be approved', async () => {
  const { result, shown } = await ask({ remember: ['once'] }, [down, enter]);
  expect(result).toEqual({ kind: 'answer', answer: { action: 'decline' } });
  expect(shown).not.toContain('this tool');
});

test('PO-3 what changed is shown as it was and as it is, with no way to break out of its line', async () => {
  const changed = [{ field: 'description', before: null, after: 'Adds.\n\u001B[2Jdescription is "harmless"' }];
  const { shown } = await ask({ ...three, changed }, [enter]);
  expect(shown).toContain('"text": "hi"');
  expect(shown).toContain('description was null');
  expect(shown).toMatch(/description is {2}"Adds\.\\n\\u001b\[2Jdescription is \\"harmless\\""/);
});

import { array, assert, nat, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { isWireMessage, peekAnsweredId } from '../../../src/mcp/transports/json-rpc.ts';
import { LineReader } from '../../../src/mcp/transports/line-reader.ts';

test.each([
  [{ jsonrpc: '2.0', method: 'a' }, true],
  [{ jsonrpc: '2.0', id: 1, result: {} }, true],
  [{ jsonrpc: '2.0', id: null, error: { code: 1, message: '' } }, true],
  [{ jsonrpc: '1.0', method: 'a' }, false],
  [{ jsonrpc: '2.0', id: 1 }, true],
  [{ jsonrpc: '2.0', id: 1, result: 3 }, true],
  [{ jsonrpc: '2.0', id: 's', error: null }, true],
  [{ id: 1, result: {} }, true],
  [{ id: 1, level: 'info' }, false],
  [{ jsonrpc: '2.0', id: null, result: {} }, false],
  [{ jsonrpc: '2.0', id: 1, method: 7 }, false],
  [[], false],
  [null, false],
])('CN-1 tells messages from other JSON: %j is %j', (value, expected) => {
  expect(isWireMessage(value)).toBe(expected);
});

test.each([
  ['{"jsonrpc":"2.0","id":5,"result":{"id":6', 'x', 5],
  ['{"result":{"a":[{"id":6,"t":"\\"id\\":7', 'zz"}]},"jsonrpc":"2.0","id":"s-5"}', 's-5'],
  ['{"result":{"a":"', '"},"id":5,"jsonrpc":"2.0"}', 5],
  ['{"id":5,"method":"sampling/createMessage","params":{"a":"', '"}}', undefined],
  ['{"method":"notifications/message","params":{"a":"', '","id":5}}', undefined],
  ['{"result":{"a":"', '","id":5}}', undefined],
  ['no json at all', 'no json', undefined],
])('CN-1 finds whom an oversized response answers: %s … %s', (head, tail, id) => {
  expect(peekAnsweredId(head, tail)).toBe(id);
});

test('CN-1 cuts lines the same wherever the chunks end', () => {
  const line = string({ unit: 'binary', maxLength: 40 }).map((text) => text.replaceAll('\n', ''));
  assert(
    property(array(line), array(nat(20)), (lines, cuts) => {
      const heard: string[] = [];
      const oversized: number[] = [];
      const reader = new LineReader({
        maxLineBytes: 60,
        onLine: (text) => heard.push(text),
        onOversized: ({ bytes }) => oversized.push(bytes),
      });
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
      let at = 0;
      for (const cut of cuts) reader.push(bytes.subarray(at, (at += cut)));
      reader.push(bytes.subarray(at));
      const sizes = lines.map((text) => Buffer.byteLength(text));
      expect(heard).toEqual(
        lines
          .map((text) => Buffer.from(text).toString())
          .filter((_, index) => (sizes[index] ?? 0) > 0 && (sizes[index] ?? 0) <= 60),
      );
      expect(oversized).toEqual(sizes.filter((size) => size > 60));
    }),
  );
});

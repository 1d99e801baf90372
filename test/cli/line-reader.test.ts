import { assert, nat, property, uniqueArray } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type InputLine, LineReader } from '../../src/cli/jsonl/line-reader.ts';

function readAll(bytes: Uint8Array, cuts: readonly number[], limit?: number): InputLine[] {
  const reader = new LineReader(limit);
  const lines: InputLine[] = [];
  let start = 0;
  for (const cut of [...cuts, bytes.length]) {
    lines.push(...reader.push(bytes.subarray(start, cut)));
    start = cut;
  }
  return [...lines, ...reader.end()];
}

describe('lines', () => {
  test('CL-2 cuts at LF alone, skips blank lines, and takes the rest at the end of input', () => {
    const lines = readAll(Buffer.from('{"a":1}\r\n\n \t\r\n{"b":"\u2028x"}\nrest'), []);
    expect(lines.map((line) => (line.kind === 'text' ? line.text : line.kind))).toEqual([
      '{"a":1}\r',
      '{"b":"\u2028x"}',
      'rest',
    ]);
  });

  test('CL-2 gives the same lines wherever the chunks are cut', () => {
    const bytes = Buffer.from('{"ä":"€"}\n\n{"b":"𝄞"}\nend');
    const whole = readAll(bytes, []);
    assert(
      property(uniqueArray(nat(bytes.length), { maxLength: 8 }), (cuts) => {
        expect(
          readAll(
            bytes,
            cuts.toSorted((a, b) => a - b),
          ),
        ).toEqual(whole);
      }),
    );
  });

  test('CL-2 discards a line that is too long up to its LF, however it is cut', () => {
    const bytes = Buffer.from(`ok\n${'x'.repeat(11)}\n1234567890\n${'y'.repeat(50)}`);
    for (const cuts of [[], [5], [5, 9, 14], [13, 14, 15]]) {
      expect(readAll(bytes, cuts, 10)).toEqual([
        { kind: 'text', text: 'ok' },
        { kind: 'tooLong' },
        { kind: 'text', text: '1234567890' },
        { kind: 'tooLong' },
      ]);
    }
  });

  test('CL-2 tells bytes that are not UTF-8 apart', () => {
    const lines = readAll(
      Buffer.concat([Buffer.from('{"id":1,"x":"'), Buffer.from([0xff]), Buffer.from('"}\n{}')]),
      [],
    );
    expect(lines).toEqual([
      { kind: 'notUtf8', text: '{"id":1,"x":"\uFFFD"}' },
      { kind: 'text', text: '{}' },
    ]);
  });

  test('CL-2 takes a byte order mark off the first line only', () => {
    expect(readAll(Buffer.from('\uFEFF{}\n\uFEFF{}'), [])).toEqual([
      { kind: 'text', text: '{}' },
      { kind: 'text', text: '\uFEFF{}' },
    ]);
  });
});

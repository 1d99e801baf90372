/** Results made to fit, and what was left out read on. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HoldfastError } from '../../src/index.ts';
import type { ToolResult } from '../../src/index.ts';
import { boundResult, createResultShelf } from '../../src/mcp/index.ts';

const pointerIn = (result: ToolResult, at = -1): string =>
  /read on at (\S+)\]$/.exec(String(result.content.at(at)?.['text']))?.[1] ?? '';

describe('NM-4 a large result is bounded', () => {
  test('one that fits is the same object', () => {
    const result: ToolResult = { content: [{ type: 'text', text: 'hi' }], structuredContent: { a: 1 } };
    expect(boundResult(result)).toBe(result);
  });

  test('a text is cut where the room ends, never in a character, and the note says what is missing', () => {
    const result: ToolResult = { content: [{ type: 'text', text: 'aé😀b' }], isError: true, _meta: { a: 1 } };
    expect(boundResult(result, { maxBytes: 5 })).toEqual({
      content: [
        { type: 'text', text: 'aé' },
        { type: 'text', text: '[5 bytes of 8 bytes left out here]' },
      ],
      isError: true,
      _meta: { a: 1 },
    });
  });

  test('other parts are whole or a note; what comes after them still has its room', () => {
    const image = { type: 'image', data: 'a'.repeat(100), mimeType: 'image/png' };
    const odd = { type: 'hologram', layers: ['x'.repeat(100)] };
    const result: ToolResult = { content: [image, odd, { type: 'text', text: 'after' }] };
    expect(boundResult(result, { maxBytes: 20 }).content).toEqual([
      { type: 'text', text: '[image/png, 100 bytes: left out]' },
      { type: 'text', text: '[hologram, 133 bytes: left out]' },
      { type: 'text', text: 'after' },
    ]);
  });

  test('structured content that does not fit becomes a note', () => {
    const result: ToolResult = { content: [], structuredContent: { list: 'x'.repeat(50) } };
    expect(boundResult(result, { maxBytes: 10 })).toEqual({
      content: [{ type: 'text', text: '[structured content, 61 bytes: left out]' }],
    });
  });

  test('media is described for models that take text only', () => {
    const result: ToolResult = {
      content: [
        { type: 'text', text: 'see' },
        { type: 'image', data: 'aGk=', mimeType: 'image/png' },
        { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'test://a', blob: 'aGk=', mimeType: 'image/gif' } },
        { type: 'resource', resource: { uri: 'test://b', text: 'text', mimeType: 'text/plain' } },
      ],
    };
    const bounded = boundResult(result, { media: 'describe' }).content;
    expect(bounded.map(({ type, text }) => [type, text])).toEqual([
      ['text', 'see'],
      ['text', '[image/png, 4 bytes: not shown]'],
      ['text', '[audio/wav, 4 bytes: not shown]'],
      ['text', expect.stringMatching(/^\[image\/gif, \d+ bytes: not shown\]$/)],
      ['resource', undefined],
    ]);
  });

  test('a size that is none is refused', () => {
    expect(() => boundResult({ content: [] }, { maxBytes: -1 })).toThrow(HoldfastError);
  });
});

describe('NM-4 what was left out is read on', () => {
  test('text piece by piece, from where it was cut, to its end', () => {
    const texts = fc.string({ unit: 'grapheme', maxLength: 400 });
    fc.assert(
      fc.property(texts, fc.nat(50), fc.integer({ min: 4, max: 60 }), (text, maxBytes, pieceBytes) => {
        const shelf = createResultShelf();
        const result: ToolResult = { content: [{ type: 'text', text }] };
        const bounded = boundResult(result, { maxBytes, shelf });
        if (bounded === result) return;
        let all = bounded.content.length === 1 ? '' : String(bounded.content[0]?.['text']);
        let next: string | undefined = pointerIn(bounded);
        while (next !== undefined) {
          const piece = shelf.read(next, { maxBytes: pieceBytes });
          expect(Buffer.byteLength(String(piece.block['text']))).toBeLessThanOrEqual(pieceBytes);
          all += String(piece.block['text']);
          next = piece.next;
        }
        expect(all).toBe(text);
      }),
    );
  });

  test('an image comes whole, structured content as its JSON', () => {
    const shelf = createResultShelf();
    const image = { type: 'image', data: 'a'.repeat(100), mimeType: 'image/png' };
    const bounded = boundResult({ content: [image], structuredContent: { a: 'b' } }, { maxBytes: 0, shelf });
    expect(shelf.read(pointerIn(bounded, 0))).toEqual({ block: image });
    expect(shelf.read(pointerIn(bounded))).toEqual({ block: { type: 'text', text: '{"a":"b"}' } });
  });

  test('the oldest results go first, and a pointer that leads nowhere says so', () => {
    const shelf = createResultShelf({ maxResults: 2, maxBytes: 1_000 });
    const bound = (text: string): string =>
      pointerIn(boundResult({ content: [{ type: 'text', text }] }, { maxBytes: 1, shelf }));
    const [first, second, third] = [bound('first'), bound('second'), bound('third')];
    expect(() => shelf.read(first)).toThrow('Expected a pointer of a result that is kept');
    expect(shelf.read(second).block['text']).toBe('econd');
    expect(shelf.read(third).block['text']).toBe('hird');
    // One that is too large to be kept has no pointer, and drops nothing.
    expect(bound('x'.repeat(2_000))).toBe('');
    expect(shelf.read(third).block['text']).toBe('hird');
    for (const pointer of ['', 'holdfast-result:guess/0/0', `${third}0000`, third.replace('/0/', '/7/')])
      if (pointer !== `${third}0000`) expect(() => shelf.read(pointer)).toThrow(HoldfastError);
    expect(shelf.read(`${third}0000`).block['text']).toBe('');
  });
});

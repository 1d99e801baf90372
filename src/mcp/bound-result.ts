/** Makes results of tools fit into a model's context (SPEC NM-4). */
import { HoldfastError } from '../domain/errors.ts';
import type { ContentBlock, ToolResult } from '../domain/tool.ts';
import { isMedia, mimeTypeOf, prefixOf, sizeOfBlock } from './result-parts.ts';
import { defaultPieceBytes, pointerTo } from './result-shelf.ts';
import type { ResultShelf } from './result-shelf.ts';

/** How a result is bounded. */
export interface BoundResultOptions {
  /** Most bytes of all parts together; the notes on what was left out come on top. Default 65,536. */
  readonly maxBytes?: number;
  /** `describe` puts a text in the place of images and audio, for models that take text only. Default `keep`. */
  readonly media?: 'keep' | 'describe';
  /** Keeps results that lose something: the notes then say where to read on. Default: what is left out is gone. */
  readonly shelf?: ResultShelf;
}

/**
 * Makes a result small enough for a model: parts that do not fit become notes of what they were and where to read on.
 *
 * A text is cut where the room ends; any other part is kept whole or not at all. Structured content stays if there is room
 * for it after the parts, and else becomes a note. A result that fits is returned as it is, the same object.
 *
 * @throws HoldfastError `invalid_argument` for a `maxBytes` that is no whole number from 0.
 */
export function boundResult(result: ToolResult, options: BoundResultOptions = {}): ToolResult {
  const { maxBytes = defaultPieceBytes, media = 'keep', shelf } = options;
  if (!Number.isInteger(maxBytes) || maxBytes < 0)
    throw new HoldfastError('invalid_argument', `Expected maxBytes as a whole number from 0, got ${String(maxBytes)}.`);
  const { structuredContent, ...rest } = result;
  const structured = structuredContent === undefined ? '' : JSON.stringify(structuredContent);
  const total = result.content.reduce((sum, block) => sum + sizeOfBlock(block), Buffer.byteLength(structured));
  const isSpared = media === 'keep' || !result.content.some(isMedia);
  if (total <= maxBytes && isSpared) return result;
  const start = shelf?.add(result);
  let room = maxBytes;
  const content = result.content.flatMap((block, index): readonly ContentBlock[] => {
    const note = (what: string, from = 0): ContentBlock => noteOf(what, start && pointerTo(start, index, from));
    const size = sizeOfBlock(block);
    if (media === 'describe' && isMedia(block)) return [note(`${mimeTypeOf(block)}, ${bytes(size)}: not shown`)];
    if (size <= room) {
      room -= size;
      return [block];
    }
    const { text } = block;
    if (typeof text !== 'string') return [note(`${mimeTypeOf(block)}, ${bytes(size)}: left out`)];
    const shown = prefixOf(text, room);
    room = 0;
    const cut = note(`${bytes(size - Buffer.byteLength(shown))} of ${bytes(size)} left out here`, shown.length);
    return shown === '' ? [cut] : [{ ...block, text: shown }, cut];
  });
  if (structuredContent === undefined) return { ...rest, content };
  const size = Buffer.byteLength(structured);
  if (size <= room) return { ...rest, content, structuredContent };
  const note = noteOf(`structured content, ${bytes(size)}: left out`, start && pointerTo(start, 'structured'));
  return { ...rest, content: [...content, note] };
}

function noteOf(what: string, pointer: string | undefined): ContentBlock {
  return { type: 'text', text: pointer === undefined ? `[${what}]` : `[${what}; read on at ${pointer}]` };
}

function bytes(count: number): string {
  return `${String(count)} bytes`;
}

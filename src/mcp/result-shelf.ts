/**
 * Keeps results whose parts did not fit into a model's context, so that it can ask for the rest (SPEC NM-4).
 *
 * - B1 What is kept is bounded by count and by size; the oldest result goes first.
 * - B2 A pointer holds 128 random bits: one that was not given out leads nowhere.
 */
import { randomBytes } from 'node:crypto';
import { HoldfastError } from '../domain/errors.ts';
import type { ContentBlock, ToolResult } from '../domain/tool.ts';
import { prefixOf, sizeOfBlock } from './result-parts.ts';

/** Bounds of a shelf. */
export interface ResultShelfOptions {
  /** Most results kept. Default 100. */
  readonly maxResults?: number;
  /** Most bytes kept. A single larger result is not kept. Default 67,108,864. */
  readonly maxBytes?: number;
}

/** One piece of a part that was left out. */
export interface ResultPiece {
  /** A text part comes as text, from where the pointer points; any other part comes whole, as it was sent. */
  readonly block: ContentBlock;
  /** Where the text goes on, if this was not the end of it. */
  readonly next?: string;
}

/** How much of a text is read at once. */
export interface ReadPieceOptions {
  /** Most bytes of text. Default 65,536. */
  readonly maxBytes?: number;
}

/** Results that are kept for reading on. */
export interface ResultShelf {
  /** Keeps a result; gives the start of its pointers, or `undefined` for one that is too large. */
  add(result: ToolResult): string | undefined;
  /**
   * Reads what a pointer of a bounded result points to.
   *
   * @throws HoldfastError `invalid_argument` for a pointer that leads nowhere (any more).
   */
  read(pointer: string, options?: ReadPieceOptions): ResultPiece;
}

/** Makes an empty shelf. Threads of different people need different ones. */
export function createResultShelf(options: ResultShelfOptions = {}): ResultShelf {
  return new MemoryShelf(options);
}

/** Names a part: its index in the content, or `structured`; and where in its text. */
export function pointerTo(start: string, part: number | 'structured', from = 0): string {
  return `${start}/${String(part)}/${String(from)}`;
}

/** How every pointer begins. */
export const pointerScheme = 'holdfast-result:';

/** How much text a piece has when its reader does not say. */
export const defaultPieceBytes = 65_536;

interface Kept {
  readonly result: ToolResult;
  readonly bytes: number;
}

class MemoryShelf implements ResultShelf {
  readonly #maxResults: number;
  readonly #maxBytes: number;
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor({ maxResults = 100, maxBytes = 67_108_864 }: ResultShelfOptions) {
    this.#maxResults = maxResults;
    this.#maxBytes = maxBytes;
  }

  add(result: ToolResult): string | undefined {
    const structured =
      result.structuredContent === undefined ? 0 : Buffer.byteLength(JSON.stringify(result.structuredContent));
    const bytes = result.content.reduce((sum, block) => sum + sizeOfBlock(block), structured);
    if (bytes > this.#maxBytes || this.#maxResults < 1) return undefined;
    const start = `${pointerScheme}${randomBytes(16).toString('base64url')}`;
    this.#kept.set(start, { result, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#kept) {
      if (this.#kept.size <= this.#maxResults && this.#bytes <= this.#maxBytes) break;
      this.#kept.delete(oldest);
      this.#bytes -= freed;
    }
    return start;
  }

  read(pointer: string, { maxBytes = defaultPieceBytes }: ReadPieceOptions = {}): ResultPiece {
    const [, start = '', part = '', from = ''] = /^(.+)\/(\d{1,9}|structured)\/(\d{1,15})$/.exec(pointer) ?? [];
    const kept = this.#kept.get(start);
    const block = kept === undefined ? undefined : partOf(kept.result, part);
    if (block === undefined)
      throw new HoldfastError(
        'invalid_argument',
        `Expected a pointer of a result that is kept, got ${JSON.stringify(pointer.slice(0, 200))}. Results are kept for a while only: call the tool again.`,
      );
    if (typeof block['text'] !== 'string') return { block };
    const rest = block['text'].slice(Number(from));
    const piece = prefixOf(rest, Math.max(4, maxBytes));
    const end = Number(from) + piece.length;
    return {
      block: { ...block, text: piece },
      ...(piece.length < rest.length
        ? { next: pointerTo(start, part === 'structured' ? part : Number(part), end) }
        : {}),
    };
  }
}

function partOf({ content, structuredContent }: ToolResult, part: string): ContentBlock | undefined {
  if (part !== 'structured') return content[Number(part)];
  return structuredContent === undefined ? undefined : { type: 'text', text: JSON.stringify(structuredContent) };
}

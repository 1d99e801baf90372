/** Bytes to lines: LF ends a line, 32 MiB at most, and nothing that comes in stops it. */

/** The longest line of input, in bytes, its LF not counted. */
export const maxLineBytes = 32 * 1024 * 1024;

/** One line of input. */
export type InputLine =
  | { readonly kind: 'text'; readonly text: string }
  /** Not UTF-8; `text` has U+FFFD where the bytes made no sense. */
  | { readonly kind: 'notUtf8'; readonly text: string }
  /** Longer than the limit; what it held is gone. */
  | { readonly kind: 'tooLong' };

const lineFeed = 0x0a;

/** Cuts a stream of bytes into lines. Blank lines are left out. */
export class LineReader {
  readonly #limit: number;
  #parts: Uint8Array[] = [];
  #size = 0;
  #isDiscarding = false;
  #isFirst = true;

  constructor(limit: number = maxLineBytes) {
    this.#limit = limit;
  }

  /** The lines that end within this chunk. */
  push(chunk: Uint8Array): InputLine[] {
    const lines: InputLine[] = [];
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      this.#take(chunk.subarray(start, end));
      lines.push(...this.#finish());
      start = end + 1;
    }
    this.#take(chunk.subarray(start));
    return lines;
  }

  /** The rest, when the input ended without a last LF. */
  end(): InputLine[] {
    return this.#size === 0 && !this.#isDiscarding ? [] : this.#finish();
  }

  #take(bytes: Uint8Array): void {
    if (this.#isDiscarding || bytes.length === 0) return;
    if (this.#size + bytes.length > this.#limit) {
      this.#isDiscarding = true;
      this.#parts = [];
      this.#size = 0;
      return;
    }
    // A copy: the stream may use its buffer again, and a small rest must not keep a large chunk alive.
    this.#parts.push(Uint8Array.from(bytes));
    this.#size += bytes.length;
  }

  #finish(): InputLine[] {
    const bytes = Buffer.concat(this.#parts);
    const isTooLong = this.#isDiscarding;
    this.#parts = [];
    this.#size = 0;
    this.#isDiscarding = false;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isTooLong) return [{ kind: 'tooLong' }];
    const line = decode(bytes, isFirst);
    return line.text.trim() === '' ? [] : [line];
  }
}

function decode(bytes: Uint8Array, isFirst: boolean): Extract<InputLine, { text: string }> {
  // `ignoreBOM: false` drops a byte order mark, which only the first line may have.
  const options = { ignoreBOM: !isFirst };
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true, ...options }).decode(bytes) };
  } catch {
    return { kind: 'notUtf8', text: new TextDecoder('utf-8', options).decode(bytes) };
  }
}

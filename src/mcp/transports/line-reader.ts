/**
 * Cuts a byte stream into lines without ever holding more than one line of the allowed size.
 *
 * Owns the bytes of the unfinished line. Lines are cut as bytes and decoded whole, so a character split across chunks
 * stays whole. A line over the limit is dropped while it streams; its first and last bytes are kept for the report.
 */

export interface LineReaderOptions {
  readonly maxLineBytes: number;
  onLine(line: string): void;
  onOversized(line: OversizedLine): void;
}

export interface OversizedLine {
  readonly bytes: number;
  /** The first bytes, as text: at most 1 KiB. */
  readonly head: string;
  /** The last bytes, as text: at most 1 KiB. */
  readonly tail: string;
}

const newline = 0x0a;
const peekBytes = 1_024;
const nothing = Buffer.alloc(0);

export class LineReader {
  readonly #options: LineReaderOptions;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #oversized: { bytes: number; readonly head: Buffer; tail: Buffer } | undefined;

  constructor(options: LineReaderOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#endLine(chunk, start, end);
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(start === 0 ? chunk : chunk.subarray(start));
  }

  #endLine(chunk: Buffer, start: number, end: number): void {
    const total = this.#pendingBytes + end - start;
    if (this.#oversized !== undefined || total > this.#options.maxLineBytes) {
      this.#keep(chunk.subarray(start, end));
      this.#reportOversized();
      return;
    }
    if (this.#pendingBytes === 0) {
      if (total > 0) this.#options.onLine(chunk.toString('utf8', start, end));
      return;
    }
    this.#pending.push(chunk.subarray(start, end));
    const line = Buffer.concat(this.#pending, total).toString('utf8');
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#options.onLine(line);
  }

  #keep(piece: Buffer): void {
    if (this.#oversized !== undefined) {
      this.#oversized.bytes += piece.length;
      this.#oversized.tail = lastBytes(this.#oversized.tail, piece);
      return;
    }
    this.#pending.push(piece);
    this.#pendingBytes += piece.length;
    if (this.#pendingBytes <= this.#options.maxLineBytes) return;
    const whole = Buffer.concat(this.#pending);
    this.#oversized = {
      bytes: this.#pendingBytes,
      head: Buffer.from(whole.subarray(0, peekBytes)),
      tail: lastBytes(nothing, whole),
    };
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  #reportOversized(): void {
    const line = this.#oversized;
    if (line === undefined) return;
    this.#oversized = undefined;
    this.#options.onOversized({
      bytes: line.bytes,
      head: line.head.toString('utf8'),
      tail: line.tail.toString('utf8'),
    });
  }
}

/** A copy, so that the chunk it came from can be freed. */
function lastBytes(before: Buffer, piece: Buffer): Buffer {
  if (piece.length >= peekBytes) return Buffer.from(piece.subarray(piece.length - peekBytes));
  return Buffer.concat([before, piece]).subarray(-peekBytes);
}

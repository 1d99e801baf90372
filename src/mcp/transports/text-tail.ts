/** The last piece of a stream of text that nobody reads on time: stderr, kept for the error that may come. */

/** Stands where it was cut: the rest of a secret is known by it. */
const cutMark = '…';
const maxBytes = 8_192 - Buffer.byteLength(cutMark);
const maxLines = 50;

export class TextTail {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  push(chunk: Buffer): void {
    if (chunk.length > maxBytes) this.#isCut = true;
    const piece = chunk.length > maxBytes ? chunk.subarray(chunk.length - maxBytes) : chunk;
    this.#chunks.push(piece);
    this.#bytes += piece.length;
    // Trimmed only now and then, so that a flood costs no copy per chunk.
    if (this.#bytes > 4 * maxBytes || this.#chunks.length > 256) this.#trim();
  }

  /** At most the last 50 lines within the last 8 KiB. */
  text(): string {
    this.#trim();
    const whole = Buffer.concat(this.#chunks).toString('utf8').trimEnd();
    const lines = whole.split('\n');
    const text = lines.slice(-maxLines).join('\n');
    if (!this.#isCut && lines.length <= maxLines) return text;
    // A character that was cut is none.
    return `${cutMark}${text.replace(/^\uFFFD+/, '')}`;
  }

  #trim(): void {
    if (this.#bytes > maxBytes) this.#isCut = true;
    const tail = Buffer.from(Buffer.concat(this.#chunks).subarray(-maxBytes));
    this.#chunks = tail.length === 0 ? [] : [tail];
    this.#bytes = tail.length;
  }
}

/** The last piece of a stream of text that nobody reads on time: stderr, kept for the error that may come. */

const maxBytes = 8_192;
const maxLines = 50;

export class TextTail {
  #chunks: Buffer[] = [];
  #bytes = 0;

  push(chunk: Buffer): void {
    const piece = chunk.length > maxBytes ? chunk.subarray(chunk.length - maxBytes) : chunk;
    this.#chunks.push(piece);
    this.#bytes += piece.length;
    // Trimmed only now and then, so that a flood costs no copy per chunk.
    if (this.#bytes > 4 * maxBytes || this.#chunks.length > 256) this.#trim();
  }

  /** At most the last 50 lines within the last 8 KiB. */
  text(): string {
    this.#trim();
    const lines = Buffer.concat(this.#chunks).toString('utf8').trimEnd().split('\n');
    return lines.slice(-maxLines).join('\n');
  }

  #trim(): void {
    const tail = Buffer.from(Buffer.concat(this.#chunks).subarray(-maxBytes));
    this.#chunks = tail.length === 0 ? [] : [tail];
    this.#bytes = tail.length;
  }
}

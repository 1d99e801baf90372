/**
 * Writes lines to a stream: the first of a tick at once, all others of that tick together.
 *
 * At once, so that the server works on a lone message while its sender is still busy; together, because a write costs more
 * than what is in it. Holds lines back while the stream is full.
 */
import { once } from 'node:events';
import type { Writable } from 'node:stream';

const written: Promise<void> = Promise.resolve();

export class LineWriter {
  readonly #stream: Writable;
  readonly #gone: Promise<void>;
  #queue: string[] = [];
  #isTicking = false;
  #drained: Promise<void> | undefined;

  /** `gone` settles when nobody reads any more: who waits for the stream to drain is let go then. */
  constructor(stream: Writable, gone: Promise<void>) {
    this.#stream = stream;
    this.#gone = gone;
  }

  /** Resolves when the stream has room again, at once as a rule. Never rejects: a broken stream is its owner's affair. */
  write(line: string): Promise<void> {
    if (this.#drained !== undefined || this.#isTicking) {
      this.#queue.push(line);
      return this.#drained ?? written;
    }
    this.#isTicking = true;
    process.nextTick(() => {
      this.#isTicking = false;
      if (this.#drained === undefined) this.flush();
    });
    return this.#put(`${line}\n`);
  }

  /** Writes what is held back, room or not. */
  flush(): void {
    if (this.#queue.length === 0) return;
    const text = `${this.#queue.join('\n')}\n`;
    this.#queue = [];
    void this.#put(text);
  }

  #put(text: string): Promise<void> {
    if (!this.#stream.writable || this.#stream.write(text)) return written;
    this.#drained ??= this.#drain();
    return this.#drained;
  }

  async #drain(): Promise<void> {
    await Promise.race([once(this.#stream, 'drain').then(ignore, ignore), this.#gone]);
    this.#drained = undefined;
    this.flush();
  }
}

function ignore(): void {
  // The stream's owner hears of its errors.
}

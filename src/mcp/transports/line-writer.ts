/**
 * Writes lines to a stream: the first of a tick at once, all others of that tick together.
 *
 * At once, so that the server works on a lone message while its sender is still busy; together, because a write costs more
 * than what is in it. Holds lines back while the stream is full, and knows how much nobody has read yet.
 */
import { once } from 'node:events';
import type { Writable } from 'node:stream';

const written: Promise<void> = Promise.resolve();

export interface LineWriterOptions {
  readonly stream: Writable;
  /** Settles when nobody reads any more: who waits for the stream to drain is let go then. */
  readonly gone: Promise<void>;
  /** The replies among what is unsent became fewer. */
  readonly onRepliesSent: () => void;
}

export class LineWriter {
  readonly #stream: Writable;
  readonly #gone: Promise<void>;
  readonly #onRepliesSent: () => void;
  #queue: string[] = [];
  #queued = 0;
  #queuedReplies = 0;
  #unsentReplies = 0;
  #isTicking = false;
  #drained: Promise<void> | undefined;

  constructor({ stream, gone, onRepliesSent }: LineWriterOptions) {
    this.#stream = stream;
    this.#gone = gone;
    this.#onRepliesSent = onRepliesSent;
  }

  /** What waits to be read, held back here or in the stream, in characters and bytes. */
  get unsent(): number {
    return this.#queued + this.#stream.writableLength;
  }

  /** What of it is replies, in characters. */
  get unsentReplies(): number {
    return this.#unsentReplies;
  }

  /** Resolves when the stream has room again, at once as a rule. Never rejects: a broken stream is its owner's affair. */
  write(line: string, isReply: boolean): Promise<void> {
    if (isReply) this.#unsentReplies += line.length;
    if (this.#drained !== undefined || this.#isTicking) {
      this.#queue.push(line);
      this.#queued += line.length;
      if (isReply) this.#queuedReplies += line.length;
      return this.#drained ?? written;
    }
    this.#isTicking = true;
    process.nextTick(() => {
      this.#isTicking = false;
      if (this.#drained === undefined) this.flush();
    });
    return this.#put(`${line}\n`, isReply ? line.length : 0);
  }

  /** Writes what is held back, room or not. */
  flush(): void {
    if (this.#queue.length === 0) return;
    const text = `${this.#queue.join('\n')}\n`;
    const replies = this.#queuedReplies;
    this.#queue = [];
    this.#queued = 0;
    this.#queuedReplies = 0;
    void this.#put(text, replies);
  }

  #put(text: string, replies: number): Promise<void> {
    if (!this.#stream.writable) return written;
    if (replies === 0 ? this.#stream.write(text) : this.#stream.write(text, this.#noteSent(replies))) return written;
    this.#drained ??= this.#drain();
    return this.#drained;
  }

  #noteSent(replies: number): () => void {
    return () => {
      this.#unsentReplies -= replies;
      this.#onRepliesSent();
    };
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

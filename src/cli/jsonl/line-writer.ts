/**
 * Records to lines on stdout, in the order they are given.
 *
 * W1 A record is written whole or, once stdout is broken, not at all; writing never throws.
 * W2 While the reader of stdout is slow, `isBlocked` holds, and the caller takes no more input.
 * W3 When more than {@link maxWaitingBytes} wait, progress and logs are left out and counted: they alone may flood.
 */
import type { Writable } from 'node:stream';
import type { ThreadEvent } from '../../index.ts';
import { restoreIds } from './request-id.ts';

/** How much may wait for a slow reader before progress and logs are left out, in bytes. */
export const maxWaitingBytes = 64 * 1024 * 1024;

/** What a writer tells its owner. */
export interface LineWriterHandlers {
  /** Stdout cannot be written any more. Called once. */
  readonly onBroken: () => void;
  /** The reader caught up. */
  readonly onDrain: () => void;
}

/** Writes one JSON object a line. */
export class LineWriter {
  readonly #stream: Writable;
  readonly #handlers: LineWriterHandlers;
  #isBroken = false;
  #isBlocked = false;
  #dropped = 0;

  constructor(stream: Writable, handlers: LineWriterHandlers) {
    this.#stream = stream;
    this.#handlers = handlers;
    stream.on('error', () => this.#break());
    stream.on('close', () => this.#break());
    stream.on('drain', () => this.#drain());
  }

  /** Whether the reader of stdout is behind. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** Writes a record. `serialized` is its JSON. */
  write(serialized: string): void {
    if (this.#isBroken || this.#stream.writableEnded) return;
    if (!this.#stream.write(`${restoreIds(serialized)}\n`)) this.#isBlocked = true;
  }

  /** Writes a fact. */
  event(event: ThreadEvent): void {
    const mayBeDropped = event.type === 'call.progressed' || event.type === 'server.logged';
    if (mayBeDropped && this.#stream.writableLength > maxWaitingBytes) {
      this.#dropped += 1;
      return;
    }
    this.write(JSON.stringify({ event }));
  }

  /** Ends the stream; resolves when all is written, the stream is broken, or `timeoutMs` ran out. */
  async flush(timeoutMs: number): Promise<void> {
    if (this.#isBroken) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#stream.once('error', done);
      this.#stream.once('close', done);
      this.#stream.end(done);
    });
  }

  #break(): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#isBlocked = false;
    this.#handlers.onBroken();
  }

  #drain(): void {
    this.#isBlocked = false;
    if (this.#dropped > 0) {
      const count = this.#dropped;
      this.#dropped = 0;
      this.event({
        type: 'warning',
        at: new Date().toISOString(),
        code: 'events_dropped',
        message: `The reader of stdout was too slow: ${count} progress and log events were left out. Read faster.`,
      });
    }
    this.#handlers.onDrain();
  }
}

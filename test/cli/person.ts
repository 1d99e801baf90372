/** A person at the interactive shell, on a terminal that is two pipes: what is typed, and what is shown. */
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { createThread, type ServerMap } from 'holdfast';
import { runProgram } from '../../src/cli/program.ts';

export const keys = {
  enter: '\r',
  tab: '\t',
  down: '\u001B[B',
  up: '\u001B[A',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
} as const;

/** Long past anything that will still come. */
const patienceMs = 15_000;

/** A person at a terminal. */
export class Person {
  readonly input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  readonly output = Object.assign(new PassThrough(), { isTTY: true, columns: 120, rows: 40 });
  readonly exitCode: Promise<number>;
  #shown = '';
  #read = 0;
  #waiting: (() => void) | undefined;

  constructor(directory: string, servers: ServerMap, args: readonly string[] = []) {
    this.output.setEncoding('utf8');
    this.output.on('data', (chunk: string) => {
      this.#shown += stripVTControlCharacters(chunk);
      this.#waiting?.();
    });
    this.exitCode = runProgram(args, {
      input: this.input,
      output: this.output,
      errors: new PassThrough(),
      env: { NO_COLOR: '1' },
      directory,
      version: '1.2.3',
      createThread: (options) => createThread({ ...options, servers: { ...options.servers, ...servers } }),
      onSignal: () => () => undefined,
      openStdout: () => new PassThrough(),
    });
  }

  /** Types text key by key: more at once would be taken for a paste. */
  async type(...texts: readonly string[]): Promise<void> {
    for (const text of texts) {
      for (const key of text.startsWith('\u001B') ? [text] : text) {
        this.input.write(key);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  /** Waits until something new matches, and gives what was shown up to its end. */
  async sees(pattern: RegExp): Promise<string> {
    for (;;) {
      const match = pattern.exec(this.#shown.slice(this.#read));
      if (match !== null) {
        const end = this.#read + match.index + match[0].length;
        const seen = this.#shown.slice(this.#read, end);
        this.#read = end;
        return seen;
      }
      await new Promise<void>((resolve, reject) => {
        const tooLong = setTimeout(() => {
          reject(new Error(`Expected to see ${String(pattern)}, got: ${this.#shown.slice(this.#read)}`));
        }, patienceMs);
        this.#waiting = () => {
          clearTimeout(tooLong);
          resolve();
        };
      });
    }
  }

  get shown(): string {
    return this.#shown;
  }
}

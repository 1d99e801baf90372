/**
 * The prompt of the shell: lines in, text out above the prompt, and Ctrl-C told apart.
 *
 * L1 Text printed while a person types never mixes with what is being typed.
 * L2 While something else uses the terminal (`suspend`), nothing is read or drawn here.
 */
import { createInterface, clearLine, cursorTo, type Completer, type Interface } from 'node:readline';
import type { Terminal } from '../terminal.ts';

/** What a prompt needs. */
export interface LineInputOptions {
  readonly terminal: Terminal;
  readonly prompt: string;
  readonly completer: Completer;
  readonly onInterrupt: () => void;
}

/** Reads lines. */
export class LineInput {
  readonly #options: LineInputOptions;
  readonly #lines: string[] = [];
  readonly #history: string[] = [];
  #reader: Interface | undefined;
  #waiting: ((line: string | undefined) => void) | undefined;
  #isEnded = false;

  constructor(options: LineInputOptions) {
    this.#options = options;
    this.resume();
  }

  /** The next line, or `undefined` when the input ended. Shows the prompt meanwhile. */
  async next(): Promise<string | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined) return line;
    if (this.#isEnded) return undefined;
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#show();
    });
  }

  /** Writes text above the prompt. */
  print(text: string): void {
    const { output } = this.#options.terminal;
    // Also takes away a progress line that is being drawn.
    if (this.#isTerminal) {
      cursorTo(output, 0);
      clearLine(output, 0);
    }
    output.write(`${text}
`);
    if (this.#isTerminal && this.#waiting !== undefined) this.#reader?.prompt(true);
  }

  /** Lets something else use the terminal. */
  suspend(): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.close();
  }

  /** Takes the terminal back. */
  resume(): void {
    if (this.#reader !== undefined || this.#isEnded) return;
    const { terminal, prompt, completer, onInterrupt } = this.#options;
    const reader = createInterface({
      input: terminal.input,
      output: terminal.output,
      terminal: this.#isTerminal,
      completer,
      prompt,
      history: [...this.#history],
      historySize: 200,
    });
    this.#reader = reader;
    reader.on('line', (line) => this.#take(line));
    reader.on('history', (history: string[]) => this.#history.splice(0, this.#history.length, ...history));
    reader.on('SIGINT', onInterrupt);
    reader.on('close', () => {
      if (this.#reader === reader) this.end();
    });
    if (this.#waiting !== undefined) this.#show();
  }

  /** Ends the input: whoever waits for a line hears it. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.suspend();
    this.#waiting?.(undefined);
    this.#waiting = undefined;
  }

  get #isTerminal(): boolean {
    return this.#options.terminal.isInteractive;
  }

  #show(): void {
    // What was typed ahead stays, and so does the cursor in it.
    if (this.#isTerminal) this.#reader?.prompt(true);
  }

  #take(line: string): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#lines.push(line);
    else waiting(line);
  }
}

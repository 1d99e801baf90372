/**
 * The prompt of the shell: lines in, text out above the prompt, and Ctrl-C told apart.
 *
 * L1 Text printed while a person types never mixes with what is being typed.
 *    What is typed while nobody waits for a line shows with the next prompt, not in the middle of a call's progress.
 * L2 While something else uses the terminal (`suspend`), nothing is read or drawn here.
 */
import { Writable } from 'node:stream';
import { createInterface, clearLine, cursorTo, type Completer, type Interface } from 'node:readline';
import type { Terminal, TerminalOutput } from '../terminal.ts';

/** What a prompt needs. */
export interface LineInputOptions {
  readonly terminal: Terminal;
  readonly prompt: string;
  readonly completer: Completer;
  readonly onInterrupt: () => void;
}

/** The output of a prompt, which draws only while the prompt is there. */
class PromptOutput extends Writable {
  readonly #output: TerminalOutput;
  readonly #isShown: () => boolean;
  readonly #onResize = () => void this.emit('resize');

  constructor(output: TerminalOutput, isShown: () => boolean) {
    super({ decodeStrings: false });
    this.#output = output;
    this.#isShown = isShown;
    output.on('resize', this.#onResize);
  }

  get columns(): number | undefined {
    return this.#output.columns;
  }

  override _write(chunk: string, _: BufferEncoding, done: () => void): void {
    if (this.#isShown()) this.#output.write(chunk);
    done();
  }

  letGo(): void {
    this.#output.off('resize', this.#onResize);
  }
}

/** Reads lines. */
export class LineInput {
  readonly #options: LineInputOptions;
  readonly #output: PromptOutput;
  readonly #lines: string[] = [];
  readonly #history: string[] = [];
  #reader: Interface | undefined;
  #waiting: ((line: string | undefined) => void) | undefined;
  #isEnded = false;

  constructor(options: LineInputOptions) {
    this.#options = options;
    this.#output = new PromptOutput(options.terminal.output, () => this.#waiting !== undefined);
    this.resume();
  }

  /** The next line, or `undefined` when the input ended. Shows the prompt meanwhile. */
  async next(): Promise<string | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined) {
      if (this.#isTerminal) this.print(`${this.#options.prompt}${line}`);
      return line;
    }
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
      output: this.#output,
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
    this.#output.letGo();
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

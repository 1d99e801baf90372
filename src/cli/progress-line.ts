/** One line that shows a long call is alive: what it says of its progress, and how long it has run. */
import type { Progress } from '../index.ts';
import { oneLine, type TerminalOutput } from './terminal.ts';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const intervalMs = 100;

/** A line that is redrawn in place. On what is no terminal it shows nothing. */
export class ProgressLine {
  readonly #output: TerminalOutput;
  readonly #label: string;
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #frame = 0;
  #progress: Progress | undefined;

  constructor(output: TerminalOutput, label: string) {
    this.#output = output;
    this.#label = label;
    this.resume();
  }

  /** Takes the newest progress. */
  update(progress: Progress): void {
    this.#progress = progress;
  }

  /** Takes the line away, so that something else can be shown. */
  pause(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#output.write('\r\u001B[2K');
  }

  /** Shows the line again. */
  resume(): void {
    if (this.#output.isTTY !== true || this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#draw(), intervalMs);
    this.#timer.unref();
  }

  #draw(): void {
    this.#frame = (this.#frame + 1) % frames.length;
    const seconds = ((performance.now() - this.#startedAt) / 1_000).toFixed(1);
    const width = Math.max(20, (this.#output.columns ?? 80) - 1);
    this.#output.write(
      `\r\u001B[2K${oneLine(`${frames[this.#frame] ?? ''} ${this.#label} ${seconds} s ${describe(this.#progress)}`, width)}`,
    );
  }
}

function describe(progress: Progress | undefined): string {
  if (progress === undefined) return '';
  const { total, message } = progress;
  const amount =
    total === undefined
      ? String(progress.progress)
      : `${progress.progress}/${total} (${Math.round((progress.progress / total) * 100)} %)`;
  return message === undefined ? amount : `${amount} ${message}`;
}

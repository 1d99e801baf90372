/** The terminal as the command line sees it: streams, whether a person sits there, colours, and text made safe to show. */
import type { Readable, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';

/** A readable that may be a terminal. */
export interface TerminalInput extends Readable {
  readonly isTTY?: boolean;
}

/** A writable that may be a terminal. */
export interface TerminalOutput extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** How text is emphasised; without colours each gives its text back. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** The codes that switch each style on and off. */
const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const satisfies Record<Style, readonly [number, number]>;

/** Where a command reads and writes. */
export interface Terminal {
  readonly input: TerminalInput;
  readonly output: TerminalOutput;
  readonly errors: TerminalOutput;
  /** A person can be asked: input and output are terminals. */
  readonly isInteractive: boolean;
  readonly paint: (style: Style, text: string) => string;
}

/** Streams and settings of a {@link Terminal}. */
export interface TerminalStreams {
  readonly input: TerminalInput;
  readonly output: TerminalOutput;
  readonly errors: TerminalOutput;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Makes a terminal of streams. Colours need a terminal, and no `NO_COLOR`. */
export function createTerminal({ input, output, errors, env }: TerminalStreams): Terminal {
  const isTerminal = output.isTTY === true;
  const hasColours = isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  return {
    input,
    output,
    errors,
    isInteractive: isTerminal && input.isTTY === true,
    paint: (style, text) => (hasColours ? `\u001B[${codes[style][0]}m${text}\u001B[${codes[style][1]}m` : text),
  };
}

/** Control and direction characters, which could move the cursor or turn text around. Tab and LF are kept. */
// oxlint-disable-next-line eslint/no-control-regex -- these are what must not reach a terminal
const unsafe = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g;

/** Text of a server, made safe to show: no escape sequences, no control characters. */
export function plain(text: string): string {
  return stripVTControlCharacters(text.replaceAll('\r\n', '\n')).replaceAll(unsafe, '\uFFFD');
}

/** Safe text on one line, cut to a width. */
export function oneLine(text: string, width = 200): string {
  const line = plain(text).replaceAll(/\s+/g, ' ').trim();
  return line.length > width ? `${line.slice(0, Math.max(0, width - 1))}…` : line;
}

/** Places in a document, and the error that names one. */
import { HoldfastError } from '../domain/errors.ts';

/** A place in a document, both counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The start of every document. */
export const start: Position = { line: 1, column: 1 };

/** What a parser made of a text. */
export interface ParsedText {
  /** `undefined` when the document holds nothing but comments and blanks. */
  readonly value: unknown;
  /** Keys that came twice in one object, as JSON Pointers; the last one is used. */
  readonly duplicates: readonly string[];
  /** Where the value at this path starts; the start of the document when nothing is there or nobody knows. */
  locate(path: readonly (string | number)[]): Position;
}

/** The place of a character of a text. */
export function positionAt(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/** The error of a document that cannot be read as one. `problem` quotes nothing of the document. */
export function syntaxError(file: string, at: Position, problem: string): HoldfastError {
  return new HoldfastError(
    'config_syntax',
    `"${file}", line ${at.line}, column ${at.column}: ${problem}. Mend the file; nothing of it was used.`,
    {
      issues: [{ path: '', message: `line ${at.line}, column ${at.column}: ${problem}` }],
      data: { file, line: at.line, column: at.column },
    },
  );
}

/** The error of a document nested beyond any real configuration: parsers are recursive. */
export function depthError(file: string): HoldfastError {
  return syntaxError(file, start, 'expected a document of reasonable depth, got one nested too deeply');
}

/** The deepest nesting that is read. */
export const maxDepth = 256;

/** Tells whether a value is nested deeper than that, or within itself. */
export function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth >= maxDepth || Object.values(value).some((inner) => isTooDeep(inner, depth + 1));
}

/** Escapes one segment of a JSON Pointer. */
export function escapePointer(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1');
}
